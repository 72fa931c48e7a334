"""A trained model as a folder: ``weights.safetensors`` and ``card.json``. Nothing is ever unpickled.

The card holds the architecture, its settings, the SHA-256 of the weights, and how the model was made, so that whoever
has the folder can say so.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from core.card import LARGEST, REQUIRED, problems
from core.errors import MendableError
from core.evidence import BOTH, Record
from core.files import read_json, whole_folder
from core.linguistics import LinguisticsError
from core.memory import return_freed_memory
from core.models import ConfigError, PairModel, spec_of
from core.models.base import check_sides
from core.reading.reader import PairError, Reader, Reading, ReadText, WordReader, read_text
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import DEFAULT_FOLDER, WordTable, WordTableError, default_table, file_sha256
from core.weights import LONGEST_REASON, WeightsError, load_model

CARD_VERSION = 1
PRETRAINED = Path(__file__).resolve().parent.parent / "pretrained"


State = tuple[tuple[int, ...] | None, ...]
"""Of files, to tell whether one has changed."""


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
    state: State
    """Of the files that it was read from: those of another version have another."""

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
        contexts: Sequence[ReadText] = sides[1:]
        if contexts and self.judged == "first" and self.model.reads_lines(self.card["config"]):
            contexts = contexts[0].lines()
        return Reading(sides[0], tuple(contexts), self.judged, None if extra is None else tuple(extra))


def judged_side(roles: Mapping[str, str]) -> str:
    """The side that ``roles`` name as judged: "first", "second" or "both"."""
    judged = roles["judged"]
    return BOTH if judged == BOTH else "first" if judged == roles["first"] else "second"


def check_finite(checkpoint: Checkpoint, logits: Tensor) -> None:
    """Raises PairError where one of the logits is not finite: no class can be told from them."""
    if not logits.isfinite().all():
        raise PairError(
            f"{checkpoint.name} answers with numbers that are not finite: train it again, or choose another model"
        )


def records_of(card: Mapping[str, Any]) -> tuple[type[Record], ...]:
    """The types of record in a checkpoint's explanations, by its card alone; none for an unknown architecture."""
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

    Weights that float16 holds exactly are stored in it, such as those after :func:`round_weights`; others as they are.
    ``words``: a table of the checkpoint's own, saved beside it (of one that lies over the shared one, its own rows);
    None for the shared one. All files are complete on the disk before the first one takes the place of an older
    checkpoint's; the card comes last, so that a folder cut short has none. Raises FileError where the operating system
    refuses.
    """
    with whole_folder(folder, last="card.json") as scratch:
        weights = scratch / "weights.safetensors"
        save_file({name: _stored(value.detach().cpu()) for name, value in model.state_dict().items()}, weights)
        weights.chmod(0o644)  # safetensors writes for the owner alone
        full = {"schema_version": CARD_VERSION, **card, "sha256": file_sha256(weights)}
        full["parameters"] = count_parameters(model)
        if words is not None:
            full["words"] = {"name": words.name, "sha256": words.save(scratch), "own": True}
            if words.beneath is not None:
                full["words"]["over"] = words.beneath.sha256
        missing = [key for key in REQUIRED if key not in full]
        if missing:
            raise CheckpointError(f"the card lacks {', '.join(missing)}")
        (scratch / "card.json").write_text(json.dumps(full, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return full


@torch.no_grad()
def round_weights(model: nn.Module) -> None:
    """Round all weights and buffers of a model in place (:func:`rounded`), so that it is scored as it is stored."""
    for value in itertools.chain(model.parameters(), model.buffers()):
        value.copy_(rounded(value))


def rounded(value: Tensor) -> Tensor:
    """The tensor in its own type, its numbers rounded to those that float16 has; as it is where one of them is beyond
    float16's largest (65,504)."""
    half = value.half() if value.is_floating_point() else value
    return half.to(value.dtype) if bool(half.isfinite().all()) else value


