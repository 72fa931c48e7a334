"""The kinds of made pairs that exchange or drop words of a premise.

A word that is put in comes under every label: where "violin" for "guitar" makes a contradiction, the same "violin"
also stands on both sides of pairs that follow or stay open, so that no hypothesis alone tells its label.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.linguistics.word_lists import WordLists
from trainers.paper.make_pairs.sentences import (
    ARTICLES,
    NUMBERS,
    Order,
    Sentence,
    being,
    clashes,
    clause,
    negated,
    nouns,
    positions,
    shortened,
    write,
)
from trainers.paper.make_pairs.slots import Frame, Slot, Slots

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
WANTED = {
    "cohyponym": {
        ("cohyponym", CONTRADICTION): 7500, ("dropped", ENTAILMENT): 2200, ("added", NEUTRAL): 2200,
        ("hypernym", ENTAILMENT): 3000, ("hyponym", NEUTRAL): 4200, ("negation", CONTRADICTION): 1200,
        ("negated", ENTAILMENT): 1200, ("negated", NEUTRAL): 1200,
    },
    "antonym": {("antonym", CONTRADICTION): 3000, ("dropped", ENTAILMENT): 1500, ("added", NEUTRAL): 1500},
    "number": {
        ("number", CONTRADICTION): 2200, ("dropped", ENTAILMENT): 1100, ("added", NEUTRAL): 1100,
        ("hypernym", ENTAILMENT): 500, ("hyponym", NEUTRAL): 500,
    },
    "colour": {("colour", CONTRADICTION): 2200, ("dropped", ENTAILMENT): 1100, ("added", NEUTRAL): 1100},
    "name": {
        ("name", CONTRADICTION): 2500, ("dropped", ENTAILMENT): 1250, ("added", NEUTRAL): 1250,
        ("hypernym", ENTAILMENT): 250, ("hyponym", NEUTRAL): 250,
    },
    "synonym": {("synonym", ENTAILMENT): 3000, ("dropped", ENTAILMENT): 400, ("added", NEUTRAL): 900},
    "negation": {
        ("negation", CONTRADICTION): 3000, ("negation", NEUTRAL): 1000, ("negated", ENTAILMENT): 1500,
        ("negated", NEUTRAL): 1500,
    },
    "swapped": {
        ("swapped", CONTRADICTION): 1800, ("swapped", ENTAILMENT): 1500, ("dropped", ENTAILMENT): 300,
        ("added", NEUTRAL): 300,
    },
    "modifier": {("dropped", ENTAILMENT): 1800, ("added", NEUTRAL): 2300},
    "same": {("same", ENTAILMENT): 1000},
}  # fmt: skip
"""Pairs wanted by what is exchanged in the premise: of each kind (what differs between the sentences) and label."""


@dataclass
class Maker:
    """Makes pairs from premises until there are as many as are wanted."""

    lists: WordLists
    seed: int
    scale: float = 1.0
    pairs: list[tuple[str, str, str, str]] = field(default_factory=list)
    """(kind, label, premise, hypothesis)."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.finder = Slots(self.lists)
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.used: Counter[str] = Counter()
        self.seen: set[tuple[str, str]] = set()
        self.subjects: list[str] = []

    def wants(self, source: str, kind: str = "", label: str = "") -> bool:
        """Whether pairs of a source are wanted still: of any kind, or of one."""
        wanted = {(kind, label): WANTED[source][kind, label]} if kind else WANTED[source]
        return any(self.counts[source, *key] < number * self.scale for key, number in wanted.items())

    def emit(self, source: str, kind: str, label: str, premise: str, hypothesis: str) -> None:
        """Note a pair, unless there are enough of its kind or it is there already."""
        if not self.wants(source, kind, label) or (premise, hypothesis) in self.seen:
            return
        if (premise == hypothesis) == (kind == "same"):
            self.seen.add((premise, hypothesis))
            self.counts[source, kind, label] += 1
            self.pairs.append((kind, label, premise, hypothesis))

    def full(self) -> bool:
        """Whether nothing is wanted any more."""
        return not any(map(self.wants, WANTED))

    def least_used(self, words: Sequence[str]) -> str:
        """Of three words drawn at random the one that was put in least often."""
        word = min(self.random.sample(list(words), min(3, len(words))), key=lambda w: self.used[w])
        self.used[word] += 1
        return word

    def shorter(self, frame: Frame, at: int | None = None) -> Order:
        """A shorter sentence, one with this position if there is one; the whole one where there is none."""
        orders = [order for order in frame.shorter if at is None or at in positions(order)]
        return self.random.choice(orders) if orders else frame.whole

    def frame(self, sentence: Sentence) -> Frame:
        """The frame of a premise: with shorter sentences where its clause can be told."""
        parts = clause(sentence, self.lists)
        if parts is None:
            return Frame(sentence, sentence.order())
        orders: list[Order] = []
        if sentence.upward():
            for end in parts.cuts:
                for plain in (False, True):
                    order = shortened(sentence, parts, end, plain, self.lists)
                    if len(order) < len(being(sentence, parts)) and order not in orders:
                        orders.append(order)
        whole = being(sentence, parts) if self.random.random() < 0.7 else sentence.order()
        return Frame(sentence, whole, tuple(orders), parts)

    def contrast(self, frame: Frame, slot: Slot) -> None:
        """The pairs of a place: words that exclude each other; the same word in both and less said; wider words."""
        base, chance = slot.word, 0.3 if slot.kind == "cohyponym" else 0.5
        if slot.pool and self.random.random() < chance:
            base = self.least_used(slot.pool)
        partners = list(slot.partners(base))
        if not partners:
            return
        other = self.least_used(partners)
        present = {word.lower() for word in frame.sentence.words} - {slot.word.lower()}
        forms = {form.lower() for word in (base, other) for form in (word, slot.form(word))}
        same = {form for word in (base, other) for form in self.lists.others_of("synonyms", word)}
        if (forms | same) & present or "" in forms:
            return
        short = self.shorter(frame, slot.at)
        second = short if self.random.random() < 0.65 else frame.whole
        first = short if self.random.random() < 0.3 else frame.whole
        sides = [write(frame.sentence, first, slot.change(base)), write(frame.sentence, second, slot.change(other))]
        whole = write(frame.sentence, frame.whole)
        if any(clashes(side, word) for side in (*sides, whole) for word in (base, other) if word != slot.word):
            return
        if self.random.random() < 0.4:
            sides.reverse()
        self.emit(slot.kind, slot.kind, CONTRADICTION, *sides)
        # The word put in, more often than the premise's own: it is the one that must not give the label away.
        word = other if self.random.random() < 0.7 else base
        self.less_and_more(slot.kind, frame, slot.change(word), short)
        self.wider(frame, slot, word, short)

    def less_and_more(self, source: str, frame: Frame, change: dict[int, str], short: Order) -> None:
        """A word on both sides: the shorter sentence follows from the longer one, and leaves that open."""
        pair = write(frame.sentence, frame.whole, change), write(frame.sentence, short, change)
        if short == frame.whole:
            return
        if self.random.random() < 0.5:
            self.emit(source, "dropped", ENTAILMENT, *pair)
        else:
            self.emit(source, "added", NEUTRAL, *reversed(pair))

    def wider(self, frame: Frame, slot: Slot, word: str, short: Order) -> None:
        """A word and one that holds of whatever it holds of: entailment, and the other way round neutral."""
        above = [upper for upper in slot.above(word) if slot.form(upper)]
        before = frame.sentence.lower(slot.at - 1)
        determined = before in ARTICLES | NUMBERS | {"some"} or before in self.lists.adjectives
        above = [upper for upper in above if not (upper.startswith("a ") and determined)]
        if not above or not frame.sentence.upward():
            return
        upper, lower = slot.change(self.random.choice(above)), slot.change(word)
        long_lower, short_lower = (write(frame.sentence, order, lower) for order in (frame.whole, short))
        long_upper, short_upper = (write(frame.sentence, order, upper) for order in (frame.whole, short))
        draw = self.random.random()
        if draw < 0.35:
            hypothesis = self.random.choice((long_upper, short_upper))
            self.emit(slot.kind, "hypernym", ENTAILMENT, long_lower, hypothesis)
        elif draw < 0.7:
            premise = self.random.choice((long_upper, short_upper))
            hypothesis = long_lower if premise == long_upper and self.random.random() < 0.5 else short_lower
            self.emit(slot.kind, "hyponym", NEUTRAL, premise, hypothesis)
        elif draw < 0.8:
            self.less_and_more(slot.kind, frame, upper, short)
        elif frame.parts is not None and slot.kind == "cohyponym":
            no_upper, no_lower = (
                write(frame.sentence, negated(short, frame.parts), change) for change in (upper, lower)
            )
            if draw < 0.89:
                self.emit(slot.kind, "negation", CONTRADICTION, long_lower, no_upper)
            elif slot.at > frame.parts.verb:  # of the subject "not" says nothing
                if draw < 0.95:
                    self.emit(slot.kind, "negated", ENTAILMENT, no_upper, no_lower)
                else:
                    self.emit(slot.kind, "negated", NEUTRAL, no_lower, no_upper)

    def synonym(self, frame: Frame) -> None:
        """A noun, an adjective or the verb exchanged for a synonym."""
        sentence = frame.sentence
        choices = [
            (at, form)
            for at, noun in nouns(sentence, self.lists)
            for other in self.lists.others_of("synonyms", noun.base)
            if (form := self.lists.form(other, noun.number))
        ]
        for at in range(1, len(sentence.words)):
            if sentence.lower(at - 1) in ARTICLES | NUMBERS:
                choices += [(at, other) for other in self.lists.others_of("adjective synonyms", sentence.words[at])]
        if frame.parts is not None:
            at = frame.parts.verb
            choices += [(at, other) for other in self.lists.others_of("verb synonyms", sentence.lower(at))]
        if not choices:
            return
        at, word = self.random.choice(choices)
        short = self.shorter(frame, at)
        if self.random.random() < 0.3:
            self.less_and_more("synonym", frame, {at: word}, short)
            return
        second = short if self.random.random() < 0.6 else frame.whole
        changes: list[dict[int, str]] = [{}, {at: word}]
        if self.random.random() < 0.5:
            changes.reverse()
        premise, hypothesis = write(sentence, frame.whole, changes[0]), write(sentence, second, changes[1])
        if not clashes(premise, word) and not clashes(hypothesis, word):
            self.emit("synonym", "synonym", ENTAILMENT, premise, hypothesis)

    def modifiers(self, frame: Frame) -> None:
        """An adjective left out follows, an adjective added is open; and so with the rest of a sentence."""
        sentence = frame.sentence
        spots = [
            at
            for at in range(1, len(sentence.words) - 1)
            if sentence.lower(at) in self.lists.adjectives
            and sentence.lower(at - 1) in ARTICLES | NUMBERS
            and sentence.lower(at + 1) in self.lists.forms
        ]
        if spots:
            at = self.random.choice(spots)
            self.less_and_more("modifier", frame, {}, tuple(x for x in frame.whole if x != at))
        elif frame.shorter:
            self.less_and_more("modifier", frame, {}, self.random.choice(frame.shorter))
