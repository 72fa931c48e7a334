"""Train a model from a recipe, or on a file of your own, and write it as a checkpoint folder.

    python -m trainers train nli-attconv-light --data ../shared/data
    python -m trainers train --file FILE --columns premise=sent1,hypothesis=sent2,label=gold --from nli-two-sided
    python -m trainers train nli-attconv-light --set lr=0.001 --set model.match=bilinear --out runs/bilinear
    torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint HOST:PORT -m trainers train nli-esim

With --file the recipe follows from the rows: classes, roles, a fifth of the rows held out, batches and epochs. The
model starts from the weights of a checkpoint (--from), with its classifier if the labels are its classes, or from
random ones (--architecture). The recipe is on the card, and FOLDER/card.json as RECIPE repeats the run.

The folder is ready to use: `python -m trainers evaluate FOLDER FILE`, or in the app with PAIRLENS_CHECKPOINTS. A killed
run continues with --resume and gives the same weights as an uninterrupted one. With several processes, here or on
machines that share --out, each computes a share of every batch (docs/cuda.md).
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import torch

from core.checkpoint import load, read_card
from core.checkpoint.epochs import MOST
from core.errors import RunError
from core.evaluation.probe import figures, probe, suits
from core.evaluation.suites import SUITES
from core.files import check_writable
from trainers import own_file, resume, runs
from trainers import recipe as recipes
from trainers.card import add_to_card
from trainers.commands import as_typed
from trainers.options import add_options, data_folder, use_threads
from trainers.precision import add_precision
from trainers.processes import launcher, number
from trainers.teaching import finetuned_first, trained_first
from trainers.training_data import load_data, table_for

BASE = "nli-two-sided"
"""The checkpoint from which training on a file starts."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers train`."""
    known = ", ".join(recipes.names())
    parser.add_argument(
        "recipe", metavar="RECIPE", nargs="?", help=f"a name ({known}) or the path of a YAML file, or of a card.json"
    )
    own_file.add_arguments(parser)
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--from", dest="base", default="", metavar="CHECKPOINT", help=f"with --file: start from it (default: {BASE})"
    )
    start.add_argument("--architecture", default="", metavar="NAME", help="with --file: start from random weights")
    parser.add_argument("--rows", type=int, default=0, metavar="N", help="with --file: use a sample of N rows")
    parser.add_argument("--title", default="", help="with --file: the model's display name")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="with --file (default: 0)")
    parser.add_argument(
        "--out", type=Path, help="folder of the checkpoint (default: NAME in $PAIRLENS_CHECKPOINTS, else in runs/)"
    )
    add_options(parser, "--data", "--device", "--threads", "--set")
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="word vectors as GloVe, word2vec or fastText text, instead of the shared word table",
    )
    add_precision(parser)
    parser.add_argument(
        "--devices", type=int, default=1, metavar="N", help="processes on this machine, one per GPU (or on the CPU)"
    )
    parser.add_argument("--resume", action="store_true", help="resume an unfinished run in --out")
    parser.add_argument("--overwrite", action="store_true", help="replace the contents of --out")
    parser.add_argument("--save-every", type=int, default=500, metavar="STEPS", help="steps between saved states")
    parser.add_argument(
        "--keep-epochs",
        type=int,
        metavar="N",
        help="keep the weights after each of the last N epochs: NAME@3 is the model after its third one "
        f"(default: {MOST} with --file, else 0)",
    )
    parser.add_argument("--server", type=int, default=0, help=argparse.SUPPRESS)  # that watches this training


