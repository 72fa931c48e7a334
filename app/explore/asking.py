"""The questions that Explore's panels send to the API, with the cost of each answer for a slow model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app import panels
from app.explore import what_if
from app.explore.answering import Answered
from app.explore.what_if import WhatIf
from app.model_choice import second_opinion
from app.models.card import first_result
from app.page_state.explore import SHOWN
from core.checkpoint import Checkpoint
from core.effects import METHODS, Question, cost
from core.effects.asked_pair import target_class
from core.effects.jacobians import has_jacobians
from core.effects.methods import Method
from core.effects.words import DROPPED, TAKEN_AWAY
from core.evidence import Explanation
from core.evidence.attention_map import SIMILARITY
from core.linguistics.negation import negatable
from core.neighbours import has_index

SIGNED = "Bar to the right, filled: the word supports the verdict. To the left, hollow: it opposes it."
REPLACEMENTS = " The thin line shows how far the replacements disagree."


@dataclass(frozen=True)
class Second:
    """A second model for the pair, and its ``measured`` score (85 % on SNLI dev pairs)."""

    model: str
    title: str
    measured: str


@dataclass(frozen=True)
class MethodChoice:
    """A method for word effects. ``reading``: how to read its bars; ``cost``: empty if the model is fast; ``combined``:
    whether the default method's answer has its effects too."""

    title: str
    how: str
    cannot: str
    reading: str
    cost: str
    combined: bool

    @classmethod
    def of(cls, method: Method, cost: str) -> MethodChoice:
        """The choice of a method at this cost."""
        signed = SIGNED + (REPLACEMENTS if method.sampled else "")
        reading = method.unsigned.reading if method.unsigned else signed
        combined = method.name in (TAKEN_AWAY, *METHODS[TAKEN_AWAY].parts)
        return cls(method.title, method.how, method.cannot, reading, cost, combined)


@dataclass(frozen=True)
class AskedTexts:
    """The pair and the model of a question."""

    model: str | None
    first: str
    second: str


@dataclass(frozen=True)
class AskedShown(AskedTexts):
    """The same for the drawn explanation, with its edits, and the head whose attention is drawn."""

    edits: Sequence[str]
    head: str


@dataclass(frozen=True)
class Why:
    """The panels' questions.

    - ``question``: about the current pair and the unchanged model;
    - ``shown``: about the drawn explanation, with its edits;
    - ``verdict``: the name of the class whose probability effects measure;
    - ``methods``: for word effects, the default one first;
    - ``knockouts``: the cost of each ablation of a transformer: of its ``strongest`` links or ``every`` link, before
      the softmax, or of whole ``heads``; None for a model whose weights can be set;
    - ``negatable``: by role, the words before which “not” can be inserted;
    - ``like``: whether the model has an index of training rows;
    - ``routes``: whether a difference between two versions can be divided among the model's routes;
    - ``second``: the model for the second opinion, None if there is none;
    - ``shows``: the possible contents of the matrix, by name.
    """

    question: AskedTexts
    shown: AskedShown
    verdict: str
    methods: Mapping[str, MethodChoice]
    knockouts: Mapping[str, str] | None
    costs: Mapping[str, str]
    negatable: Mapping[str, Sequence[int]]
    like: bool
    routes: bool
    second: Second | None
    shows: Mapping[str, str]
    what_if: WhatIf


def why(answered: Answered) -> Why:
    """The questions for a pair."""
    page, checkpoint = answered.page, answered.checkpoint
    question = answered.question
    sides = [side for side in (answered.shown.first, *answered.shown.contexts) if side.role]
    return Why(
        question=AskedTexts(page.shown_model, page.pair.first, page.pair.second),
        shown=AskedShown(page.shown_model, *page.texts[0].now, list(map(str, page.made)), page.head),
        verdict=followed(checkpoint, answered.trained),
        methods=_methods(answered),
        knockouts=_knockouts(question),
        costs={
            "change": _price(cost.of_smallest_change, question),
            "faithfulness": _price(cost.of_faithfulness, question),
            **({"shares": _price(cost.of_shares, question)} if has_jacobians(checkpoint) else {}),
        },
        negatable={side.role: negatable([token.text for token in side.tokens]) for side in sides},
        like=has_index(checkpoint),
        routes=question.divisible,
        second=_second(answered),
        shows=_shows(answered.shown),
        what_if=what_if.panel(page, checkpoint, answered.steps),
    )


def _second(answered: Answered) -> Second | None:
    model = second_opinion(answered.checkpoint.name, answered.checkpoint.card, answered.cards)
    if model is None:
        return None
    card = answered.cards[model]
    first = first_result(card)
    return Second(model, str(card["title"]), f"{first.text} right on {first.data}" if first else "")


def _shows(explanation: Explanation) -> Mapping[str, str]:
    """The possible contents of the first matrix; a transformer's head has no scores, cosines have no sums."""
    record = next(iter(panels.word_maps(explanation)), None)
    if record is None or record.units == SIMILARITY:
        return {}
    return {name: SHOWN[name] for name in SHOWN if name != "score" or record.scores}


def followed(checkpoint: Checkpoint, explanation: Explanation) -> str:
    """The name of the class whose probability effects measure."""
    return explanation.class_names[target_class(checkpoint, explanation.probabilities)]


def shown_method(answered: Answered) -> str:
    """The method of the displayed word effects: the user's choice, or else :func:`_first`."""
    page = answered.page
    return page.method if page.drawn or page.method != TAKEN_AWAY else _first(answered)


def _first(answered: Answered) -> str:
    """The default method: dropping words if combined removal is slow."""
    slow = answered.checkpoint.seconds and not cost.of_words(answered.question).brisk
    return DROPPED if slow else TAKEN_AWAY


def _methods(answered: Answered) -> Mapping[str, MethodChoice]:
    known = [name for name, method in METHODS.items() if method.available(answered.checkpoint)]
    first = _first(answered)
    known.sort(key=lambda name: name != first)
    return {name: MethodChoice.of(METHODS[name], _price(cost.of_words, answered.question, name)) for name in known}


def _price(cost_of: Callable[..., cost.Cost], question: Question, *method: str) -> str:
    """A cost in words; empty if the model is fast."""
    return str(cost_of(question, *method)) if question.checkpoint.seconds else ""


def _knockouts(question: Question) -> Mapping[str, str] | None:
    if question.checkpoint.model.knockouts is None:
        return None
    links = {name: str(cost.of_links(question, every=name == "every")) for name in ("strongest", "every")}
    return links | {"heads": str(cost.of_heads(question))}
