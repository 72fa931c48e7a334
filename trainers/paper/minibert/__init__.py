"""Train the small cross-encoder that is shipped as a guest: a BERT of a few layers in Hugging Face's format.

    python -m trainers.paper minibert --data DATA --out runs/guest-minibert

Its WordPiece is fitted on the training pairs, its embeddings begin as the word table's principal components, and the
target of a pair is a mix of its label and of what a teacher says of it (Hinton et al. 2015, "Distilling the knowledge
in a neural network"); made pairs, whose labels hold by construction, keep their label. It writes a
folder for ``AutoModelForSequenceClassification``, with float16 weights; its README.md and pairlens.json describe the
training.
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from pathlib import Path

import numpy as np
import torch

from core.data import read
from core.errors import RunError
from core.files import check_writable
from trainers import recipe as recipes
from trainers.training_data import read_source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper minibert`."""
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the data folder")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument("--recipe", default="nli-two-sided", help="whose data are read (default: nli-two-sided)")
    parser.add_argument("--teacher", default="nli-two-sided", metavar="CHECKPOINT", help="default: nli-two-sided")
    parser.add_argument("--teacher-share", type=float, default=0.6, metavar="S", help="of the target (default: 0.6)")
    parser.add_argument("--made", type=float, default=0.25, metavar="S", help="of the made pairs (default: 0.25)")
    parser.add_argument("--pieces", type=int, default=7000, metavar="N", help="of the vocabulary (default: 7000)")
    parser.add_argument("--layers", type=int, default=4, metavar="N", help="default: 4")
    parser.add_argument("--width", type=int, default=128, metavar="N", help="numbers of a state (default: 128)")
    parser.add_argument("--mask-epochs", type=int, default=1, metavar="N", help="over masked words first (default: 1)")
    parser.add_argument("--epochs", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--lr", type=float, default=0.001, help="default: 0.001")
    parser.add_argument("--batch", type=int, default=64, metavar="N", help="pairs of a step (default: 64)")
    parser.add_argument("--rows", type=int, default=0, metavar="N", help="sample size per data set (0: all)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="default: torch's own")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: 1")


def run(args: argparse.Namespace) -> int:
    """Fit the pieces, train, score and write."""
    from trainers.paper.minibert import learning, rows

    if min(args.pieces, args.layers, args.width, args.epochs, args.batch) < 1:
        raise RunError("--pieces, --layers, --width, --epochs and --batch must be at least 1")
    check_writable(args.out, "--out")
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    recipe = recipes.load(args.recipe)
    sources = [dataclasses.replace(source, rows=args.rows) for source in recipe.train]
    train = [(source, read_source(args.data, source)) for source in sources]
    evaluated = [read(args.data / source.path, source.name) for source in (recipe.dev, *recipe.report)]
    tokenizer = rows.fitted_tokenizer([dataset for _, dataset in train], args.pieces)
    pairs = rows.encoded(recipe, train, tokenizer, args.teacher, args.teacher_share, args.made)
    model = learning.new_model(recipe, tokenizer, args.layers, args.width)
    generator = np.random.default_rng(args.seed)
    learning.learn_masked_words(model, pairs, tokenizer, args, generator)
    average, curve = learning.learn(model, pairs, (tokenizer, evaluated[0]), args, generator)
    scores = {dataset.name: learning.score(average, tokenizer, dataset) for dataset in evaluated}
    learning.write(args.out, average, tokenizer, recipe, curve, scores, typed(args))
    print(", ".join(f"{name} {score['accuracy']:.2%}" for name, score in scores.items()), file=sys.stderr)
    return 0


def typed(args: argparse.Namespace) -> str:
    """The command as it would be typed, without folders of this machine."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    command = ["python", "-m", "trainers.paper", "minibert", "--data", "DATA", "--out", args.out.name]
    for name, default in vars(parser.parse_args(["--data", "", "--out", ""])).items():
        if name not in ("data", "out") and getattr(args, name) != default:
            command += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
    return shlex.join(command)
