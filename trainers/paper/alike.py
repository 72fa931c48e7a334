"""What docs/results.md says of systems that were trained alike: the tables that `python -m trainers.paper table` wrote,
and the figures of `python -m trainers.paper figure`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from trainers.paper import markdown

SYSTEMS = """\
## Systems of Yin & Schütze 2018, trained alike

All systems of a table have the same data, sizes and epochs, and no teachers. Ours are accuracies on dev in per cent, ±
half the 95 % interval over three runs where there are three; the paper’s are its own, on the data that it names, and no
run here repeats them: its data are larger. What was not run says why."""

OLD_CUT = (
    " *Of an earlier cut of FEVER, drawn at random: 99.6 % of its dev claims’ evidence stood in train too, which is "
    "worth some eight points.*"
)
"""Stands with what was measured before train and dev had no page in common, until it is measured again."""

SYSTEM_TABLES = {
    "comparison-nli": ("nli", "**One context: entailment** (the paper’s table 7)."),
    "comparison-sst5": ("sentiment", "**No extra context: sentiment of sentences** (the paper’s table 3, on Yelp)."),
    "comparison-imdb": (
        "sentiment",
        "**No extra context: sentiment of reviews** (the paper’s table 3, on Yelp). Networks "
        "read the first 200 words of a review, TF-IDF reads all, and pairs of words.",
    ),
    "comparison-fever": ("fever", f"**Several contexts: claims** (the paper’s table 9).{OLD_CUT}"),
}
"""By the recipe that a table's systems were trained with: what the command `table` calls it, and its title."""

FIGURES = {
    "figure-length-sst5": (
        "length",
        "**By the number of words, SST-5 dev** (the paper’s figure 5, on Yelp): per cent, 95 % intervals.",
        "runs/comparison-sst5",
    ),
    "figure-length-imdb": (
        "length",
        "**By the number of words, IMDB dev** (the paper’s figure 5, on Yelp): per cent, 95 % intervals.",
        "runs/comparison-imdb",
    ),
    "figure-evidence": (
        "evidence",
        "**By the number of evidence sentences, FEVER dev 6k** (the paper’s figure 8): per cent, 95 % "
        f"intervals.{OLD_CUT}",
        "runs/comparison-fever",
    ),
}
"""By the file that the command `figure` wrote: what it groups by, a title, and the folder of its runs."""


def document(folder: Path) -> Iterator[str]:
    """What the files in this folder hold; nothing without any."""
    stored = {name: folder / f"{name}.csv" for name in SYSTEM_TABLES if (folder / f"{name}.csv").is_file()}
    if stored:
        yield SYSTEMS
    for name, path in stored.items():
        table, title = SYSTEM_TABLES[name]
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        yield title
        yield markdown.table(head, rows)
        yield markdown.commands(
            [
                f"python -m trainers.paper table {table} --train {name} --data DATA --runs runs/{name} "
                f"--out docs/tables/{name} --precision bf16 --threads 1"
            ]
        )
    for name, (by, what, runs) in FIGURES.items():
        if (folder / f"{name}.csv").is_file():
            yield from _figure(folder / f"{name}.csv", by, what, runs)


def _figure(path: Path, by: str, what: str, runs: str) -> Iterator[str]:
    """The points of a figure as a table with a line a group and a column a run."""
    with path.open(encoding="utf-8", newline="") as file:
        points = list(csv.DictReader(file))
    names = list(dict.fromkeys(point["checkpoint"] for point in points))
    shown: dict[tuple[str, str], dict[str, str]] = {}
    for point in points:
        low, accuracy, high = (f"{100 * float(point[key]):.1f}" for key in ("low", "accuracy", "high"))
        line = shown.setdefault((point["group"], point["items"]), {})
        line[point["checkpoint"]] = f"{accuracy} ({low} to {high})"
    yield what
    yield markdown.table(
        ["group", "rows", *names], [[*group, *(line[name] for name in names)] for group, line in shown.items()]
    )
    command = f"python -m trainers.paper figure {by} {' '.join(f'{runs}/{name}' for name in names)}"
    yield markdown.commands([f"{command} --data DATA --out docs/tables/{path.stem}"])