def _stored(value: Tensor) -> Tensor:
    """The tensor for the file: in float16 where that loses nothing."""
    half = value.half() if value.is_floating_point() else value
    return (half if torch.equal(half.to(value.dtype), value) else value).contiguous()


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a checkpoint folder, read again when its file has changed. Raises CheckpointError when it is missing,
    broken or of another version."""
    file = folder / "card.json"
    try:
        now = file.stat()
        if not stat.S_ISREG(now.st_mode) or now.st_size > LARGEST:
            raise CheckpointError(
                f"{folder.name}/card.json is no regular file of at most {LARGEST >> 20} MB: copy the checkpoint again"
            )
        card = _card(file, now.st_ino, now.st_mtime_ns, now.st_ctime_ns)
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(
            f"{folder.name} has no card.json: choose a folder written by `python -m trainers train`"
        ) from None
    except OSError as error:
        raise CheckpointError(
            f"{folder.name}/card.json cannot be read ({error.strerror}): mend its permissions"
        ) from error
    if isinstance(card, str):
        raise CheckpointError(card)
    return dict(card)


@functools.lru_cache(maxsize=256)
def _card(file: Path, *changed: int) -> dict[str, Any] | str:
    """The card, or what is wrong with it in one sentence; a field that is null is one that is not there. Kept, because
    a run of a page asks for each of some thirty cards several times."""
    where = f"{file.parent.name}/card.json"
    try:
        card = read_json(file)
    except ValueError:
        return f"{where} is no readable JSON: copy the checkpoint again"
    if not isinstance(card, dict) or card.get("schema_version") != CARD_VERSION:
        return f"{where} is of another version than {CARD_VERSION}: train the checkpoint again"
    wrong = problems(card)
    if wrong:
        return f"{where} is damaged ({', '.join(wrong)}): copy the checkpoint again"
    return {name: value for name, value in card.items() if value is not None}


def load(folder: Path | str) -> Checkpoint:
    """Read and check a checkpoint folder: card, architecture, shapes, checksum and word table, in this order.

    Raises CheckpointError with one sentence that says what is wrong and what to do.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(f"there is no checkpoint folder {folder.name}: see `python -m core models` for the names")
    state, card = _state(folder), read_card(folder)
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
            f"{folder.name}/weights.safetensors cannot be read ({error.strerror}): mend its permissions"
        ) from error
    return Checkpoint(card["name"], folder, model, card, _table(folder, card), state)


def _table(folder: Path, card: Mapping[str, Any]) -> WordTable:
    own, over = card["words"].get("own"), card["words"].get("over")
    try:
        if over and over != default_table().sha256:
            raise WordTableError(f"{folder.name}'s words lie over another table than the shared one: train it again")
        words = WordTable.load(folder, default_table() if over else None) if own else default_table()
    except WordTableError as error:
        raise CheckpointError(str(error)) from error
    if words.sha256 != card["words"].get("sha256"):
        raise CheckpointError(f"{folder.name} was trained on another word table than {words.name}: train it again")
    if words.width != card["config"].get("input_size"):
        raise CheckpointError(f"{folder.name} reads vectors of another width than {words.width}: train it again")
    return words


def available() -> dict[str, Path]:
    """Checkpoint folders by name: those shipped, then a person's own (``PAIRLENS_CHECKPOINTS`` names their folder).

    A person's checkpoint of a shipped name is listed as ``own/NAME``. Folders without a card are skipped; one that
    cannot be read is listed, so that :func:`read_card` says what is wrong with it.
    """
    folders = {folder.name: folder for folder in _children(PRETRAINED) if folder.name != "words"}
    own = os.environ.get("PAIRLENS_CHECKPOINTS")
    for folder in _children(Path(own)) if own else []:
        folders[f"own/{folder.name}" if folder.name in folders else folder.name] = folder
    return folders


def _children(parent: Path) -> list[Path]:
    try:
        return sorted(folder for folder in parent.iterdir() if _holds_card(folder))
    except FileNotFoundError:
        return []
    except OSError:
        return [parent]


