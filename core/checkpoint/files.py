"""A trained model as a folder: ``weights.safetensors`` and ``card.json``. Nothing is ever unpickled.

The card holds the architecture, its settings, the SHA-256 of the weights, and how the model was trained, so that the
folder alone documents the model.
"""

from __future__ import annotations

import functools
import itertools
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from core.card import LARGEST, REQUIRED, Card, problems
from core.checkpoint.checkpoint import Checkpoint, FilesState
from core.errors import CheckpointError as CheckpointError
from core.errors import said
from core.external.formats import HuggingFaceFolder, NamedFunction
from core.external.names import called
from core.files import json_text, read_json, whole_folder, write_whole
from core.json_types import JsonMapping, JsonObject
from core.models import ConfigError
from core.models.base import check_sides
from core.reading.word_table import DEFAULT_FOLDER, WordTable, WordTableError, default_table, file_sha256
from core.weights import LONGEST_REASON, WeightsError, load_model

CARD_VERSION = 1
CLASSIFIER = "classifier.safetensors"
"""The only weights of an adapted checkpoint."""
_FILES = ("card.json", "weights.safetensors", "words.safetensors", CLASSIFIER)


class Format(Protocol):
    """A kind of folder that holds a model, or of a name that stands for one."""

    @property
    def lasting(self) -> bool:
        """Whether card and errors stay the same until one of its files changes."""

    @property
    def nameable(self) -> bool:
        """Whether the user may name its classes."""

    def holds(self, folder: Path) -> bool:
        """Whether this folder has the format."""

    def card(self, folder: Path) -> Card:
        """Its card. Raises CheckpointError."""

    def files(self, folder: Path) -> Sequence[Path]:
        """The files that determine the model, including those that do not exist yet."""

    def load(self, folder: Path, state: FilesState, card: Card, class_names: Sequence[str]) -> Checkpoint:
        """The model. Raises CheckpointError."""

    def add_to_card(self, folder: Path, **fields: object) -> None:
        """Writes these fields to its card. Raises FileError if the operating system refuses, and RunError if it has no
        card to write."""


class OwnFolder:
    """A checkpoint written by :func:`save`."""

    lasting = True
    nameable = False

    def holds(self, folder: Path) -> bool:
        return (folder / "card.json").is_file()

    def card(self, folder: Path) -> Card:
        return _own_card(folder)

    def files(self, folder: Path) -> Sequence[Path]:
        return [folder / name for name in _FILES]

    def load(self, folder: Path, state: FilesState, card: Card, class_names: Sequence[str]) -> Checkpoint:
        return _load_own(folder, state, card)

    def add_to_card(self, folder: Path, **fields: object) -> None:
        write_whole(folder / "card.json", json_text({**read_card(folder), **fields}))


OTHER_FORMATS: tuple[Format, ...] = (NamedFunction(), HuggingFaceFolder())
"""The formats of models that were not trained here."""


def format_of(folder: Path) -> Format:
    """The format of a folder; for unknown contents, the format that :func:`save` writes."""
    return next((form for form in OTHER_FORMATS if form.holds(folder)), OwnFolder())


def count_parameters(model: nn.Module) -> dict[str, int]:
    """Number of learned parameters: the ``projection`` of the word table and all others (``model``) separately, as the
    paper counts."""
    projection = sum(p.numel() for n, p in model.named_parameters() if n.startswith("projection."))
    return {"model": sum(p.numel() for p in model.parameters()) - projection, "projection": projection}


def save(folder: Path, model: nn.Module, card: JsonMapping, words: WordTable | None = None) -> JsonObject:
    """Write a checkpoint folder and return the completed card (checksum, parameter counts and version added).

    Weights that float16 represents exactly (as after :func:`round_weights`) are stored in it, others unchanged.
    ``words``: the checkpoint's own table, saved with it (for an overlay, only its own rows); None for the shared table.
    All files are fully written before the first one replaces an older checkpoint's; the card comes last, so that an
    incomplete folder has none. Raises FileError if the operating system refuses.
    """
    with whole_folder(folder, last="card.json") as scratch:
        weights = scratch / "weights.safetensors"
        save_file({name: _stored(value.detach().cpu()) for name, value in model.state_dict().items()}, weights)
        weights.chmod(0o644)  # safetensors makes the file readable only by its owner
        full = {"schema_version": CARD_VERSION, **card, "sha256": file_sha256(weights)}
        full["parameters"] = count_parameters(model)
        if words is not None:
            full["words"] = {"name": words.name, "sha256": words.save(scratch), "own": True}
            if words.beneath is not None:
                full["words"]["over"] = words.beneath.sha256
        missing = [key for key in REQUIRED if key not in full]
        if missing:
            raise CheckpointError(f"the card lacks {', '.join(missing)}")
        (scratch / "card.json").write_text(json_text(full), encoding="utf-8")
    return full


@torch.no_grad()
def round_weights(model: nn.Module) -> None:
    """Round all weights and buffers of a model in place (:func:`rounded`), so that the stored values are evaluated."""
    for value in itertools.chain(model.parameters(), model.buffers()):
        value.copy_(rounded(value))


def rounded(value: Tensor) -> Tensor:
    """The tensor in its own type, its values rounded to float16 precision; unchanged if a value exceeds float16's
    largest (65,504)."""
    half = value.half() if value.is_floating_point() else value
    return half.to(value.dtype) if bool(half.isfinite().all()) else value


