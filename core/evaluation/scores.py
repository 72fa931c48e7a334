"""Metrics for classifiers and rankers, with the number of items they count and skip."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from core.json_types import JsonMapping, JsonObject
from core.lazy import import_alone
from core.wording import score_percent


class Measure(NamedTuple):
    """A measure of a classifier: its name in text, its value for gold classes and predictions ``[N]``, and that value
    as the Error desk shows it."""

    title: str
    value: Callable[[np.ndarray, np.ndarray], float]
    shown: Callable[[float], str] = score_percent


def _accuracy(gold: np.ndarray, predicted: np.ndarray) -> float:
    return float((gold == predicted).mean())


def _macro_f1(gold: np.ndarray, predicted: np.ndarray) -> float:
    """F1 averaged over the classes that occur in either argument."""
    import_alone("sklearn.metrics")
    from sklearn.metrics import f1_score  # imported here: it takes two seconds

    return float(f1_score(gold, predicted, average="macro", zero_division=0))


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure("accuracy", _accuracy),
    "macro_f1": Measure("macro-F1", _macro_f1),
}
"""The measures of the Error desk and of `python -m trainers evaluate`, by their names in JSON, the deciding one
first."""


def in_words(scores: JsonMapping) -> str:
    """The measures among some scores in words: accuracy 81.0 %, macro-F1 79.5 %."""
    return ", ".join(f"{measure.title} {measure.shown(scores[name])}" for name, measure in MEASURES.items())


def accuracy_and_f1(gold: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Accuracy, and F1 averaged over the classes that occur in either argument; class indices ``[N]`` each."""
    return _accuracy(gold, predicted), _macro_f1(gold, predicted)


def classification(gold: np.ndarray, predicted: np.ndarray, labels: Sequence[str]) -> JsonObject:
    """All :data:`MEASURES`, per-class precision, recall, F1 and support, and the confusion matrix (rows: gold)."""
    import_alone("sklearn.metrics")
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    places = list(range(len(labels)))
    parts = precision_recall_fscore_support(gold, predicted, labels=places, zero_division=0)
    classes = {
        label: {"precision": float(p), "recall": float(r), "f1": float(f), "items": int(n)}
        for label, p, r, f, n in zip(labels, *parts, strict=True)
    }
    scores = {name: measure.value(gold, predicted) for name, measure in MEASURES.items()}
    counts = confusion_matrix(gold, predicted, labels=places).tolist()
    confusion = {"labels": list(labels), "gold_by_predicted": counts}
    return {**scores, "items": len(gold), "classes": classes, "confusion": confusion}


def summary(
    gold: np.ndarray, probabilities: np.ndarray, groups: Sequence[str] | None = None, right: int | None = None
) -> dict[str, float]:
    """The metrics tracked in training, the deciding one first: accuracy and macro-F1, or, given the questions that
    answers belong to (``groups``) and the class of right ones (``right``), MAP and MRR. ``gold [N]``: classes;
    ``probabilities [N, C]``."""
    if groups is None:
        accuracy, f1 = accuracy_and_f1(gold, probabilities.argmax(1))
        return {"accuracy": accuracy, "macro_f1": f1, "items": len(gold)}
    assert right is not None, "answers are ranked by a class"
    ranked = ranking(groups, (gold == right).tolist(), probabilities[:, right].tolist())
    return {"map": ranked.map, "mrr": ranked.mrr, "items": ranked.questions}


def per_item(
    gold: np.ndarray, probabilities: np.ndarray, groups: Sequence[Hashable] | None = None, right: int | None = None
) -> np.ndarray:
    """The values averaged by the first metric of :func:`summary`: 1 or 0 per row, or the average precision of each
    question with a right answer, in order of appearance."""
    if groups is None:
        hits: np.ndarray = probabilities.argmax(1) == gold
        return hits.astype(float)
    assert right is not None, "answers are ranked by a class"
    return precisions(groups, (gold == right).tolist(), probabilities[:, right].tolist())


def precisions(groups: Sequence[Hashable], relevant: Sequence[int], scores: Sequence[float]) -> np.ndarray:
    """The average precision of each question with a right answer, in order of appearance; arguments as in
    :func:`ranking`."""
    questions = _by_question(groups, relevant, scores)
    return np.array([_expected(answers)[0] for answers in questions if any(hit for _, hit in answers)])


@dataclass(frozen=True)
class RankedRows:
    """Rows that are answers to questions: the class of ``right`` ones, each row's question, and whether it is right."""

    right: str
    questions: Sequence[Hashable]
    relevant: Sequence[int]

    def precisions(self, scores: np.ndarray) -> np.ndarray:
        """:func:`precisions` of these rows, ranked by ``scores [N]``."""
        return precisions(self.questions, self.relevant, scores.tolist())


