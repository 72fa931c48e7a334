"""Scores of rows that arrive part by part, keeping only a few bytes per row."""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit  # type: ignore[import-untyped]

from core.data import Dataset
from core.data.labels import Scale, key
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.scores import MEASURES, classification, correlations, precisions, ranking
from core.json_types import JsonObject


@dataclass
class Verdicts:
    """A classifier's gold answers and predictions on a ``scale``."""

    scale: Scale

    def __post_init__(self) -> None:
        self._parts: list[np.ndarray] = []
        """``[N, 3]``: the gold answer, -1 if the row is not scored; the most probable answer; the answer of the most
        probable class."""

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Adds rows whose labels are all known to the scale, with their probabilities ``[N, C]``."""
        gold, predicted = self.scale.of([row.label for row in dataset.rows]), self.scale.sums(probabilities).argmax(1)
        by_class = self.scale.of_classes(probabilities.argmax(1))
        self._parts.append(np.stack([gold, predicted, by_class], axis=1).astype(np.int16))

    def scores(self) -> JsonObject:
        """:func:`core.evaluation.scores.classification` over all rows; if several classes count as one label, also that
        mapping and the figures that use the most probable class."""
        rows = np.concatenate(self._parts)
        gold, predicted, by_class = rows[rows[:, 0] >= 0].T
        scores = classification(gold, predicted, self.scale.names)
        scores["accuracy_interval_95"] = list(wilson(int((gold == predicted).sum()), len(gold)))
        if len(gold) < len(rows):
            scores["unscored"] = len(rows) - len(gold)
        if self.scale.counts_as:
            scores["counts_as"] = {label: list(names) for label, names in self.scale.counts_as.items()}
        if self.scale.several:
            first = classification(gold, by_class, self.scale.names)
            scores["likeliest_class_first"] = {name: first[name] for name in MEASURES}
        return scores


@dataclass
class Rankings:
    """Candidate answers: the question of each, whether it is right, and its score. ``column``: the index of the class
    ``answer``, which ranks answers."""

    answer: str
    column: int
    scale: Scale

    def __post_init__(self) -> None:
        self._questions: dict[str, int] = {}
        self._groups, self._right, self._chances = array("l"), array("b"), array("d")

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Adds rows that are answers, with their probabilities ``[N, C]``."""
        scored = [number for number, row in enumerate(dataset.rows) if self.scale.counts_as.get(row.label or "", True)]
        dataset = replace(dataset, rows=tuple(dataset.rows[i] for i in scored))
        self._right.extend(right_answers(dataset, self.answer, self.scale))
        self._chances.extend(probabilities[scored, self.column].tolist())
        self._groups.extend(self._questions.setdefault(row.group or "", len(self._questions)) for row in dataset.rows)

    def scores(self) -> JsonObject:
        """MAP and MRR, and how many questions have answers that are not contiguous."""
        ranked = ranking(self._groups, self._right, self._chances)
        low, high = bootstrap_mean(precisions(self._groups, self._right, self._chances))
        begins = Counter(group for group, _ in itertools.groupby(self._groups))
        apart = sum(count > 1 for count in begins.values())
        measured = {**vars(ranked), "map_interval_95": [low, high], "questions_apart": apart}
        return {"ranked_by": self.answer, **measured}


@dataclass
class Graded:
    """Rows with graded labels: each label's value and the model's score. ``column``: index of the class (or single
    output) whose probability is the score; ``log_odds``: use its log-odds instead, linear in a bi-encoder's
    similarity."""

    column: int
    log_odds: bool = False

    def __post_init__(self) -> None:
        self._gold, self._scores = array("d"), array("d")

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Adds rows whose labels are numbers, with the probabilities ``[N, C]`` or scores ``[N, 1]``."""
        self._gold.extend(float(row.label or "nan") for row in dataset.rows)
        scores = probabilities[:, self.column].astype(float)
        self._scores.extend(logit(scores) if self.log_odds else scores)

    def scores(self) -> JsonObject:
        """:func:`core.evaluation.scores.correlations` over all rows."""
        return correlations(np.array(self._gold), np.array(self._scores))


def right_answers(dataset: Dataset, answer: str | None, scale: Scale) -> list[bool]:
    """For each row of a question data set, whether it is a right answer: labelled 1, as usual in such sets, or
    ``answer``, the model's class."""
    own = () if answer is None else (answer,)
    mapped = {label: tuple(names) == own for label, names in scale.counts_as.items()}
    known = {"0": False, "1": True} | {key(name): name == answer for name in scale.classes} | mapped
    return [known[row.label or ""] for row in dataset.rows]
