"""The training rows nearest to a pair, by the classifier's input vector.

An index is a folder written by ``python -m trainers neighbours``: the rows' unit vectors in float16
(vectors.safetensors), their texts and labels (rows.jsonl), and its origin (index.json). It stays on the machine that
built it, because most data sets may not be redistributed.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from core.card import is_external
from core.checkpoint import Checkpoint
from core.errors import UserError
from core.evaluation.predict import of_length_one, prepare, unit_vectors
from core.files import json_text, read_json, users_folder, whole_folder
from core.json_types import checked
from core.reading.word_table import file_sha256

VERSION = 1
NEAREST = 5
"""Number of rows shown per class."""
_CARD, _VECTORS, _ROWS = "index.json", "vectors.safetensors", "rows.jsonl"


class NeighboursError(UserError):
    """The index is missing or does not match; the message has the command that builds it."""


@dataclass(frozen=True)
class TrainingRow:
    """A row of the training data; ``data``: the name of its set."""

    first: str
    second: str
    label: str
    data: str


@dataclass(frozen=True)
class IndexCard:
    """The origin of an index; ``sha256``: checksums of its files by name."""

    version: int
    checkpoint: str
    checkpoint_sha256: str
    of: int
    """The number of training rows from which the index was sampled."""
    command: str
    sha256: dict[str, str]


@dataclass(frozen=True)
class TrainingNeighbour:
    """A row and the cosine between its vector and the pair's."""

    row: TrainingRow
    cosine: float


@dataclass(frozen=True)
class Neighbours:
    """The nearest rows by class, in the order of the model's labels, nearest first; ``searched`` of all ``of`` training
    rows were searched."""

    by_label: Mapping[str, tuple[TrainingNeighbour, ...]]
    searched: int
    of: int


def neighbours_folder() -> Path:
    """The folder for indices: ``PAIRLENS_NEIGHBOURS``, or else pairlens/neighbours in the user's cache folder (XDG)."""
    own = os.environ.get("PAIRLENS_NEIGHBOURS")
    return Path(own) if own else users_folder("XDG_CACHE_HOME", ".cache") / "neighbours"


def command(checkpoint: Checkpoint) -> str:
    """The command that builds a checkpoint's index."""
    return f"python -m trainers neighbours {checkpoint.name} --data DATA"


def save(checkpoint: Checkpoint, rows: Sequence[TrainingRow], vectors: np.ndarray, of: int, made_by: str) -> Path:
    """Writes a checkpoint's index atomically and returns its folder. ``vectors``: :func:`unit_vectors` of the ``rows``,
    which were sampled from ``of``. Raises FileError if the operating system refuses."""
    folder = neighbours_folder() / checkpoint.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder, last=_CARD) as scratch:
        save_file({"vectors": vectors.astype(np.float16)}, scratch / _VECTORS)
        with (scratch / _ROWS).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
        sums = {name: file_sha256(scratch / name) for name in (_VECTORS, _ROWS)}
        card = IndexCard(VERSION, checkpoint.name, checkpoint.card["sha256"], of, made_by, sums)
        (scratch / _CARD).write_text(json_text(asdict(card)), encoding="utf-8")
    return folder


def has_index(checkpoint: Checkpoint) -> bool:
    """Whether an index with this name exists; :func:`load` checks whether it matches."""
    return not is_external(checkpoint.card) and (neighbours_folder() / checkpoint.name / _CARD).is_file()


@dataclass(frozen=True)
class Index:
    """The rows of an index and their unit vectors, ``vectors [N, F]``."""

    rows: Sequence[TrainingRow]
    vectors: np.ndarray
    card: IndexCard

    def nearest(self, vector: np.ndarray, labels: Sequence[str]) -> Neighbours:
        """For each of these classes, the rows nearest to a pair's vector ``[F]``."""
        cosines, classes = self.vectors @ vector, np.array([row.label for row in self.rows], dtype=object)
        out: dict[str, tuple[TrainingNeighbour, ...]] = {}
        for label in labels:
            places = np.flatnonzero(classes == label)
            best = places[np.argsort(-cosines[places], kind="stable")[:NEAREST]]
            if len(best):
                out[label] = tuple(TrainingNeighbour(self.rows[i], float(cosines[i])) for i in best)
        return Neighbours(out, len(self.rows), self.card.of)


def load(checkpoint: Checkpoint) -> Index:
    """The index of a checkpoint. Raises NeighboursError if it is missing, damaged, or another checkpoint's."""
    if is_external(checkpoint.card):
        raise NeighboursError(
            f"the training rows of {checkpoint.name} are not known here, because it was trained elsewhere: choose a "
            "model of ours"
        )
    folder = neighbours_folder() / checkpoint.name
    try:
        changed = (folder / _CARD).stat().st_mtime_ns
    except OSError:
        raise NeighboursError(
            f"the training rows of {checkpoint.name} are not on this machine: `{command(checkpoint)}` makes an index"
        ) from None
    try:
        index = _load(folder, changed)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError):
        raise NeighboursError(
            f"the index of {checkpoint.name} is damaged: make it again with `{command(checkpoint)}`"
        ) from None
    if index.card.checkpoint_sha256 != checkpoint.card["sha256"]:
        raise NeighboursError(
            f"the index of {checkpoint.name} was made for another checkpoint of this name: make it again with "
            f"`{command(checkpoint)}`"
        )
    return index


@functools.lru_cache(maxsize=2)
def _load(folder: Path, changed: int) -> Index:
    """The index as of its modification time ``changed``."""
    card = checked(read_json(folder / _CARD), IndexCard)
    if card.version != VERSION:
        raise ValueError("another version")
    if any(file_sha256(folder / name) != card.sha256[name] for name in (_VECTORS, _ROWS)):
        raise ValueError("another checksum")
    vectors = load_file(folder / _VECTORS)["vectors"]
    with (folder / _ROWS).open(encoding="utf-8") as file:
        rows = [checked(json.loads(line), TrainingRow) for line in file]
    if vectors.ndim != 2 or len(rows) != len(vectors) or not np.isfinite(vectors).all():
        raise ValueError("rows and vectors do not belong together")
    return Index(rows, of_length_one(vectors.astype(np.float32)), card)


def nearest(checkpoint: Checkpoint, first: str, second: str) -> Neighbours:
    """The training rows nearest to a pair, for each class. Raises NeighboursError as :func:`load` does, and PairError
    as :func:`core.explain.explain` does."""
    index = load(checkpoint)
    vector = unit_vectors(prepare(checkpoint, [checkpoint.read(first, second)]))[0]
    return index.nearest(vector, checkpoint.labels)