@dataclass(frozen=True)
class Ranking:
    """MAP and MRR over the questions with a right answer."""

    map: float
    mrr: float
    questions: int
    skipped: int
    """Questions without a right answer, for which all rankings are equally good."""


def ranking(groups: Sequence[Hashable], relevant: Sequence[int], scores: Sequence[float]) -> Ranking:
    """Mean average precision and mean reciprocal rank of answers ranked by score, highest first.

    Tied answers have no order, so each question counts with its mean over all their orders (McSherry and Najork 2008):
    the result depends neither on the file's order nor on chance. Questions without a right answer are skipped and
    counted; those with only right answers are included.
    """
    pairs, skipped = [], 0
    for answers in _by_question(groups, relevant, scores):
        if any(right for _, right in answers):
            pairs.append(_expected(answers))
        else:
            skipped += 1
    if not pairs:
        return Ranking(0.0, 0.0, 0, skipped)
    return Ranking(float(np.mean([p for p, _ in pairs])), float(np.mean([r for _, r in pairs])), len(pairs), skipped)


def correlations(gold: np.ndarray, scores: np.ndarray) -> JsonObject:
    """Pearson's r and Spearman's ρ of graded labels and scores ``[N]``, with 95 % intervals by Fisher's z, whose
    standard error is 1 / √(n − 3), or √((1 + ρ²/2) / (n − 3)) for ρ (Bonett and Wright 2000). None if either is
    constant."""
    from scipy.stats import pearsonr, spearmanr  # type: ignore[import-untyped]  # takes a second to import

    out: JsonObject = {"items": len(gold)}
    varies = len(gold) > 1 and np.ptp(gold) > 0 and np.ptp(scores) > 0
    for name, measure in (("pearson", pearsonr), ("spearman", spearmanr)):
        value = float(measure(gold, scores).statistic) if varies else None
        out[name] = value
        out[f"{name}_interval_95"] = None if value is None else fisher(value, len(gold), ranks=name == "spearman")
    return out


def fisher(value: float, items: int, ranks: bool) -> list[float]:
    """The 95 % interval of a correlation over ``items`` rows (a rank correlation if ``ranks``): see
    :func:`correlations`."""
    if items < 4 or abs(value) >= 1:
        return [-1.0, 1.0] if items < 4 else [value, value]
    half = 1.959963984540054 * np.sqrt((1 + value**2 / 2 if ranks else 1) / (items - 3))
    return [float(np.tanh(np.arctanh(value) + sign * half)) for sign in (-1, 1)]


QUESTION_WORDS = ("what", "where", "how", "when", "who")
"""The kinds of question of Shen et al. 2018, figure 3b."""


def question_kind(norms: Iterable[str]) -> str:
    """The first question word among a question's normalised words, or ``other``."""
    return next((norm for norm in norms if norm in QUESTION_WORDS), "other")


def _by_question(
    groups: Sequence[Hashable], relevant: Sequence[int], scores: Sequence[float]
) -> Iterator[list[tuple[float, bool]]]:
    """Answers grouped by question; questions and answers in order of appearance."""
    if not len(groups) == len(relevant) == len(scores):
        raise ValueError(f"{len(groups)} questions, {len(relevant)} marks and {len(scores)} scores")
    names: dict[Hashable, int] = {}
    numbers = np.fromiter((names.setdefault(group, len(names)) for group in groups), np.int64, len(groups))
    rows = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(names)))
    for start, end in itertools.pairwise((0, *ends)):
        yield [(float(scores[i]), bool(relevant[i])) for i in rows[start:end]]


def _expected(answers: list[tuple[float, bool]]) -> tuple[float, float]:
    """Average precision and reciprocal rank of one question, averaged over all orders of tied answers."""
    ties: dict[float, list[bool]] = {}
    for score, is_right in answers:
        ties.setdefault(score, []).append(is_right)
    before = right_before = 0
    precision = reciprocal = 0.0
    for score in sorted(ties, reverse=True):
        size, right = len(ties[score]), sum(ties[score])
        for place in range(1, size + 1):
            # A right answer is at this rank with probability right/size; of those ranked before it in the tie, a share
            # of (right - 1)/(size - 1) is right too.
            earlier = (place - 1) * (right - 1) / (size - 1) if size > 1 else 0.0
            precision += right / size * (right_before + 1 + earlier) / (before + place)
            if right and not right_before:
                # The tie's first right answer is at this rank: all others come after it.
                reciprocal += comb(size - place, right - 1) / comb(size, right) / (before + place)
        before, right_before = before + size, right_before + right
    return precision / right_before, reciprocal