def run(args: argparse.Namespace) -> int:
    """Check everything, read the data, train."""
    # Importing Fabric takes over a second: not for --help, nor for a misspelt recipe.
    recipe, folder = _recipe(args)
    out = args.out or Path(os.environ.get("PAIRLENS_CHECKPOINTS") or "runs") / recipe.name
    if prepare(out, args.resume, args.overwrite):
        print(f"{out} is already finished, with no state to resume from: its card.json has the results")
        return 0
    if args.devices < 1 or args.save_every < 1:
        raise RunError("--devices and --save-every must be at least 1")
    use_threads(args.threads)
    from trainers import loop, set_up

    quiet = number() > 0
    _train_teachers(recipe, folder, out, args)
    data = load_data(recipe, folder, quiet)
    words, own = table_for(recipe, folder, args.vectors, data.vocabulary)
    names = ("device", "precision", "devices", "threads", "resume", "save_every", "server")
    keep_epochs = args.keep_epochs if args.keep_epochs is not None else MOST if args.file else 0
    options = set_up.Options(
        out, **{name: getattr(args, name) for name in names}, command=command(args), keep_epochs=keep_epochs
    )
    card = loop.train(recipe, data, words, options, own_words=own)
    if card:
        for name, result in card["results"].items():
            print(f"{name}: {scores_text(result)}")
        if suits(read_card(out)):
            trained = load(out)
            probed = {name: figures(probe(trained, torch.device("cpu"), suite)) for name, suite in SUITES.items()}
            add_to_card(out, suites=probed)
            for name, result in probed.items():
                print(f"{SUITES[name].title}: {result['right']} of {result['total']} pairs")
        print(f"written: {out} (weights SHA-256 {card['sha256'][:16]}…)")
    return 0


def _recipe(args: argparse.Namespace) -> tuple[recipes.Recipe, Path]:
    """The recipe and its data folder. Raises RunError for options that do not go together."""
    own_file.check(args, "RECIPE")
    if args.file is None:
        return recipes.load(args.recipe, args.changes), data_folder(args.data)
    base = "" if args.architecture else args.base or BASE
    return own_file.of_file(args, base, args.architecture, args.changes), args.file.parent


def _train_teachers(recipe: recipes.Recipe, folder: Path, out: Path, args: argparse.Namespace) -> None:
    """Trains the teachers that are runs of recipes and fine-tunes the transformers among them, unless they are
    finished. Raises RunError for several processes."""
    from trainers import finetune
    from trainers.set_up import Options

    runs_first = {where: run for where, run in trained_first(recipe, out).items() if not resume.finished(where, run)}
    tuned_first = {
        where: tuned for where, tuned in finetuned_first(recipe, out).items() if not finetune.finished(where)
    }
    for where in (*runs_first, *tuned_first):
        if args.devices > 1 or launcher(1) != ["python"]:
            raise RunError(
                f"the teacher {where.name} is trained first, by one process: call this without --devices once"
            )
    for where, teacher in runs_first.items():
        command = as_typed("trainers train", teacher.name, data="DATA")
        options = Options(where, args.device, args.precision, resume=args.resume, command=command)
        runs.one_run(teacher, folder, options, needs_dev=False)
    for where, (model, data) in tuned_first.items():
        finetune.as_teacher(model, data, folder, where)


def prepare(out: Path, go_on: bool, overwrite: bool) -> bool:
    """Whether ``out`` holds a finished run that --resume asks to continue, so nothing is left to do. Raises RunError
    rather than lose anything: even with ``overwrite``, a checkpoint stays until the new one is complete, a saved state
    until the next.
    """
    check_writable(out, "--out", folder=True)
    finished, unfinished = (out / "card.json").is_file(), (out / resume.FILE).is_file()
    if unfinished and not go_on and not overwrite:
        raise RunError(f"{out} holds an unfinished run; add --resume to continue, or --overwrite to start again")
    if finished and not unfinished and not go_on and not overwrite:
        raise RunError(f"{out} holds a finished checkpoint; give another --out, or --overwrite to replace it")
    return finished and not unfinished and go_on


def scores_text(result: Mapping[str, float]) -> str:
    """A data set's scores on one line."""
    if "map" in result:
        return f"MAP {result['map']:.4f}, MRR {result['mrr']:.4f}, {result['items']:,} questions"
    return f"accuracy {result['accuracy']:.2%}, macro-F1 {result['macro_f1']:.4f}, {result['items']:,}"


def command(args: argparse.Namespace) -> str:
    """The command that repeats this training, without this machine's folders."""
    names, data = ((), None) if args.file else ((Path(args.recipe).name,), "DATA")
    typed = as_typed("trainers train", *names, data=data, **args.given)
    return typed.replace("python", shlex.join(launcher(args.devices)), 1)
