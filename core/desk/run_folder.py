"""A run on disk: a folder with ``data.parquet`` (texts, label and the file's other columns), one Parquet file of class
probabilities per model, and ``run.json`` (:class:`core.desk.run.RunHeader`).

Attention is never stored: it is recomputed for the open row. A run that is still being predicted:
:mod:`core.desk.unfinished_run`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from filelock import Timeout

from core.data import Dataset
from core.data.labels import gold, names_of
from core.data.lines import LARGEST
from core.desk import run as runs
from core.desk.folders import FACTS, is_run
from core.desk.run import MOST_MODELS, OTHER_COLUMN, TEXT_COLUMNS, Predictions, Run, RunHeader, RunModel, StoredRows
from core.errors import DeskError
from core.files import json_text, make_folder, one_at_a_time, read_json, whole_folder, write_whole
from core.json_types import LENIENT, checked

VERSION = 3
DATA = "data.parquet"
FEATURES = "features.parquet"
"""Features of the texts, which the desk computes once (:mod:`core.desk.table`)."""
ROWS = 2048
"""Rows per row group."""
TRUNCATED = "/truncated"
"""The column of a model's file for :attr:`Predictions.truncated`; no class has this name."""


def model_file(sha256: str) -> str:
    """The file name of a model's probabilities."""
    return f"model-{sha256[:16]}.parquet"


def probability_columns(models: Sequence[RunModel]) -> list[list[str]]:
    """The names of each model's probabilities in a table of a whole run."""
    return [[f"p/{n} {model.model}/{label}" for label in model.labels] for n, model in enumerate(models, start=1)]


def truncated_columns(models: Sequence[RunModel]) -> list[str]:
    """The names of each model's :attr:`Predictions.truncated` in a table of a whole run."""
    return [f"truncated/{n} {model.model}" for n, model in enumerate(models, start=1)]


def table_of(
    dataset: Dataset,
    models: Sequence[RunModel],
    probabilities: Sequence[np.ndarray],
    truncated: Sequence[np.ndarray | None] = (),
) -> pa.Table:
    """Rows with each model's probabilities ``[N, C]`` and ``truncated`` rows, if known. Labels are stored as written:
    which of them are gold depends on the models that the run is opened with."""
    shown = [row.shown_label or (row.label_text if gold(row.label_text) is None else "") for row in dataset.rows]
    columns = {
        name: _text_array(
            [label or None for label in shown] if name == "label" else [getattr(row, name) for row in dataset.rows]
        )
        for name in TEXT_COLUMNS
    }
    for name in runs.other_columns(dataset):
        columns[OTHER_COLUMN + name] = _text_array([row.columns.get(name) for row in dataset.rows])
    for names, values in zip(probability_columns(models), probabilities, strict=True):
        for i, name in enumerate(names):
            chances = np.ascontiguousarray(values[:, i], dtype=np.float32)
            columns[name] = pa.Array.from_buffers(pa.float32(), len(chances), [None, pa.py_buffer(chances)])
    for name, cut in zip(truncated_columns(models), truncated, strict=False):
        if cut is not None:
            bits = pa.py_buffer(np.packbits(cut, bitorder="little"))  # pa.array would load pandas
            columns[name] = pa.Array.from_buffers(pa.bool_(), len(cut), [None, bits])
    return pa.table(columns)


def _text_array(texts: Sequence[str | None]) -> pa.StringArray:
    """Like ``pa.array(texts, pa.string())`` without loading pandas, which costs a stream 40 MB and 0.3 seconds."""
    builder = pa.lib.StringBuilder()
    builder.append_values(texts)
    return builder.finish()


def read_header(folder: Path) -> RunHeader:
    """The facts about a run. Raises DeskError if the run is missing or damaged."""
    try:
        known = read_json(folder / FACTS)
        if known["version"] != VERSION:
            raise DeskError(f"{folder.name} was written by another version of PairLens: predict the file again")
        return checked(known, RunHeader, by=LENIENT)
    except FileNotFoundError:
        raise DeskError(f"there is no run {folder.name}: predict the file again") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise damaged(folder) from None


def damaged(path: Path) -> DeskError:
    """The error for a run that cannot be read."""
    return DeskError(f"{path.name} is damaged: predict the file again")


