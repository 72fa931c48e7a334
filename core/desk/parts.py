"""A run in parts: a folder of Parquet files, each a run of some of a file's rows, and a note of what they are parts of.

The note, ``_run.json``, is there before the first part; once the last is, it also says how many there are. Who finds it
knows whether parts are missing and whose they are. Parts of CSV or JSON lines have the same note.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data import Dataset, Problem
from core.data.lines import LARGEST
from core.desk import run as runs
from core.desk.folders import NOTE
from core.desk.run import MOST_CELLS, Predictions, Run, RunHeader, RunModel
from core.errors import DeskError
from core.files import json_text, read_json, write_whole
from core.json_types import LENIENT, JsonMapping, checked

VERSION = 2
"""As that of :mod:`core.desk.run`: parts of versions are not mixed."""


@dataclass(frozen=True)
class Whole:
    """What parts are parts of: equal for all that may share a folder."""

    name: str
    sha256: str
    """Of the data file, or of all of them together."""
    models: tuple[RunModel, ...]
    format: str
    """Ending of the parts' names, without the point."""
    labels: tuple[str, ...]
    """What labels of the file are called, as LABEL=CLASS."""
    rows_a_part: int
    version: int = VERSION

    def part(self, number: int) -> str:
        """The file name of a part."""
        return f"part-{number:05}.{self.format}"

    def sha256_of(self, number: int) -> str:
        """What stands for the data file's checksum in a part, which is a run of its own."""
        text = json.dumps([self.sha256, self.labels, self.rows_a_part, number])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Finished:
    """What is known once all parts are there."""

    parts: int
    rows: int
    layout: str
    broken: int
    """Rows of the file that could not be read."""
    problems: tuple[Problem, ...]
    """The first of them."""


def note(folder: Path, whole: Whole, finished: Finished | None = None) -> None:
    """Write what a folder's parts are parts of. Raises FileError where the operating system refuses."""
    known = {"run": asdict(whole)} | ({"finished": asdict(finished)} if finished else {})
    write_whole(folder / NOTE, json_text(known))


def read_note(folder: Path) -> tuple[Whole, Finished | None]:
    """What a folder's parts are parts of. Raises DeskError for a note that cannot be used."""
    try:
        known: JsonMapping = read_json(folder / NOTE)
        whole = checked(known["run"], Whole, by=LENIENT)
        finished = checked(known["finished"], Finished, by=LENIENT) if "finished" in known else None
    except (OSError, ValueError, KeyError, TypeError):
        raise DeskError(f"{folder.name}/{NOTE} is damaged: predict into another folder") from None
    if whole.version not in range(1, VERSION + 1):
        raise DeskError(f"{folder.name} was written by another version of PairLens: predict into another folder")
    return whole, finished


def header_of_part(folder: Path, whole: Whole, number: int) -> RunHeader | None:
    """The header of a Parquet part; None for one that is not there or cut off. Raises DeskError for one of another
    run."""
    try:
        header = runs.read_header(folder / whole.part(number))
    except DeskError:
        return None
    of_models = [[model.sha256 for model in of.models] for of in (header, whole)]
    if header.sha256 != whole.sha256_of(number) or of_models[0] != of_models[1]:
        raise DeskError(f"{whole.part(number)} in {folder.name} is a part of another run: predict into another folder")
    return header


def load(folder: Path, largest: int = LARGEST) -> Run:
    """All parts of a folder as one run. Raises DeskError where parts are missing, damaged or of other runs, and for
    what has more cells or bytes than the error desk opens."""
    whole, finished = read_note(folder)
    if whole.format != "parquet":
        raise DeskError(f"{folder.name} holds parts in {whole.format}: the error desk opens those in Parquet")
    if finished is None:
        raise DeskError(f"{folder.name} holds a part of its run only: begin the same command again, and it goes on")
    own, cells = list[Run](), 0
    for number in range(finished.parts):
        if header_of_part(folder, whole, number) is None:
            raise DeskError(
                f"{whole.part(number)} of {folder.name} is missing or cut off: begin the same command again, and it is "
                "written anew"
            )
        run = runs.load(folder / whole.part(number), largest)
        cells += len(run.dataset.rows) * len(pq.read_schema(folder / whole.part(number)).names)
        largest -= (folder / whole.part(number)).stat().st_size
        if cells > MOST_CELLS or largest < 0:
            raise DeskError(f"{folder.name} has more rows than the error desk opens: divide the file")
        own.append(run)
    return _joined(own, whole, finished)


def _joined(own: Sequence[Run], whole: Whole, finished: Finished) -> Run:
    rows = tuple(chain.from_iterable(part.dataset.rows for part in own))
    data = Dataset(whole.name, finished.layout, rows, finished.problems, 0, whole.sha256)
    models = []
    for place, model in enumerate(whole.models):
        chances = np.concatenate([part.models[place].probabilities for part in own])
        models.append(Predictions(**vars(model), probabilities=chances))
    return Run(data, tuple(models), sum(part.lost_labels for part in own))


def write_joined(tables: Iterator[pa.Table], others: Sequence[str], header: bytes, path: Path) -> None:
    """Tables of a run's parts as one file, with the ``others``, the file's other columns, of all of them: what a part
    lacks is empty."""
    writer = None
    try:
        for table in tables:
            for name in map(runs.own_column, others):
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(table.num_rows, pa.string()))
            table = table.select(runs.in_order(table.column_names, others))
            table = table.replace_schema_metadata({runs.KEY: header})
            writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
