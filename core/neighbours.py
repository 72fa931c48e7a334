"""The training rows nearest to a pair by the vector that the classifier reads.

An index is a folder that ``python -m trainers neighbours`` writes: the rows' vectors, of unit length, in float16
(vectors.safetensors), their texts and labels (rows.jsonl), and what it was made of (index.json). It stays on the
machine that made it, because most data sets may not be passed on.
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

from core.checkpoint import Checkpoint
from core.errors import UserError
from core.evaluation.predict import of_length_one, prepare, unit_vectors
from core.files import json_text, read_json, users_folder, whole_folder
from core.json_types import checked
from core.reading.word_table import file_sha256

VERSION = 1
NEAREST = 5
"""Rows of each class that are shown."""
_CARD, _VECTORS, _ROWS = "index.json", "vectors.safetensors", "rows.jsonl"


class NeighboursError(UserError):
    """An index that is not there or does not fit, with the command that makes it."""


@dataclass(frozen=True)
class TrainingRow:
    """A row of the training data. ``data``: the name of its set."""

    first: str
    second: str
    label: str
    data: str


@dataclass(frozen=True)
class IndexCard:
    """The origin of an index: ``sha256`` of its files by their names."""

    version: int
    checkpoint: str
    checkpoint_sha256: str
    of: int
    """The number of training rows from which the index was drawn."""
    command: str
    sha256: dict[str, str]


@dataclass(frozen=True)
class TrainingNeighbour:
    """A row and the cosine of its vector and the pair's."""

    row: TrainingRow
    cosine: float


@dataclass(frozen=True)
class Neighbours:
    """The nearest rows by class, in the order of the model's labels, the nearest first; of ``searched`` rows among
    ``of`` training rows."""

    by_label: Mapping[str, tuple[TrainingNeighbour, ...]]
    searched: int
    of: int


def neighbours_folder() -> Path:
    """The folder of indices: ``PAIRLENS_NEIGHBOURS``, else pairlens/neighbours in the user's cache folder (XDG)."""
    own = os.environ.get("PAIRLENS_NEIGHBOURS")
    return Path(own) if own else users_folder("XDG_CACHE_HOME", ".cache") / "neighbours"


def command(checkpoint: Checkpoint) -> str:
    """The command that makes the index of a checkpoint."""
    return f"python -m trainers neighbours {checkpoint.name} --data DATA"


def save(checkpoint: Checkpoint, rows: Sequence[TrainingRow], vectors: np.ndarray, of: int, made_by: str) -> Path:
    """Write the index of a checkpoint, whole or not at all, and return its folder. ``vectors``: :func:`unit_vectors` of
    the ``rows``, which were drawn from ``of``. Raises FileError where the operating system refuses."""
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
    """Whether an index of this name has been made; :func:`load` says whether it fits."""
    return "guest" not in checkpoint.card and (neighbours_folder() / checkpoint.name / _CARD).is_file()


@dataclass(frozen=True)
class Index:
    """The rows of an index and their ``vectors [N, F]`` of length 1."""

    rows: Sequence[TrainingRow]
    vectors: np.ndarray
    card: IndexCard

    def nearest(self, vector: np.ndarray, labels: Sequence[str]) -> Neighbours:
        """The rows of each of these classes that are nearest to a pair's vector ``[F]``."""
        cosines, classes = self.vectors @ vector, np.array([row.label for row in self.rows], dtype=object)
        out: dict[str, tuple[TrainingNeighbour, ...]] = {}
        for label in labels:
            places = np.flatnonzero(classes == label)
            best = places[np.argsort(-cosines[places], kind="stable")[:NEAREST]]
            if len(best):
                out[label] = tuple(TrainingNeighbour(self.rows[i], float(cosines[i])) for i in best)
        return Neighbours(out, len(self.rows), self.card.of)


def load(checkpoint: Checkpoint) -> Index:
    """The index of a checkpoint. Raises NeighboursError where there is none, a damaged one, or another checkpoint's."""
    if "guest" in checkpoint.card:
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
    """The index as it was written when it was ``changed``."""
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
    """The training rows nearest to a pair, of each class. Raises NeighboursError as :func:`load` does, and PairError as
    :func:`core.explain.explain` does."""
    index = load(checkpoint)
    vector = unit_vectors(prepare(checkpoint, [checkpoint.read(first, second)]))[0]
    return index.nearest(vector, checkpoint.labels)
