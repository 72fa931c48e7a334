"""What docs/results.md says of systems that were trained alike: the tables that `python -m trainers.paper table` wrote,
and the figures of `python -m trainers.paper figure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trainers.paper import markdown
from trainers.paper.table.systems import TABLES
from trainers.tables import read_rows

_BY_LENGTH = "**By the number of words, {} dev** (the paper’s figure 5, on Yelp): per cent, 95 % intervals."
_BY_EVIDENCE = "**By the number of evidence sentences, FEVER dev 6k** (the paper’s figure 8): per cent, 95 % intervals."
FIGURES = {
    "figure-length-sst5": ("length", _BY_LENGTH.format("SST-5"), "runs/comparison-sst5"),
    "figure-length-imdb": ("length", _BY_LENGTH.format("IMDB"), "runs/comparison-imdb"),
    "figure-evidence": ("evidence", _BY_EVIDENCE, "runs/comparison-fever"),
}
"""By the file that the command `figure` wrote: what it groups by, a title, and the folder of its runs."""


def document(folder: Path) -> Iterator[str]:
    """What the files in this folder hold; nothing without any."""
    tables = [(table, *titled) for table, of in TABLES.items() for titled in of.titles.items()]
    for table, recipe, title in tables:
        rows = read_rows(folder / f"{recipe}.csv")
        if not rows:
            continue
        yield title
        yield markdown.table(rows)
        command = f"python -m trainers.paper table {table} --train {recipe} --data DATA --runs runs/{recipe}"
        # Trained when bf16 was still asked for by name, but for the claims.
        precision = "" if recipe == "comparison-fever" else "--precision bf16 "
        yield markdown.commands([f"{command} --out docs/tables/{recipe} {precision}--threads 1"])
    for name, (by, title, runs) in FIGURES.items():
        if points := read_rows(folder / f"{name}.csv"):
            yield from _figure(points, name, by, title, runs)


def _figure(points: Sequence[Mapping[str, str]], file: str, by: str, title: str, runs: str) -> Iterator[str]:
    """The points of a figure as a table with a line a group and a column a run."""
    names = list(dict.fromkeys(point["checkpoint"] for point in points))
    lines: dict[str, dict[str, str]] = {}
    for point in points:
        low, accuracy, high = (f"{100 * float(point[key]):.1f}" for key in ("low", "accuracy", "high"))
        line = lines.setdefault(point["group"], {"group": point["group"], "rows": point["items"]})
        line[point["checkpoint"]] = f"{accuracy} ({low} to {high})"
    yield title
    yield markdown.table(list(lines.values()))
    command = f"python -m trainers.paper figure {by} {' '.join(f'{runs}/{name}' for name in names)}"
    yield markdown.commands([f"{command} --data DATA --out docs/tables/{file}"])
