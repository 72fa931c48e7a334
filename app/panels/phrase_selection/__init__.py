"""What k-min, k-max and full pooling keep of both sentences, and the verdicts that follow (Yin & Schütze 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.examples import Gold
from app.page_state.phrases import LARGEST_K
from app.panels.panel import Page, Panel, Payload, Words, significant
from app.panels.verdict import Share, class_names, classes
from core.evidence import Explanation, PhraseChoice, PhraseSelection, PhraseSide, Sentence
from core.evidence.record import the
from core.wording import counted

NAMES = {"kmin": "k-min", "kmax": "k-max", "full": "full"}
"""The poolings as people read them."""


def selection(explanation: Explanation) -> PhraseSelection:
    """The record of a model that has one. Raises LookupError for another."""
    record: PhraseSelection | None = explanation.find(PhraseSelection)
    if record is None:
        raise LookupError(f"{explanation.model} has no phrases")
    return record


Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class KeptSide:
    """The spans of a sentence that k-min and k-max keep."""

    role: str
    kmin: Spans
    kmax: Spans


@dataclass(frozen=True)
class Kept(Payload):
    """On Explore: what each pooling keeps of both sentences at the trained k."""

    k: int
    trained: str
    sides: tuple[KeptSide, ...]


def kept_phrases(records: Sequence[PhraseSelection], explanation: Explanation, show: str) -> list[Kept]:
    """A panel a record."""
    return [_kept(record, min(record.k, LARGEST_K)) for record in records]


def _kept(record: PhraseSelection, k: int) -> Kept:
    def spans(place: int, side: PhraseSide, pooling: str) -> Spans:
        choice = record.choice(pooling, k)
        return () if choice is None else tuple(side.phrases[i].span for i in choice.kept[place])

    sides = tuple(
        KeptSide(side.role, spans(i, side, "kmin"), spans(i, side, "kmax")) for i, side in enumerate(record.sides)
    )
    return Kept(k, record.pooling, sides)


@dataclass(frozen=True)
class PhraseWords(Words):
    """A sentence with its phrases. A phrase is a list: first and last token of its span, partner in the other sentence,
    score."""

    phrases: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Choice:
    """Both sides' phrases that a pooling keeps, and the classes' probabilities then."""

    kept: tuple[tuple[int, ...], ...]
    p: tuple[float, ...]


@dataclass(frozen=True)
class Trained:
    """The pooling that the model was trained with."""

    pooling: str
    k: int


@dataclass(frozen=True)
class Phrases:
    """What the page Phrases draws. ``choices`` hold, for k-min and k-max, one choice for each k from 1, as ``readings``
    hold what the trained pooling looks at; ``full``: probabilities under full pooling."""

    model: str
    sides: tuple[PhraseWords, ...]
    classes: tuple[Share, ...]
    trained: Trained
    choices: dict[str, tuple[Choice | None, ...]]
    full: tuple[float, ...] | None
    readings: tuple[str, ...]
    gold: Gold | None


def payload(explanation: Explanation, gold: Gold | None = None) -> Phrases:
    """What the page Phrases draws of an explanation; ``gold``: what a data set says of the pair."""
    record = selection(explanation)
    sides = []
    for words, side in zip((explanation.first, explanation.second), record.sides, strict=True):
        phrases = tuple((*phrase.span, phrase.partner, float(f"{phrase.score:.5g}")) for phrase in side.phrases)
        sides.append(PhraseWords.of(words, phrases))
    ks = range(1, LARGEST_K + 1)
    full = record.choice("full")
    return Phrases(
        explanation.title,
        tuple(sides),
        classes(class_names(explanation), explanation.probabilities),
        Trained(record.pooling, record.k),
        {pooling: tuple(_choice(record.choice(pooling, k)) for k in ks) for pooling in ("kmin", "kmax")},
        None if full is None else significant(full.probabilities, 5),
        tuple(reading(explanation, k) for k in ks),
        gold,
    )


@dataclass(frozen=True)
class ModelVerdict:
    """A model's own verdict, for the comparison of models: ``how`` it reads, or why it cannot be used; ``shown``: it is
    the one whose phrases are drawn."""

    name: str
    title: str
    how: str
    classes: tuple[Share, ...]
    shown: bool


@dataclass(frozen=True)
class ComparedModels:
    """The verdicts of several models on the pair."""

    models: tuple[ModelVerdict, ...]


def how(explanation: Explanation, task: str) -> str:
    """What a model was trained for and with, and what it has not read of this pair."""
    record = selection(explanation)
    cut = [
        f"read {counted(len(side.tokens), 'word')} of {the(side.role)}"
        for side in (explanation.first, explanation.second)
        if side.truncated
    ]
    pooling = "full pooling" if record.pooling == "full" else f"{NAMES[record.pooling]}, k = {record.k}"
    return "; ".join([task, pooling, *cut])


def reading(explanation: Explanation, k: int) -> str:
    """One sentence: what the pooling that the model was trained with looks at, at this k."""
    record = selection(explanation)
    if record.pooling == "full":
        return "This model reads every phrase of both sentences, whether it is matched or not."
    choice = record.choice(record.pooling, k)
    if choice is None:
        return ""
    least = record.pooling == "kmin"
    answers = explanation.labels == ("0", "1")
    if least is not answers:
        who = "Answer selection looks" if answers else "Entailment looks"
    else:
        who = f"This model, trained for {'answer selection' if answers else 'entailment'}, looks"
    parts = []
    for words, side, indices in zip((explanation.first, explanation.second), record.sides, choice.kept, strict=True):
        quoted = [f"“\u2068{_text(words, side, index)}\u2069”" for index in _telling(words, side, indices, least)]
        parts.append(f"{' and '.join(quoted)} in {the(side.role)}")
    return f"{who} at what is {'least' if least else 'best'} matched: here {' and '.join(parts)}."


def _telling(words: Sentence, side: PhraseSide, indices: Sequence[int], least: bool) -> list[int]:
    """Up to two kept phrases that share no word and read differently, in the order of the text: those matched least
    (or best), of equal scores the longer."""

    def rank(index: int) -> tuple[float, int]:
        phrase = side.phrases[index]
        score = round(phrase.score, 5)
        return (score if least else -score, phrase.span[0] - phrase.span[1])

    out: list[int] = []
    for index in sorted(indices, key=rank):
        if len(out) < 2 and not any(_alike(words, side, index, other) for other in out):
            out.append(index)
    return sorted(out)


def _alike(words: Sentence, side: PhraseSide, one: int, other: int) -> bool:
    (first, last), (start, end) = side.phrases[one].span, side.phrases[other].span
    return (first < end and start < last) or _text(words, side, one).lower() == _text(words, side, other).lower()


def _text(words: Sentence, side: PhraseSide, index: int) -> str:
    return " ".join(token.text for token in words.tokens[slice(*side.phrases[index].span)])


def _choice(choice: PhraseChoice | None) -> Choice | None:
    return None if choice is None else Choice(choice.kept, significant(choice.probabilities, 5))


PANEL = Panel(("phrase_selection",), "main", kept_phrases, page=Page("phrases", "Show this pair’s phrases"))