def _holds_card(folder: Path) -> bool:
    try:
        return stat.S_ISREG((folder / "card.json").stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def open_checkpoint(name: str) -> Checkpoint:
    """A checkpoint by the name that ``available`` lists it under, or from its folder. Raises CheckpointError."""
    return load_named(name) if name in available() or not os.path.isdir(name) else load(name)  # noqa: PTH112


def load_named(name: str) -> Checkpoint:
    """The checkpoint listed as ``name``; threads share it. It is read again when one of its files has changed or it was
    dropped from memory: those used last stay, up to ``PAIRLENS_MEMORY_MB`` megabytes of weights and word tables."""
    folders = available()
    if name not in folders:
        known = ", ".join(folders) or "none"
        shown = name if len(name) <= 100 else f"{name[:100]}…"
        raise CheckpointError(f"there is no checkpoint named {shown!r}: choose one of {known}")
    folder, limit = folders[name], memory_limit()
    ready = _remembered(folder)
    if ready is not None:
        return ready
    with _LOCK:
        loading = _loading.setdefault(folder, threading.Lock())
    with loading:
        return _remembered(folder) or _load_and_remember(folder, limit)


_LOCK = threading.Lock()
"""Held for moments only: whoever wants a loaded checkpoint does not wait for one that is being loaded."""
_loading: dict[Path, threading.Lock] = {}
"""By folder; held while it is loaded, so that many visitors of one checkpoint load it once."""
_loaded: OrderedDict[Path, Checkpoint] = OrderedDict()
"""By folder; the one used last stands last."""
_failed: dict[Path, tuple[State, str]] = {}
"""By folder, with the state of its files: why it cannot be used until they change."""


def _state(folder: Path) -> State:
    """What changes with the files that make a checkpoint: inode, size and times of each, None for one that is not
    there."""
    files = [folder / name for name in ("card.json", "weights.safetensors", "words.safetensors")]
    return tuple(_file_state(file) for file in (*files, DEFAULT_FOLDER / "words.safetensors"))


def _file_state(file: Path) -> tuple[int, ...] | None:
    try:
        now = file.stat()
    except OSError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns


def _remembered(folder: Path) -> Checkpoint | None:
    """The checkpoint, if it is loaded and its files are what they were. Raises CheckpointError where they are those
    that could not be loaded before."""
    state = _state(folder)
    with _LOCK:
        if folder in _failed and _failed[folder][0] == state:
            raise CheckpointError(_failed[folder][1])
        if folder not in _loaded or _loaded[folder].state != state:
            return None
        _loaded.move_to_end(folder)
        return _loaded[folder]


def _load_and_remember(folder: Path, limit: float) -> Checkpoint:
    state = _state(folder)
    with _LOCK:
        _loaded.pop(folder, None)
        _failed.pop(folder, None)
    try:
        checkpoint = load(folder)
    except CheckpointError as error:
        if not _by_the_system(error):
            with _LOCK:
                _failed[folder] = state, str(error)
        raise
    with _LOCK:
        _loaded[folder] = checkpoint
        _forget_beyond(limit)
    return checkpoint


def _by_the_system(error: BaseException | None) -> bool:
    """Whether the operating system was the cause, which may do tomorrow what it refuses today."""
    return error is not None and (isinstance(error, OSError) or _by_the_system(error.__cause__))


def memory_limit() -> float:
    """Bytes of loaded checkpoints to keep. Raises CheckpointError where ``PAIRLENS_MEMORY_MB`` is no number."""
    text = os.environ.get("PAIRLENS_MEMORY_MB") or "300"
    with contextlib.suppress(ValueError):
        if float(text) > 0:
            return float(text) * 1e6
    raise CheckpointError(f"PAIRLENS_MEMORY_MB must be a number of megabytes, got {text[:40]!r}")


def _forget_beyond(limit: float) -> None:
    """Drop the checkpoints used least recently; the last one stays, however large."""
    size = sum(memory_of(checkpoint) for checkpoint in _loaded.values())
    crowded = size > limit
    while len(_loaded) > 1 and size > limit:
        size -= memory_of(_loaded.popitem(last=False)[1])
    if crowded:
        return_freed_memory()


def memory_of(checkpoint: Checkpoint) -> int:
    """Bytes that a loaded checkpoint holds of its own: weights and buffers, and its word table unless that is the
    shared one."""
    tensors = itertools.chain(checkpoint.model.parameters(), checkpoint.model.buffers())
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    own = checkpoint.card["words"].get("own")
    # A word takes about 200 bytes as text and in the dictionary of rows.
    return size + (checkpoint.words.codes.numel() + 200 * len(checkpoint.words) if own else 0)
