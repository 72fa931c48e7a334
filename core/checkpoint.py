"""A trained model as a folder: ``weights.safetensors`` and ``card.json``. Nothing is ever unpickled.

The card holds the architecture, its settings, the SHA-256 of the weights, and how the model was made, so that whoever
has the folder can say so.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from core.errors import MendableError
from core.evidence import BOTH, Record
from core.linguistics import LinguisticsError
from core.models import ConfigError, PairModel, build, spec_of
from core.reading.reader import PairError, Reader, Reading, WordReader, read_text
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import WordTable, WordTableError, default_table, file_sha256

CARD_VERSION = 1
PRETRAINED = Path(__file__).resolve().parent.parent / "pretrained"
_REQUIRED = ("name", "title", "architecture", "config", "task", "labels", "roles", "words", "licence", "sha256")
_ROLES = ("first", "second", "judged")


class CheckpointError(MendableError):
    """A folder that holds no usable checkpoint; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to use (in eval mode), its card and its word table. Never changed after loading."""

    name: str
    folder: Path
    model: PairModel
    card: Mapping[str, Any]
    words: WordTable

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of the logits."""
        return tuple(self.card["labels"])

    @property
    def token_limits(self) -> tuple[int, int]:
        """Tokens that the model reads of the first and of the second sentence; the rest is cut."""
        limits = self.card.get("token_limits") or {}
        first, second = (int(limits.get(self.roles[side], MAX_TOKENS)) for side in ("first", "second"))
        return first, second

    @property
    def roles(self) -> Mapping[str, str]:
        """Names of the ``first``, ``second`` and ``judged`` sentence in the words of the task. The second one has an
        empty name for a model of single texts."""
        return self.card["roles"]  # type: ignore[no-any-return]

    @property
    def single(self) -> bool:
        """Whether the model reads one text, not a pair."""
        return not self.roles["second"]

    @property
    def judged(self) -> str:
        """The side whose representation reaches the classifier: "first", "second" or "both"."""
        return judged_side(self.roles)

    @property
    def reader(self) -> Reader:
        """What splits texts for this model and has vectors for their tokens."""
        return WordReader(self.words)

    def read(self, first: str, second: str = "", extra: Sequence[float] | None = None) -> Reading:
        """A pair (of a model of single texts ``first`` alone) as the model reads it, cut at its token limits.

        ``extra``: its linguistic features where they are known already. Raises PairError when they cannot be computed.
        """
        texts = (first,) if self.single else (first, second)
        sides = [
            read_text(self.reader, text, self.roles[name], limit)
            for text, name, limit in zip(texts, ("first", "second"), self.token_limits, strict=False)
        ]
        kind = self.model.linguistic
        if kind != "none" and extra is None:
            from core.linguistics.features import extra_features

            try:
                extra = extra_features(kind, sides[0].tokens, sides[1].tokens, default_table())
            except LinguisticsError as error:
                raise PairError(str(error)) from error
        return Reading(sides[0], tuple(sides[1:]), self.judged, None if extra is None else tuple(extra))


def judged_side(roles: Mapping[str, str]) -> str:
    """The side that ``roles`` name as judged: "first", "second" or "both"."""
    judged = roles["judged"]
    return BOTH if judged == BOTH else "first" if judged == roles["first"] else "second"


def records_of(card: Mapping[str, Any]) -> tuple[type[Record], ...]:
    """The records that a checkpoint's explanations hold, told from its card; none for an unknown architecture."""
    try:
        return spec_of(card["architecture"]).model.shows(card["config"])
    except ConfigError:
        return ()


def count_parameters(model: nn.Module) -> dict[str, int]:
    """Learned numbers: ``projection`` from the word table apart from ``model``, all the rest (as the paper counts)."""
    projection = sum(p.numel() for n, p in model.named_parameters() if n.startswith("projection."))
    return {"model": sum(p.numel() for p in model.parameters()) - projection, "projection": projection}


