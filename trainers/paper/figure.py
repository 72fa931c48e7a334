"""Plot the accuracy of checkpoints by the length of a text, or by the number of its evidence sentences.

    python -m trainers.paper figure length runs/imdb/*seed=1 --data DATA --out runs/figure5
    python -m trainers.paper figure evidence runs/fever/*seed=1 --data DATA --out runs/figure8

Figures 5 and 8 of the AttConv paper (Yin & Schütze 2018) from our own runs: accuracy on the dev set named on the cards,
by deciles of the judged texts' lengths, or by the number of evidence sentences per claim, with 95 % intervals (Wilson).
Writes OUT.csv and a self-contained OUT.html.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset
from core.errors import RunError
from core.evaluation.intervals import wilson
from core.evaluation.predict import classify
from core.files import whole_file
from core.json_types import JsonObject
from core.reading.tokens import tokenize
from trainers.options import add_options, data_folder, out_files, pick_device
from trainers.recipe import from_dict
from trainers.tables import write_rows
from trainers.training_data import read_source

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_SENTENCES = 6
"""Claims with at least this many evidence sentences form one group."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper figure`."""
    parser.add_argument("by", choices=("length", "evidence"), help="what the rows are grouped by")
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="names or folders; one dev set for all")
    add_options(parser, "--data", "--device")
    parser.add_argument("--out", type=Path, required=True, metavar="NAME", help="NAME.csv and NAME.html are written")


def run(args: argparse.Namespace) -> int:
    """Predict the dev set with each checkpoint, write table and figure, print the table."""
    paths = out_files(args.out, "csv", "html")
    checkpoints = [open_checkpoint(name) for name in args.checkpoints]
    dataset = dev_set(checkpoints, data_folder(args.data))
    groups = (by_length if args.by == "length" else by_evidence)(dataset, checkpoints[0])
    rows = [row for own in checkpoints for row in scored(own, dataset, groups, args.by, pick_device(args.device))]
    write_rows(paths[0], rows)
    what = "words of the text" if args.by == "length" else "evidence sentences of the claim"
    with whole_file(paths[1]) as scratch:
        drawn(rows, f"{what}, {dataset.name}").write_html(scratch, include_plotlyjs=True)
    for row in rows:
        print(f"{row['title']}, {row['group']}: {row['accuracy']} ({row['low']} to {row['high']}), {row['items']}")
    return 0


def dev_set(checkpoints: Sequence[Checkpoint], folder: Path) -> Dataset:
    """The dev set shared by all cards. Raises RunError if they name several, or none."""
    try:
        sources = [from_dict(dict(own.card["recipe"])).dev for own in checkpoints]
    except KeyError:
        raise RunError("a card names no recipe: give folders written by `python -m trainers train`") from None
    if any(source != sources[0] for source in sources):
        raise RunError("the checkpoints were scored on different dev sets: give checkpoints of one dev set")
    return read_source(folder, sources[0])


def by_length(dataset: Dataset, checkpoint: Checkpoint) -> pd.DataFrame:
    """Rows grouped into deciles by the word count of the judged text; texts of equal length stay together, so short
    texts may form fewer than ten groups. Gives each row its ``value`` and the ``place`` of its group."""
    side = "first" if checkpoint.judged == "first" or dataset.single else "second"
    lengths = np.array([len(tokenize(getattr(row, side))) for row in dataset.rows])
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, 11)[1:-1], method="nearest"))
    return pd.DataFrame({"value": lengths, "place": np.searchsorted(edges, lengths, side="left")})


def by_evidence(dataset: Dataset, checkpoint: Checkpoint) -> pd.DataFrame:
    """Rows grouped by the number of their evidence lines. Raises RunError for a data set without evidence."""
    if checkpoint.card["task"] != "fact checking":
        raise RunError(f"{checkpoint.name} checks no claims: give models trained on FEVER, or draw by length")
    counts = np.array([row.second.count("\n") + 1 for row in dataset.rows])
    return pd.DataFrame({"value": counts, "place": np.minimum(counts, MOST_SENTENCES)})


def scored(
    checkpoint: Checkpoint, dataset: Dataset, groups: pd.DataFrame, by: str, device: torch.device
) -> Iterator[JsonObject]:
    """One table row per group."""
    gold = np.array([checkpoint.labels.index(row.label or "") for row in dataset.rows])
    right = classify(checkpoint, dataset, device).argmax(1) == gold
    for place, rows in groups.assign(right=right).groupby("place"):
        first, last, hits = int(rows.value.min()), int(rows.value.max()), int(rows.right.sum())
        more = " and more" if by == "evidence" and place == MOST_SENTENCES else ""
        low, high = wilson(hits, len(rows))
        yield {
            "checkpoint": checkpoint.name,
            "title": checkpoint.card["title"],
            "group": f"{first}{more}" if more or first == last else f"{first} to {last}",
            "first": first,
            "last": last,
            "items": len(rows),
            "right": hits,
            "accuracy": f"{hits / len(rows):.4f}",
            "low": f"{low:.4f}",
            "high": f"{high:.4f}",
        }


def drawn(rows: Sequence[JsonObject], what: str) -> go.Figure:
    """A Plotly figure with one line per checkpoint and its intervals."""
    import plotly.graph_objects as go  # slow to import

    figure = go.Figure()
    for name in dict.fromkeys(row["checkpoint"] for row in rows):
        own = [row for row in rows if row["checkpoint"] == name]
        accuracy, low, high = (np.array([100 * float(row[key]) for row in own]) for key in ("accuracy", "low", "high"))
        figure.add_scatter(
            x=[row["group"] for row in own],
            y=accuracy,
            name=f"{own[0]['title']} ({name})",
            mode="lines+markers",
            error_y={"type": "data", "array": high - accuracy, "arrayminus": accuracy - low, "thickness": 1},
            customdata=[row["items"] for row in own],
            hovertemplate="%{y:.1f} %, %{customdata} rows",
            marker={"symbol": len(figure.data), "size": 9},
        )
    figure.update_xaxes(title=what, type="category")
    figure.update_yaxes(title="accuracy in %, 95 % intervals")
    return figure.update_layout(template="simple_white", legend={"orientation": "h", "y": 1.12})
