"""A checkpoint's card: its fields and their types, and what it must hold to be used."""

# Annotations stay values here: from those that are texts a TypedDict cannot tell which keys may be absent.

import contextlib
import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NewType, NotRequired, TypedDict, cast

import cattrs

from core import json_types
from core.evidence import BOTH
from core.json_types import JsonMapping, JsonObject

LARGEST = 4 << 20
"""Bytes of a card's file."""
LONGEST_NAME = 200
"""Characters of what every page shows of a model, such as its title."""
LONGEST_TEXT = 20_000
"""Characters of any text on a card, such as the notes, and of any key."""
MOST_PROBLEMS = 5
"""The most problems reported for one card."""
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


RoleNames = NewType("RoleNames", dict[str, str])
"""The names of :class:`Roles`, as a card has them."""


class CardWords(TypedDict):
    """The word table that the model reads, by its checksum; ``own``: it is in the checkpoint's folder; ``over``:
    checksum of the table for words without a row in it."""

    sha256: str
    name: NotRequired[str]
    own: NotRequired[bool]
    over: NotRequired[str]


class LinkScores(TypedDict):
    """A model's links compared with annotated links, over all pairs: |A ∩ S| / |A|, |A ∩ S| / |S|, their harmonic mean,
    and the alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) with P the sure and the possible links (Och and
    Ney 2003, section 4); how many ``links`` the model has, |A|, and people ``sure`` ones, |S|."""

    precision: float
    recall: float
    f1: float
    aer: float
    links: NotRequired[int]
    sure: NotRequired[int]


class ThresholdScores(LinkScores):
    """Scores of the links above a threshold."""

    threshold: float


class CardWordScores(ThresholdScores):
    """The result of :func:`core.evaluation.alignment.word_scores` on one file, and its number of ``pairs``."""

    pairs: NotRequired[int]
    content_on_function: float
    entropy: float
    identical_words: LinkScores
    both_ways: dict[str, ThresholdScores] | None


class AlignmentScores(CardWordScores):
    """Word scores with the `python -m trainers align` command that measured them."""

    command: str


class MeasuredHeads(TypedDict):
    """How each head of a transformer agrees, and the best of them; ``random_95``: by set, what the best of as many
    random maps reaches, which earlier versions measured too."""

    head: str
    f1: dict[str, float]
    random_95: NotRequired[dict[str, float]]


class CardAlignment(TypedDict):
    """How well attention agrees with people's word alignments; ``both_ways``: thresholds of links by both
    directions."""

    threshold: float
    both_ways: dict[str, float]
    fixed_on: str
    """The set, a key of ``results``, that the thresholds were fixed on."""
    results: dict[str, AlignmentScores]
    shares: NotRequired[bool]
    """Whether links are shares of a similarity, not attention."""
    heads: NotRequired[MeasuredHeads | None]


class Calibration(TypedDict):
    """The calibration of a ranker's log-odds as a probability (:mod:`core.evaluation.calibration`)."""

    slope: float
    bias: float
    fixed_on: str
    pairs: int
    right: int


class Ranked(TypedDict):
    """The part of a card that :func:`ranked_by` reads."""

    labels: list[str]
    ranked_by: NotRequired[str | None]


class Fields(TypedDict):
    """The fields of ``card.json`` that this program computes or chooses with: they are checked (:func:`problems`)."""

    name: str
    title: str
    architecture: str
    config: JsonObject
    task: str
    labels: list[str]
    roles: RoleNames
    words: CardWords
    licence: str
    sha256: str
    token_limits: NotRequired[dict[str, int]]
    typical_length: NotRequired[dict[str, float]]
    results: NotRequired[dict[str, dict[str, float]]]
    alignment: NotRequired[CardAlignment]
    calibration: NotRequired[Calibration]
    listed: NotRequired[int]
    """The place in lists of models: 1 is what a page opens with; those without one follow by name."""
    for_lessons: NotRequired[bool]
    """Whether it is so small that a lesson shows all its numbers, and judges worse than others of its task."""
    ranked_by: NotRequired[str | None]
    """The class whose probability ranks answers (:func:`ranked_by`); a model that ranks none has no such class."""


REQUIRED = tuple(name for name in Fields.__annotations__ if name in Fields.__required_keys__)


class Interval(TypedDict):
    """A mean with its 95 % interval."""

    mean: float
    interval: Sequence[float]


class CardFaithfulness(TypedDict):
    """The results of `python -m trainers faithfulness` on one set; ``ways``: each by its measures; None where a model
    has no attention to move. ``permutations``: the share that changes the verdict, of all rows and by the verdict."""

    rows: int
    ways: dict[str, dict[str, Interval]]
    permutations: Interval | None
    permutations_by_verdict: NotRequired[dict[str, Interval]]
    tau_b: Interval | None
    command: str


class PeopleScores(TypedDict):
    """How well ways name people's words on ``items`` sides of pairs: P@1 and average precision by way."""

    items: int
    at_1: dict[str, Interval]
    precision: dict[str, Interval]


class CardPeople(TypedDict):
    """The results of `python -m trainers people` on one set: by side, then by label, over the pairs judged right."""

    rows: int
    judged_right: int
    sides: dict[str, dict[str, PeopleScores]]
    command: str


class CardByK(TypedDict):
    """The results of `python -m trainers.paper by-k` on one set of ``items`` rows or questions: the ``measure``,
    accuracy or map, under each pooling by k from 1."""

    measure: str
    items: int
    kmin: list[float]
    kmax: list[float]
    command: str


