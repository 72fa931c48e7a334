"""Adapt a checkpoint to labelled pairs of your own: a new classifier on its features, fitted in seconds.

    python -m trainers adapt nli-two-sided events.csv --columns first=Text,second=Other,label=Verdict --out models/mine
    python -m trainers adapt nli-two-sided wrong.csv --out models/corrected

If all labels are classes of the checkpoint, its classifier is corrected: pulled towards its old weights (--pull), and
for up to 50 pairs towards its old answers to other pairs (--keep). Otherwise a new classifier is fitted. The folder
under --out needs the base and holds only the classifier: PAIRLENS_CHECKPOINTS may name the folder above it, so that all
pages list it. Rows without a label are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from core.adaptation import adapt
from core.adaptation.adapt import MOST_CORRECTIONS
from core.adaptation.fits import KEEP
from core.checkpoint import Checkpoint, open_checkpoint
from core.checkpoint.adapted import save_adapted
from core.data import Dataset, read
from core.data.labels import graded
from core.errors import RunError
from core.evaluation.predict import check_texts
from core.files import check_writable
from core.progress import bar
from core.wording import counted
from trainers.commands import as_typed
from trainers.options import add_options, columns, mapped, named_by, scale_of

_NAMED = 12
"""Maximum number of classes named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers adapt`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="labelled pairs, in any layout or with --columns")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder to write")
    parser.add_argument("--title", default="", help="the name shown on pages (default: the base's, + N pairs)")
    parser.add_argument(
        "--pull",
        type=float,
        help="pull towards the old weights (default: the most that still learns up to 50 pairs; more choose it by "
        "cross-validation)",
    )
    kept = f"weight of the old answers (default: {KEEP:g} for up to {MOST_CORRECTIONS} pairs, else 0)"
    parser.add_argument("--keep", type=float, help=kept)
    parser.add_argument("--balanced", action="store_true", help="rare classes count as much as frequent ones")
    parser.add_argument("--new", action="store_true", help="a new classifier even if the labels are the base's classes")
    parser.add_argument("--roles", metavar="FIRST,SECOND", help="names of the two texts on pages")
    add_options(parser, "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Read, fit, save, print."""
    check_writable(args.out, "--out", folder=True)
    if (args.pull is not None and args.pull <= 0) or (args.keep or 0) < 0:
        raise RunError("--pull must be above 0 and --keep at least 0")
    base = open_checkpoint(args.checkpoint, args.class_names)
    names = mapped(args.counts_as)
    dataset = read(args.file, named=named_by([base], names), columns=columns(args.columns))
    check_texts(base, dataset)
    labels = _labels(base, dataset, names)
    rows = [row for row, label in zip(dataset.rows, labels, strict=True) if label is not None]
    known = [label for label in labels if label is not None]
    for problem in dataset.problems[:3]:
        print(f"note: {args.file.name}, {problem}", file=sys.stderr)
    clashing = _clashing([(row.first, row.second) for row in rows], known)
    if clashing:
        print(f"note: {counted(clashing, 'pair')} with two different labels", file=sys.stderr)
    groups = [row.group or "" for row in rows] if dataset.ranking else []
    roles = dict(zip(("first", "second"), args.roles.split(",", 1), strict=False)) if args.roles else None
    started = time.monotonic()
    with bar(len(rows)) as shown:
        adapted = adapt(
            base,
            [(row.first, row.second) for row in rows],
            known,
            name=args.out.name,
            title=args.title,
            pull=args.pull,
            keep=args.keep,
            balanced=args.balanced,
            new=args.new,
            groups=groups,
            roles=roles,
            command=as_typed("trainers adapt", args.checkpoint, args.file.name, **args.given),
            progress=lambda done: shown.update(done - shown.n),
        )
    saved = save_adapted(args.out, adapted, learned=[(row.first, row.second) for row in rows])
    print(
        f"{saved.card['title']}: {counted(len(rows), 'pair')}, classes {', '.join(saved.labels[:_NAMED])}"
        f"{', …' if len(saved.labels) > _NAMED else ''}, "
        f"{time.monotonic() - started:.1f} s; {args.out} needs {saved.card['base']['name']}"
    )
    return 0


def _labels(base: Checkpoint, dataset: Dataset, names: dict[str, tuple[str, ...]]) -> list[str | None]:
    """The class of each row: the base's if all labels mean one of them, else the file's own spelling."""
    found = sorted({row.label for row in dataset.rows if row.label is not None})
    if not found:
        raise RunError(f"{dataset.name} has no labels: name the column of labels with --columns")
    if graded(found) and any("." in label for label in found) and not names:
        raise RunError(
            f"the labels of {dataset.name} are numbers such as {next(label for label in found if '.' in label)}, which "
            "look like grades: name a column of classes with --columns, or the classes with --label"
        )
    several = next((label for label, classes in names.items() if len(classes) > 1), None)
    if several is not None:
        raise RunError(f"--label {several}: a pair is learned as one class, so name one class for it")
    scale = scale_of(base, {label: classes for label, classes in names.items() if {*classes} <= {*base.labels}})
    if not scale.unknown(found):
        places = scale.of([row.label for row in dataset.rows])
        return [scale.names[place] if place >= 0 else None for place in places]
    renamed = {label: classes[0] if classes else None for label, classes in names.items()}
    return [None if row.label is None else renamed.get(row.label, row.shown_label) for row in dataset.rows]


def _clashing(pairs: list[tuple[str, str]], labels: list[str]) -> int:
    """The number of different pairs that have more than one label."""
    seen: dict[tuple[str, str], set[str]] = {}
    for pair, label in zip(pairs, labels, strict=True):
        seen.setdefault(pair, set()).add(label)
    return sum(len(own) > 1 for own in seen.values())
