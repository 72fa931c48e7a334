"""Test checkpoints by perturbing the rows of a data file: how often predictions do not behave as expected.

    python -m trainers perturb nli-two-sided FILE --out perturbed/
    python -m trainers perturb nli-two-sided nli-attconv-light FILE --out perturbed/ --only typo,not,swap --json
    python -m trainers perturb nli-two-sided FILE --out perturbed/ --filter 'A.right and genre = telephone'

Each perturbation has an expected effect by gold label (docs/desk.md): a typo changes no prediction, “not” in the
hypothesis turns an entailment into a contradiction, but has no expected effect on a neutral pair. For each checkpoint,
the command prints the number of rows to which a perturbation applies, and the share on which the checkpoint fails, with
its 95 % interval (Wilson). The changed rows become a run for the Error desk: its column “failed” names the checkpoints
that fail. The same command resumes an interrupted test; the same --seed gives the same rows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.checkpoint import open_checkpoints
from core.command_line import add_class_names
from core.data import read
from core.desk import run_folder
from core.desk.filters import rows_of
from core.desk.perturbations import PERTURBATIONS
from core.desk.perturbed_run import PerturbationTest, failure_rates
from core.desk.remarks import remarks
from core.desk.run import MOST_MODELS, Predictions, Run
from core.desk.slices import Share
from core.desk.table import open_table
from core.errors import RunError
from core.evaluation.predict import classify
from core.files import check_writable
from core.progress import bar
from core.wording import percent
from trainers.options import add_options, columns, mapped, named_by, pick_device, scales_of
from trainers.tables import told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers perturb`."""
    parser.add_argument("checkpoints", metavar="CHECKPOINT", nargs="+", help="a shipped name or a folder; up to four")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file")
    parser.add_argument("--out", required=True, metavar="FOLDER", type=Path, help="the output folder of the run")
    parser.add_argument("--only", metavar="NAME,…", help=f"some of {', '.join(PERTURBATIONS)} (default: all)")
    parser.add_argument("--filter", default="", help="test only rows that this filter keeps (docs/desk.md)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    add_class_names(parser)
    add_options(parser, "--json", "--device", "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Change, predict, write and print."""
    check_writable(args.out, "--out", folder=True)
    checkpoints = open_checkpoints(list(dict.fromkeys(args.checkpoints)), args.class_names)
    if len(checkpoints) > MOST_MODELS:
        raise RunError(f"test up to {MOST_MODELS} checkpoints at a time, got {len(checkpoints)}")
    counts_as = mapped(args.counts_as)
    scales_of(checkpoints, counts_as)
    data = read(args.file, labelled=False, named=named_by(checkpoints, counts_as), columns=columns(args.columns))
    names = args.only.split(",") if args.only else tuple(PERTURBATIONS)
    device = pick_device(args.device)
    predictions = [Predictions.of(one, classify(one, data, device), counts_as) for one in checkpoints]
    with tempfile.TemporaryDirectory() as folder:
        run_folder.save(data, predictions, Path(folder))
        known = run_folder.load(Path(folder))
        rows = _filtered(args.filter, known) if args.filter else range(len(data.rows))
        test = PerturbationTest(known, rows, names, args.seed)
        with bar(len(rows)) as shown:
            test.write(args.out, checkpoints, device, lambda done: shown.update(done - shown.n))
    changed = run_folder.load(args.out)
    rates = {model.model: failure_rates(changed, i) for i, model in enumerate(changed.models)}
    listed = {name: list(map(_record, own)) for name, own in rates.items()}
    print(told({"file": data.name, "seed": args.seed, "failures": listed}, _table(rates), args.json))
    return 0


def _filtered(expression: str, run: Run) -> Sequence[int]:
    """The indices of the rows that a filter keeps. Raises UserError if there are none."""
    table = open_table(run)
    rows = np.flatnonzero(rows_of(expression, table)).tolist()
    if not rows:
        raise RunError((remarks(expression, table, 0) or ["no row fulfils the filter"])[0].removesuffix("."))
    return rows


def _record(rate: Share) -> dict[str, object]:
    """A failure rate as JSON."""
    perturbation, expected = rate.names
    counts = {"perturbation": perturbation, "expected": expected, "rows": rate.rows, "failures": rate.hits}
    return counts | {"low": rate.low, "high": rate.high, "expression": rate.expression}


def _table(rates: dict[str, list[Share]]) -> str:
    """The failure rates as text."""
    lines: list[str] = []
    for model, own in rates.items():
        lines += [f"{model:<60}{'rows':>7}{'failed':>8}   {'share':<8}95 % interval", *map(_line, own), ""]
    return "\n".join(lines[:-1])


def _line(rate: Share) -> str:
    what, interval = ": ".join(rate.names), f"{percent(rate.low)} to {percent(rate.high)}"
    return f"{what:<60}{rate.rows:>7,}{rate.hits:>8,}   {percent(rate.score):<8}{interval}"
