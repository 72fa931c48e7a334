"""Scores of rows that arrive part by part, keeping only a few bytes per row."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logit  # type: ignore[import-untyped]

from core.data import Dataset
from core.data.labels import Scale, key
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.scores import classification_of, correlations, precisions, ranking
from core.json_types import JsonObject


@dataclass
class Verdicts:
    """A classifier's confusion counts over the answers of a ``scale``, and whether each row was right."""

    scale: Scale
    right: array[int] = field(default_factory=lambda: array("b"))

    def __post_init__(self) -> None:
        size = len(self.scale.names)
        self.counts = np.zeros((size, size), dtype=np.int64)
        self.by_class = np.zeros((size, size), dtype=np.int64)
        """The counts if the most probable class determines the answer, instead of the most probable answer."""
        self.unscored = 0

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Adds rows whose labels are all known to the scale, with their probabilities ``[N, C]``."""
        gold = self.scale.of([row.label for row in dataset.rows])
        scored = gold >= 0
        self.unscored += int((~scored).sum())
        gold, probabilities = gold[scored], probabilities[scored]
        predicted = self.scale.sums(probabilities).argmax(1)
        np.add.at(self.counts, (gold, predicted), 1)
        np.add.at(self.by_class, (gold, self.scale.of_classes(probabilities.argmax(1))), 1)
        right = gold == predicted
        self.right.frombytes(right.astype(np.int8).tobytes())

    def scores(self) -> JsonObject:
        """:func:`core.evaluation.scores.classification` over all rows; if several classes count as one label, also that
        mapping and the figures that use the most probable class."""
        scores = classification_of(self.counts, self.scale.names)
        scores["accuracy_interval_95"] = list(wilson(sum(self.right), len(self.right)))
        if self.unscored:
            scores["unscored"] = self.unscored
        if self.scale.counts_as:
            scores["counts_as"] = {label: list(names) for label, names in self.scale.counts_as.items()}
        if self.scale.several:
            first = classification_of(self.by_class, self.scale.names)
            scores["likeliest_class_first"] = {name: first[name] for name in ("accuracy", "macro_f1")}
        return scores

    def rights(self) -> np.ndarray:
        """Whether each row was right, bool ``[N]``."""
        return np.frombuffer(self.right, dtype=np.int8).astype(bool)


@dataclass
class Rankings:
    """Candidate answers: the question of each, whether it is right, and its score."""

    answer: str
    column: int
    """The index of the class that ranks answers."""
    scale: Scale

    def __post_init__(self) -> None:
        self._questions: dict[str, int] = {}
        self._last = -1
        self.apart: set[int] = set()
        """Questions, by index, whose answers are not contiguous."""
        self._groups, self._right, self._chances = array("l"), array("b"), array("d")

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Adds rows that are answers, with their probabilities ``[N, C]``."""
        scored = [number for number, row in enumerate(dataset.rows) if self.scale.counts_as.get(row.label or "", True)]
        dataset, probabilities = replace(dataset, rows=tuple(dataset.rows[i] for i in scored)), probabilities[scored]
        right = right_answers(dataset, self.answer, self.scale)
        for row, is_right, chance in zip(dataset.rows, right, probabilities[:, self.column].tolist(), strict=True):
            known = len(self._questions)
            number = self._questions.setdefault(row.group or "", known)
            if number not in (known, self._last):
                self.apart.add(number)
            self._last = number
            self._groups.append(number)
            self._right.append(is_right)
            self._chances.append(chance)

    def scores(self) -> JsonObject:
        """MAP and MRR."""
        ranked = ranking(self._groups, self._right, self._chances)
        low, high = bootstrap_mean(precisions(self._groups, self._right, self._chances))
        return {**vars(ranked), "map_interval_95": [low, high]}


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
