"""Count the words that decide: of each row of a data file the word with the largest effect, and how often rows of each
such word are wrong, as “Strongest words” on the page Error desk does.

    python -m trainers strongest-words nli-two-sided FILE --rows 500
    python -m trainers strongest-words nli-two-sided run/ --json
    python -m trainers strongest-words nli-esim FILE --rows 100 --method taken-away

FILE is a data file with labels, or a run of this checkpoint (`python -m trainers predict … --out run/`). Words
that decide many wrong rows are perhaps shortcuts (Poliak et al. 2018; Gururangan et al. 2018).
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

import torch

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Picked, read
from core.data.labels import CountsAs, own
from core.desk.earlier_runs import as_folder, is_any_run
from core.desk.run import Predictions, Run
from core.desk.run_folder import load
from core.desk.strongest_words import AT_ONCE, SAMPLE, StrongestWord, WordScores, drawn, scored, strongest_words
from core.effects import METHODS
from core.effects.words import DROPPED
from core.errors import RunError
from core.evaluation.predict import check_texts, classify
from core.progress import bar
from core.wording import counted, percent
from trainers.options import add_options, check_labels, columns, mapped, scales_of
from trainers.tables import told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers strongest-words`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file with labels, or the folder of a run")
    parser.add_argument("--rows", type=int, default=SAMPLE, help="a sample of so many (default: %(default)s; 0: all)")
    parser.add_argument("--method", choices=tuple(METHODS), default=DROPPED, help="of effects (default: %(default)s)")
    parser.add_argument("--most", type=int, default=20, help="words that are printed (default: %(default)s)")
    add_options(parser, "--label", "--json", "--columns")


def run(args: argparse.Namespace) -> int:
    """Compute, count and print."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    counts_as = mapped(args.counts_as)
    scales_of([checkpoint], counts_as)
    of_file = run_of(checkpoint, args.file, args.rows, counts_as, columns(args.columns))
    model = next((i for i, own in enumerate(of_file.models) if own.sha256 == checkpoint.card["sha256"]), None)
    if model is None:
        raise RunError(f"{args.file.name} holds no predictions of {checkpoint.name}; give the checkpoint that made it")
    check_labels(checkpoint, of_file.models[model].scale, args.file.name, of_file.spellings)
    if not of_file.labelled:
        raise RunError(f"no row of {args.file.name} has a label to be judged by; give a file with labels")
    places = drawn(of_file.keys, (), args.rows or len(of_file.keys))
    found: dict[str, StrongestWord] = {}
    with bar(len(places)) as shown:
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            words = strongest_words(checkpoint, [of_file.dataset.rows[i] for i in some], method=args.method)
            found |= {of_file.keys[i]: word for i, word in zip(some, words, strict=True)}
            shown.update(len(some))
    known = scored(of_file, model, found)
    about = {"checkpoint": checkpoint.name, "file": args.file.name, "method": args.method}
    listed = [{**asdict(word), "share": word.share} for word in known.words]
    record = {**about, **asdict(known), "share": known.share, "words": listed}
    print(told(record, table(known, checkpoint.name, args.most), args.json))
    return 0


def run_of(checkpoint: Checkpoint, file: Path, rows: int, counts_as: CountsAs, picked: Picked | None = None) -> Run:
    """The run of a file, or what the checkpoint says of a sample of a data file; ``counts_as``: what labels stand for,
    besides what a run says."""
    if picked is None and is_any_run(file):
        with as_folder(file) as folder:
            run = load(folder)
            run = replace(run, dataset=replace(run.dataset, rows=tuple(run.dataset.rows)), folder=None)
        own_classes = [own(counts_as, model.labels) for model in run.models]
        models = zip(run.models, own_classes, strict=True)
        return run.with_models(tuple(replace(model, counts_as=model.counts_as | more) for model, more in models))
    dataset = read(file, mapped=counts_as, columns=picked)
    check_texts(checkpoint, dataset)
    keys = Run(dataset, ()).keys
    some = sorted(drawn(keys, (), rows or len(keys)))
    dataset = replace(dataset, rows=tuple(dataset.rows[i] for i in some))
    return Run(dataset, (Predictions.of(checkpoint, classify(checkpoint, dataset, torch.device("cpu")), counts_as),))


def table(known: WordScores, model: str, most: int) -> str:
    """The counts as text for people, the words of the most wrong rows first."""
    head = f"{model}: {known.wrong:,} of {counted(known.rows, 'row')} wrong ({percent(known.share)})"
    lines = [head, "", f"{'word':<18}{'text':<14}{'rows':>6}{'wrong':>7}   {'share':<8}95 % interval"]
    for one in known.words[:most]:
        interval = f"{percent(one.low)} to {percent(one.high)}"
        lines.append(f"{one.word:<18}{one.side:<14}{one.rows:>6,}{one.wrong:>7,}   {percent(one.share):<8}{interval}")
    if len(known.words) > most:
        lines.append(f"… and {counted(len(known.words) - most, 'more word')}; --json has all")
    return "\n".join(lines)