def load(folder: Path, models: Sequence[str] | None = None) -> Run:
    """The run in a folder, with the models of these checksums (or checksum prefixes) in this order, by default its
    first four; it may have none. Raises DeskError for an unfinished or damaged run, and for a model it lacks."""
    header = read_header(folder)
    if not header.models and not header.rows:
        raise DeskError(f"the prediction into {folder.name} is unfinished: run the same command again to resume it")
    if models is None or not header.models:
        chosen = list(header.models[:MOST_MODELS])
    else:
        by_sha256 = {model.sha256[:16]: model for model in header.models}
        if not models or any(name[:16] not in by_sha256 for name in models):
            raise DeskError("there is no such run: predict the file again, and choose one to four checkpoints")
        chosen = [by_sha256[name[:16]] for name in models]
    try:
        named = frozenset[str]().union(*(names_of(model.labels, model.counts_as) for model in chosen))
        rows = StoredRows(folder / DATA, named)
        predictions = tuple(_predictions(folder, model, len(rows)) for model in chosen)
    except (OSError, pa.ArrowException, ValueError, KeyError):
        raise damaged(folder) from None
    facts = header.name, header.layout, rows, header.problems, header.dropped, header.sha256
    return Run(Dataset(*facts, text_names=header.text_names), predictions, folder)  # type: ignore[arg-type]


def _predictions(folder: Path, model: RunModel, rows: int) -> Predictions:
    table = runs.read_table(folder / model_file(model.sha256))
    probabilities = np.stack([table.column(label).to_numpy() for label in model.labels], axis=1).astype(np.float32)
    if len(probabilities) != rows or not np.isfinite(probabilities).all():
        raise ValueError("a probability is missing")
    known = TRUNCATED in table.column_names and not table.column(TRUNCATED).null_count
    truncated = table.column(TRUNCATED).to_numpy() if known else None
    return Predictions(**vars(model), probabilities=probabilities, truncated=truncated)


def header_of(dataset: Dataset, models: Sequence[RunModel]) -> RunHeader:
    """The header for a run of this data set."""
    known = tuple(map(_facts, models))
    facts = dataset.name, dataset.layout, dataset.sha256, dataset.dropped, dataset.problems, known
    return RunHeader(VERSION, *facts, text_names=dataset.text_names)


def _facts(model: RunModel) -> RunModel:
    """The model without its predictions."""
    return RunModel(**{part.name: getattr(model, part.name) for part in fields(RunModel)})


def save(dataset: Dataset, models: Sequence[Predictions], folder: Path) -> None:
    """Stores a run, keeping other models' predictions for the same rows. Raises FileError if the operating system
    refuses."""
    truncated = [model.truncated for model in models]
    table = table_of(dataset, models, [model.probabilities for model in models], truncated)
    tables = (table.slice(i, ROWS) for i in range(0, table.num_rows, ROWS))
    merge(folder, header_of(dataset, models), tables, runs.other_columns(dataset))


def copy_run(path: Path, folder_of: Callable[[str], Path], largest: int = LARGEST) -> RunHeader:
    """Copies an external run into the folder for its file's checksum, and returns its header there, with the external
    run's models; a run that is already there only gets the models that it lacks. Raises DeskError for missing and
    damaged runs, for texts of more than ``largest`` bytes, and for a run that contradicts the one that is there."""
    header = read_header(path)
    try:
        names = pq.read_schema(path / DATA).names
        others = [name.removeprefix(OTHER_COLUMN) for name in names if name.startswith(OTHER_COLUMN)]
        merged = merge(folder_of(header.sha256), header, _tables(path, header), others, largest, adds=True)
    except DeskError:
        raise
    # ValueError includes FileError, which is raised for an unreadable file while others are written.
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, IndexError):
        raise damaged(path) from None
    by_file = {model_file(model.sha256): model for model in merged.models}
    own = dict.fromkeys(model_file(model.sha256) for model in header.models)
    return replace(merged, models=tuple(by_file[name] for name in own))


