"""External models as formats of checkpoints (:class:`core.checkpoint.files.Format`): a folder as Hugging Face's library
writes it, and a function named in ``PAIRLENS_GUESTS``. Their library is imported when a model is loaded, not listed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.card import Card
from core.errors import RunError
from core.external.card import external_card, external_files
from core.external.folder import is_external
from core.external.names import is_function
from core.external.settings import add_settings

if TYPE_CHECKING:
    from core.checkpoint.checkpoint import Checkpoint, FilesState


class HuggingFaceFolder:
    """Configuration, tokeniser and weights as Hugging Face's library writes them."""

    lasting = True
    nameable = True

    def holds(self, folder: Path) -> bool:
        return is_external(folder)

    def card(self, folder: Path) -> Card:
        return external_card(folder)

    def files(self, folder: Path) -> Sequence[Path]:
        return external_files(folder)

    def load(self, folder: Path, state: FilesState, card: Card, class_names: Sequence[str]) -> Checkpoint:
        from core.external.checkpoint import load_external

        return load_external(folder, state, card, class_names=class_names)

    def add_to_card(self, folder: Path, **fields: object) -> None:
        add_settings(folder, **fields)


class NamedFunction:
    """``module:factory``, whose name stands for a folder. A service that it calls may work again after an error."""

    lasting = False
    nameable = False

    def holds(self, folder: Path) -> bool:
        return is_function(folder)

    def card(self, folder: Path) -> Card:
        from core.external.functions import card_of, made

        return card_of(made(str(folder)), str(folder))

    def files(self, folder: Path) -> Sequence[Path]:
        return ()

    def load(self, folder: Path, state: FilesState, card: Card, class_names: Sequence[str]) -> Checkpoint:
        from core.external.checkpoint import function_checkpoint
        from core.external.functions import made

        return function_checkpoint(made(str(folder)), str(folder), state)

    def add_to_card(self, folder: Path, **fields: object) -> None:
        raise RunError(f"{folder} is a function without a folder to write into: leave --card out")
