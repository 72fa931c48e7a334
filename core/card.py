"""A checkpoint's card: its fields and their types, and the requirements for using it."""

# No postponed annotations here: from string annotations a TypedDict cannot tell which keys are optional.

import contextlib
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NewType, NotRequired, TypedDict, cast

import cattrs

from core import json_types
from core.evidence import BOTH
from core.json_types import JsonMapping, JsonObject
from core.wording import class_names

LARGEST = 4 << 20
"""Size limit of a card file in bytes."""
LONGEST_NAME = 200
"""Length limit in characters of text that every page shows about a model, such as its title."""
LONGEST_TEXT = 20_000
"""Length limit in characters of any text on a card, such as the notes, and of any key."""
MOST_PROBLEMS = 5
"""Maximum number of problems reported per card."""
RIGHT_ANSWER = ("1", "yes", "true", "right", "relevant", "answer")
"""Class names that mean a right answer."""


@dataclass(frozen=True)
class Roles:
    """Names of the sides in the task's terms; ``second`` is empty for a model of single texts."""

    first: str
    second: str
    judged: str

    def __post_init__(self) -> None:
        if not self.first or self.first == self.second:
            raise ValueError("must name two different sides")
        if self.judged not in ((self.first, self.second, BOTH) if self.second else (self.first,)):
            raise ValueError(f"must judge one of the sides, or {BOTH}")


RoleNames = NewType("RoleNames", dict[str, str])
"""The names in :class:`Roles`, as stored on a card."""


class CardWords(TypedDict):
    """The word table the model reads, by its checksum; ``own``: it is in the checkpoint's folder; ``over``: checksum of
    the table for words without a row in it."""

    sha256: str
    name: NotRequired[str]
    own: NotRequired[bool]
    over: NotRequired[str]


class LinkScores(TypedDict):
    """A model's links A compared with annotated ones over all pairs: precision |A ∩ S| / |A|, recall |A ∩ S| / |S|, F1,
    and the alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), with S the sure and P the sure and possible
    links (Och and Ney 2003, section 4); ``links`` is |A|, ``sure`` is |S|."""

    precision: float
    recall: float
    f1: float
    aer: float
    links: NotRequired[int]
    sure: NotRequired[int]


class CardWordScores(LinkScores):
    """The result of :func:`core.evaluation.alignment.word_scores` on one file, and its number of ``pairs``."""

    threshold: float
    pairs: NotRequired[int]
    content_on_function: float
    entropy: float
    identical_words: LinkScores


class AlignmentScores(CardWordScores):
    """Word scores and the `python -m trainers align` command that measured them."""

    command: str


class MeasuredHeads(TypedDict):
    """The F1 of each head of a transformer, and the best head."""

    head: str
    f1: dict[str, float]


class CardAlignment(TypedDict):
    """Agreement of attention with human word alignments."""

    threshold: float
    fixed_on: str
    """The set, a key of ``results``, on which the threshold was tuned."""
    results: dict[str, AlignmentScores]
    shares: NotRequired[bool]
    """Whether links are based on shares of a similarity instead of attention."""
    heads: NotRequired[MeasuredHeads | None]


class Calibration(TypedDict):
    """Calibration of a ranker's log-odds to probabilities (:mod:`core.evaluation.calibration`)."""

    slope: float
    bias: float
    fixed_on: str
    pairs: int
    right: int


class Ranked(TypedDict):
    """The part of a card that :func:`ranked_by` reads."""

    labels: list[str]
    ranked_by: NotRequired[str | None]


class CardBase(TypedDict):
    """The checkpoint whose reading an adapted one uses (:mod:`core.adaptation`), by name and by its card's ``sha256``;
    ``title``: its title then."""

    name: str
    sha256: str
    title: str


class Fields(TypedDict):
    """The fields of ``card.json`` that the program relies on, which are validated (:func:`problems`)."""

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
    """Position in lists of models: 1 is the page's default; models without one follow by name."""
    for_lessons: NotRequired[bool]
    """Whether the model was kept small, at the cost of accuracy, so that a lesson can show all its numbers."""
    ranked_by: NotRequired[str | None]
    """The class whose probability ranks answers (:func:`ranked_by`); null for a model that does not rank."""
    base: NotRequired[CardBase]
    """For an adapted checkpoint: its folder holds only a classifier."""


REQUIRED = tuple(name for name in Fields.__annotations__ if name in Fields.__required_keys__)


class Interval(TypedDict):
    """A mean with its 95 % interval."""

    mean: float
    interval: Sequence[float]


class CardFaithfulness(TypedDict):
    """Results of `python -m trainers faithfulness` on one set; ``ways``: the measures of each method; None if the model
    has no attention to change. ``permutations``: the share that changes the verdict, over all rows and by verdict."""

    rows: int
    ways: dict[str, dict[str, Interval]]
    permutations: Interval | None
    permutations_by_verdict: NotRequired[dict[str, Interval]]
    tau_b: Interval | None
    command: str


class PeopleScores(TypedDict):
    """How well methods find people's words on ``items`` sides of pairs: P@1 and average precision by method."""

    items: int
    at_1: dict[str, Interval]
    precision: dict[str, Interval]