def save(folder: Path, model: nn.Module, card: Mapping[str, Any], words: WordTable | None = None) -> dict[str, Any]:
    """Write a checkpoint folder and return the finished card (checksum, parameter counts and version added).

    ``words``: a table of the checkpoint's own, saved beside it; None for the shared one. Weights are written before the
    card, so a folder cut short by a crash has no card and is not listed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / "weights.safetensors"
    save_file({name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}, weights)
    weights.chmod(0o644)  # safetensors writes for the owner alone
    full = {"schema_version": CARD_VERSION, **card, "sha256": file_sha256(weights)}
    full["parameters"] = count_parameters(model)
    if words is not None:
        full["words"] = {"name": words.name, "sha256": words.save(folder), "own": True}
    missing = [key for key in _REQUIRED if key not in full]
    if missing:
        raise CheckpointError(f"the card lacks {', '.join(missing)}")
    scratch = folder / "card.json.tmp"
    scratch.write_text(json.dumps(full, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    scratch.replace(folder / "card.json")
    return full


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a checkpoint folder. Raises CheckpointError when it is missing, broken or of another version."""
    path = folder / "card.json"
    if not path.is_file():
        raise CheckpointError(f"{folder.name} has no card.json: choose a folder written by `python -m trainers train`")
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder.name}/card.json is no readable JSON: copy the checkpoint again") from error
    if not isinstance(card, dict) or card.get("schema_version") != CARD_VERSION:
        raise CheckpointError(
            f"{folder.name}/card.json is of another version than {CARD_VERSION}: train the checkpoint again"
        )
    missing = [key for key in _REQUIRED if key not in card]
    if missing:
        raise CheckpointError(f"{folder.name}/card.json lacks {', '.join(missing)}: copy the checkpoint again")
    labels, roles = card["labels"], card["roles"]
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        raise CheckpointError(f"{folder.name}/card.json does not list the labels' names: copy the checkpoint again")
    if not isinstance(roles, dict) or not all(isinstance(roles.get(name), str) for name in _ROLES):
        raise CheckpointError(
            f"{folder.name}/card.json does not name the roles {', '.join(_ROLES)}: copy the checkpoint again"
        )
    return card


def load(folder: Path | str) -> Checkpoint:
    """Read and check a checkpoint folder: card, checksum, architecture, shapes and word table, in this order.

    Raises CheckpointError with one sentence that says what is wrong and what to do.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(f"there is no checkpoint folder {folder.name}: see `python -m core models` for the names")
    card = read_card(folder)
    weights = folder / "weights.safetensors"
    if not weights.is_file():
        raise CheckpointError(f"{folder.name} has no weights.safetensors: copy the checkpoint again")
    if file_sha256(weights) != card["sha256"]:
        raise CheckpointError(
            f"{folder.name}/weights.safetensors does not match its card's checksum (truncated or changed): "
            "copy the checkpoint again"
        )
    try:
        model = build(card["architecture"], card["config"])
        model.load_state_dict(load_file(weights))
    except (ConfigError, SafetensorError, RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[0]
        raise CheckpointError(f"{folder.name} does not fit this program ({reason}): train it again") from error
    return Checkpoint(card["name"], folder, model.eval(), card, _table(folder, card))


def _table(folder: Path, card: Mapping[str, Any]) -> WordTable:
    try:
        words = WordTable.load(folder) if card["words"].get("own") else default_table()
    except WordTableError as error:
        raise CheckpointError(str(error)) from error
    if words.sha256 != card["words"].get("sha256"):
        raise CheckpointError(f"{folder.name} was trained on another word table than {words.name}: train it again")
    if words.width != card["config"].get("input_size"):
        raise CheckpointError(f"{folder.name} reads vectors of another width than {words.width}: train it again")
    return words


def available() -> dict[str, Path]:
    """Checkpoint folders by name: those shipped, then a person's own (``PAIRLENS_CHECKPOINTS`` names their folder).

    A person's checkpoint of a shipped name is listed as ``own/NAME``. Folders without a card are passed over.
    """
    found = {folder.name: folder for folder in _children(PRETRAINED) if folder.name != "words"}
    own = os.environ.get("PAIRLENS_CHECKPOINTS")
    for folder in _children(Path(own)) if own else []:
        found[f"own/{folder.name}" if folder.name in found else folder.name] = folder
    return found


def _children(parent: Path) -> list[Path]:
    return sorted(p for p in parent.iterdir() if (p / "card.json").is_file()) if parent.is_dir() else []


def load_named(name: str) -> Checkpoint:
    """The checkpoint listed as ``name``, read once a process as long as its card stays the same; threads share it."""
    folders = available()
    if name not in folders:
        known = ", ".join(folders) or "none"
        raise CheckpointError(f"there is no checkpoint named {name!r}: choose one of {known}")
    folder = folders[name]
    return _load_cached(folder, (folder / "card.json").stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _load_cached(folder: Path, changed: int) -> Checkpoint:
    return load(folder)
