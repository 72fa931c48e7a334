"""What models said of every row of a data set, as one Parquet file.

Columns: id, first, second, label, group and title of each row, ``column/NAME`` for the file's other columns, and for
each model ``predicted/MODEL`` and ``p/MODEL/CLASS``. The schema's metadata name the file and the checkpoints with their
checksums. Attention is never stored: it is computed again for the row that is opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.card import Roles, ranked_by
from core.checkpoint import Checkpoint
from core.data import Dataset, Example, Problem
from core.data.lines import LARGEST
from core.errors import DeskError
from core.files import whole_file
from core.json_types import LENIENT, checked

VERSION = 1
MOST_MODELS = 4
MOST_CELLS = 50_000_000
"""Rows times columns of a run."""
KEY = b"pairlens_run"
_FIELDS = ("id", "first", "second", "label", "group", "title")
_COLUMN = "column/"


@dataclass(frozen=True)
class RunModel:
    """A checkpoint whose predictions a run holds."""

    model: str
    title: str
    sha256: str
    """Of the checkpoint's weights."""
    labels: tuple[str, ...]
    task: str
    roles: Roles
    ranked_by: str | None = None
    """The class whose probability ranks answers (:func:`core.card.ranked_by`)."""

    @classmethod
    def named(cls, checkpoint: Checkpoint) -> RunModel:
        """What a run says of a checkpoint."""
        card = checkpoint.card
        texts = checkpoint.name, str(card["title"]), str(card["sha256"]), checkpoint.labels, str(card["task"])
        return RunModel(*texts, Roles(**checkpoint.roles), ranked_by(card))


@dataclass(frozen=True)
class RunHeader:
    """What a run's file says of itself, in its schema's metadata."""

    version: int
    name: str
    layout: str
    sha256: str
    """Of the data file."""
    dropped: int
    problems: tuple[Problem, ...]
    models: tuple[RunModel, ...]
    rows: int = 0
    """Of the file's table."""


@dataclass(frozen=True)
class Predictions(RunModel):
    """What one checkpoint said of every row: ``probabilities`` float32 ``[N, C]`` in the order of ``labels``."""

    probabilities: np.ndarray = field(kw_only=True)

    @classmethod
    def of(cls, checkpoint: Checkpoint, probabilities: np.ndarray) -> Predictions:
        """From a checkpoint and the probabilities that it gave."""
        return cls(**vars(RunModel.named(checkpoint)), probabilities=probabilities.astype(np.float32))

    @property
    def right_chances(self) -> np.ndarray:
        """Probability of the class that ranks answers, ``[N]``; of a model that has one."""
        assert self.ranked_by is not None, "Run.ranks() was not asked"
        return self.probabilities[:, self.labels.index(self.ranked_by)]

    @cached_property
    def best(self) -> np.ndarray:
        """Index of the likeliest class of each row, ``[N]``."""
        return self.probabilities.argmax(axis=1)

    @cached_property
    def predicted(self) -> np.ndarray:
        """Name of the likeliest class of each row, ``[N]`` of str."""
        return np.array(self.labels, dtype=object)[self.best]


