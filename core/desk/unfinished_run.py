"""A run while it is being predicted: its parts are in a hidden subfolder of the run's (:mod:`core.desk.run_folder`), so
that an interrupted prediction resumes with the missing parts."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from core.data import Dataset
from core.desk.folders import is_run
from core.desk.run import OTHER_COLUMN, RunHeader, fitting, read_table
from core.desk.run_folder import DATA, ROWS, merge, model_file, read_header, reorder, table_of, write_header
from core.errors import DeskError, RunError
from core.files import make_folder, whole_file

PARTS, LOCK = ".parts-", ".lock"
"""The beginning of the name of a folder with a prediction's parts, and its file that a running prediction locks."""


class UnfinishedRun:
    """The parts of a run while it is being predicted.

    ``finished``: by part number, the rows of each part that needs no prediction, because an earlier, interrupted
    prediction wrote it or because the run already has all models. ``cut_off``: part files that cannot be read.
    """

    def __init__(self, folder: Path, header: RunHeader, parts: Path) -> None:
        self._folder, self._header, self._parts = folder, header, parts
        self.cut_off: list[str] = []
        self.finished = self._rows_of_run()
        self.whole = bool(self.finished)
        """Whether the run already has all models."""
        self._models = () if self.whole else header.models
        if not self.whole:
            self.finished = self._rows_of_parts()

    def _rows_of_run(self) -> dict[int, int]:
        """Rows by part if the run has all models, else empty."""
        known = read_header(self._folder)
        there = {model.sha256 for model in known.models}
        new = {model.sha256 for model in self._header.models}
        if not new <= there or self._header.texts not in ("", known.texts):
            return {}
        try:
            groups = [_rows_by_group(self._folder / name) for name in (DATA, *map(model_file, new))]
        except (OSError, pa.ArrowException):
            return {}
        return dict(enumerate(groups[0])) if all(rows == groups[0] for rows in groups) else {}

    def _rows_of_parts(self) -> dict[int, int]:
        found = {}
        for path in sorted(self._parts.glob("*.parquet")):
            try:
                found[int(path.stem)] = pq.read_metadata(path).num_rows
            except (OSError, pa.ArrowException):
                self.cut_off.append(path.name)
        return found

    def _path(self, number: int) -> Path:
        return self._parts / f"{number:06}.parquet"

    def skip(self, number: int, dataset: Dataset) -> None:
        """Skips a finished part; for a complete run, labels and other columns are rewritten."""
        if self.whole:
            self.add(number, dataset, ())

    def add(
        self,
        number: int,
        dataset: Dataset,
        probabilities: Sequence[np.ndarray],
        truncated: Sequence[np.ndarray | None] = (),
    ) -> None:
        """Writes a part (:func:`table_of`). Raises DeskError if its rows have too many columns."""
        with whole_file(self._path(number)) as scratch:
            table = table_of(fitting(dataset), self._models, probabilities, truncated)
            pq.write_table(table, scratch, compression="zstd")

    def finish(self, header: RunHeader, parts: int) -> RunHeader:
        """Joins this number of parts into a run with this header."""
        paths = [self._path(number) for number in range(parts)]
        names = dict.fromkeys(name for path in paths for name in pq.read_schema(path).names)
        others = [name.removeprefix(OTHER_COLUMN) for name in names if name.startswith(OTHER_COLUMN)]
        merged = merge(self._folder, replace(header, models=self._models), map(read_table, paths), others)
        new = {model.sha256: model for model in self._header.models}
        if not new.keys() <= {model.sha256 for model in merged.models}:
            raise DeskError(f"{header.name} is read differently than before: predict it again")
        return reorder(self._folder, list(new.values()))


def _rows_by_group(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


@contextmanager
def unfinished(folder: Path, header: RunHeader, settings: Sequence[str] = ()) -> Iterator[UnfinishedRun]:
    """The run of a data file in a folder, to be predicted by the header's models; ``settings`` are further values that
    determine its rows. Raises RunError for a folder with other data or files, or one in use by another process."""
    make_folder(folder)
    if is_run(folder):
        known = read_header(folder)
        if header.sha256 and known.sha256 != header.sha256:
            raise RunError(f"{folder} holds predictions of other data ({known.name}); give another folder")
    elif any(not child.name.startswith(".") for child in folder.iterdir()):
        raise RunError(f"{folder} holds other files; give an empty or a new folder")
    else:
        write_header(folder, replace(header, models=()))
    names = [header.sha256, *(model.sha256 for model in header.models), *settings, str(ROWS)]
    parts = folder / f"{PARTS}{hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16]}"
    if not header.sha256:  # a pipe, which may have different data now
        shutil.rmtree(parts, ignore_errors=True)
    make_folder(parts)
    lock = FileLock(parts / LOCK, thread_local=False)
    try:
        lock.acquire(timeout=0.5)  # a page may hold it briefly, to see whether the prediction runs
    except Timeout:
        raise RunError(f"another process writes into {folder}; wait until it has ended") from None
    finished = False
    try:
        yield UnfinishedRun(folder, header, parts)
        finished = True
    finally:
        if finished or not any(parts.glob("*.parquet")):  # nothing to resume
            delete_parts(parts)
        lock.release()


def delete_parts(parts: Path) -> None:
    """Deletes a prediction's parts, whose lock the caller holds. The folder is renamed first, so that another
    prediction of the same file starts in a new folder, not in one that is being deleted."""
    with contextlib.suppress(OSError):
        shutil.rmtree(parts.rename(parts.with_name(f"{PARTS}{uuid.uuid4().hex}")))
