"""Rebuild a table of results of the AttConv paper from runs of this project, beside the paper's own numbers.

    python -m trainers table nli --runs runs/nli --out runs/nli-table
    python -m trainers table fever --runs runs/fever --out runs/fever-table --baselines runs/fever-baselines.csv
    python -m trainers table nli --train comparison-nli --data DATA --runs runs/nli --out runs/nli-table

Writes OUT.csv and OUT.md. Ours are the accuracies on dev that the runs' cards hold, several seeds as mean ± half their
95 % interval; the paper's stand in a column of their own with the data that they are of. All runs of a table must have
been trained and scored on the same data; systems that are not run here say why. ``--baselines``: what
`python -m trainers baselines --csv` wrote for the same data. ``--train`` first trains what is not there yet of all
systems of the table on the data of a recipe, all with its sizes and epochs (:mod:`trainers.rivals`), and its baselines;
the recipes are comparison-nli, comparison-fever, and of the table sentiment comparison-sst5 and comparison-imdb.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from core.checkpoint import CheckpointError, read_card
from core.errors import RunError
from core.evaluation.intervals import half_width
from core.files import check_writable, whole_file

Card = Mapping[str, Any]

BASELINES = "baselines.csv"
"""The file of baselines in the folder of runs that --train makes."""

VECTOR = "no reader of paragraph vectors here: it is trained without labels on all of the set's texts at once"
GRAPH = "needs an Open IE graph of each sentence"
RETRIEVAL = "no retrieval here: gold evidence alone, without page ids, so the FEVER score cannot be computed"


class System(NamedTuple):
    """A line of a table. ``settings``: of the architecture, as far as they tell systems apart; ``judged``: the role
    that is read where one text is read alone; ``why``: why it is not run here."""

    name: str
    paper: float | None = None
    architecture: str = ""
    settings: Mapping[str, Any] = {}
    judged: str = ""
    why: str = ""
    baseline: str = ""
    """Its name in the table of baselines, for one without a network."""

    def made(self, card: Card) -> bool:
        """Whether a run is of this system."""
        config, roles = card["config"], card["roles"]
        same = all(config.get(key) == value for key, value in self.settings.items())
        return bool(self.architecture == card["architecture"] and same and self.judged in ("", roles["judged"]))


class Table(NamedTuple):
    """A table of the paper. ``of``: the data of the paper's column."""

    of: str
    systems: tuple[System, ...]


def _with(**settings: Any) -> dict[str, Any]:
    return settings


_EXTRA, _EACH = _with(context="extra"), _with(context="each")
_INTRA, _NONE = _with(context="intra"), _with(context="none")
_BOTH = _with(attention="both", means=True)
_COMPARE = _with(compare=True)
"""The paper does not say how its classifier joins two sentence vectors; its figures are out of reach of a linear one
over both alone."""

