"""The data file that a run was made from, kept in the run's folder so that it can be written with corrected labels."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from core.data import Dataset, Picked
from core.data.corrected import CorrectedFile, NewLabel, NotRewritableError, as_table, corrected
from core.data.dataset import SourceFile
from core.desk import store
from core.desk.run import Run
from core.files import json_text, read_json, whole_file, write_whole

if TYPE_CHECKING:
    from core.desk.file_state import FileState

LARGEST = 1 << 28
_BYTES, _FACTS = "source.zst", "source.json"


def source_of(dataset: Dataset, path: Path, columns: Picked | None = None) -> SourceFile | None:
    """The file that a data set was read from, compressed; None for a file of more than :data:`LARGEST` bytes."""
    if path.stat().st_size > LARGEST:
        return None
    content = path.read_bytes()
    packed = pa.compress(content, codec="zstd", asbytes=True)
    picked = asdict(columns) if columns else None
    return SourceFile(path.name, dataset.sha256, packed, len(content), picked)


def keep(dataset: Dataset) -> None:
    """Stores the file of a data set in the folder of its run, if the file is known."""
    source = dataset.source
    if source is not None and source.sha256 == dataset.sha256:
        folder = store.folder_of(dataset.sha256)
        with whole_file(folder / _BYTES) as scratch:
            scratch.write_bytes(source.packed)
        facts = {"name": source.name, "size": source.size, "columns": source.columns, "rows": source.rows}
        write_whole(folder / _FACTS, json_text(facts))


def corrections(run: Run, state: FileState) -> dict[int, NewLabel]:
    """The decided labels of a run's rows, by the index of the row."""
    decided = {key: row.decided for key, row in state.rows.items() if row.decided}
    return {place: NewLabel(*decided[key]) for key, place in run.places(decided).items()}


def corrected_file(run: Run, labels: Mapping[int, NewLabel]) -> CorrectedFile:
    """The run's file with these labels and all of its rows, even if the run has only the held-out ones; the run's rows
    as CSV if the file is not stored, or has no columns to write labels into."""
    try:
        facts = read_json(run.folder / _FACTS)
        content = pa.decompress((run.folder / _BYTES).read_bytes(), facts["size"], codec="zstd", asbytes=True)
        columns = Picked(**facts["columns"]) if facts["columns"] else None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, Path(facts["name"]).name)
            path.write_bytes(content)
            rows = facts.get("rows")
            return corrected(path, labels if rows is None else {rows[at]: new for at, new in labels.items()}, columns)
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException, NotRewritableError):
        names = ("text", "") if run.single else ("question", "answer") if run.dataset.ranking else run.text_columns
        return as_table(run.dataset.rows, (names[0], names[1]), labels)
