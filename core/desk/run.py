"""What models said of every row of a data set, as one Parquet file.

Columns: id, first, second, label, group and title of each row, ``column/NAME`` for the file's other columns, and for
each model ``predicted/MODEL`` and ``p/MODEL/CLASS``. The schema's metadata name the file and the checkpoints with their
checksums. Attention is never stored: it is computed again for the row that is opened.
"""

from __future__ import annotations

import json
from collections import Counter
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
from core.data.labels import NOTHING, CountsAs, Scale, key, own
from core.data.lines import LARGEST
from core.errors import DeskError
from core.files import whole_file
from core.json_types import LENIENT, checked

VERSION = 2
"""From 2 on labels are as the file writes them; runs of 1 may lack those that their models did not have."""
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
    counts_as: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The classes that labels of the file stand for (:data:`core.data.labels.CountsAs`); others match by their text."""

    @classmethod
    def named(cls, checkpoint: Checkpoint, counts_as: CountsAs = NOTHING) -> RunModel:
        """What a run says of a checkpoint."""
        card = checkpoint.card
        texts = checkpoint.name, str(card["title"]), str(card["sha256"]), checkpoint.labels, str(card["task"])
        return RunModel(*texts, Roles(**checkpoint.roles), ranked_by(card), own(counts_as, checkpoint.labels))


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
    def of(cls, checkpoint: Checkpoint, probabilities: np.ndarray, counts_as: CountsAs = NOTHING) -> Predictions:
        """From a checkpoint and the probabilities that it gave."""
        return cls(**vars(RunModel.named(checkpoint, counts_as)), probabilities=probabilities.astype(np.float32))

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

    @cached_property
    def scale(self) -> Scale:
        """The answers that it is scored by. Raises DataError where its classes cannot count as labels like this."""
        return Scale(self.labels, self.counts_as, self.ranked_by)

    @cached_property
    def answers(self) -> np.ndarray:
        """Probability of each of these answers, ``[N, A]``."""
        return self.scale.sums(self.probabilities)

    @cached_property
    def answered(self) -> np.ndarray:
        """Place of the likeliest answer of each row, ``[N]``."""
        return self.answers.argmax(axis=1)


@dataclass(frozen=True)
class Run:
    """A data set and what one to four checkpoints said of its rows."""

    dataset: Dataset
    models: tuple[Predictions, ...]
    lost_labels: int = 0
    """Rows without a label in a run of version 1, whose labels may have been left out."""

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
        """The file's label of each row, in the spelling that comes first, ``[N]`` of str; empty where it has none."""
        return np.array([self.spellings.get(row.label or "", "") for row in self.dataset.rows], dtype=object)

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Each label in the file's own spelling, by its key."""
        spelled: dict[str, str] = {}
        for row in self.dataset.rows:
            if row.label is not None:
                spelled.setdefault(row.label, row.shown_label)
        return spelled

    @cached_property
    def gold_answers(self) -> tuple[np.ndarray, ...]:
        """For each model the place of the answer that is the row's label, ``[N]``; -1 for rows without, and for labels
        that are not scored."""
        labels = [row.label for row in self.dataset.rows]
        return tuple(model.scale.of(labels) for model in self.models)

    def labels_of(self, model: int, answer: int) -> list[str]:
        """The labels, in the file's spelling, that an answer of a model stands for."""
        places = self.models[model].scale.of([*self.spellings])
        return [text for text, place in zip(self.spellings.values(), places, strict=True) if place == answer]

    def right(self, model: int) -> np.ndarray:
        """Whether this model's likeliest answer is the file's label, bool ``[N]``; False also where that is unknown, in
        the rows that are not :attr:`judged`."""
        return self.models[model].answered == self.gold_answers[model]

    def ranks(self, model: int) -> bool:
        """Whether the rows are answers to questions that this model ranks."""
        return self.dataset.ranking and self.models[model].ranked_by is not None

    def answers(self, model: int) -> tuple[list[str], list[bool], list[float]]:
        """Of each row with a label its question, whether it is a right answer, and how probable that is to this model,
        which ranks: what :func:`core.evaluation.scores.ranking` takes."""
        rows, predictions = np.flatnonzero(self.judged), self.models[model]
        groups = [self.dataset.rows[i].group or "" for i in rows]
        place = predictions.labels.index(predictions.ranked_by or "")
        right = self.gold_answers[model][rows] == predictions.scale.of_classes(np.array([place]))
        return groups, right.tolist(), predictions.right_chances[rows].tolist()

    @cached_property
    def judged(self) -> np.ndarray:
        """Which rows have a label that every model is scored by, bool ``[N]``: scores are of these alone."""
        return np.array(np.min(self.gold_answers, axis=0) >= 0)

    @cached_property
    def unknown(self) -> list[str]:
        """Labels of the file that match no class of one of the models."""
        return sorted({label for model in self.models for label in model.scale.unknown([*self.spellings])})

    @cached_property
    def labelled(self) -> bool:
        """Whether there are labels and all match classes of every model: only then are there scores."""
        return not self.unknown and bool(self.judged.any())

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
    columns = {name: _text_array([_stored(row, name) for row in rows]) for name in _FIELDS}
    for name in other_columns(run.dataset):
        columns[own_column(name)] = _text_array([row.columns.get(name) for row in rows])
    for place, model in enumerate(run.models, start=1):
        columns[f"predicted/{place} {model.model}"] = _text_array(model.predicted.tolist())
        for i, label in enumerate(model.labels):
            chances = np.ascontiguousarray(model.probabilities[:, i], dtype=np.float32)
            buffers = [None, pa.py_buffer(chances)]
            columns[f"p/{place} {model.model}/{label}"] = pa.Array.from_buffers(pa.float32(), len(chances), buffers)
    return pa.table(columns).replace_schema_metadata({KEY: header_of(run.dataset, run.models)})