@dataclass(frozen=True)
class Run:
    """A data set and what one to four checkpoints said of its rows."""

    dataset: Dataset
    models: tuple[Predictions, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """A name for each row that no other row has: its id, and from the second row of an id on ``id#2``."""
        seen: dict[str, int] = {}
        taken: set[str] = {row.id for row in self.dataset.rows}
        keys = []
        for row in self.dataset.rows:
            seen[row.id] = count = seen.get(row.id, 0) + 1
            key = row.id if count == 1 else f"{row.id}#{count}"
            while count > 1 and key in taken:
                key += "'"
            taken.add(key)
            keys.append(key)
        return tuple(keys)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Number of each row, from 0, by its key."""
        return {key: i for i, key in enumerate(self.keys)}

    @cached_property
    def gold(self) -> np.ndarray:
        """The label that the file gives each row, ``[N]`` of str; empty where none."""
        return np.array([row.label or "" for row in self.dataset.rows], dtype=object)

    def right(self, model: int) -> np.ndarray:
        """Whether this model's likeliest class is the file's label, bool ``[N]``."""
        return self.models[model].predicted == self.gold

    def ranks(self, model: int) -> bool:
        """Whether the rows are answers to questions that this model ranks."""
        return self.dataset.ranking and self.models[model].ranked_by is not None

    def answers(self, model: int) -> tuple[list[str], list[bool], list[float]]:
        """Of each row with a label its question, whether it is a right answer, and how probable that is to this model,
        which ranks: what :func:`core.evaluation.scores.ranking` takes."""
        rows, predictions = np.flatnonzero(self.judged), self.models[model]
        groups = [self.dataset.rows[i].group or "" for i in rows]
        right = self.gold[rows] == predictions.ranked_by
        return groups, right.tolist(), predictions.right_chances[rows].tolist()

    @cached_property
    def judged(self) -> np.ndarray:
        """Which rows have a label, bool ``[N]``: scores are of these alone."""
        return self.gold != ""

    @cached_property
    def labelled(self) -> bool:
        """Whether there are labels and all are classes of every model: only then are there scores."""
        labels = set(self.gold[self.judged])
        return bool(labels) and all(labels <= set(model.labels) for model in self.models)

    def with_models(self, models: tuple[Predictions, ...]) -> Run:
        """The same rows with these models."""
        return replace(self, models=models)


def column_of(name: str, model: int) -> str:
    """What filters call this column of a model: right, right2, …"""
    return name if model == 0 else f"{name}{model + 1}"


def fitting(dataset: Dataset) -> Dataset:
    """The data set, where a run of it would not have too many cells: JSON lines may have other keys in each row. Raises
    DeskError where it would."""
    check_columns(dataset.name, len(other_columns(dataset)), len(dataset.rows))
    return dataset


def other_columns(dataset: Dataset) -> dict[str, None]:
    """The names of the file's other columns, in order of appearance."""
    return dict.fromkeys(name for row in dataset.rows for name in row.columns)


def own_column(name: str) -> str:
    """What a run's table calls another column of the file."""
    return _COLUMN + name


def in_order(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """The names of a run's columns as its table has them: texts, the file's ``others``, then the models'."""
    of_models = [name for name in names if name not in _FIELDS and not name.startswith(_COLUMN)]
    return [*_FIELDS, *map(own_column, others), *of_models]


def check_columns(name: str, columns: int, rows: int) -> None:
    """Raises DeskError where a run of a file would have too many cells."""
    if columns * rows > MOST_CELLS:
        raise DeskError(
            f"{name} has {columns:,} other columns in {rows:,} rows, more than the error desk holds: leave columns out"
        )


def save(run: Run, path: Path) -> None:
    """Write a run as Parquet, whole or not at all. Raises FileError where the operating system refuses."""
    with whole_file(path) as scratch:
        pq.write_table(to_table(run), scratch, compression="zstd")


def to_table(run: Run) -> pa.Table:
    """The run as an Arrow table."""
    rows = run.dataset.rows
    columns = {name: _text_array([getattr(row, name) for row in rows]) for name in _FIELDS}
    for name in other_columns(run.dataset):
        columns[own_column(name)] = _text_array([row.columns.get(name) for row in rows])
    for place, model in enumerate(run.models, start=1):
        columns[f"predicted/{place} {model.model}"] = _text_array(model.predicted.tolist())
        for i, label in enumerate(model.labels):
            chances = np.ascontiguousarray(model.probabilities[:, i], dtype=np.float32)
            buffers = [None, pa.py_buffer(chances)]
            columns[f"p/{place} {model.model}/{label}"] = pa.Array.from_buffers(pa.float32(), len(chances), buffers)
    return pa.table(columns).replace_schema_metadata({KEY: header_of(run.dataset, run.models)})


def _text_array(texts: Sequence[str | None]) -> pa.Array | pa.ChunkedArray:
    """As ``pa.array(texts, pa.string())``, which loads pandas: 40 MB and a third of a second that a stream can do
    without."""
    encoded = [text.encode() if text is not None else b"" for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] >= 2**31:  # more than one array of texts can hold
        return pa.array(texts, pa.string())
    there = np.array([text is not None for text in texts], dtype=bool)
    mask = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [mask, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def header_of(data: Dataset, models: Sequence[RunModel]) -> bytes:
    """What the file of a run says of itself (:class:`RunHeader`)."""
    header = {
        "version": VERSION,
        "name": data.name,
        "layout": data.layout,
        "sha256": data.sha256,
        "dropped": data.dropped,
        "problems": data.problems,
        "models": [{part.name: getattr(model, part.name) for part in fields(RunModel)} for model in models],
    }
    return json.dumps(header, ensure_ascii=False, default=vars).encode()


def _check_size(path: Path, size: int, largest: int) -> None:
    if size > largest:
        raise DeskError(
            f"{path.name} holds {size / 1e6:,.0f} MB; the error desk opens runs of up to {largest / 1e6:,.0f} MB"
        )


def is_run(path: Path) -> bool:
    """Whether a file is a run, not another Parquet file or none."""
    try:
        return KEY in (pq.read_metadata(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def read_header(path: Path, largest: int = LARGEST, opened: IO[bytes] | None = None) -> RunHeader:
    """What a run's file, perhaps one that is ``opened`` already, says of itself, without its rows. Raises DeskError for
    a file that is none, or whose texts take more than ``largest`` bytes."""
    refused = f"{path.name} is no run of PairLens: write one with `python -m trainers predict … --out run.parquet`"
    try:
        metadata = pq.read_metadata(opened or path)
        known = json.loads((metadata.metadata or {})[KEY])
    except FileNotFoundError:
        raise DeskError(f"there is no run {path.name}: predict the file again") from None
    except (OSError, pa.ArrowException, KeyError, ValueError, RecursionError):
        raise DeskError(refused) from None
    if not isinstance(known, dict) or known.get("version") != VERSION:
        raise DeskError(f"{path.name} was written by another version of PairLens: predict the file again")
    if metadata.num_rows * metadata.num_columns > MOST_CELLS:
        raise DeskError(
            f"{path.name} has {metadata.num_rows:,} rows of {metadata.num_columns:,} columns, more than the error desk "
            "opens: divide the file and predict its parts"
        )
    _check_size(path, sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)), largest)
    try:
        header = checked(known | {"rows": metadata.num_rows}, RunHeader, by=LENIENT)
    except ValueError:
        raise DeskError(f"{path.name} is damaged: predict the file again") from None
    models = [
        replace(m, ranked_by=ranked_by({"labels": list(m.labels), "ranked_by": m.ranked_by})) for m in header.models
    ]
    return replace(header, models=tuple(models))


def load(path: Path, largest: int = LARGEST) -> Run:
    """Read a run. Raises DeskError for a file that is none, a damaged one, or one whose texts take more than
    ``largest`` bytes."""
    header = read_header(path, largest)
    try:
        schema = pq.read_schema(path)
        texts = [name for name in schema.names if name in _FIELDS or name.startswith(_COLUMN)]
        numbers = [name for name in schema.names if name.startswith("p/")]
        if not all(_holds_text(schema.field(name).type) for name in texts):
            raise ValueError("a column of texts holds something else")
        if not all(pa.types.is_floating(schema.field(name).type) for name in numbers):
            raise ValueError("a column of probabilities holds something else")
        # Each text once, with the rows that have it: a file of 10 kB may repeat one of 1 MB in thousands of rows.
        table = pq.read_table(path, columns=[*texts, *numbers], read_dictionary=texts)
        _check_size(path, sum(_size(table.column(name)) for name in texts), largest)
        return _from_table(table, header)
    except DeskError:
        raise
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, IndexError):
        raise DeskError(f"{path.name} is damaged: predict the file again") from None


def _holds_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _size(column: pa.ChunkedArray) -> int:
    """Bytes that the texts of all rows would take."""
    sizes = (pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() for part in column.chunks)
    return sum(size or 0 for size in sizes)


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    """The text of every row; rows of one text share it."""
    out: list[str | None] = []
    for part in column.chunks:
        values = part.dictionary.to_pylist()
        out += [None if place is None else values[place] for place in part.indices.to_pylist()]
    return out


def _from_table(table: pa.Table, header: RunHeader) -> Run:
    texts = {name: _texts(table.column(name)) for name in _FIELDS}
    others = {
        name.removeprefix(_COLUMN): _texts(table.column(name))
        for name in table.column_names
        if name.startswith(_COLUMN)
    }
    rows = []
    for i in range(table.num_rows):
        first, second = texts["first"][i], texts["second"][i]
        if first is None or second is None:
            raise ValueError("a row without a text")
        known = str(texts["id"][i]), first, second, texts["label"][i], texts["group"][i], texts["title"][i] or ""
        columns = {name: text for name, values in others.items() if (text := values[i]) is not None}
        rows.append(Example(*known, columns))
    if not rows or not 1 <= len(header.models) <= MOST_MODELS:
        raise ValueError("no rows or no models")
    data = Dataset(header.name, header.layout, tuple(rows), header.problems, header.dropped, header.sha256)
    return Run(data, tuple(_predictions(table, place, model) for place, model in enumerate(header.models, start=1)))


def _predictions(table: pa.Table, place: int, model: RunModel) -> Predictions:
    names = [f"p/{place} {model.model}/{label}" for label in model.labels]
    probabilities = np.stack([table.column(name).to_numpy() for name in names], axis=1).astype(np.float32)
    if not np.isfinite(probabilities).all():
        raise ValueError("a probability is missing")
    return Predictions(**vars(model), probabilities=probabilities)
