"""A map of a run's rows: t-SNE of the classifier's input vectors, and the nearest rows by cosine.

At most :data:`MOST_ROWS` rows are mapped, a random sample that depends only on their ids. Vectors and positions are
stored in the run's folder.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from scipy.spatial import ConvexHull, QhullError  # type: ignore[import-untyped]

from core.checkpoint import Checkpoint
from core.data import Dataset, Example
from core.desk.columns import cells, of_model
from core.desk.filters import literal
from core.desk.jobs import Job, predicted_by
from core.desk.run import Run, column_of
from core.desk.run_folder import read_header
from core.desk.table import RunTable
from core.errors import DeskError
from core.evaluation.predict import RowsDone, check_texts, prepare_rows, unit_vectors
from core.files import whole_file
from core.filter_map.tsne import lay_out

MOST_ROWS, LEAST_ROWS = 2_000, 10
NEAREST = 5
_PERPLEXITY = 30.0
_ITERATIONS = (250, 500)
"""openTSNE's defaults."""
_LISTED = 20
"""Maximum number of selected rows whose ids a filter lists."""


@dataclass(frozen=True)
class RowMap:
    """Indices of the mapped ``rows`` in the run, int ``[M]``, ascending; their unit ``vectors [M, F]``, float16; their
    ``positions [M, 2]`` in the plane."""

    rows: np.ndarray
    vectors: np.ndarray
    positions: np.ndarray

    def nearest(self, vector: np.ndarray, but: int) -> list[tuple[int, float]]:
        """The rows nearest to a unit vector ``[F]``, except the row ``but``, each with its cosine."""
        cosines = self.vectors.astype(np.float32) @ vector.astype(np.float32)
        order = np.argsort(-cosines, kind="stable")[: NEAREST + 1]
        return [(int(self.rows[i]), float(cosines[i])) for i in order if self.rows[i] != but][:NEAREST]

    def vector_of(self, row: int) -> np.ndarray | None:
        """The vector of a row; None if it is not mapped."""
        place = int(np.searchsorted(self.rows, row))
        return self.vectors[place] if place < len(self.rows) and self.rows[place] == row else None


def vectors_of(checkpoint: Checkpoint, rows: Sequence[Example], progress: RowsDone = lambda done: None) -> np.ndarray:
    """The vectors of these rows (:func:`core.evaluation.predict.unit_vectors`), float16 ``[N, F]``."""
    dataset = Dataset("", "", tuple(rows))
    check_texts(checkpoint, dataset)
    return unit_vectors(prepare_rows(checkpoint, dataset), progress).astype(np.float16)


def drawn(run: Run) -> np.ndarray:
    """The indices of the rows to map, ascending."""
    return np.sort(np.argsort(run.draws, kind="stable")[:MOST_ROWS])


def positions_of(vectors: np.ndarray, progress: Callable[[float], object]) -> np.ndarray:
    """t-SNE of unit vectors ``[N, F]`` by cosine: float32 ``[N, 2]``. ``progress`` receives the finished fraction."""
    points, total, done = vectors.astype(np.float64), sum(_ITERATIONS), 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        progress(done / total)

    distances = np.clip(1 - points @ points.T, 0, None)
    perplexity = min(_PERPLEXITY, (len(points) - 1) / 3)
    return lay_out(points, distances, perplexity, 0, _ITERATIONS, count).astype(np.float32)


def _path(folder: Path, sha256: str) -> Path:
    return folder / f"map-{sha256[:16]}.safetensors"


def stored(run: Run, model: int) -> RowMap | None:
    """The stored map of a run by one of its models; None if there is none for these rows."""
    path = _path(run.folder, run.models[model].sha256)
    try:
        return _stored(path, path.stat().st_mtime_ns, read_header(run.folder).texts)
    except (OSError, SafetensorError, KeyError, ValueError):
        return None


@functools.lru_cache(maxsize=16)
def _stored(path: Path, changed: int, texts: str) -> RowMap | None:
    with safe_open(path, "numpy") as file:
        if (file.metadata() or {}).get("texts") != texts:
            return None
        rows, vectors, positions = (file.get_tensor(name) for name in ("rows", "vectors", "positions"))
    return RowMap(rows, vectors, positions)


def with_maps(table: RunTable, maps: Sequence[RowMap | None]) -> RunTable:
    """The table with the positions of the mapped rows, by model."""
    for model, known in enumerate(maps):
        if known is not None:
            columns = {
                name: cells(known.positions[:, place].astype(float), "number", "position on the map of rows, if mapped")
                for place, name in enumerate(("map_x", "map_y"))
            }
            table = table.joined(f"map{model}", known.rows.tolist(), of_model(model, columns))
    return table


def around(run: Run, known: RowMap, model: int, selected: Sequence[int]) -> str:
    """A filter for the mapped rows in the convex hull of the selected ones (indices in the map); for a few rows it
    lists their ids."""
    points = known.positions[list(selected)].astype(float)
    try:
        if len(points) <= _LISTED:
            raise ValueError("listed")
        x, y = (column_of(name, model) for name in ("map_x", "map_y"))
        # Every edge of the hull is a·x + b·y + c ≤ 0 inside; rounding must not exclude a selected row.
        lines = ConvexHull(points).equations
        return " and ".join(f"{a:.3f} * {x} + {b:.3f} * {y} <= {0.02 - c:.2f}" for a, b, c in lines)
    except (QhullError, ValueError):
        return f"id in ({', '.join(literal(run.keys[known.rows[place]]) for place in selected[:_LISTED])})"


def map_job(run: Run, model: int, checkpoint: str) -> Job:
    """A job that builds the map of a stored run with an installed checkpoint, one of the run's models."""
    rows, what = min(MOST_ROWS, len(run.dataset.rows)), f"The map of {run.dataset.name} by {checkpoint}"
    return Job(what, rows, functools.partial(_build, run, model, checkpoint), ("map", run.dataset.sha256, model))


def _build(run: Run, model: int, checkpoint_name: str, job: Job) -> None:
    sha256 = run.models[model].sha256
    if job.rows < LEAST_ROWS:
        raise DeskError(f"a map needs at least {LEAST_ROWS} rows, and {run.dataset.name} has {job.rows}")
    checkpoint = predicted_by(checkpoint_name, sha256)
    places = drawn(run)
    job.begin()
    # Vectors count as half of the progress, t-SNE as the other half.
    rows = [run.dataset.rows[i] for i in places.tolist()]
    vectors = vectors_of(checkpoint, rows, lambda done: job.progress(done // 2))
    different = len(np.unique(vectors, axis=0))
    if different < LEAST_ROWS:
        raise DeskError(
            f"a map needs at least {LEAST_ROWS} rows that {checkpoint_name} tells apart, and {run.dataset.name} has "
            f"{different}"
        )
    positions = positions_of(vectors, lambda share: job.progress(int(job.rows * (1 + share) / 2)))
    with whole_file(_path(run.folder, sha256)) as scratch:
        arrays = {"rows": places.astype(np.int64), "vectors": vectors, "positions": positions}
        save_file(arrays, scratch, {"texts": read_header(run.folder).texts})
    job.done = job.rows
