"""Evaluate baselines without a network on a recipe's data.

    python -m trainers.paper baselines topic-acnn --data ../shared/data
    python -m trainers.paper baselines nli-esim --data ../shared/data --csv runs/nli-baselines.csv

Single texts: TF-IDF of words and word pairs with a linear SVM. Pairs, as in the AttConv paper's tables: the majority
class; the overlap of the second text's unigrams, one-skip bigrams and one-skip trigrams with the first, with logistic
regression (Khot et al. 2018, section 5); TF-IDF of both texts and their cosine, with an MLP (Riedel et al. 2017). All
use scikit-learn's defaults except for sublinear counts (1 + log tf) and early stopping; nothing is tuned on dev.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from core.errors import RunError
from core.evaluation.scores import accuracy_and_f1
from core.files import check_writable
from core.reading.tokens import tokenize
from trainers import recipe as recipes
from trainers.commands import as_typed
from trainers.options import add_options, data_folder
from trainers.sources import DataSource
from trainers.tables import write_rows
from trainers.training_data import read_source

NAME = "TF-IDF, linear SVM"
FREQUENT = 5_000
"""Vocabulary size of the MLP's TF-IDF (Riedel et al. 2017, section 2)."""

TextRows = Sequence[tuple[str, str]]
"""Both texts of each row; the second is empty for single texts."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper baselines`."""
    add_options(parser, "recipe", "--data")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the scores as a table, too")


def run(args: argparse.Namespace) -> int:
    """Fit on the recipe's training data, evaluate on its dev set, print."""
    recipe = recipes.load(args.recipe)
    if recipe.task == "answer selection":
        raise RunError(f"{recipe.name} ranks answers, and these baselines classify: name a recipe such as topic-acnn")
    if args.csv:
        check_writable(args.csv, "--csv")
    folder = data_folder(args.data)

    def rows(*sources: DataSource) -> tuple[TextRows, np.ndarray]:
        sampled = [row for source in sources for row in read_source(folder, source).rows]
        return [(row.first, row.second) for row in sampled], np.array([row.label for row in sampled])

    (texts, labels), (seen, gold) = rows(*recipe.train), rows(recipe.dev)
    command = as_typed("trainers.paper baselines", Path(args.recipe).stem)
    table = []
    for name, fitted in (of_pairs if len(recipe.roles) == 2 else of_texts)(texts, labels):
        accuracy, f1 = accuracy_and_f1(gold, fitted(seen))
        print(f"{name}: {recipe.dev.name} accuracy {accuracy:.2%}, macro-F1 {f1:.4f}, {len(gold):,}", flush=True)
        scores = {"accuracy": round(accuracy, 4), "macro_f1": round(f1, 4)}
        row = {"baseline": name, "seed": 0, "best_epoch": 0, "dev": recipe.dev.name, **scores, "command": command}
        table.append(row)
    if args.csv:
        write_rows(args.csv, table)
    return 0


Fitted = Callable[[TextRows], np.ndarray]
"""A function that predicts the labels of rows."""


def of_texts(texts: TextRows, labels: np.ndarray) -> Iterator[tuple[str, Fitted]]:
    """The baseline for single texts, fitted."""
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC(random_state=0))
    model.fit([first for first, _ in texts], labels)
    yield NAME, lambda seen: model.predict([first for first, _ in seen])


def of_pairs(texts: TextRows, labels: np.ndarray) -> Iterator[tuple[str, Fitted]]:
    """The baselines for pairs, fitted."""
    names, counts = np.unique(labels, return_counts=True)
    yield "majority class", lambda seen: np.full(len(seen), names[counts.argmax()])
    overlap = LogisticRegression(max_iter=1000).fit(overlaps(texts), labels)
    yield "n-gram overlap", lambda seen: overlap.predict(overlaps(seen))
    words = TfidfVectorizer(sublinear_tf=True, max_features=FREQUENT).fit(text for pair in texts for text in pair)
    layers = MLPClassifier(early_stopping=True, max_iter=20, random_state=0)
    layers.fit(both_texts(words, texts), labels)
    yield "TF-IDF, MLP", lambda seen: layers.predict(both_texts(words, seen))


def overlaps(texts: TextRows) -> np.ndarray:
    """Shares of the second text's n-grams found in the first, and vice versa, float ``[N, 6]``: unigrams, then bigrams
    and trigrams that may skip one word."""
    out = np.zeros((len(texts), 6))
    for row, pair in enumerate(texts):
        first, second = ([token.norm for token in tokenize(text)] for text in pair)
        for length in (1, 2, 3):
            ours, theirs = skipped(first, length), skipped(second, length)
            both = len(ours & theirs)
            out[row, 2 * length - 2 : 2 * length] = both / max(1, len(theirs)), both / max(1, len(ours))
    return out


def skipped(words: list[str], length: int) -> set[tuple[str, ...]]:
    """The n-grams of this length; from length two on, also those that skip one word."""
    grams = {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
    for i in range(len(words) - length):
        window = words[i : i + length + 1]
        grams |= {tuple(window[:k] + window[k + 1 :]) for k in range(1, length)}
    return grams


def both_texts(words: TfidfVectorizer, texts: TextRows) -> scipy.sparse.csr_matrix:
    """TF-IDF of both texts, concatenated, and their cosine, sparse ``[N, 2V + 1]``."""
    first, second = (words.transform([pair[side] for pair in texts]) for side in (0, 1))
    return scipy.sparse.hstack([first, second, first.multiply(second).sum(1)]).tocsr()