class Card(Fields):
    """The card of a checkpoint. Keys beyond :class:`Fields` are for readers and are not checked."""

    guest: NotRequired[str]
    asked: NotRequired[bool]
    second_first: NotRequired[bool]
    notes: NotRequired[str]
    parameters: NotRequired[dict[str, int]]
    data: NotRequired[list[JsonObject]]
    epochs: NotRequired[list[JsonObject]]
    best_epoch: NotRequired[int]
    seed: NotRequired[int]
    paper: NotRequired[JsonObject]
    recipe: NotRequired[JsonObject]
    training: NotRequired[JsonObject]
    init: NotRequired[JsonObject]
    teachers: NotRequired[list[JsonObject]]
    shipped_before: NotRequired[dict[str, JsonObject]]
    seeds: NotRequired[JsonObject]
    by_k: NotRequired[dict[str, CardByK]]
    faithfulness: NotRequired[dict[str, CardFaithfulness]]
    people: NotRequired[dict[str, CardPeople]]
    pointing: NotRequired[JsonObject]
    probe: NotRequired[JsonObject]
    probe_order: NotRequired[JsonObject]


@dataclass(frozen=True)
class Score:
    """Measures on a set of ``items`` rows or questions, each a share from 0 to 1; of grades, correlations."""

    items: int | None = None
    accuracy: float | None = None
    macro_f1: float | None = None
    accuracy_with_evidence: float | None = None
    evidence_cut: float | None = None
    map: float | None = None
    mrr: float | None = None
    pearson: float | None = None
    spearman: float | None = None


@dataclass(frozen=True)
class Counts:
    """Pairs of a suite that were judged right, or whose verdict ``turned``, of ``total``."""

    total: int = 0
    right: int | None = None
    turned: int | None = None


@dataclass(frozen=True)
class Suite(Counts):
    """The counts of one of our suites, in all and by kind."""

    kinds: dict[str, Counts] = field(default_factory=dict)
    without_crossings: Counts = Counts()


@dataclass(frozen=True)
class TrainedOn:
    """A data set that was trained on."""

    name: str = "unnamed"
    licence: str = "licence not stated"
    rows: int | None = None


@dataclass(frozen=True)
class Training:
    """How the weights were made."""

    seconds: float | None = None
    device: str = ""
    command: str = ""


@dataclass(frozen=True)
class Seeds:
    """The score on dev over several seeds."""

    mean: float
    spread: float | None = None
    std: float | None = None
    seeds: list[Any] | None = None


@dataclass(frozen=True)
class Parameters:
    """Numbers of weights: the model's own, and those that project the words."""

    model: int
    projection: int = 0


@dataclass(frozen=True)
class Details:
    """The fields of a card that are there for people (:func:`details`)."""

    notes: str = ""
    results: dict[str, Score] = field(default_factory=dict)
    paper: dict[str, Any] = field(default_factory=dict)
    probe: Suite = Suite()
    probe_order: Suite = Suite()
    data: list[TrainedOn] = field(default_factory=list)
    epochs: list[JsonObject] = field(default_factory=list)
    training: Training = Training()
    recipe: JsonObject = field(default_factory=dict)
    seed: int | None = None
    seeds: Seeds | None = None
    parameters: Parameters | None = None
    teachers: list[Any] = field(default_factory=list)
    classifier: str = ""
    classifiers: dict[str, Score] = field(default_factory=dict)
    words: JsonObject = field(default_factory=dict)
    roles: JsonObject = field(default_factory=dict)

    @property
    def ranks(self) -> bool:
        """Whether the model was measured as a ranker."""
        return any(score.map is not None for score in self.results.values())


def details(card: JsonMapping) -> Details:
    """The details of a card. A field of another shape counts as absent: a user's own card may hold anything."""
    found: JsonObject = {}
    for of_card in dataclasses.fields(Details):
        if card.get(of_card.name) is not None:
            with contextlib.suppress(Exception):
                found[of_card.name] = json_types.LENIENT.structure(card[of_card.name], cast(type, of_card.type))
    return Details(**found)


def _check_alignment(stored: CardAlignment) -> None:
    if stored["fixed_on"] not in stored["results"]:
        raise ValueError("must have the results of the set that it was fixed on")


def _check_calibration(stored: Calibration) -> None:
    if not 0 < stored["right"] < stored["pairs"]:
        raise ValueError("must be fitted on right and on wrong answers")


def _check_fields(card: Fields) -> None:
    labels = card["labels"]
    names = card["name"], card["title"], card["architecture"], card["task"], *labels, *card["roles"].values()
    if max(map(len, names)) > LONGEST_NAME:
        raise ValueError(f"names, titles, labels and roles must have at most {LONGEST_NAME} characters")
    if not labels or len(set(labels)) < len(labels):
        raise ValueError("labels must be different names, one at least")
    if any(limit < 1 for limit in card.get("token_limits", {}).values()):
        raise ValueError("token_limits must be at least 1")
    if card.get("ranked_by") is not None and card["ranked_by"] not in labels:
        raise ValueError("ranked_by must be one of the labels")


_CARDS = json_types.converter({CardAlignment: _check_alignment, Calibration: _check_calibration, Fields: _check_fields})


@_CARDS.register_structure_hook
def _role_names(names: Any, _: Any) -> RoleNames:
    _CARDS.structure(names, Roles)
    return RoleNames(names)


def problems(value: JsonMapping) -> list[str]:
    """The problems of a JSON value as a card, in a few words each; empty for a valid card. A field that is null and
    need not be there counts as absent."""
    try:
        if _longest_text(value) > LONGEST_TEXT:
            return [f"it has a text of more than {LONGEST_TEXT:,} characters"]
        card = {name: own for name, own in value.items() if own is not None or name in REQUIRED}
        _CARDS.structure(card, Fields)
    except (cattrs.ClassValidationError, ValueError) as error:
        found = json_types.problems(error, card, Fields)[:MOST_PROBLEMS]
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
    return None if name is None else card["labels"].index(name)
