"""The phrases that k-min, k-max and full pooling keep from both sentences, and the verdicts (Yin & Schütze 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.examples import Gold
from app.page_state.phrases import LARGEST_K
from app.panels.verdict import ClassShare, shares
from core.evidence import Explanation, PhraseSelection, PhraseSide, Sentence
from core.wording import counted, the

NAMES = {"kmin": "k-min", "kmax": "k-max", "full": "full"}
"""Display names of the poolings."""


def selection(explanation: Explanation) -> PhraseSelection:
    """The phrase record of a model that has one. Raises LookupError for any other."""
    record: PhraseSelection | None = explanation.find(PhraseSelection)
    if record is None:
        raise LookupError(f"{explanation.model} has no phrases")
    return record


@dataclass(frozen=True)
class ModelVerdict:
    """A model's own verdict, for comparing models: ``how`` describes it, or why it cannot be used; ``shown``: whether
    its phrases are drawn."""

    name: str
    title: str
    how: str
    classes: tuple[ClassShare, ...]
    shown: bool


@dataclass(frozen=True)
class Phrases:
    """The data for the page Phrases. ``readings``: for each k from 1, the phrases on which the trained pooling bases
    its verdict; ``gold``: the pair's label in a data set; ``models``: the verdicts of several models on it."""

    explanation: Explanation
    classes: tuple[ClassShare, ...]
    readings: tuple[str, ...]
    gold: Gold | None
    models: tuple[ModelVerdict, ...] = ()

    @classmethod
    def of(cls, explanation: Explanation, gold: Gold | None = None, models: Sequence[ModelVerdict] = ()) -> Phrases:
        """Builds the data from the explanation of a phrase model. Raises LookupError for any other."""
        readings = tuple(reading(explanation, k) for k in range(1, LARGEST_K + 1))
        return cls(explanation, shares(explanation), readings, gold, tuple(models))


def how(explanation: Explanation, task: str) -> str:
    """What a model was trained for and with, and which part of this pair it did not read."""
    record = selection(explanation)
    cut = [
        f"read {counted(len(side.tokens), 'word')} of {the(side.role)}"
        for side in (explanation.first, explanation.second)
        if side.truncated
    ]
    pooling = "full pooling" if record.pooling == "full" else f"{NAMES[record.pooling]}, k = {record.k}"
    return "; ".join([task, pooling, *cut])


def reading(explanation: Explanation, k: int) -> str:
    """One sentence on the phrases that the trained pooling keeps at this k."""
    record = selection(explanation)
    if record.pooling == "full":
        return "This model reads every phrase of both sentences, whether it is matched or not."
    choice = record.choice(record.pooling, k)
    if choice is None:
        return ""
    least = record.pooling == "kmin"
    parts = []
    for words, side, indices in zip((explanation.first, explanation.second), record.sides, choice.kept, strict=True):
        quoted = [f"“\u2068{_text(words, side, index)}\u2069”" for index in _telling(words, side, indices, least)]
        parts.append(f"{' and '.join(quoted)} in {the(side.role)}")
    degree = "least" if least else "best"
    return f"{NAMES[record.pooling]} judges by the {degree} matched phrases, here {' and '.join(parts)}."


def _telling(words: Sentence, side: PhraseSide, indices: Sequence[int], least: bool) -> list[int]:
    """Up to two kept phrases that share no word and have different texts, in text order: the worst (or best) matched,
    on ties the longer."""

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
