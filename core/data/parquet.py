"""Parquet files as JSON lines: each row becomes an object with its columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from core.data.dataset import DataError

_AT_ONCE = 256
"""Rows decoded at once; few, because their texts may be long."""


def rows_as_json(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """One line per row, read lazily; types that JSON lacks (dates) become text. The file's bytes are first read once
    through ``file``, for its checksum. Raises DataError for a damaged file and for one that cannot be read twice, such
    as a pipe."""
    import pyarrow as pa  # imported here, so that other files need no Arrow
    import pyarrow.parquet as pq

    if not path.is_file():
        raise DataError(f"{path.name} is a pipe, through which Parquet cannot be read; give a file")
    while file.read(1 << 20):
        pass
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(_AT_ONCE):
                for row in batch.to_pylist():
                    yield json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    except (pa.ArrowException, ValueError, OSError):
        raise DataError(f"{path.name} is a damaged Parquet file; download it again") from None