def _tables(folder: Path, header: RunHeader) -> Iterator[pa.Table]:
    """The rows of a run from an untrusted source; texts stay dictionary-encoded, as a file of 10 kB may repeat one of
    1 MB. Raises ValueError for a missing probability."""
    names, cuts = probability_columns(header.models), truncated_columns(header.models)
    files = [pq.ParquetFile(folder / DATA, read_dictionary=pq.read_schema(folder / DATA).names)]
    files += [pq.ParquetFile(folder / model_file(model.sha256)) for model in header.models]
    for data, *models in zip(*(file.iter_batches(ROWS) for file in files), strict=True):
        table = pa.Table.from_batches([data])
        for model, columns, cut, batch in zip(header.models, names, cuts, models, strict=True):
            for label, name in zip(model.labels, columns, strict=True):
                if not np.isfinite(batch.column(label).to_numpy()).all():
                    raise ValueError("a probability is missing")
                table = table.append_column(name, batch.column(label))
            if TRUNCATED in batch.schema.names:
                table = table.append_column(cut, batch.column(TRUNCATED))
        yield table


def merge(
    folder: Path,
    header: RunHeader,
    tables: Iterable[pa.Table],
    others: Sequence[str],
    largest: int | None = None,
    adds: bool = False,
) -> RunHeader:
    """Writes the rows of ``tables`` (with the file's ``others`` columns if any row has them) and the predictions of the
    header's models, placing these before other models for the same texts. The write is atomic. ``largest``: size limit
    of the texts in bytes, for tables from outside. ``adds``: an existing run stays unchanged and only gets the models
    that it lacks. Raises DeskError for larger texts, for too many cells and, with ``adds``, for a run that contradicts
    the one that is there; ValueError for columns that a run cannot have."""
    make_folder(folder)
    with changing(folder):
        known = read_header(folder) if is_run(folder) else None
        with whole_folder(folder, FACTS) as scratch:
            rows, texts = _write(scratch, header, tables, others, largest)
            header = replace(header, version=VERSION, rows=rows, texts=texts)
            if known is not None and known.models and adds and _readable(folder, known):
                header = _added(folder, known, scratch, header)
            elif known is not None and known.texts == texts:
                new = {model.sha256 for model in header.models}
                header = replace(
                    header, models=(*header.models, *(model for model in known.models if model.sha256 not in new))
                )
            (scratch / FACTS).write_text(json_text(asdict(header)), encoding="utf-8")
        kept = {model_file(model.sha256) for model in header.models}
        for path in folder.glob("model-*.parquet"):
            if path.name not in kept:
                path.unlink()
        if known is None or known.texts != texts:
            (folder / FEATURES).unlink(missing_ok=True)
    return header


def _readable(folder: Path, known: RunHeader) -> bool:
    """Whether a run's files can be read; a damaged run may be replaced."""
    try:
        StoredRows(folder / DATA)
        for model in known.models:
            pq.read_metadata(folder / model_file(model.sha256))
    except (OSError, pa.ArrowException):
        return False
    return True


def _added(folder: Path, known: RunHeader, new: Path, header: RunHeader) -> RunHeader:
    """The header of a run with the models added that it lacks; files that it already has are deleted from the folder
    ``new``. Raises DeskError if the new run contradicts it in its rows, labels or predictions."""
    differs = "rows" if known.texts != header.texts else ""
    for name in TEXT_COLUMNS:
        if not differs and _filled(folder / DATA, name) != _filled(new / DATA, name):
            differs = "labels" if name == "label" else "rows"
    by_file = {model_file(model.sha256): model for model in known.models}
    for model in header.models:
        if (name := model_file(model.sha256)) in by_file and not differs:
            here, there = (runs.read_table(place / name) for place in (folder, new))
            if by_file[name].counts_as != model.counts_as or not _close(here, there):
                differs = f"predictions by {by_file[name].title}"
    if differs:
        raise DeskError(
            f"this desk has another run of {known.name} with other {differs}, which is never replaced by a file; let "
            "whoever made it delete it first, under Export"
        )
    for name in (DATA, *by_file):
        (new / name).unlink(missing_ok=True)
    added = [model for model in header.models if model_file(model.sha256) not in by_file]
    return replace(known, models=(*known.models, *added))


def _filled(path: Path, name: str) -> pa.ChunkedArray:
    """A text column, empty where a row has none."""
    return pc.fill_null(runs.read_table(path, [name]).column(0), "")


