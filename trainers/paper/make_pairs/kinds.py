"""Generated pairs that exchange, drop or negate words of a premise.

Every inserted word occurs under every label: if "violin" for "guitar" makes a contradiction, "violin" also occurs on
both sides of entailed and neutral pairs, so that no hypothesis alone reveals its label.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.linguistics.word_lists import WordLists
from trainers.paper.make_pairs.premises import (
    ARTICLES,
    NUMBERS,
    Order,
    Premise,
    ProgressiveClause,
    clashes,
    clause,
    negated,
    shortened,
    write,
)
from trainers.paper.make_pairs.slots import Slot, Slots
from trainers.paper.make_pairs.verbs import contracted

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
WANTED = {
    "cohyponym": {
        ("cohyponym", CONTRADICTION): 7500, ("dropped", ENTAILMENT): 2200, ("added", NEUTRAL): 2200,
        ("hypernym", ENTAILMENT): 3000, ("hyponym", NEUTRAL): 4200,
    },
    "antonym": {("antonym", CONTRADICTION): 3000, ("dropped", ENTAILMENT): 1500, ("added", NEUTRAL): 1500},
    "number": {
        ("number", CONTRADICTION): 2200, ("dropped", ENTAILMENT): 1100, ("added", NEUTRAL): 1100,
        ("hypernym", ENTAILMENT): 500, ("hyponym", NEUTRAL): 500,
    },
    "colour": {("colour", CONTRADICTION): 2200, ("dropped", ENTAILMENT): 1100, ("added", NEUTRAL): 1100},
    "synonym": {("synonym", ENTAILMENT): 3000, ("dropped", ENTAILMENT): 400, ("added", NEUTRAL): 900},
    "negation": {
        ("negation", CONTRADICTION): 4200, ("negation", NEUTRAL): 1000, ("negated", ENTAILMENT): 2700,
        ("negated", NEUTRAL): 2700,
    },
    "modifier": {("dropped", ENTAILMENT): 1800, ("added", NEUTRAL): 2300},
    "same": {("same", ENTAILMENT): 1000},
}  # fmt: skip
"""Target numbers of pairs by the kind of exchanged word, for each kind of difference and label."""


class Variants(NamedTuple):
    """A sentence with its full order, shorter ones that follow from it, and its clause."""

    sentence: Premise
    whole: Order
    shorter: Sequence[Order]
    parts: ProgressiveClause


@dataclass
class Maker:
    """Generates pairs from premises until the targets are reached."""

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

    def wants(self, source: str, kind: str = "", label: str = "") -> bool:
        """Whether more pairs from a source are needed: of any kind, or of one."""
        wanted = {(kind, label): WANTED[source][kind, label]} if kind else WANTED[source]
        return any(self.counts[source, *key] < number * self.scale for key, number in wanted.items())

    def emit(self, source: str, kind: str, label: str, premise: str, hypothesis: str) -> None:
        """Records a pair, unless its kind is complete or it is a duplicate."""
        if not self.wants(source, kind, label) or (premise, hypothesis) in self.seen:
            return
        if (premise == hypothesis) == (kind == "same"):
            self.seen.add((premise, hypothesis))
            self.counts[source, kind, label] += 1
            self.pairs.append((kind, label, premise, hypothesis))

    def take(self, sentence: Premise) -> None:
        """Generates pairs of all kinds from one premise; none if its clause cannot be analysed."""
        parts = clause(sentence, self.lists)
        if parts is None:
            return
        whole = tuple(range(len(sentence.words)))
        orders = (shortened(sentence, parts, end, plain, self.lists) for end in parts.cuts for plain in (False, True))
        frame = Variants(sentence, whole, [*dict.fromkeys(order for order in orders if order != whole)], parts)
        slots = [slot for slot in self.finder.of(sentence, parts.auxiliary + 1) if self.wants(slot.kind)]
        for slot in self.random.sample(slots, min(2, len(slots))):
            self.contrast(frame, slot)
        self.negation(frame)
        if frame.shorter:
            self.less_and_more("modifier", frame, {}, self.random.choice(frame.shorter))
        if len(sentence.words) < 14 and self.random.random() < 0.1:
            text = write(sentence, frame.whole)
            self.emit("same", "same", ENTAILMENT, text, text)

    def least_used(self, words: Sequence[str]) -> str:
        """The least used of three randomly sampled words."""
        word = min(self.random.sample(list(words), min(3, len(words))), key=lambda w: self.used[w])
        self.used[word] += 1
        return word

    def contrast(self, frame: Variants, slot: Slot) -> None:
        """The pairs for a slot: words that exclude each other, or are synonyms; the same word in both and a shorter
        sentence; hypernyms."""
        base, same = slot.word, slot.kind == "synonym"
        if slot.pool and self.random.random() < (0.3 if slot.kind == "cohyponym" else 0.5):
            base = self.least_used(slot.pool)
        partners = [word for word in slot.partners(base) if slot.form(word)]
        if not partners:
            return
        other = self.least_used(partners)
        present = {word.lower() for word in frame.sentence.words} - {slot.word.lower(), slot.form(slot.word).lower()}
        forms = {form.lower() for word in (base, other) for form in (word, slot.form(word))}
        synonyms = {form for word in (base, other) for form in self.lists.others_of("synonyms", word)} - forms
        if (forms | synonyms) & present or "" in forms:
            return
        short = self.random.choice([order for order in frame.shorter if slot.at in order] or [frame.whole])
        second = short if self.random.random() < 0.65 else frame.whole
        first = short if self.random.random() < 0.3 and not same else frame.whole
        words = [base, other] if self.random.random() < 0.6 else [other, base]
        sides = [
            write(frame.sentence, order, slot.change(word)) for order, word in zip((first, second), words, strict=True)
        ]
        whole = write(frame.sentence, frame.whole)
        if any(clashes(side, word) for side in (*sides, whole) for word in (base, other) if word != slot.word):
            return
        if self.random.random() < 0.5 and not same:
            sides.reverse()
        self.emit(slot.kind, slot.kind, ENTAILMENT if same else CONTRADICTION, *sides)
        # Usually the inserted word rather than the premise's own: it is the one that must not reveal the label.
        word = other if self.random.random() < 0.7 else base
        self.less_and_more(slot.kind, frame, slot.change(word), short)
        self.wider(frame, slot, word, short)

    def less_and_more(self, source: str, frame: Variants, change: dict[int, str], short: Order) -> None:
        """The same word on both sides: the shorter sentence follows from the longer one, but not vice versa."""
        pair = write(frame.sentence, frame.whole, change), write(frame.sentence, short, change)
        if short == frame.whole:
            return
        if self.random.random() < 0.5:
            self.emit(source, "dropped", ENTAILMENT, *pair)
        else:
            self.emit(source, "added", NEUTRAL, *reversed(pair))

    def wider(self, frame: Variants, slot: Slot, word: str, short: Order) -> None:
        """A word and a hypernym: entailment in one direction, neutral in the other."""
        before = frame.sentence.lower(slot.at - 1)
        determined = before in ARTICLES | NUMBERS | {"some"} or before in self.lists.adjectives
        above = [upper for upper in slot.above(word) if slot.form(upper)]
        above = [upper for upper in above if not (upper.startswith("a ") and determined)]
        if not above:
            return
        changes = slot.change(self.random.choice(above)), slot.change(word)
        (long_upper, short_upper), (long_lower, short_lower) = (
            [write(frame.sentence, order, change) for order in (frame.whole, short)] for change in changes
        )
        draw = self.random.random()
        if draw < 0.35:
            self.emit(slot.kind, "hypernym", ENTAILMENT, long_lower, self.random.choice((long_upper, short_upper)))
        elif draw < 0.7:
            self.emit(slot.kind, "hyponym", NEUTRAL, self.random.choice((long_upper, short_upper)), short_lower)
        elif draw < 0.8:
            self.less_and_more(slot.kind, frame, changes[0], short)

    def negation(self, frame: Variants) -> None:
        """Pairs with "not" or "nobody" on one side, or on both."""
        sentence, parts = frame.sentence, frame.parts
        nobody = self.random.random() < 0.25 and sentence.lower(parts.head) in self.lists.people
        # The reference of "a man" must not change with the negation: the same subject is described with less detail.
        less = shortened(sentence, parts, self.random.choice(parts.cuts), False, self.lists)
        orders = frame.whole, self.random.choice(frame.shorter or [frame.whole]), less
        yes = [write(sentence, order) for order in orders]
        no = [write(sentence, negated(order, parts, nobody)) for order in orders]
        if self.random.random() < 0.3:
            no = [contracted(text) for text in no]
        draw = self.random.random()
        if draw < 0.35:
            self.emit("negation", "negation", CONTRADICTION, yes[0], no[self.random.randrange(2)])
        elif draw < 0.6:
            self.emit("negation", "negation", CONTRADICTION, no[1], yes[self.random.randrange(2)])
        elif less == frame.whole:
            return
        elif draw < 0.73:
            self.emit("negation", "negation", NEUTRAL, no[0], yes[2])
        elif draw < 0.86:
            self.emit("negation", "negated", NEUTRAL, no[0], no[2])
        else:
            self.emit("negation", "negated", ENTAILMENT, no[2], no[0])
