"""The questions of a room's rounds, and the model's answers to them."""

from __future__ import annotations

from functools import partial

from core.checkpoint import Checkpoint
from core.effects import cost
from core.effects.asked_pair import AskedPair
from core.effects.reason import quick_reason
from core.evaluation.suites import exchange, kind_of_exchange
from core.evidence import AttentionMap, Explanation
from core.explain import explain, kept
from core.json_types import JsonObject
from core.reading.shared_words import differing, only_in
from core.reading.tokens import norms
from core.rooms.room import LONGEST_TEXT, RoomError
from core.wording import class_names

WordAt = tuple[int, int]
"""A word that is asked about: its text (0 or 1) and its position there."""
QUOTED = 3
"""Maximum number of words in a quoted difference."""
ORDER, OTHER = "the order of the words", "several differences"


def check_model(checkpoint: Checkpoint) -> None:
    """Raises RoomError for a model that does not classify pairs: rooms cannot use it."""
    if checkpoint.single or len(checkpoint.labels) < 2:
        raise RoomError(
            f"{checkpoint.card['title']} does not choose a class for a pair of texts: choose another model for a room"
        )


def question(checkpoint: Checkpoint, first: str, second: str, word: WordAt | None = None) -> JsonObject:
    """The data that phones show in a round on this pair. Raises PairError for a text without words, RoomError for a
    text that is too long, or a word that attends to no word."""
    for text in (first, second):
        if len(text) > LONGEST_TEXT:
            raise RoomError(f"a text has {len(text):,} characters; a room allows at most {LONGEST_TEXT}: shorten it")
    roles = [checkpoint.roles["first"], checkpoint.roles["second"]]
    titles = class_names(checkpoint.labels, checkpoint.judged if checkpoint.judged in roles else roles[1])
    classes = [{"name": name, "title": title} for name, title in zip(checkpoint.labels, titles, strict=True)]
    asked: JsonObject = {"roles": roles, "first": first, "second": second, "classes": classes, "word": None}
    if word is not None:
        explanation = _read(checkpoint, first, second)
        tokens = [[token.text for token in side.tokens] for side in explanation.sentences]
        asked["word"] = {"side": word[0], "index": word[1], "tokens": tokens}
    return asked


def answer(checkpoint: Checkpoint, first: str, second: str, word: WordAt | None = None) -> JsonObject:
    """The model's answer to a :func:`question`: its verdict, or the word of the other text on which the word has the
    largest weight, with the probability or weight."""
    explanation = _read(checkpoint, first, second)
    if word is None:
        return {"value": explanation.verdict, "chance": max(explanation.probabilities)}
    side, index = word
    attention = attending(explanation, side)
    if attention is None or index >= len(attention.weights):
        raise RoomError("this word attends to no other word: choose another one, or ask about the verdict")
    weights = attention.weights[index]
    best = max(range(len(weights)), key=weights.__getitem__)
    return {"value": str(best), "chance": weights[best]}


def attending(explanation: Explanation, side: int) -> AttentionMap | None:
    """The map in which the words of a text attend to the other text's words, if the model has one."""
    role = explanation.sentences[side].role
    maps = (one for one in explanation.evidence if isinstance(one, AttentionMap))
    return next((one for one in maps if one.rows == role and one.units == "words" and one.weights), None)


def askable(checkpoint: Checkpoint, first: str, second: str) -> list[tuple[WordAt, str]]:
    """The words of a pair that attend to a word of the other text."""
    explanation = _read(checkpoint, first, second)
    return [
        ((side, index), token.text)
        for side in (1, 0)
        if attending(explanation, side) is not None
        for index, token in enumerate(explanation.sentences[side].tokens)
        if any(map(str.isalnum, token.text))
    ]


def verdict(checkpoint: Checkpoint, first: str, second: str) -> tuple[str, float]:
    """The model's class for a pair, and its probability. Raises PairError for a text without words."""
    found = _read(checkpoint, first, second)
    return found.verdict, max(found.probabilities)


def sentence(checkpoint: Checkpoint, first: str, second: str) -> str:
    """The reason for the model's verdict on a pair, or that it would take too long."""
    return quick_reason(AskedPair(checkpoint, first, second, known=_read(checkpoint, first, second))).sentence


def is_quick(checkpoint: Checkpoint, first: str, second: str) -> bool:
    """Whether the :func:`sentence` is computed quickly."""
    return cost.of_reason(AskedPair(checkpoint, first, second)).brisk


def difference(first: str, second: str) -> str:
    """The difference between the texts of a pair, in a few words: the kind of an exchanged word, the exchange itself,
    or the words that only one of them has."""
    changed = exchange(first, second)
    if changed:
        named = kind_of_exchange(*changed) or f"{changed[0]} / {changed[1]}"
        return named if max(len(words.split()) for words in changed) <= QUOTED else OTHER
    one, other = norms(first.rstrip(".")), norms(second.rstrip("."))
    if one == other:
        return "nothing"
    if sorted(one) == sorted(other):
        return ORDER
    stretches = [*differing(one, other)]
    if len(stretches) == 1:
        here, there = stretches[0]
        return f"+ {' '.join(other[there])}" if one[here] == [] else f"− {' '.join(one[here])}"
    new = [other[place] for place in only_in(other, one)]
    return f"+ {new[0]}" if len(new) == 1 and len(stretches) <= 2 else OTHER


def _read(checkpoint: Checkpoint, first: str, second: str) -> Explanation:
    """The explanation, cached for all threads: the sentence about a pair follows its verdict."""
    make = partial(explain, checkpoint, first, second, records=(AttentionMap,))
    return kept(checkpoint, ("room", first, second), make)
