"""Scores of rows that come part by part: what is kept of a row is a few bytes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.data import Dataset
from core.evaluation.intervals import wilson
from core.evaluation.scores import QUESTION_KINDS, by_kind, classification_of, question_kind, ranking
from core.json_types import JsonObject
from core.reading.tokens import tokenize
from trainers.recipe import kind_of


@dataclass
class Verdicts:
    """Of a classifier's rows: how often which class was said for which, and whether each row was right.

    ``kinds``: whether rows are also counted by the kind that their ids name.
    """

    labels: Sequence[str]
    kinds: bool = False
    right: array[int] = field(default_factory=lambda: array("b"))

    def __post_init__(self) -> None:
        self.counts = np.zeros((len(self.labels), len(self.labels)), dtype=np.int64)
        self._by_kind: dict[tuple[str, str], list[int]] = {}

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Rows whose labels are all classes, with their probabilities ``[N, C]``."""
        places = {label: place for place, label in enumerate(self.labels)}
        gold = np.array([places[row.label or ""] for row in dataset.rows])
        predicted = probabilities.argmax(1)
        np.add.at(self.counts, (gold, predicted), 1)
        right = gold == predicted
        self.right.frombytes(right.astype(np.int8).tobytes())
        if self.kinds:
            for row, is_right in zip(dataset.rows, right.tolist(), strict=True):
                both = self._by_kind.setdefault((kind_of(row.id), row.label or ""), [0, 0])
                both[0] += 1
                both[1] += is_right

    def scores(self) -> JsonObject:
        """:func:`core.evaluation.scores.classification` of all rows."""
        return classification_of(self.counts, self.labels)

    def rights(self) -> np.ndarray:
        """Whether each row was right, bool ``[N]``."""
        return np.frombuffer(self.right, dtype=np.int8).astype(bool)

    def by_kind(self) -> dict[str, JsonObject]:
        """By kind, the part of a row's id before its last hyphen, and by gold label: rows, accuracy and its 95 %
        interval (:func:`core.evaluation.intervals.wilson`)."""
        out: dict[str, JsonObject] = {}
        for (kind, label), (rows, right) in sorted(self._by_kind.items()):
            interval = [*wilson(right, rows)]
            out.setdefault(kind, {})[label] = {"rows": rows, "accuracy": right / rows, "interval": interval}
        return out


@dataclass
class Rankings:
    """Of answers to questions: which question each belongs to, whether it is right, and its score."""

    answer: str
    column: int
    """The class that ranks answers, and its place."""

    def __post_init__(self) -> None:
        self._questions: dict[str, int] = {}
        self._last = -1
        self.apart: set[int] = set()
        """Questions, by number, whose answers do not stand together."""
        self._groups, self._right, self._chances = array("l"), array("b"), array("d")
        self._kinds = array("b")
        self._asked = "", QUESTION_KINDS.index("other")

    def add(self, dataset: Dataset, probabilities: np.ndarray) -> None:
        """Rows that are answers, with their probabilities ``[N, C]``."""
        right = right_answers(dataset, self.answer)
        for row, is_right, chance in zip(dataset.rows, right, probabilities[:, self.column].tolist(), strict=True):
            known = len(self._questions)
            number = self._questions.setdefault(row.group or "", known)
            if number not in (known, self._last):
                self.apart.add(number)
            self._last = number
            self._groups.append(number)
            self._right.append(is_right)
            self._chances.append(chance)
            self._kinds.append(self._kind(row.first))

    def _kind(self, question: str) -> int:
        """The number of a question's kind; answers to one question mostly follow each other."""
        if question != self._asked[0]:
            self._asked = question, QUESTION_KINDS.index(question_kind(token.norm for token in tokenize(question)))
        return self._asked[1]

    def scores(self) -> JsonObject:
        """MAP and MRR, over all questions and by question word."""
        ranked = ranking(self._groups, self._right, self._chances)
        kinds = [QUESTION_KINDS[kind] for kind in self._kinds]
        words = by_kind(kinds, self._groups, self._right, self._chances)
        return {**vars(ranked), "question_words": words}


def right_answers(dataset: Dataset, answer: str | None) -> list[bool]:
    """Which rows of a set of questions are right answers: those labelled 1, as such sets do, or ``answer``, as the
    model does."""
    return [row.label in ("1", answer) for row in dataset.rows]