def _stored(value: Tensor) -> Tensor:
    """The tensor as stored: in float16 if that loses nothing."""
    half = value.half() if value.is_floating_point() else value
    return (half if torch.equal(half.to(value.dtype), value) else value).contiguous()


def read_card(folder: Path) -> Card:
    """The card of a checkpoint folder, reread if one of its files has changed. Raises only CheckpointError, if it is
    missing, broken or of another version."""
    try:
        form = format_of(folder)
        return _card(folder, _state(form, folder)).copy() if form.lasting else form.card(folder)
    except CheckpointError:
        raise
    except Exception as error:  # one bad folder must not prevent the others from being listed
        raise CheckpointError(f"{called(folder)} cannot be read ({said(error)}): copy it again") from error


@functools.lru_cache(maxsize=256)
def _card(folder: Path, state: FilesState) -> Card:
    """The card. Cached, because drawing a page reads each of about thirty cards several times."""
    return format_of(folder).card(folder)


def _own_card(folder: Path) -> Card:
    """The card of a checkpoint trained here; null fields count as missing."""
    where = f"{folder.name}/card.json"
    try:
        now = (folder / "card.json").stat()
        regular = stat.S_ISREG(now.st_mode) and now.st_size <= LARGEST
        card = read_json(folder / "card.json") if regular else None
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(
            f"{folder.name} has no card.json: choose a folder written by `python -m trainers train`"
        ) from None
    except OSError as error:
        raise CheckpointError(f"{where} cannot be read ({error.strerror}): fix its permissions") from error
    except ValueError:
        raise CheckpointError(f"{where} is not readable JSON: copy the checkpoint again") from None
    if not regular:
        raise CheckpointError(f"{where} is not a regular file of at most {LARGEST >> 20} MB: copy the checkpoint again")
    if not isinstance(card, dict) or card.get("schema_version") != CARD_VERSION:
        raise CheckpointError(f"{where} is of another version than {CARD_VERSION}: train the checkpoint again")
    if wrong := problems(card):
        raise CheckpointError(f"{where} is damaged ({', '.join(wrong)}): copy the checkpoint again")
    return cast(Card, {name: value for name, value in card.items() if value is not None})


# The first caller may be in inference mode; others share the model and may need gradients.
@torch.inference_mode(False)
def load(folder: Path | str, class_names: Sequence[str] = ()) -> Checkpoint:
    """Read and check a checkpoint folder: card, architecture, shapes, checksum and word table, in this order.
    ``class_names`` replace an external model's class names, in the order of the logits.

    Raises CheckpointError with one sentence: the problem and the remedy.
    """
    folder = Path(folder)
    form = format_of(folder)
    if form.lasting and not folder.is_dir():
        raise CheckpointError(f"no checkpoint folder {folder.name}: see `python -m core models` for the names")
    if class_names and not form.nameable:
        raise CheckpointError(f"{called(folder)} has its own class names: leave --class-names out")
    return form.load(folder, files_state(folder), read_card(folder), class_names)


def _load_own(folder: Path, state: FilesState, card: Card) -> Checkpoint:
    if "base" in card:
        from core.checkpoint.adapted import load_adapted  # imported here because it loads the base

        return load_adapted(folder, state, card)
    try:
        model = load_model(folder / "weights.safetensors", card["architecture"], card["config"], card["sha256"])
        if model.config.classes != len(card["labels"]):
            raise ConfigError(f"{len(card['labels'])} labels for {model.config.classes} classes")
        roles = card["roles"]
        check_sides(card["architecture"], card["config"], int(bool(roles["second"])), roles["judged"])
    except WeightsError as error:
        raise CheckpointError(str(error)) from error
    except ConfigError as error:
        reason = str(error)[:LONGEST_REASON]
        raise CheckpointError(f"{folder.name} does not fit this program ({reason}): train it again") from error
    except FileNotFoundError:
        raise CheckpointError(f"{folder.name} has no weights.safetensors: copy the checkpoint again") from None
    except OSError as error:
        raise CheckpointError(
            f"{folder.name}/weights.safetensors cannot be read ({error.strerror}): fix its permissions"
        ) from error
    return Checkpoint(card["name"], folder, model, card, _words_of(folder, card), state)


def _words_of(folder: Path, card: Card) -> WordTable:
    own, over = card["words"].get("own"), card["words"].get("over")
    try:
        if over and over != default_table().sha256:
            raise WordTableError(f"{folder.name}'s words lie over a table other than the shared one: train it again")
        words = WordTable.load(folder, default_table() if over else None) if own else default_table()
    except WordTableError as error:
        raise CheckpointError(str(error)) from error
    if words.sha256 != card["words"].get("sha256"):
        raise CheckpointError(f"{folder.name} was trained on another word table than {words.name}: train it again")
    if words.width != card["config"].get("input_size"):
        raise CheckpointError(f"{folder.name} reads vectors of another width than {words.width}: train it again")
    return words


def files_state(folder: Path) -> FilesState:
    """A value that changes with the files of a checkpoint: inode, size and times of each, None for a missing one."""
    return _state(format_of(folder), folder)


def _state(form: Format, folder: Path) -> FilesState:
    files = *form.files(folder), DEFAULT_FOLDER / "words.safetensors"
    state = tuple(map(_file_state, files))
    if _file_state(folder / CLASSIFIER) is None:
        return state
    from core.checkpoint.adapted import base_state  # imported here because it imports this module

    return state + base_state(folder, state)


def _file_state(file: Path) -> tuple[int, ...] | None:
    try:
        now = file.stat()
    except OSError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