class CardPeople(TypedDict):
    """Results of `python -m trainers people` on one set: by side, then by label, over correctly classified pairs."""

    rows: int
    judged_right: int
    sides: dict[str, dict[str, PeopleScores]]
    command: str


class CardByK(TypedDict):
    """Results of `python -m trainers.paper by-k` on one set of ``items`` rows or questions: the ``measure``, accuracy
    or map, for each pooling, by k from 1."""

    measure: str
    items: int
    kmin: list[float]
    kmax: list[float]
    command: str


class Card(Fields):
    """The card of a checkpoint. Keys beyond :class:`Fields` are informational and are not validated."""

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
    suites: NotRequired[dict[str, JsonObject]]
    routes: NotRequired[dict[str, JsonObject]]
    adaptation: NotRequired[JsonObject]


def is_external(card: Mapping[str, object]) -> bool:
    """Whether this is the card of an external model, which was not trained here."""
    return "guest" in card


@dataclass(frozen=True)
class Score:
    """Metrics on a set of ``items`` rows or questions, each from 0 to 1; correlations for graded labels."""

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
    """Number of pairs in a suite, out of ``total``, that were classified correctly or whose verdict ``turned``."""

    total: int = 0
    right: int | None = None
    turned: int | None = None


@dataclass(frozen=True)
class SuiteCounts(Counts):
    """The counts for one of our suites, overall and by kind."""

    kinds: dict[str, Counts] = field(default_factory=dict)
    without_crossings: Counts = Counts()


@dataclass(frozen=True)
class RouteFigures:
    """A route's median share of the difference that an exchange makes, and its 95 % interval."""

    share: float
    interval: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class KindRoutes:
    """The routes of one kind of exchange, over this number of pairs."""

    pairs: int
    routes: dict[str, RouteFigures] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainedOn:
    """A training data set."""

    name: str = "unnamed"
    licence: str = "licence not stated"
    rows: int | None = None


@dataclass(frozen=True)
class Training:
    """How the model was trained."""

    seconds: float | None = None
    device: str = ""
    command: str = ""


@dataclass(frozen=True)
class Seeds:
    """The dev score over several seeds."""

    mean: float
    spread: float | None = None
    std: float | None = None
    seeds: list[Any] | None = None


@dataclass(frozen=True)
class Parameters:
    """Numbers of weights: the model's own, and those in the word projection."""

    model: int
    projection: int = 0


@dataclass(frozen=True)
class Details:
    """The informational fields of a card (:func:`details`)."""

    notes: str = ""
    results: dict[str, Score] = field(default_factory=dict)
    paper: dict[str, Any] = field(default_factory=dict)
    suites: dict[str, SuiteCounts] = field(default_factory=dict)
    routes: dict[str, dict[str, KindRoutes]] = field(default_factory=dict)
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
        """Whether the model was evaluated as a ranker."""
        return any(score.map is not None for score in self.results.values())


def details(card: JsonMapping) -> Details:
    """The details of a card. A field of the wrong type counts as missing: a user's card may contain anything."""
    found: JsonObject = {}
    for of_card in dataclasses.fields(Details):
        if card.get(of_card.name) is not None:
            with contextlib.suppress(Exception):
                found[of_card.name] = json_types.LENIENT.structure(card[of_card.name], cast(type, of_card.type))
    return Details(**found)


def class_titles(card: JsonMapping) -> tuple[str, ...]:
    """The names on screen of a usable card's classes."""
    roles = card["roles"]
    return class_names(card["labels"], roles["second"] if roles["judged"] == BOTH else roles["judged"])


def unit(card: JsonMapping) -> str:
    """What a model reads at a time: a pair, or a single text."""
    return "text" if details(card).roles.get("second") == "" else "pair"


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
    """The problems of a JSON value as a card, in a few words each; empty for a valid card. An optional field that is
    null counts as missing."""
    try:
        if _longest_text(value) > LONGEST_TEXT:
            return [f"it has a text of more than {LONGEST_TEXT:,} characters"]
        card = {name: own for name, own in value.items() if own is not None or name in REQUIRED}
        _CARDS.structure(card, Fields)
    except (cattrs.ClassValidationError, ValueError) as error:
        found = json_types.problems(error, card, Fields)[:MOST_PROBLEMS]
        return [" ".join(one.split()) for one in found]  # names on a card may span several lines
    except RecursionError:
        return ["it is nested too deep"]
    return []


def _longest_text(value: Any) -> int:
    """Length in characters of the longest text or key in a JSON value."""
    if isinstance(value, str):
        return len(value)
    parts = itertools.chain(value, value.values()) if isinstance(value, dict) else value
    return max(map(_longest_text, parts), default=0) if isinstance(value, dict | list) else 0


def ranked_by(card: Ranked) -> str | None:
    """The class whose probability ranks answers: the card's ``ranked_by``, or else the first class whose name means a
    right answer; None if there is none."""
    named = (label for label in card["labels"] if label.lower() in RIGHT_ANSWER)
    return card.get("ranked_by") or next(named, None)


def right_class(card: Ranked) -> int | None:
    """The index of that class among the card's labels."""
    name = ranked_by(card)
    return None if name is None else card["labels"].index(name)
