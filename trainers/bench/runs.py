"""The file of measured speeds: runs of `python -m trainers.bench`, each with its machine and its rows by benchmark."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import RunError
from core.json_types import JsonObject
from trainers.bench.row import Row


@dataclass(frozen=True)
class MeasuredRun:
    """What was measured in one go."""

    machine: JsonObject
    """Its processor, cores, threads, versions and date, and how busy it was before."""
    benchmarks: Mapping[str, Sequence[Row]]

    def without(self, names: Collection[str]) -> MeasuredRun:
        """The run without these benchmarks."""
        return MeasuredRun(self.machine, {name: rows for name, rows in self.benchmarks.items() if name not in names})

    def to_dict(self) -> JsonObject:
        """Plain values, as the file holds them."""
        rows = {name: [{**asdict(row), "met": row.met} for row in rows] for name, rows in self.benchmarks.items()}
        return {"machine": self.machine, "benchmarks": rows}


def kept_runs(path: Path) -> list[MeasuredRun]:
    """The runs of a file. Raises RunError for one that is no such file."""
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        rows = [{name: _rows(own) for name, own in run["benchmarks"].items()} for run in runs]
        return [MeasuredRun(run["machine"], own) for run, own in zip(runs, rows, strict=True)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise RunError(f"{path.parent.name}/{path.name} is no readable JSON of speeds: make it again") from None


def _rows(rows: Sequence[JsonObject]) -> list[Row]:
    return [Row(**{key: value for key, value in row.items() if key != "met"}) for row in rows]
