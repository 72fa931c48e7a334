"""Reads runs of every stored format as tables, to be rewritten in the current one (:func:`core.desk.run_folder.merge`).

Until version 2 a run was one Parquet file with its header in the schema's metadata; a folder of such files with a note,
``_run.json``, was a run in parts; and the desk kept one file per model of a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.lines import LARGEST
from core.desk.folders import EARLIER_NOTE
from core.desk.run import OTHER_COLUMN, TEXT_COLUMNS, RunHeader
from core.desk.run_folder import (
    DATA,
    ROWS,
    TRUNCATED,
    damaged,
    is_run,
    merge,
    model_file,
    probability_columns,
    read_header,
    truncated_columns,
    with_ranks,
)
from core.errors import DeskError
from core.files import read_json
from core.json_types import LENIENT, checked

KEY = b"pairlens_run"
"""Key in the metadata of an earlier run's schema."""


def is_any_run(path: Path) -> bool:
    """Whether this is a run in the current or an earlier format."""
    return is_run(path) or (path / EARLIER_NOTE).is_file() or is_run_file(path)


def is_run_file(path: Path) -> bool:
    """Whether a file is an earlier run, as opposed to another Parquet file."""
    try:
        return path.is_file() and KEY in (pq.read_metadata(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def copy_run(path: Path, folder_of: Callable[[str], Path], largest: int = LARGEST) -> RunHeader:
    """Copies a run in any format into the folder for its file's checksum, and returns its header there, with its own
    models; a run that is there only gets the models that it lacks. Raises DeskError for missing and damaged runs, for
    texts of more than ``largest`` bytes, and for a run that contradicts the one that is there."""
    try:
        header, files = _files(path)
        names = dict.fromkeys(name for file in files for name in pq.read_schema(file).names)
        others = [name.removeprefix(OTHER_COLUMN) for name in names if name.startswith(OTHER_COLUMN)]
        tables = _tables_of_folder(path, header) if is_run(path) else _tables(files, header)
        merged = merge(folder_of(header.sha256), header, tables, others, largest, adds=True)
        by_file = {model_file(model.sha256): model for model in merged.models}
        own = dict.fromkeys(model_file(model.sha256) for model in header.models)
        return replace(merged, models=tuple(by_file[name] for name in own))
    except DeskError:
        raise
    except FileNotFoundError:
        raise DeskError(f"there is no run {path.name}: predict the file again") from None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, IndexError):
        raise damaged(path) from None


def _files(path: Path) -> tuple[RunHeader, Sequence[Path]]:
    """The header of a run, and the Parquet files with its texts."""
    if is_run(path):
        return read_header(path), [path / DATA]
    if not path.is_dir():
        return _header_of_file(path), [path]
    note = read_json(path / EARLIER_NOTE)
    if note["run"]["format"] != "parquet":
        raise DeskError(f"{path.name} holds parts in {note['run']['format']}: the error desk opens those in Parquet")
    if "finished" not in note:
        raise DeskError(f"{path.name} is unfinished: predict the file again into a new folder")
    files = [path / f"part-{number:05}.parquet" for number in range(note["finished"]["parts"])]
    missing = next((file.name for file in files if not is_run_file(file)), None)
    if missing:
        raise DeskError(f"{missing} of {path.name} is missing or cut off: predict the file again into a new folder")
    headers = [_header_of_file(file) for file in files]
    whole = checked({"version": 0, "dropped": 0} | note["run"] | note["finished"], RunHeader, by=LENIENT)
    for file, header in zip(files, headers, strict=True):
        if [model.sha256 for model in header.models] != [model.sha256 for model in whole.models]:
            raise DeskError(f"{file.name} in {path.name} is a part of another run: predict the file again")
    return with_ranks(whole), files


def _header_of_file(path: Path) -> RunHeader:
    """The header of an earlier run stored as one file. Raises DeskError for any other file."""
    try:
        metadata = pq.read_metadata(path)
        known: Mapping[str, object] = json.loads((metadata.metadata or {})[KEY])
    except FileNotFoundError:
        raise DeskError(f"there is no run {path.name}: predict the file again") from None
    except (OSError, pa.ArrowException, KeyError, ValueError, RecursionError):
        raise DeskError(f"{path.name} is not a run: write one with `python -m trainers predict … --out run/`") from None
    if not isinstance(known, dict) or known.get("version") not in (1, 2):
        raise DeskError(f"{path.name} was written by another version of PairLens: predict the file again")
    try:
        return with_ranks(checked(known | {"rows": metadata.num_rows}, RunHeader, by=LENIENT))
    except (ValueError, KeyError):
        raise damaged(path) from None


def _tables(files: Sequence[Path], header: RunHeader) -> Iterator[pa.Table]:
    """The rows of earlier files; texts stay dictionary-encoded, as a file of 10 kB may repeat one of 1 MB."""
    for path in files:
        names = pq.read_schema(path).names
        texts = [name for name in names if name in TEXT_COLUMNS or name.startswith(OTHER_COLUMN)]
        numbers = [name for names in probability_columns(header.models) for name in names]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(ROWS, columns=[*texts, *numbers]):
                yield _finite(pa.Table.from_batches([batch]), numbers)


def _tables_of_folder(folder: Path, header: RunHeader) -> Iterator[pa.Table]:
    """The rows of a run in the current format, from an untrusted source."""
    names = probability_columns(header.models)
    files = [pq.ParquetFile(folder / DATA, read_dictionary=pq.read_schema(folder / DATA).names)]
    files += [pq.ParquetFile(folder / model_file(model.sha256)) for model in header.models]
    for data, *models in zip(*(file.iter_batches(ROWS) for file in files), strict=True):
        table = pa.Table.from_batches([data])
        cuts = truncated_columns(header.models)
        for model, columns, cut, batch in zip(header.models, names, cuts, models, strict=True):
            for label, name in zip(model.labels, columns, strict=True):
                table = table.append_column(name, batch.column(label))
            if TRUNCATED in batch.schema.names:
                table = table.append_column(cut, batch.column(TRUNCATED))
        yield _finite(table, [name for columns in names for name in columns])


def _finite(table: pa.Table, numbers: Sequence[str]) -> pa.Table:
    if not all(np.isfinite(table.column(name).to_numpy()).all() for name in numbers):
        raise ValueError("a probability is missing")
    return table