TABLES: dict[str, Table] = {
    "nli": Table("SNLI test, trained on all of SNLI", (
        System("majority class", 34.3, baseline="majority class"),
        System("n-gram overlap", None, baseline="n-gram overlap"),
        System("TF-IDF, MLP", None, baseline="TF-IDF, MLP"),
        System("w/o context", 68.7, "attconv-light", _NONE),
        System("Bi-LSTM", 77.6, "bi-lstm", _EXTRA | _COMPARE),
        System("Bi-CNN", 80.3, "bi-cnn", _EXTRA | _COMPARE),
        System("Attentive-LSTM", 83.5, "attentive-lstm"),
        System("ABCNN-1", None, "abcnn", _with(attention="words") | _COMPARE),
        System("ABCNN-2", None, "abcnn", _with(attention="states", means=True) | _COMPARE),
        System("ABCNN (3)", 83.7, "abcnn", _BOTH | _COMPARE),
        System("APCNN", 83.9, "apcnn", _COMPARE),
        System("AttConv light", 86.3, "attconv-light", _EXTRA),
        System("AttConv w/o convolution", 84.9, "attconv-feedforward", _EXTRA),
        System("Decomposable Attention", 86.8, "decomposable", _with(intra=False)),
        System("Decomposable Attention, intra-sentence", None, "decomposable", _with(intra=True)),
        System("AttConv advanced", 87.8, "attconv-advanced", _EXTRA),
        System("Enhanced LSTM (ESIM)", 88.6, "esim"),
        System("DGEM", None, why=GRAPH),
    )),
    "sentiment": Table("Yelp test, trained on 500,000 reviews", (
        System("TF-IDF, linear SVM", None, baseline="TF-IDF, linear SVM"),
        System("Paragraph vector", 58.43, why=VECTOR),
        System("Bi-LSTM", 61.99, "bi-lstm", _NONE),
        System("CNN", 62.05, "bi-cnn", _NONE),
        System("MultichannelCNN", 64.62, "multichannel-cnn", _NONE),
        System("CNN + internal attention", 61.43, "internal-attention-cnn", _NONE),
        System("ABCNN", 61.36, "abcnn", _INTRA | _BOTH),
        System("APCNN", 61.98, "apcnn", _INTRA),
        System("Attentive-LSTM", 63.11, "attentive-lstm", _INTRA),
        System("Structured self-attention", 64.21, "self-attention", _NONE),
        System("AttConv light", 66.75, "attconv-light", _INTRA),
        System("AttConv w/o convolution", 61.34, "attconv-feedforward", _INTRA),
        System("AttConv advanced", 67.36, "attconv-advanced", _INTRA),
    )),
    "fever": Table("FEVER dev, gold evidence", (
        System("majority class", None, baseline="majority class"),
        System("TF-IDF, MLP", 65.13, baseline="TF-IDF, MLP"),
        System("claim alone", None, "attconv-light", _NONE, "claim"),
        System("evidence alone", None, "attconv-light", _NONE, "evidence"),
        System("Bi-CNN", 75.02, "bi-cnn", _EXTRA | _COMPARE),
        System("APCNN", 78.91, "apcnn", _COMPARE),
        System("ABCNN", 77.13, "abcnn", _BOTH | _COMPARE),
        System("Attentive-LSTM", 78.44, "attentive-lstm"),
        System("Decomposable Attention", 80.82, "decomposable", _with(intra=False)),
        System("AttConv light, context-wise", 83.20, "attconv-light", _EACH),
        System("AttConv light, context-wise, w/o convolution", 73.18, "attconv-feedforward", _EACH),
        System("AttConv light, context-conc", 84.74, "attconv-light", _EXTRA),
        System("AttConv light, context-conc, w/o convolution", 73.44, "attconv-feedforward", _EXTRA),
        System("AttConv advanced, context-wise", 84.99, "attconv-advanced", _EACH),
        System("AttConv advanced, context-conc", 86.02, "attconv-advanced", _EXTRA),
        System("all systems on retrieved evidence (ALL, SUB)", None, why=RETRIEVAL),
    )),
}  # fmt: skip
"""Tables 7, 3 and 9 of Yin & Schütze 2018, accuracies in per cent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers table`."""
    parser.add_argument("table", choices=tuple(TABLES), help="which table")
    parser.add_argument("--runs", type=Path, required=True, metavar="FOLDER", help="the folder of the runs' folders")
    parser.add_argument("--baselines", type=Path, metavar="CSV", help="scores of baselines without a network")
    parser.add_argument("--train", metavar="RECIPE", help="first train the systems that have no run, on this data")
    parser.add_argument("--data", type=Path, help="with --train: the data folder (default: $PAIRLENS_DATA)")
    parser.add_argument("--precision", choices=("32", "bf16", "16"), default="32", help="with --train: as in train")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="with --train: CPU threads")
    parser.add_argument("--out", type=Path, required=True, metavar="NAME", help="NAME.csv and NAME.md are written")


def run(args: argparse.Namespace) -> int:
    """Read the cards, write both files, print the Markdown."""
    paths = [args.out.with_name(f"{args.out.name}.{kind}") for kind in ("csv", "md")]
    for path in paths:
        check_writable(path, "--out")
    failed = 0
    if args.train:
        failed = train_systems(args)
        args.baselines = args.baselines or args.runs / BASELINES
    rows = lines(TABLES[args.table], cards(args.runs), scored(args.baselines) if args.baselines else ())
    for path, text in zip(paths, (as_csv(rows), as_markdown(rows)), strict=True):
        with whole_file(path) as scratch:
            scratch.write_text(text, encoding="utf-8")
    print(as_markdown(rows), end="")
    return int(failed > 0)


