"""Where predictions go as they come, part by part: into one file, or into a folder of parts."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from filelock import FileLock, Timeout

from core.checkpoint import Checkpoint
from core.data import Dataset, Stream
from core.data.labels import NOTHING, CountsAs
from core.errors import RunError
from core.evaluation import parts as streamed
from core.evaluation.parts import Predicted
from core.files import whole_file

FORMATS = ("parquet", "csv", "jsonl")
_COLUMNS = ("id", "first", "second", "label", "predicted")


class Output:
    """What takes parts in their order; this one keeps nothing. ``there``: the rows of those that an earlier run, which
    was stopped, has written already, by their numbers."""

    @property
    def there(self) -> Mapping[int, int]:
        return {}

    def add(self, predicted: Predicted) -> None:
        """Take a part that is not there."""

    def finish(self, stream: Stream, parts: int) -> None:
        """So many parts are there, which are all of the stream."""


@contextmanager
def one_file(
    out: Path, checkpoints: Sequence[Checkpoint], format: str, counts_as: CountsAs = NOTHING
) -> Iterator[Output]:
    """A file of one of the ``FORMATS``, which is there when all is; of CSV and JSON lines the first checkpoint's
    predictions. ``counts_as``: what labels stand for. Raises FileError where the operating system refuses."""
    with whole_file(out) as scratch, contextlib.ExitStack() as stack:
        if format == "parquet":
            place = out.parent if out.is_file() or not out.exists() else None  # of /dev/stdout there is none
            spool = stack.enter_context(tempfile.TemporaryFile(dir=place))
            yield _OneRun(scratch, checkpoints, counts_as, spool)
        else:
            file = stack.enter_context(scratch.open("w", encoding="utf-8", newline=""))
            yield _Lines(file, checkpoints[0].labels, format)


@dataclasses.dataclass
class _Lines(Output):
    """CSV or JSON lines of a file that is open."""

    file: Any
    labels: Sequence[str]
    format: str
    begun: bool = False

    def add(self, predicted: Predicted) -> None:
        write_rows(self.file, self.format, self.labels, predicted, header=not self.begun)
        self.begun = True


@dataclasses.dataclass
class _OneRun(Output):
    """A run of the error desk. Its columns are known when all rows are: until then its parts lie in ``spool``."""

    path: Path
    checkpoints: Sequence[Checkpoint]
    counts_as: CountsAs
    spool: IO[bytes]

    def __post_init__(self) -> None:
        self._ends = [0]
        self._columns: dict[str, None] = {}
        self._rows = 0

    def add(self, predicted: Predicted) -> None:
        import pyarrow.parquet as pq

        from core.desk import run

        data = predicted.part.dataset
        self._columns |= run.other_columns(data)
        self._rows += len(data.rows)
        run.check_columns(data.name, len(self._columns), self._rows)
        pq.write_table(
            run.to_table(_run(self.checkpoints, self.counts_as, data, predicted)), self.spool, compression="zstd"
        )
        self._ends.append(self.spool.tell())

    def finish(self, stream: Stream, parts: int) -> None:
        from core.desk import run
        from core.desk.parts import write_joined

        whole = Dataset(stream.name, stream.layout, (), stream.problems, stream.dropped, stream.sha256)
        models = [run.RunModel.named(checkpoint, self.counts_as) for checkpoint in self.checkpoints]
        write_joined(self._tables(), [*self._columns], run.header_of(whole, models), self.path)

    def _tables(self) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for start, end in zip(self._ends, self._ends[1:], strict=False):
            self.spool.seek(start)
            yield pq.read_table(pa.BufferReader(self.spool.read(end - start)))


def _run(checkpoints: Sequence[Checkpoint], counts_as: CountsAs, dataset: Dataset, predicted: Predicted) -> Any:
    from core.desk.run import Predictions, Run  # here, so that other files need no Arrow

    both = zip(checkpoints, predicted.probabilities, strict=True)
    return Run(dataset, tuple(Predictions.of(checkpoint, chances, counts_as) for checkpoint, chances in both))


@contextmanager
def folder_of_parts(
    folder: Path,
    checkpoints: Sequence[Checkpoint],
    path: Path,
    sha256: str,
    format: str,
    labels: Sequence[str],
    counts_as: CountsAs,
) -> Iterator[Output]:
    """A folder with a file for each part and a note of what it is of (:mod:`core.desk.parts`); what an earlier run of
    the same data, models and ``labels`` (as typed, which say what labels count as) wrote stays. ``path``, ``sha256``:
    of the data. Raises RunError for a folder
    that holds another run or that another process writes into."""
    from core.desk import parts
    from core.desk.folders import is_folder_of_parts
    from core.desk.run import RunModel

    models = tuple(RunModel.named(checkpoint, counts_as) for checkpoint in checkpoints)
    whole = parts.Whole(path.name, sha256, models, format, tuple(labels), streamed.ROWS)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if is_folder_of_parts(folder):
            known, _ = parts.read_note(folder)
            if known != whole:
                raise RunError(f"{folder} holds {_difference(known, whole)}; give another folder")
        elif any(not name.startswith(".") for name in (child.name for child in folder.iterdir())):
            raise RunError(f"{folder} holds other files; give an empty folder, or one that is still to be made")
        else:
            parts.note(folder, whole)
        yield _Parts(folder, whole, checkpoints, counts_as)


def _difference(known: Any, wanted: Any) -> str:
    """What another run differs in, in words."""
    if known.sha256 != wanted.sha256:
        return f"predictions of other data ({known.name})"
    if [model.sha256 for model in known.models] != [model.sha256 for model in wanted.models]:
        return f"predictions of {', '.join(model.model for model in known.models)}"
    return "these predictions in another form (--format, --label)"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    lock = folder / ".run.lock"
    try:
        with FileLock(lock, blocking=False):
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    lock.unlink()
    except Timeout:
        raise RunError(
            f"another process writes into {folder}; wait until it has ended, or give another folder"
        ) from None


@dataclasses.dataclass
class _Parts(Output):
    """A folder of parts."""

    folder: Path
    whole: Any
    checkpoints: Sequence[Checkpoint]
    counts_as: CountsAs

    @functools.cached_property
    def there(self) -> Mapping[int, int]:
        """Parts that were cut off are told, and not there."""
        found = {}
        for path in sorted(self.folder.glob(f"part-*.{self.whole.format}")):
            number = int(path.stem.removeprefix("part-"))
            found[number] = self._rows(number, path)
            if found[number] < 0:
                print(f"{path.name} was cut off: its rows are predicted again", file=sys.stderr)
        return found

    def _rows(self, number: int, path: Path) -> int:
        """Of a part that is there; -1 of one that ends in the middle of a row."""
        if self.whole.format == "parquet":
            from core.desk.parts import header_of_part

            header = header_of_part(self.folder, self.whole, number)
            return header.rows if header else -1
        with path.open(encoding="utf-8", newline="", errors="replace") as file:
            if self.whole.format == "jsonl":
                ends = [line.endswith("}\n") for line in file]
                return len(ends) if all(ends) else -1
            rows = sum(1 for _ in csv.reader(file)) - 1
        return rows if path.read_bytes()[-2:] == b"\r\n" else -1

    def add(self, predicted: Predicted) -> None:
        number = predicted.part.number
        data, path = predicted.part.dataset, self.folder / self.whole.part(number)
        if self.whole.format == "parquet":
            from core.desk.run import fitting, save

            name = f"{data.name}, part {number + 1}"
            own = dataclasses.replace(fitting(data), name=name, sha256=self.whole.sha256_of(number))
            save(_run(self.checkpoints, self.counts_as, own, predicted), path)
            return
        with whole_file(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
            write_rows(file, self.whole.format, self.checkpoints[0].labels, predicted)

    def finish(self, stream: Stream, parts: int) -> None:
        from core.desk.parts import Finished, note

        if stream.sha256 != self.whole.sha256:
            raise RunError(f"{stream.path} changed while it was read: predict it into another folder")
        rows = Finished(parts, stream.rows, stream.layout, stream.broken, stream.problems)
        note(self.folder, self.whole, rows)


def write_rows(file: Any, format: str, labels: Sequence[str], predicted: Predicted, *, header: bool = True) -> None:
    """A part's rows as CSV or JSON lines, of the first checkpoint."""
    records = predictions(labels, predicted.part.dataset, predicted.probabilities[0])
    if format == "jsonl":
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        return
    writer = csv.DictWriter(file, [*_COLUMNS, *_chances(labels)])
    if header:
        writer.writeheader()
    writer.writerows(records)


def predictions(labels: Sequence[str], dataset: Dataset, probabilities: np.ndarray) -> Iterator[dict[str, object]]:
    """One flat record a row: id, first, second, label (empty where none), predicted, and p_CLASS for each class; of a
    model with one output ``predicted`` is its score."""
    for row, chances in zip(dataset.rows, probabilities, strict=True):
        numbers = [float(f"{p:.6g}") for p in chances]
        said = labels[int(chances.argmax())] if len(labels) > 1 else numbers[0]
        texts = row.id, row.first, row.second, row.shown_label, said
        record: dict[str, object] = dict(zip(_COLUMNS, texts, strict=True))
        yield {**record, **dict(zip(_chances(labels), numbers, strict=False))}


def _chances(labels: Sequence[str]) -> list[str]:
    """The names of the columns of probabilities; none for a score, which is none."""
    return [f"p_{label}" for label in labels] if len(labels) > 1 else []
