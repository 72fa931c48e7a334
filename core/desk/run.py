"""A run: a data set and the predictions of up to four checkpoints for each of its rows. A run without predictions can
be labelled.

Predictions and labels are held in memory as arrays; the texts stay in the run's folder (:mod:`core.desk.run_folder`)
and are read row by row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.card import Roles, ranked_by
from core.checkpoint import Checkpoint
from core.data import Dataset, Example, Problem
from core.data.labels import NOTHING, CountsAs, Scale, gold, graded, is_number, own
from core.desk.row_index import RowIndex, distinct
from core.errors import DeskError
from core.lazy import lazy_property

LETTERS = "ABCD"
"""Letters of a run's models, in order."""
MOST_MODELS = len(LETTERS)
MOST_CELLS = 50_000_000
"""Maximum rows × columns of a run."""
TEXT_COLUMNS = ("id", "first", "second", "label", "group", "title")
OTHER_COLUMN = "column/"
"""Prefix for the file's other columns in a run's Parquet file."""


@dataclass(frozen=True)
class RunModel:
    """A checkpoint whose predictions a run contains."""

    model: str
    title: str
    sha256: str
    """Checksum of the checkpoint's weights."""
    labels: tuple[str, ...]
    task: str
    roles: Roles
    ranked_by: str | None = None
    """The class whose probability ranks answers (:func:`core.card.ranked_by`)."""
    counts_as: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By label in the file, the classes that it counts as (:data:`core.data.labels.CountsAs`); other labels match
    classes by name."""

    @classmethod
    def named(cls, checkpoint: Checkpoint, counts_as: CountsAs = NOTHING) -> RunModel:
        """The checkpoint's facts stored in a run."""
        card = checkpoint.card
        texts = checkpoint.name, str(card["title"]), str(card["sha256"]), checkpoint.labels, str(card["task"])
        return RunModel(*texts, Roles(**checkpoint.roles), ranked_by(card), own(counts_as, checkpoint.labels))


@dataclass(frozen=True)
class RunHeader:
    """Facts about a run without its rows, as stored in ``run.json``."""

    version: int
    name: str
    layout: str
    sha256: str
    """Checksum of the data file."""
    dropped: int
    problems: tuple[Problem, ...]
    models: tuple[RunModel, ...]
    """In the order of the latest prediction: the first one is A."""
    rows: int = 0
    texts: str = ""
    """Checksum of all rows' texts: predictions for other texts cannot share the folder."""
    text_names: tuple[str, ...] = ()
    """The file's own names of the texts (:attr:`core.data.Dataset.text_names`)."""


@dataclass(frozen=True)
class Predictions(RunModel):
    """A checkpoint's ``probabilities``, float32 ``[N, C]`` in the order of ``labels``, for all rows of a run."""

    probabilities: np.ndarray = field(kw_only=True)
    truncated: np.ndarray | None = field(default=None, kw_only=True)
    """Whether the model read only the beginning of one of a row's texts, bool ``[N]``; None if it was
    not stored, as for perturbed rows."""

    @classmethod
    def of(cls, checkpoint: Checkpoint, probabilities: np.ndarray, counts_as: CountsAs = NOTHING) -> Predictions:
        """The predictions of a checkpoint."""
        return cls(**vars(RunModel.named(checkpoint, counts_as)), probabilities=probabilities.astype(np.float32))

    @property
    def right_chances(self) -> np.ndarray:
        """Probability of the class that ranks answers, ``[N]``; only for a model with such a class."""
        assert self.ranked_by is not None, "Run.ranks() was not called first"
        return self.probabilities[:, self.labels.index(self.ranked_by)]

    @lazy_property
    def best(self) -> np.ndarray:
        """Index of the most probable class of each row, ``[N]``."""
        return self.probabilities.argmax(axis=1)

    @lazy_property
    def predicted(self) -> np.ndarray:
        """Name of the most probable class of each row, ``[N]`` of str."""
        return np.array(self.labels, dtype=object)[self.best]

    @lazy_property
    def scale(self) -> Scale:
        """The answers by which the model is scored. Raises DataError if classes conflict with ``counts_as``."""
        return Scale(self.labels, self.counts_as, self.ranked_by)

    @lazy_property
    def answers(self) -> np.ndarray:
        """Probability of each answer, ``[N, A]``."""
        return self.scale.sums(self.probabilities)

    @lazy_property
    def answered(self) -> np.ndarray:
        """Index of the most probable answer of each row, ``[N]``."""
        return self.answers.argmax(axis=1)


