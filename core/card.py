"""What a checkpoint's card must hold to be used: its fields and their types. Whatever else it holds is for people."""

from __future__ import annotations

import itertools
from dataclasses import MISSING, dataclass, fields
from typing import Any

import cattrs

from core import json_types
from core.evidence import BOTH
from core.json_types import JsonObject, Ranked

LARGEST = 4 << 20
"""Bytes of a card's file."""
LONGEST_NAME = 200
"""Characters of what every page shows of a model, such as its title."""
LONGEST_TEXT = 20_000
"""Characters of any text on a card, such as the notes, and of any key."""
MOST_PROBLEMS = 5
"""Problems that are told of one card."""
RIGHT_ANSWER = ("1", "yes", "true", "right", "relevant", "answer")
"""Names of classes that mean a right answer."""


@dataclass(frozen=True)
class Roles:
    """Names of the sides in the words of the task; ``second`` is empty for a model of single texts."""

    first: str
    second: str
    judged: str

    def __post_init__(self) -> None:
        if not self.first or self.first == self.second:
            raise ValueError("must name two different sides")
        if self.judged not in ((self.first, self.second, BOTH) if self.second else (self.first,)):
            raise ValueError(f"must judge one of the sides, or {BOTH}")


@dataclass(frozen=True)
class Words:
    """The word table that the model reads, by its checksum; ``own``: it lies beside the card; ``over``: checksum of the
    table where words without a row in it are read."""

    sha256: str
    name: str = ""
    own: bool = False
    over: str = ""


@dataclass(frozen=True)
class LinkScores:
    """Of links with people's (:class:`core.evaluation.alignment.Agreement`)."""

    precision: float
    recall: float
    f1: float
    aer: float


@dataclass(frozen=True)
class ThresholdScores(LinkScores):
    """The same of links above a threshold."""

    threshold: float


@dataclass(frozen=True)
class AlignmentScores(ThresholdScores):
    """What `python -m trainers align` measured on one file."""

    content_on_function: float
    entropy: float
    identical_words: LinkScores
    both_ways: dict[str, ThresholdScores] | None
    command: str


@dataclass(frozen=True)
class MeasuredHeads:
    """Of a transformer, how each head agrees, and the best of them; ``random_95``: by set, what the best of as many
    random maps reaches."""

    head: str
    f1: dict[str, float]
    random_95: dict[str, float]


@dataclass(frozen=True)
class Alignment:
    """How well attention agrees with people's word alignments; ``both_ways``: thresholds of links by both
    directions."""

    threshold: float
    both_ways: dict[str, float]
    fixed_on: str
    """The set, a key of ``results``, that the thresholds were fixed on."""
    results: dict[str, AlignmentScores]
    heads: MeasuredHeads | None = None

    def __post_init__(self) -> None:
        if self.fixed_on not in self.results:
            raise ValueError("must have the results of the set that it was fixed on")


@dataclass(frozen=True)
class Calibration:
    """What a ranker's log-odds mean as a probability (:mod:`core.evaluation.calibration`)."""

    slope: float
    bias: float
    fixed_on: str
    pairs: int
    right: int

    def __post_init__(self) -> None:
        if not 0 < self.right < self.pairs:
            raise ValueError("must be fitted on right and on wrong answers")


@dataclass(frozen=True)
class Fields:
    """The fields of ``card.json`` that this program computes or chooses with."""

    name: str
    title: str
    architecture: str
    config: JsonObject
    task: str
    labels: list[str]
    roles: Roles
    words: Words
    licence: str
    sha256: str
    token_limits: dict[str, int] | None = None
    typical_length: dict[str, float] | None = None
    results: dict[str, dict[str, float]] | None = None
    alignment: Alignment | None = None
    calibration: Calibration | None = None
    listed: int | None = None
    """The place in lists of models: 1 is what a page opens with; those without one follow by name."""
    for_lessons: bool = False
    """Whether it is so small that a lesson shows all its numbers, and judges worse than others of its task."""
    ranked_by: str | None = None
    """The class whose probability ranks answers (:func:`ranked_by`); a model that ranks none has no such class."""

    def __post_init__(self) -> None:
        roles = self.roles.first, self.roles.second, self.roles.judged
        names = self.name, self.title, self.architecture, self.task, *self.labels, *roles
        if max(map(len, names)) > LONGEST_NAME:
            raise ValueError(f"names, titles, labels and roles must have at most {LONGEST_NAME} characters")
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise ValueError("labels must be different names, one at least")
        if any(limit < 1 for limit in (self.token_limits or {}).values()):
            raise ValueError("token_limits must be at least 1")
        if self.ranked_by is not None and self.ranked_by not in self.labels:
            raise ValueError("ranked_by must be one of the labels")


REQUIRED = tuple(field.name for field in fields(Fields) if field.default is MISSING)


def problems(value: object) -> list[str]:
    """What keeps a JSON value from being a card, in a few words each; empty for a card."""
    try:
        if _longest_text(value) > LONGEST_TEXT:
            return [f"it has a text of more than {LONGEST_TEXT:,} characters"]
        json_types.LENIENT.structure(value, Fields)
    except cattrs.ClassValidationError as error:
        found = json_types.problems(error, value, Fields)[:MOST_PROBLEMS]
        return [" ".join(one.split()) for one in found]  # a name on the card may have several lines
    except RecursionError:
        return ["it is nested too deep"]
    return []


def _longest_text(value: Any) -> int:
    """Characters of the longest text or key in a JSON value."""
    if isinstance(value, str):
        return len(value)
    parts = itertools.chain(value, value.values()) if isinstance(value, dict) else value
    return max(map(_longest_text, parts), default=0) if isinstance(value, dict | list) else 0


def ranked_by(card: Ranked) -> str | None:
    """The class whose probability ranks answers: the card's ``ranked_by``, of a card without it the first whose name
    means a right answer; None where no name does."""
    named = (label for label in card["labels"] if label.lower() in RIGHT_ANSWER)
    return card.get("ranked_by") or next(named, None)


def right_class(card: Ranked) -> int | None:
    """The number of that class among the card's labels."""
    name = ranked_by(card)
    return None if name is None else list(card["labels"]).index(name)
