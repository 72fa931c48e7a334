"""What docs/results.md says beside the scores of checkpoints: systems that were trained alike, from the tables and
figures of `python -m trainers.paper`, and attention and ways to ask why, from the cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.card import Card
from core.evaluation import alignment_table, faithfulness_table
from trainers import point
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


def systems(folder: Path) -> Iterator[str]:
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
    for one in points:
        low, accuracy, high = (f"{100 * float(one[key]):.1f}" for key in ("low", "accuracy", "high"))
        line = lines.setdefault(one["group"], {"group": one["group"], "rows": one["items"]})
        line[one["checkpoint"]] = f"{accuracy} ({low} to {high})"
    yield title
    yield markdown.table(list(lines.values()))
    command = f"python -m trainers.paper figure {by} {' '.join(f'{runs}/{name}' for name in names)}"
    yield markdown.commands([f"{command} --data DATA --out docs/tables/{file}"])


def aligned(cards: Mapping[Path, Card]) -> Iterator[str]:
    """How well the attention of every model that was measured agrees with people's word alignments."""
    measured = {str(card["name"]): card["alignment"] for card in cards.values() if card.get("alignment")}
    if not measured:
        return
    lines = [
        {"checkpoint": f"`{name}`", **row}
        for name, stored in measured.items()
        for row in alignment_table.table(stored["results"])
    ]
    fixed_on = dict.fromkeys(stored["fixed_on"] for stored in measured.values())
    yield markdown.table(lines)
    yield f"{alignment_table.CAPTION.format(fixed_on=', '.join(fixed_on))} Measured by"
    yield markdown.commands(result["command"] for stored in measured.values() for result in stored["results"].values())


def believed(cards: Mapping[Path, Card]) -> Iterator[str]:
    """How well each way to ask why names the words that decide, of every model that was measured."""
    measured = {str(card["name"]): card["faithfulness"] for card in cards.values() if card.get("faithfulness")}
    if not measured:
        yield "No checkpoint was measured yet: `python -m trainers faithfulness CHECKPOINT FILE --card NAME`."
        return
    yield faithfulness_table.CAPTION.format(moved=faithfulness_table.MOVED)
    yield markdown.table(faithfulness_table.of_attention(measured))
    for measure in faithfulness_table.MEASURES:
        yield f"{measure.capitalize()}, AOPC:"
        yield markdown.table(faithfulness_table.by_checkpoint(measured, measure))
    yield "Measured by"
    yield markdown.commands(figures["command"] for stored in measured.values() for figures in stored.values())


def pointed(cards: Mapping[Path, Card]) -> Iterator[str]:
    """The pointing game of every model that played it, and all ways of those that played it untrained as well."""
    played = [
        (card["name"], data, figures) for card in cards.values() for data, figures in card.get("pointing", {}).items()
    ]
    if not played:
        return
    yield markdown.table([point.summary(name, data, figures) for name, data, figures in played])
    for name, data, figures in played:
        if "untrained" in figures:
            yield f"All ways, `{name}`, {data}:"
            yield markdown.table(point.rows(figures))
    yield "Played by"
    yield markdown.commands(figures["command"] for *_, figures in played)
