"""Train a model from a recipe and write it as a checkpoint folder.

    python -m trainers train nli-attconv-light --data ../shared/data
    python -m trainers train nli-attconv-light --set lr=0.001 --set model.match=bilinear --out runs/bilinear

The folder can be used at once: `python -m trainers evaluate FOLDER FILE`, or in the app with PAIRLENS_CHECKPOINTS.
A run that was killed goes on with --resume and gives the same weights as an unbroken one.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from core.checkpoint import judged_side
from core.data import DataError, Dataset, read
from core.errors import RunError
from core.evaluation.encoding import Encoded, Vocabulary, encode
from core.files import check_writable
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import WordTable, default_table
from trainers import recipe as recipes
from trainers import resume
from trainers.recipe import DataSource, Recipe

if TYPE_CHECKING:
    from trainers.loop import TrainingData


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers train`."""
    known = ", ".join(recipes.names())
    parser.add_argument("recipe", metavar="RECIPE", help=f"a name ({known}) or the path of a YAML file")
    parser.add_argument("--data", type=Path, help="the data folder (default: $PAIRLENS_DATA)")
    parser.add_argument(
        "--out", type=Path, help="folder of the checkpoint (default: NAME in $PAIRLENS_CHECKPOINTS, else in runs/)"
    )
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: cuda where it is")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="changes",
        help="change a key of the recipe, such as lr=0.001 or model.match=bilinear; may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE",
        help="word vectors as GloVe, word2vec or fastText text, in place of the shared word table",
    )  # fmt: skip
    parser.add_argument("--precision", choices=("32", "bf16", "16"), default="32", help="bf16 and 16 are mixed (AMP)")
    parser.add_argument("--compile", action="store_true", help="torch.compile the model")
    parser.add_argument("--devices", type=int, default=1, metavar="N", help="processes, one a GPU (or on the CPU)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="CPU threads of a process")
    parser.add_argument("--resume", action="store_true", help="go on with an unfinished run in --out")
    parser.add_argument("--overwrite", action="store_true", help="replace what --out holds")
    parser.add_argument("--save-every", type=int, default=500, metavar="STEPS", help="steps between saved states")


def run(args: argparse.Namespace) -> int:
    """Check everything, read the data, train."""
    # Fabric takes over a second to import: not for --help, nor for a misspelt recipe.
    recipe = recipes.load(args.recipe, args.changes)
    folder = data_folder(args.data)
    out = args.out or Path(os.environ.get("PAIRLENS_CHECKPOINTS") or "runs") / recipe.name
    if prepare(out, args.resume, args.overwrite):
        print(f"{out} is finished already, and holds no state to go on with: its card.json has the results")
        return 0
    if args.devices < 1 or args.save_every < 1:
        raise RunError("--devices and --save-every must be at least 1")
    if args.threads:
        torch.set_num_threads(args.threads)
    from trainers import loop

    quiet = int(os.environ.get("LOCAL_RANK", "0")) > 0
    data = load_data(recipe, folder, quiet)
    words, own = table_for(recipe, folder, args.vectors, data.vocabulary)
    options = loop.Options(
        out, args.device, args.precision, args.compile, args.devices, args.resume, args.save_every, command(args)
    )
    card = loop.train(recipe, data, words, options, own_words=own)
    if card:
        for name, result in card["results"].items():
            print(f"{name}: {scores_text(result)}")
        print(f"written: {out} (weights SHA-256 {card['sha256'][:16]}…)")
    return 0


def data_folder(given: Path | None) -> Path:
    """The data folder of --data or $PAIRLENS_DATA. Raises RunError when there is none."""
    named = given or (Path(os.environ["PAIRLENS_DATA"]) if os.environ.get("PAIRLENS_DATA") else None)
    if named is None:
        raise RunError("no data folder; give --data FOLDER or set PAIRLENS_DATA")
    if not named.is_dir():
        raise RunError(f"the data folder {named} does not exist; give another --data")
    return named


def prepare(out: Path, go_on: bool, overwrite: bool) -> bool:
    """Whether ``out`` holds the finished run that is to be resumed. Raises RunError rather than lose anything: with
    ``overwrite``, too, a finished checkpoint stays until the new one is complete, and a state until the first new one.
    """
    check_writable(out, "--out", folder=True)
    finished, unfinished = (out / "card.json").is_file(), (out / resume.FILE).is_file()
    if unfinished and not go_on and not overwrite:
        raise RunError(f"{out} holds an unfinished run; add --resume to go on, or --overwrite to start anew")
    if finished and not unfinished and not go_on and not overwrite:
        raise RunError(f"{out} holds a finished checkpoint; give another --out, or --overwrite to replace it")
    return finished and not unfinished and go_on


def load_data(recipe: Recipe, folder: Path, quiet: bool = False) -> TrainingData:
    """Read and encode all data sets of a recipe. Raises DataError or RunError before any time is spent on training."""
    from trainers.loop import TrainingData

    vocabulary = Vocabulary()
    digest = hashlib.sha256()
    sizes: dict[str, int] = {}
    kind = str(recipe.model.get("extra", "none"))
    limits = [recipe.token_limits.get(role, MAX_TOKENS) for role in recipe.roles]

    def get(source: DataSource) -> Dataset:
        if not (folder / source.path).is_file():
            raise DataError(
                f"{source.name} is not at {source.path} in the data folder; put it there, give another --data, "
                "or change the recipe"
            )
        dataset = sample(read(folder / source.path, source.name, layout=source.layout), source.rows, recipe.seed)
        if dataset.single != (len(recipe.roles) == 1):
            has = "single texts" if dataset.single else "pairs"
            raise DataError(f"{source.name} has {has}, but roles names {len(recipe.roles)}; mend roles or the file")
        digest.update(f"{dataset.sha256} {source.rows}\n".encode())
        sizes[source.name] = len(dataset.rows)
        if not quiet:
            print(dataset.summary(), flush=True)
        return dataset

    def encoded(*sources: DataSource, training: bool = False) -> Encoded:
        rows = [(row, source.weight_of(row.id)) for source in sources for row in get(source).rows]
        if training and recipe.answerable_only:
            answered = {row.group for row, _ in rows if row.label == recipe.labels[-1]}
            rows = [(row, weight) for row, weight in rows if row.group in answered]
        return encode(
            [row for row, _ in rows],
            vocabulary,
            recipe.labels,
            judged=judged_side({"first": recipe.roles[0], "judged": recipe.judged}),
            single=len(recipe.roles) == 1,
            weights=[weight for _, weight in rows],
            limits=(limits[0], limits[-1]),
            extra=linguistic(kind, [(row.first, row.second) for row, _ in rows], quiet),
        )

    return TrainingData(
        encoded(*recipe.train, training=True),
        encoded(recipe.dev),
        {source.name: encoded(source) for source in recipe.report},
        vocabulary,
        tuple({"name": s.name, "rows": sizes[s.name], "licence": s.licence} for s in recipe.train),
        digest.hexdigest(),
    )


def linguistic(kind: str, pairs: Sequence[tuple[str, str]], quiet: bool) -> Tensor | None:
    """The linguistic features of these pairs ``[N, F]``, or None for a recipe without."""
    if kind == "none":
        return None
    from core.linguistics.cache import features

    return torch.from_numpy(features(kind, pairs, default_table(), progress=not quiet))


def sample(dataset: Dataset, rows: int, seed: int) -> Dataset:
    """So many rows drawn at random (files may be sorted by class), in the file's order; 0 keeps all."""
    if not 0 < rows < len(dataset.rows):
        return dataset
    numbers = np.sort(np.random.default_rng(seed).choice(len(dataset.rows), rows, replace=False))
    sampled = tuple(dataset.rows[i] for i in numbers)
    return Dataset(dataset.name, dataset.layout, sampled, dataset.problems, dataset.dropped, dataset.sha256)


def table_for(recipe: Recipe, folder: Path, vectors: Path | None, vocabulary: Vocabulary) -> tuple[WordTable, bool]:
    """The word table to read with, and whether it is the checkpoint's own: --vectors, else the recipe's, else the
    shared one."""
    if vectors:
        return own_table(vectors, vocabulary), True
    if recipe.train_words:
        from trainers.trained_words import random_table

        return random_table(vocabulary, recipe.train_words, recipe.seed), True
    if recipe.vectors:
        from trainers.vectors import read_folder

        return read_folder(folder / recipe.vectors, vocabulary.ids), True
    return default_table(), False


def scores_text(result: Mapping[str, float]) -> str:
    """A data set's scores on one line."""
    if "map" in result:
        return f"MAP {result['map']:.4f}, MRR {result['mrr']:.4f}, {result['items']:,} questions"
    return f"accuracy {result['accuracy']:.2%}, macro-F1 {result['macro_f1']:.4f}, {result['items']:,}"


def own_table(path: Path, vocabulary: Vocabulary) -> WordTable:
    """The word table of --vectors: the words of the data, and the file's most frequent ones."""
    from trainers.vectors import read_vectors

    return read_vectors(path, vocabulary.ids)


def command(args: argparse.Namespace) -> str:
    """What to type to train this again; folders of this machine are left out."""
    parts = ["python", "-m", "trainers", "train", Path(args.recipe).name, "--data", "DATA"]
    for change in args.changes:
        parts += ["--set", change]
    if args.vectors:
        parts += ["--vectors", args.vectors.name]
    for name, default in (("device", "auto"), ("precision", "32"), ("devices", 1), ("threads", 0)):
        if getattr(args, name) != default:
            parts += [f"--{name}", str(getattr(args, name))]
    return shlex.join([*parts, "--compile"] if args.compile else parts)