class StoredRows:
    """The rows in a run's ``data.parquet``, read on demand, one row group at a time; ``named``: labels that are gold
    although they may look like none (:func:`core.data.labels.names_of`)."""

    def __init__(self, path: Path, named: Collection[str] = ()) -> None:
        self.path, self.named = path, named
        metadata = pq.read_metadata(path)
        self._ends = np.cumsum([metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)])
        self._group: tuple[int, list[Example]] = (-1, [])

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, place: int) -> Example:
        if not 0 <= place < len(self):
            raise IndexError(f"row {place} of {len(self)}")
        number = int(np.searchsorted(self._ends, place, side="right"))
        held = self._group
        if held[0] != number:
            with pq.ParquetFile(self.path) as file:
                held = self._group = number, examples(file.read_row_group(number), self.named)
        return held[1][place - int(self._ends[number])]

    def __iter__(self) -> Iterator[Example]:
        with pq.ParquetFile(self.path) as file:
            for number in range(len(self._ends)):
                yield from examples(file.read_row_group(number), self.named)

    def column(self, name: str) -> list[str]:
        """The values in a column of the file, ``[N]``; an empty text if a row has none."""
        different, codes = self.coded(name)
        texts: list[str] = different[codes].tolist()  # equal values share their memory
        return texts

    def values(self, name: str) -> pa.Array:
        """The values in a column of the file; an empty text if a row has none."""
        return read_table(self.path, [name]).column(0).cast(pa.large_string()).combine_chunks().fill_null("")

    def coded(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The distinct values in a column, ``[V]`` of str, and the index of each row's value, int ``[N]``."""
        found = self.values(name).dictionary_encode()
        return np.array([*found.dictionary.to_pylist(), ""], dtype=object)[:-1], found.indices.to_numpy()

    def texts(self, rows: int) -> Iterator[tuple[list[str], list[str]]]:
        """The first and second texts, ``rows`` at a time."""
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(rows, columns=["first", "second"]):
                yield batch.column("first").to_pylist(), batch.column("second").to_pylist()

    def other_columns(self) -> list[str]:
        """The names of the file's other columns."""
        names = pq.read_schema(self.path).names
        return [name.removeprefix(OTHER_COLUMN) for name in names if name.startswith(OTHER_COLUMN)]


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file, or some of its columns. Unlike ``pq.read_table``, it imports neither pandas nor the modules for
    remote file systems, for which the first visitor would wait half a second."""
    with pq.ParquetFile(path) as file:
        return file.read(columns)


def examples(table: pa.Table, named: Collection[str] = ()) -> list[Example]:
    """The rows of a table with a run's columns; ``named`` as in :class:`StoredRows`. Raises ValueError for a row
    without a text."""
    texts = [table.column(name).to_pylist() for name in TEXT_COLUMNS]
    names = [name for name in table.column_names if name.startswith(OTHER_COLUMN)]
    others = [(name.removeprefix(OTHER_COLUMN), table.column(name).to_pylist()) for name in names]
    rows = []
    for i, (id, first, second, label, group, title) in enumerate(zip(*texts, strict=True)):
        if first is None or second is None:
            raise ValueError("a row without a text")
        cells = {name: values[i] for name, values in others if values[i] is not None}
        known = None if label is None else gold(label, named)
        rows.append(Example(str(id), first, second, known, group, title or "", cells, label or ""))
    return rows


def _digest(key: str) -> bytes:
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=4).digest()


@dataclass(frozen=True)
class Run:
    """A data set and the predictions of up to four checkpoints for its rows."""

    dataset: Dataset
    """Its rows are :class:`StoredRows`."""
    models: tuple[Predictions, ...]
    folder: Path

    @property
    def rows(self) -> StoredRows:
        """The rows of the data set."""
        return cast(StoredRows, self.dataset.rows)

    @property
    def keys(self) -> np.ndarray:
        """A unique name for each row, ``[N]`` of str: its id, with ``#2`` and so on appended to repeated ids."""
        return self._index.keys

    @lazy_property
    def _index(self) -> RowIndex:
        ids = self.rows.values("id").to_numpy(zero_copy_only=False).tolist()
        index = RowIndex.of(ids)
        return index if index.unique else RowIndex.of(distinct(ids))

    def place(self, key: str) -> int | None:
        """The index of the row with this key, if there is one."""
        return self.places([key]).get(key)

    def places(self, keys: Iterable[str]) -> dict[str, int]:
        """The index of each row with one of these keys, by its key, in the order of the rows."""
        return self._index.places(keys)

    @property
    def roles(self) -> Roles:
        """The names of the texts: the first model's, or else the file's own."""
        if self.models:
            return self.models[0].roles
        own = [name for name in self.dataset.text_names if name and not name.isdecimal()]
        if self.single:
            return Roles(own[0], "", own[0]) if own else Roles("text", "", "text")
        first, second = own if len({*own}) == 2 else ("first", "second")
        return Roles(first, second, second)

    @lazy_property
    def text_columns(self) -> tuple[str, str]:
        """The column names of the first and second text: their roles, unless these clash with other columns."""
        names = self.roles.first, self.roles.second
        others = {"id", "gold", "tags", "notes", "annotators", "settled", *LETTERS.lower()}
        own = {*map(str.lower, names)} - others
        return names if len(own) == 2 and "`" not in "".join(names) else ("first", "second")

    @lazy_property
    def draws(self) -> np.ndarray:
        """A random number for each row, uint32 ``[N]``, from a hash of its key alone: the same in every run."""
        return np.frombuffer(b"".join(map(_digest, self.keys.tolist())), dtype="<u4")

    @property
    def held_back(self) -> np.ndarray:
        """The half of the rows hidden from searches for slices, bool ``[N]``."""
        return self.draws % 2 == 1

    @lazy_property
    def single(self) -> bool:
        """Whether rows are single texts, not pairs."""
        return self.dataset.single

    @lazy_property
    def _coded(self) -> tuple[np.ndarray, np.ndarray]:
        return self.rows.coded("label")

    def _of_labels(self, values: Callable[[str], object]) -> np.ndarray:
        """A value for each row that depends on its label as the file spells it, ``[N]``."""
        different, codes = self._coded
        found = np.empty(len(different), dtype=object)
        found[:] = [values(text) for text in different]
        return found[codes]

    @lazy_property
    def gold(self) -> np.ndarray:
        """The file's label for each row, in its first spelling, ``[N]`` of str; empty if it has none."""
        return self._of_labels(lambda text: self.spellings.get(gold(text, self.rows.named) or "", ""))

    @lazy_property
    def labels_sha256(self) -> str:
        """Checksum of the file's labels, :attr:`gold`."""
        return hashlib.sha256("\0".join(self.gold).encode("utf-8", "surrogatepass")).hexdigest()

    @lazy_property
    def spellings(self) -> Mapping[str, str]:
        """The first spelling of each label in the file, by the label's key."""
        different, codes = self._coded
        spelled: dict[str, str] = {}
        for code in np.argsort(np.unique(codes, return_index=True)[1], kind="stable"):  # by their first rows
            label = gold(different[code], self.rows.named)
            if label is not None:
                spelled.setdefault(label, different[code])
        return spelled

    @lazy_property
    def gold_answers(self) -> tuple[np.ndarray, ...]:
        """Per model, the index of the answer for each row's gold label, ``[N]``; -1 for rows without a label and for
        unscored labels."""
        different, codes = self._coded
        labels = [gold(text, self.rows.named) for text in different]
        unknown = [{*model.scale.unknown([*self.spellings])} for model in self.models]
        return tuple(
            model.scale.of([None if label in strange else label for label in labels])[codes]
            for model, strange in zip(self.models, unknown, strict=True)
        )

    def labels_of(self, model: int, answer: int) -> list[str]:
        """The labels, as spelt in the file, that a model's answer stands for."""
        places = self.models[model].scale.of([*self.spellings])
        return [text for text, place in zip(self.spellings.values(), places, strict=True) if place == answer]

    def right(self, model: int) -> np.ndarray:
        """Whether this model's most probable answer is the file's label, bool ``[N]``; False also for rows that are not
        :attr:`judged`."""
        return self.models[model].answered == self.gold_answers[model]

    def ranks(self, model: int) -> bool:
        """Whether the rows are answers to questions that this model ranks."""
        return self.dataset.ranking and self.models[model].ranked_by is not None

    def answers(self, model: int) -> tuple[list[str], list[bool], list[float]]:
        """The arguments of :func:`core.evaluation.scores.ranking` for this model: each labelled row's question, whether
        it is a right answer, and its probability."""
        rows, predictions = np.flatnonzero(self.judged), self.models[model]
        groups = np.array(self.rows.column("group"), dtype=object)[rows].tolist()
        place = predictions.labels.index(predictions.ranked_by or "")
        right = self.gold_answers[model][rows] == predictions.scale.of_classes(np.array([place]))
        return groups, right.tolist(), predictions.right_chances[rows].tolist()

    def grades(self, model: int, rows: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray] | None:
        """The file's grades of these rows (bool ``[N]``, by default all) that have one, and the model's scores for them
        ``[G]``: its single output, or the probability of the class that ranks answers. None if the model gives no
        score, or labels are not grades (:func:`core.data.labels.graded`)."""
        own, labels = self.models[model], [*self.spellings]
        only = len(own.labels) == 1
        compared = only or (own.ranked_by and graded(labels, own.scale.unknown(labels)))
        if not labels or not all(map(is_number, labels)) or not compared:
            return None
        scores = own.probabilities[:, 0] if only else own.right_chances
        grades = self._of_labels(lambda text: float(gold(text, self.rows.named) or "nan")).astype(float)
        known = ~np.isnan(grades) if rows is None else ~np.isnan(grades) & rows
        return grades[known], scores[known].astype(float)

    @lazy_property
    def judged(self) -> np.ndarray:
        """Rows whose label can be scored for every model, bool ``[N]``; scores use only these rows."""
        if not self.models:
            return np.zeros(len(self.rows), dtype=bool)
        return np.array(np.min(self.gold_answers, axis=0) >= 0)

    @lazy_property
    def unknown(self) -> list[str]:
        """Labels in the file that match no class of one of the models."""
        return sorted({label for model in self.models for label in model.scale.unknown([*self.spellings])})

    @lazy_property
    def labelled(self) -> bool:
        """Whether labels exist and all match classes of every model; otherwise nothing is scored."""
        return not self.unknown and bool(self.judged.any())


def column_of(name: str, model: int) -> str:
    """The name of a model's column in tables, filters and exports: A for ``predicted``, A.right, B.p, …"""
    own = {"predicted": "", "predicted_label": ".label"}.get(name, f".{name}")
    return LETTERS[model] + own


def prediction_of(model: int) -> str:
    """The name of the slices by a model's prediction."""
    return f"prediction of {LETTERS[model]}"


def fitting(dataset: Dataset) -> Dataset:
    """The data set, unless a run of it would have too many cells (each row of JSON lines may have different keys).
    Raises DeskError otherwise."""
    columns, rows = len(other_columns(dataset)), len(dataset.rows)
    if columns * rows > MOST_CELLS:
        raise DeskError(
            f"{dataset.name} has {columns:,} other columns in {rows:,} rows, more than the error desk holds: leave "
            "columns out"
        )
    return dataset


def other_columns(dataset: Dataset) -> list[str]:
    """The names of the file's other columns, in order of appearance."""
    return list(dict.fromkeys(name for row in dataset.rows for name in row.columns))
