"""The parts of docs/results.md that come from tables, maps and other files, rather than from cards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.card import Card
from core.errors import RunError
from core.evaluation import sweeps
from core.evaluation.sweeps import Comparisons, Mean, Sweep
from core.wording import counted
from trainers import bench
from trainers.paper import markdown
from trainers.paper.table.systems import TABLES
from trainers.tables import read_rows

SPEED, FEW_LABELS = "speed.json", "few-labels.json"
MADE_BY = "python -m trainers.paper results"
FIGURES = {
    "figure-length-sst5": "**Accuracy by the number of words, SST-5 dev** (the paper’s figure 5, on Yelp).",
    "figure-length-imdb": "**Accuracy by the number of words, IMDB dev** (the paper’s figure 5, on Yelp).",
    "figure-evidence": "**Accuracy by the number of evidence sentences, FEVER dev 6k** (the paper’s figure 8).",
}
"""Titles by the name of the file that `figure` wrote."""
CLAIMS = {
    "ablation": "the gain from each part of the features",
    "adaptivity": "fixed and generated filters",
    "adaptivity-folds": "fixed and generated filters, cross-validated; best epoch",
    "attention": "each term of the match and of the loss",
    "baselines": "baselines with the same word table and linguistic features",
    "figure3a": "the number of filters K (the paper’s figure 3a)",
    "figure3b": "by question word (the paper’s figure 3b)",
    "figure6": "each k of k-min and k-max pooling (the paper’s figure 6)",
    "folds": "cross-validation",
    "folds-squad": "cross-validation, also pre-trained on SQuAD’s sentences",
    "folds-without-pretraining": "cross-validation from random weights",
    "hundred-filters": "M-ACNN and M-CNN, cross-validated; last epoch",
    "made-kinds": "all generated pairs, and without one family",
    "made-pairs": "the weight of the generated pairs in the loss",
    "paper-settings": "M-ACNN with the paper’s own settings",
    "pooling": "k-min, k-max and full pooling, all features",
    "pooling-plain": "k-min and k-max, only the paper’s features `rep` and `simi`",
    "single-filter": "S-ACNN against S-CNN: one filter, trained for longer",
    "tfidf": "word counts without a network",
    "tuned-words": "the shared words unchanged, and tuned with the model",
}
"""The setting varied in a checkpoint's table, by the table's file name."""
Row = dict[str, Any]


def minutes(card: Card) -> str:
    """Training time in words: 25 seconds, 1.6 minutes."""
    seconds = card["training"]["seconds"]
    return f"{seconds:.0f} seconds" if seconds < 60 else f"{seconds / 60:.1f} minutes"


def score_text(value: float, measure: str) -> str:
    """A score as the tables show it."""
    return sweeps.text(Mean(value, None, 1), measure)


def systems(folder: Path) -> Iterator[str]:
    """The tables and figures for the AttConv paper in this folder: a figure has a row per run, a column per group."""
    for table, of in TABLES.items():
        for recipe, title in of.titles.items():
            if rows := read_rows(folder / f"{recipe}.csv"):
                yield f"{title} By `python -m trainers.paper table {table} --train {recipe}`."
                yield markdown.table(rows)
    for name, title in FIGURES.items():
        lines: dict[str, Row] = {}
        for each in read_rows(folder / f"{name}.csv"):
            low, accuracy, high = (f"{100 * float(each[key]):.1f}" for key in ("low", "accuracy", "high"))
            line = lines.setdefault(each["checkpoint"], {"run": each["checkpoint"]})
            line[f"{each['group']} ({each['items']} rows)"] = f"{accuracy} ({low} to {high})"
        if lines:
            yield f"{title} Per cent, 95\u00a0% intervals; by `python -m trainers.paper figure {name.split('-')[1]}`."
            yield markdown.table([*lines.values()])


def compared(tables: Sequence[tuple[str, Sweep | Comparisons]]) -> Iterator[Row]:
    """The paper's claims, each with runs that could have refuted it."""
    for _, table in tables:
        if isinstance(table, Comparisons):
            yield from table.rows


def swept(name: str, tables: Sequence[tuple[str, Sweep | Comparisons]]) -> Iterator[Row]:
    """The first, best and worst variant in each sweep of a checkpoint."""
    for file, table in tables:
        if isinstance(table, Sweep) and file != "seeds" and len(table.variants) > 1:
            rows = sorted(table.variants, key=lambda variant: -variant[1][table.measure].value)
            first, best, worst = (
                f"{sweeps.label(varied)}: {sweeps.text(means[table.measure], table.measure)}"
                for varied, means in (table.variants[0], rows[0], rows[-1])
            )
            yield {
                "checkpoint": f"`{name}`",
                "table": f"{file}: {CLAIMS.get(file, file)}",
                "variants": len(rows),
                "the first": first,
                "the best": best,
                "the worst": worst,
                "measure": table.columns[table.measure] + (f", {table.folds} folds" if table.folds else ""),
            }


