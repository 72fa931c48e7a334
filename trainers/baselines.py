"""Score a baseline without a network on a recipe's data: TF-IDF of words and pairs of words, and a linear SVM.

    python -m trainers baselines topic-acnn --data ../shared/data
    python -m trainers baselines topic-acnn --data ../shared/data --csv pretrained/topic-acnn/tfidf.csv

The network of a recipe of single texts must be seen beside it. scikit-learn's defaults but for sublinear counts
(1 + log tf); nothing is chosen on dev.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from core.data import read
from core.errors import RunError
from core.evaluation.scores import accuracy_and_f1
from core.files import check_writable
from trainers import recipe as recipes
from trainers.recipe import DataSource
from trainers.sweep import write
from trainers.train import data_folder
from trainers.training_data import sample

NAME = "TF-IDF, linear SVM"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers baselines`."""
    parser.add_argument("recipe", metavar="RECIPE", help="a recipe of single texts, by its name or path")
    parser.add_argument("--data", type=Path, help="the data folder (default: $PAIRLENS_DATA)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the scores as a table, too")


def run(args: argparse.Namespace) -> int:
    """Fit on the recipe's training data, score on its dev set, print."""
    recipe = recipes.load(args.recipe)
    if len(recipe.roles) != 1:
        raise RunError(f"{recipe.name} reads pairs, and this baseline single texts: name a recipe such as topic-acnn")
    if args.csv:
        check_writable(args.csv, "--csv")
    folder = data_folder(args.data)

    def texts(*sources: DataSource) -> tuple[list[str], np.ndarray]:
        files = [(read(folder / source.path, source.name, layout=source.layout), source) for source in sources]
        rows = [row for dataset, source in files for row in sample(dataset, source.rows, recipe.seed).rows]
        return [row.first for row in rows], np.array([row.label for row in rows])

    model = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC(random_state=0))
    model.fit(*texts(*recipe.train))
    seen, gold = texts(recipe.dev)
    accuracy, f1 = accuracy_and_f1(gold, model.predict(seen))
    print(f"{NAME}: {recipe.dev.name} accuracy {accuracy:.2%}, macro-F1 {f1:.4f}, {len(gold):,}")
    if args.csv:
        command = shlex.join(["python", "-m", "trainers", "baselines", Path(args.recipe).stem])
        scores = {"accuracy": round(accuracy, 4), "macro_f1": round(f1, 4)}
        row = {"baseline": NAME, "seed": 0, "best_epoch": 0, "dev": recipe.dev.name, **scores, "command": command}
        write(args.csv, [row])
    return 0