def train_systems(args: argparse.Namespace) -> int:
    """Train what is missing of the table's runs and baselines. Returns how many runs failed."""
    import torch

    from trainers import baselines, recipe, rivals
    from trainers.train import data_folder

    if args.threads:
        torch.set_num_threads(args.threads)
    base, folder = recipe.load(args.train), data_folder(args.data)
    check_writable(args.runs, "--runs", folder=True)
    command = f"python -m trainers table {args.table} --train {base.name} --data DATA --precision {args.precision}"
    failed = rivals.train(TABLES[args.table].systems, base, folder, args.runs, args.precision, command)
    if not (args.runs / BASELINES).is_file():
        baselines.run(argparse.Namespace(recipe=args.train, data=folder, csv=args.runs / BASELINES))
    return failed


def cards(folder: Path) -> Sequence[Card]:
    """The cards of all runs in a folder. Raises RunError for a folder without any."""
    out = []
    for path in sorted(folder.glob("*/card.json")):
        try:
            out.append(read_card(path.parent))
        except CheckpointError as error:
            raise RunError(str(error)) from None
    if not out:
        raise RunError(f"{folder.name} holds no finished run: name the folder that holds the runs' folders")
    return out


def scored(path: Path) -> Sequence[Mapping[str, str]]:
    """The rows of a table of baselines. Raises RunError for another file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [{key: row[key] for key in ("baseline", "dev", "accuracy")} for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error, KeyError):
        raise RunError(f"{path.name} holds no scores: give what `python -m trainers baselines --csv` wrote") from None


def lines(table: Table, runs: Sequence[Card], baselines: Sequence[Mapping[str, str]] = ()) -> list[dict[str, str]]:
    """The table's lines, with ours where there are runs. Raises RunError for runs of unlike data."""
    used = [(system, [card for card in runs if system.made(card)]) for system in table.systems]
    members = [card for _, own in used for card in own]
    if not members:
        raise RunError("none of the runs is of a system of this table: name the folder of the runs that are")
    same_data(members)
    recipe = members[0]["recipe"]
    dev, train = recipe["dev"]["name"], " + ".join(source["name"] for source in members[0]["data"])
    head = f"ours: {dev}, trained on {train}"
    out = []
    for system, own in used:
        results = [card["results"][dev] for card in own]
        plain = [float(row["accuracy"]) for row in baselines if (row["baseline"], row["dev"]) == (system.baseline, dev)]
        row = {
            "system": system.name,
            head: percent(plain or [result["accuracy"] for result in results]),
            "runs": str(len(own)) if own else "–",
            "weights": f"{own[0]['parameters']['model']:,}" if own else "–",
            f"the paper: {table.of}": "–" if system.paper is None else f"{system.paper:g}",
        }
        for key, name in (("accuracy_with_evidence", "two classes with evidence"), ("evidence_cut", "evidence cut")):
            if any(key in card["results"][dev] for card in members):
                row[name] = percent([result[key] for result in results if key in result])
        out.append(row | {"not run": system.why if not own else ""})
    return out


def same_data(runs: Sequence[Card]) -> None:
    """Raises RunError where runs that are to be compared were trained or scored on unlike data."""
    seen = {
        repr([[(s["name"], s["rows"]) for s in card["data"]], card["recipe"]["dev"]["name"],
              [[s.get(key) for key in ("path", "rows", "block", "part_weights")] for s in card["recipe"]["train"]]]):
        card["name"]
        for card in runs
    }  # fmt: skip
    if len(seen) > 1:
        first, other, *_ = seen.values()
        raise RunError(f"{first} and {other} were trained or scored on unlike data: compare runs of the same data")


def percent(values: Sequence[float]) -> str:
    """A mean in per cent, with half its 95 % interval where there are several runs; a dash for none."""
    if not values:
        return "–"
    mean = f"{100 * fmean(values):.2f}"
    return f"{mean} ± {100 * half_width(values):.2f}" if len(values) > 1 else mean


def as_csv(rows: Sequence[Mapping[str, str]]) -> str:
    """The lines as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """The lines as a Markdown table."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    head = list(rows[0])
    return line(head) + line(["---"] * len(head)) + "".join(line(row.values()) for row in rows)
