"""What k-min, k-max and full pooling keep of both sentences, and the verdicts that follow (Yin & Schütze 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.page_state.phrases import LARGEST_K
from app.panels.panel import Page, Panel, Payload, sentence
from app.panels.verdict import class_names, classes
from core.evidence import Explanation, PhraseChoice, PhraseSelection, PhraseSide, Sentence
from core.evidence.record import the

NAMES = {"kmin": "k-min", "kmax": "k-max", "full": "full"}
"""The poolings as people read them."""


def selection(explanation: Explanation) -> PhraseSelection:
    """The record of a model that has one. Raises LookupError for another."""
    record: PhraseSelection | None = explanation.find(PhraseSelection)
    if record is None:
        raise LookupError(f"{explanation.model} has no phrases")
    return record


def kept_phrases(records: Sequence[PhraseSelection], explanation: Explanation, show: str) -> list[Payload]:
    """On Explore: the spans that each pooling keeps of both sentences at the trained k."""
    out = []
    for record in records:
        k = min(record.k, LARGEST_K)
        choices = {pooling: record.choice(pooling, k) for pooling in ("kmin", "kmax")}
        sides = [
            {"role": side.role}
            | {
                pooling: [side.phrases[i].span for i in choice.kept[place]]
                for pooling, choice in choices.items()
                if choice is not None
            }
            for place, side in enumerate(record.sides)
        ]
        out.append({"k": k, "trained": record.pooling, "sides": sides})
    return out


def payload(explanation: Explanation) -> Payload:
    """What the page Phrases draws.

    A phrase is a list: first and last token of its span, partner in the other sentence, score. ``choices`` hold, for
    k-min and k-max, one choice for each k from 1.
    """
    record = selection(explanation)
    names = class_names(explanation)
    sides = []
    for words, side in zip((explanation.first, explanation.second), record.sides, strict=True):
        phrases = [[*phrase.span, phrase.partner, float(f"{phrase.score:.5g}")] for phrase in side.phrases]
        sides.append(sentence(words) | {"phrases": phrases})
    ks = range(1, LARGEST_K + 1)
    full = record.choice("full")
    return {
        "model": explanation.title,
        "sides": sides,
        "classes": classes(names, explanation.probabilities),
        "trained": {"pooling": record.pooling, "k": record.k},
        "choices": {p: [_choice(record.choice(p, k)) for k in ks] for p in ("kmin", "kmax")},
        "full": None if full is None else [float(f"{p:.5g}") for p in full.probabilities],
        "readings": [reading(explanation, k) for k in ks],
    }


def row(explanation: Explanation, name: str, title: str, task: str) -> dict[str, Any]:
    """A model's own verdict, for the comparison of models: under the pooling and the k that it was trained with."""
    record = selection(explanation)
    cut = [
        f"read {len(side.tokens)} words of {the(side.role)}"
        for side in (explanation.first, explanation.second)
        if side.truncated
    ]
    pooling = "full pooling" if record.pooling == "full" else f"{NAMES[record.pooling]}, k = {record.k}"
    return {
        "name": name,
        "title": title,
        "how": "; ".join([task, pooling, *cut]),
        "classes": classes(class_names(explanation), explanation.probabilities),
    }


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


def _choice(choice: PhraseChoice | None) -> dict[str, Any] | None:
    if choice is None:
        return None
    return {"kept": [list(side) for side in choice.kept], "p": [float(f"{p:.5g}") for p in choice.probabilities]}


PANEL = Panel(("phrase_selection",), "main", kept_phrases, page=Page("phrases", "Phrases", "Show this pair’s phrases"))