def maps(folders: Sequence[Path]) -> Iterator[Row]:
    """The quality of every filter map."""
    for folder in folders:
        if not (folder / "map" / "map.json").is_file():
            continue
        made = _json(folder / "map" / "map.json")
        other = made.get("held_out")
        held_out_texts = f" ({other['texts']:,} of {other['file']})" if other else ""
        for layout in made["layouts"]:
            shares = {name: f"{100 * share:.1f} %" for name, share in layout["quality"].items()}
            yield {
                "checkpoint": f"`{folder.name}`",
                "map of": layout["name"],
                "texts": f"{len(made['items']):,} of {made['data']['file']}",
                "k": made["quality_neighbours"],
                "in filter space": shares["knn_filters"],
                "in the plane": shares["knn_plane"],
                "held out, filter space": shares.get("knn_held_out", "–") + held_out_texts,
                "largest class": shares["majority"],
                "trustworthiness": f"{layout['quality']['trustworthiness']:.3f}",
            }


def word_table(path: Path) -> Row:
    """The sources of the shared word table."""
    card = _json(path)
    last, training = max(card["epochs"], key=lambda epoch: epoch["epoch"]), card["training"]
    return {
        "words": f"{card['words']:,}",
        "numbers a word": card["width"],
        "made from": "; ".join(f"{source['name']} ({source['licence']})" for source in card["made_from"]),
        "SNLI dev after its last epoch": score_text(last["snli_dev"], "accuracy"),
        "training": f"{minutes(card)}, {counted(training['threads'], 'thread')}, torch {training['torch']}",
        "licence": card["licence"],
    }


def few_labels(path: Path) -> Iterator[str]:
    """The scores stored by `python -m trainers few-labels`."""
    if not path.is_file():
        yield f"No scores are stored yet: `python -m trainers few-labels` writes docs/{FEW_LABELS}."
        return
    stored, tabled = _json(path), dict[str, Row]()
    for row in stored["rows"]:
        own = tabled.setdefault(row["data"], {"data": row["data"]})
        range_of = f"({row['lowest']:.3f} – {row['highest']:.3f})"
        own[f"{row['labelled pairs']:,} pairs"] = f"{row['accuracy']:.3f} {range_of}"
        own["majority"], own["TF-IDF"] = f"{row['majority']:.3f}", f"{row['TF-IDF with word overlap']:.3f}"
    yield markdown.table([*tabled.values()])
    yield (
        f"Made by `{stored['command']}`: means of {stored['draws']} draws and their range; majority class, and TF-IDF "
        "with word overlap on the most pairs of the first draw."
    )


def speeds(path: Path) -> Iterator[str]:
    """The stored runs of `python -m trainers bench` with their thresholds, except what is below half of a maximum; if
    there are none, how to make one."""
    again = f"python -m trainers bench --json docs/{SPEED}"
    if not path.is_file():
        yield f"No speeds are stored yet: `{again}` measures them, and `{MADE_BY}` puts them on this page."
        return
    lines, runs, left_out = list[Row](), list[str](), 0
    for number, stored in enumerate(bench.stored_runs(path), start=1):
        rows = [bench.row_of(row) for rows in stored["benchmarks"].values() for row in rows]
        with_bar = [row for row in rows if row.bar is not None]
        shown = [row for row in with_bar if not (row.met and row.at_most and 2 * (row.value or 0) < (row.bar or 0))]
        lines += [{**row.cells, "run": number} for row in shown]
        left_out += len(with_bar) - len(shown)
        machine = stored["machine"]
        runs.append(
            f"Run {number}: {machine['date']} on {markdown.plain(machine['device'])} "
            f"({counted(machine['cores'], 'core')}, {counted(machine['threads'], 'thread')}, load "
            f"{machine['load_before']:.1f} before; Python {machine['python']}, torch {machine['torch']}, float32)."
        )
    yield markdown.table(lines)
    yield f"Left out: {counted(left_out, 'measurement')} below half of their maximum (docs/{SPEED} has them)."
    yield " ".join(runs)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError(f"{path.parent.name}/{path.name} is not readable JSON: make it again") from None