def _stored(row: Example, name: str) -> str | None:
    text: str | None = row.shown_label or None if name == "label" else getattr(row, name)
    return text


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
    if not isinstance(known, dict) or known.get("version") not in range(1, VERSION + 1):
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
        label = texts["label"][i]
        columns = {name: text for name, values in others.items() if (text := values[i]) is not None}
        known = str(texts["id"][i]), first, second, None if label is None else key(label)
        rows.append(Example(*known, texts["group"][i], texts["title"][i] or "", columns, label or ""))
    if not rows or not 1 <= len(header.models) <= MOST_MODELS:
        raise ValueError("no rows or no models")
    data = Dataset(header.name, header.layout, tuple(rows), header.problems, header.dropped, header.sha256)
    models = tuple(_predictions(table, place, model) for place, model in enumerate(header.models, start=1))
    return Run(data, models, _lost_labels(data) if header.version == 1 else 0)


def _lost_labels(data: Dataset) -> int:
    """Rows without a label in a run of version 1, which left out labels that are not NLI's, or that a user did not map.
    SNLI's own rows without one show that no label had most of its annotators' votes."""
    broken = sum("label " in problem.what for problem in data.problems)
    return broken + sum(row.label is None and not _disputed(row) for row in data.rows)


def _disputed(row: Example) -> bool:
    try:
        votes = Counter(map(str, json.loads(row.columns["annotator_labels"])))
    except (KeyError, ValueError, TypeError):
        return False
    return 2 * max(votes.values(), default=0) <= votes.total()


def _predictions(table: pa.Table, place: int, model: RunModel) -> Predictions:
    names = [f"p/{place} {model.model}/{label}" for label in model.labels]
    probabilities = np.stack([table.column(name).to_numpy() for name in names], axis=1).astype(np.float32)
    if not np.isfinite(probabilities).all():
        raise ValueError("a probability is missing")
    return Predictions(**vars(model), probabilities=probabilities)
