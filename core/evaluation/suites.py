"""Hand-written pairs of known kinds, which are never trained on: every list of suites is read from here."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from core.data import Dataset, read
from core.data.labels import NOTHING, CountsAs, Scale

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
