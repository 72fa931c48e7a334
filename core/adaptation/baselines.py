"""Scores of simpler models on the same held-out rows: an adapted model has learned something if it beats them.

baselines(train, labels, held_out, their_labels) -> (SimplerModel("majority class", ...), ...)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.adaptation.features import Pair
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.scores import RankedRows
from core.lazy import import_alone

STRENGTH = 0.3
"""C of the linear support vector machines, which take a fiftieth of a logistic regression's time and score as well. Of
.1, .3 and 1, this value was best or nearly best on 300 and 3,000 pairs of SICK and MSRP."""
MOST_ROWS = 20_000
"""Maximum number of rows that they are fitted on."""


@dataclass(frozen=True)
class SimplerModel:
    """The score of a simpler model on the held-out rows, with its 95 % interval: accuracy (Wilson), or MAP (bootstrap
    over questions)."""

    name: str
    score: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, right: np.ndarray) -> SimplerModel:
        """The score, from whether each held-out row is right, bool ``[N]``, or from each question's average
        precision."""
        interval = wilson(int(right.sum()), len(right)) if right.dtype == bool else bootstrap_mean(right)
        return cls(name, float(right.mean()), *interval)


def baselines(
    train: Sequence[Pair],
    labels: Sequence[str],
    held_out: Sequence[Pair],
    gold: Sequence[str],
    roles: tuple[str, str],
    step: Callable[[], object] = lambda: None,
    ranked: RankedRows | None = None,
) -> tuple[SimplerModel, ...]:
    """The baselines fitted on the training rows and scored on the held-out ones (``gold``: their labels), of which
    there is at least one each: the majority class; TF-IDF of both texts with their word overlap; and, for pairs, TF-IDF
    of one text alone, which shows how far a model gets without comparing the texts. ``roles``: names of both texts, the
    second one empty for single texts; ``step`` is called between two fits. If the held-out rows are ``ranked``, the
    baselines rank them too; the first baseline leaves the answers in any order."""
    own = np.array(gold, dtype=object)
    if ranked is None:
        most = min(Counter(labels).items(), key=lambda item: (-item[1], item[0]))[0]
        found = [SimplerModel.of("majority class", own == most)]
    else:
        found = [SimplerModel.of("random order", ranked.precisions(np.zeros(len(gold))))]
    if len({*labels}) < 2:
        return tuple(found)
    rows = np.random.default_rng(0).permutation(len(train))[:MOST_ROWS]
    known, told = [train[row] for row in rows], [labels[row] for row in rows]
    for name, sides, overlap in _kinds(roles):
        step()
        columns = [_tfidf([pair[side] for pair in known], [pair[side] for pair in held_out]) for side in sides]
        if overlap:
            columns.append((_overlap(known), _overlap(held_out)))
        if ranked is None:
            found.append(SimplerModel.of(name, _predicted(columns, told) == own))
        else:
            right = np.array([label == ranked.right for label in told])
            scores = _scores(columns, right) if 0 < right.sum() < len(right) else np.zeros(len(gold))
            found.append(SimplerModel.of(name, ranked.precisions(scores)))
    return tuple(found)


def _kinds(roles: tuple[str, str]) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Each linear model's name, the texts that it reads, and whether it reads their overlap."""
    if not roles[1]:
        yield "TF-IDF", (0,), False
        return
    yield "TF-IDF with word overlap", (0, 1), True
    for side, role in enumerate(roles):
        yield f"the {role} alone (TF-IDF)", (side,), False


def said(found: Sequence[SimplerModel], measure: str = "accuracy") -> str:
    """The baselines in one line; ``measure``: what their scores are."""
    listed = " · ".join(
        f"{one.name} {100 * one.score:.1f}\N{NO-BREAK SPACE}% ({100 * one.low:.1f} – {100 * one.high:.1f})"
        for one in found
    )
    return f"simpler models on the same rows ({measure}): {listed}."


def _tfidf(train: Sequence[str], held_out: Sequence[str]) -> tuple[object, object]:
    import_alone("sklearn.feature_extraction.text")  # imported here: it takes two seconds
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\w+|[^\w\s]")
    try:
        return vectors.fit_transform(train), vectors.transform(held_out)
    except ValueError:  # all texts are empty
        return np.zeros((len(train), 1)), np.zeros((len(held_out), 1))


def _overlap(pairs: Sequence[Pair]) -> np.ndarray:
    """Six numbers for each pair: the share of each text's words that are in the other, their Jaccard index, whether
    both have the same words, and the difference of lengths, signed and absolute."""
    rows = []
    for first, second in pairs:
        one, two = ({*re.findall(r"\w+", text.casefold())} for text in (first, second))
        both, longer = len(one & two), np.log1p(len(first)) - np.log1p(len(second))
        shares = both / max(1, len(one)), both / max(1, len(two)), both / max(1, len(one | two))
        rows.append((*shares, float(one == two), longer, abs(longer)))
    return np.array(rows)


def _predicted(columns: Sequence[tuple[object, object]], labels: Sequence[str]) -> np.ndarray:
    """The labels that a linear model of these columns predicts for the held-out rows."""
    model, held_out = _fitted(columns, np.array(labels))
    return np.array(model.predict(held_out), dtype=object)


def _scores(columns: Sequence[tuple[object, object]], right: np.ndarray) -> np.ndarray:
    """The scores of the held-out rows by a linear model that separates ``right`` answers, bool ``[N]``, from others."""
    model, held_out = _fitted(columns, right)
    return np.array(model.decision_function(held_out))


def _fitted(columns: Sequence[tuple[object, object]], labels: np.ndarray) -> tuple[Any, Any]:
    """A linear model of these columns, and the held-out rows as it reads them."""
    from scipy.sparse import csr_array, hstack

    import_alone("sklearn.svm")
    from sklearn.svm import LinearSVC

    train, held_out = (hstack([csr_array(one) for one in part]).tocsr() for part in zip(*columns, strict=True))
    return LinearSVC(C=STRENGTH, random_state=0).fit(train, labels), held_out