def _close(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables of probabilities are equal up to the rounding differences between processors."""
    one, other = (table.select([name for name in table.column_names if name != TRUNCATED]) for table in (one, other))
    return one.column_names == other.column_names and all(
        np.allclose(one.column(name).to_numpy(), other.column(name).to_numpy(), atol=0.02) for name in one.column_names
    )


def _write(
    folder: Path, header: RunHeader, tables: Iterable[pa.Table], others: Sequence[str], largest: int | None
) -> tuple[int, str]:
    """Writes data and predictions; returns the number of rows and the checksum of their texts."""
    digest, rows, size = hashlib.sha256(), 0, 0
    texts = [*TEXT_COLUMNS, *(OTHER_COLUMN + name for name in others)]
    models = header.models
    by_model = list(zip(models, probability_columns(models), truncated_columns(models), strict=True))
    columns_a_row = len(texts) + sum(len(names) for _, names, _ in by_model)
    with contextlib.ExitStack() as stack:
        writers: dict[str, pq.ParquetWriter] = {}

        def write(name: str, table: pa.Table) -> None:
            if name not in writers:
                writer = pq.ParquetWriter(folder / name, table.schema, compression="zstd")
                writers[name] = stack.enter_context(writer)
            writers[name].write_table(table)

        for table in tables:
            columns = {name: _texts(table, name) for name in texts}
            rows, size = rows + table.num_rows, size + sum(map(_size, columns.values()))
            if largest is not None and size > largest:
                raise DeskError(
                    f"{header.name} holds {size / 1e6:,.0f} MB; the error desk opens runs of up to "
                    f"{largest / 1e6:,.0f} MB"
                )
            if largest is not None and rows * columns_a_row > runs.MOST_CELLS:
                raise DeskError(f"{header.name} has more cells than the error desk opens: divide the file")
            data = pa.table({name: column.cast(pa.string()) for name, column in columns.items()})
            if data.column("first").null_count or data.column("second").null_count:
                raise ValueError("a row without a text")
            for first, second in zip(data.column("first").to_pylist(), data.column("second").to_pylist(), strict=True):
                digest.update(f"{first}\0{second}\0".encode())
            write(DATA, data)
            for model, names, cut in by_model:
                write(model_file(model.sha256), _chances(table, model, names, cut))
    if not rows:
        raise ValueError("no rows")
    return rows, digest.hexdigest()


def _texts(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A text column; all empty if the table lacks one of the file's other columns."""
    if name not in table.column_names and name not in TEXT_COLUMNS:
        return pa.chunked_array([pa.nulls(table.num_rows, pa.string())])
    column = table.column(name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_null(kind)):
        raise ValueError("a column of texts holds something else")
    return column


def _size(column: pa.ChunkedArray) -> int:
    """Total bytes of all rows' texts, computed without unpacking dictionaries."""
    if pa.types.is_dictionary(column.type):
        sizes = (pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() for part in column.chunks)
        return sum(size or 0 for size in sizes)
    return int(column.nbytes)


def _chances(table: pa.Table, model: RunModel, names: Sequence[str], cut: str) -> pa.Table:
    """A model's own table, from its columns ``names`` and ``cut`` of a whole run's."""
    columns = [table.column(name) for name in names]
    if not all(pa.types.is_floating(column.type) for column in columns):
        raise ValueError("a column of probabilities holds something else")
    own = {label: column.cast(pa.float32()) for label, column in zip(model.labels, columns, strict=True)}
    truncated = table.column(cut) if cut in table.column_names else pa.nulls(table.num_rows, pa.bool_())
    return pa.table(own | {TRUNCATED: truncated.cast(pa.bool_())})


def write_header(folder: Path, header: RunHeader) -> None:
    """Writes ``run.json``."""
    write_whole(folder / FACTS, json_text(asdict(header)))


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """A block in which no other process changes the run."""
    try:
        with one_at_a_time(folder, ".run.lock"):
            yield
    except Timeout:
        raise DeskError(f"another process is writing {folder.name}: try again later") from None


def reorder(folder: Path, first: Sequence[RunModel]) -> RunHeader:
    """Moves these models, with their label mappings, before the run's others."""
    with changing(folder):
        known, new = read_header(folder), {model.sha256 for model in first}
        others = [model for model in known.models if model.sha256 not in new]
        header = replace(known, models=(*map(_facts, first), *others))
        write_header(folder, header)
    return header
