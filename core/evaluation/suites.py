"""Hand-written pairs of known kinds, which are never trained on. All lists of suites are defined here."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from core.data import Dataset, read
from core.data.labels import NOTHING, CountsAs, Scale
from core.reading.shared_words import differing
from core.reading.tokens import norms

CLASSES = ("entailment", "neutral", "contradiction")
"""Classes required of a model to be tested."""


@dataclass(frozen=True)
class Suite:
    """Pairs (kind, label, premise, hypothesis) in ``NAME_pairs.tsv``. ``about``: their differences in a few words;
    ``counts_as``: the classes that count as a label, see :class:`core.data.labels.Scale`."""

    name: str
    title: str
    about: str
    counts_as: CountsAs = field(default_factory=lambda: NOTHING)

    @property
    def path(self) -> Path:
        """The file."""
        return Path(__file__).with_name(f"{self.name}_pairs.tsv")

    @functools.cached_property
    def pairs(self) -> Dataset:
        """The pairs; each row has its ``kind`` as a column."""
        return read(self.path)

    def scale(self, classes: Collection[str]) -> Scale:
        """The answers by which a model with these classes is scored."""
        return Scale(tuple(classes), self.counts_as)


def exchange(first: str, second: str) -> tuple[str, str] | None:
    """The only stretch of words in which two texts differ, in each text; None if they differ in another way."""
    one, other = norms(first.rstrip(".")), norms(second.rstrip("."))
    changes = [(" ".join(one[here]), " ".join(other[there])) for here, there in differing(one, other)]
    return changes[0] if len(changes) == 1 and all(changes[0]) else None


SUITES = {
    suite.name: suite
    for suite in (
        Suite("simple", "Simple pairs", "One difference per pair, such as a negation, an antonym or another number"),
        Suite("order", "Word order", "Who did what to whom, how many, and which thing has which property"),
        Suite(
            "one_word", "One word", "One word exchanged: for one that excludes it, a synonym, a wider or narrower word"
        ),
        Suite(
            "structure",
            "Structure",
            "Clauses, facts and hopes, quantities, comparisons, giving and receiving, before and after",
            {"entailment": ("entailment",), "non-entailment": ("neutral", "contradiction")},
        ),
    )
}
"""All suites by name."""

RELATIONS = ("antonym", "synonym", "hypernym", "hyponym")
"""Kinds of one_word in which a word has few partners; of any other kind, all words exclude each other."""
LEAST = 30
"""Number of pairs from which a kind's score is meaningful."""


def kind_of_exchange(first: str, second: str) -> str | None:
    """The one_word kind of a pair in which ``second`` replaces the first text's ``first`` (normalised words), if the
    suite has both words in pairs of that kind."""
    words, pairs = _exchanged()
    if (first, second) in pairs:
        return pairs[first, second]
    return next((kind for kind, known in words.items() if first != second and {first, second} <= known), None)


@functools.cache
def _exchanged() -> tuple[dict[str, set[str]], dict[tuple[str, str], str]]:
    """The exchanged words of each kind whose words exclude each other, and the kind of each pair of related words."""
    words, pairs = dict[str, set[str]](), dict[tuple[str, str], str]()
    for row in SUITES["one_word"].pairs.rows:
        kind, both = row.columns["kind"], exchange(row.first, row.second)
        if both is None:
            continue
        if kind not in RELATIONS:
            words.setdefault(kind, set()).update(both)
            continue
        pairs[both] = kind
        if kind in ("antonym", "synonym"):
            pairs[both[::-1]] = kind
    return words, pairs
