"""How faithful the explanations of one verdict are: the effects of erasing words and of changing the attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.evidence.as_json import LATER
from core.evidence.explanation import Explanation, Record
from core.evidence.faithfulness_in_words import Erased, Fact, erased, facts
from core.evidence.faithfulness_numbers import Adversary, Curves, Moved, ShownMap
from core.json_types import told
from core.spreadsheet import csv_text
from core.wording import percent

STEPS = ("1", "2", "3", "20 %", "50 %")
"""How many top-ranked words are kept or removed; percentages are rounded up to whole words."""
RANDOM = "random"
"""Key that stands for the mean over random orders instead of a method."""
LARGEST_CHANGE = 0.02
"""Largest total variation between the class probabilities under the model's own attention and under another at which
both count as the same answer."""

Cell = tuple[str, str, str, object]
_OF_MISMATCH = ("contradiction", "0")
"""Classes that unmatched words support."""


@dataclass(frozen=True)
class Faithfulness(Record, kind="faithfulness"):
    """All faithfulness results for one pair."""

    model: str
    labels: tuple[str, ...]
    verdict: str
    probabilities: tuple[float, ...]
    curves: dict[str, Curves]
    """Curves by method; the key ``random`` holds the mean over random orders."""
    moved: Moved | None
    tau_b: tuple[float | None, ...]
    """Kendall's τ-b between the weights and the absolute effects, one value per attention map."""
    named: tuple[int, int] | None
    """How many of the (at most three) words with the largest effects are among the most attended ones, and how many
    were compared."""
    maps: tuple[ShownMap, ...] = field(default=(), repr=False)
    """The model's own attention, if an adversary was searched for."""
    adversary: Adversary | None = field(default=None, repr=False)
    """None if no adversary was searched for, or if the maps hold scores."""
    passes: int = field(default=0, metadata=LATER)
    """Number of forward passes: texts read, links ablated, attention maps replaced."""
    elsewhere: tuple[str, ...] = field(default=(), metadata=LATER)
    """Effects of changed attention on data sets, from the model's card."""
    titles: dict[str, str] = field(default_factory=dict, metadata=LATER)
    """The display names of the methods whose curves are drawn."""
    names: tuple[str, ...] = field(default=(), metadata=LATER)
    """The classes as displayed, if they are not the labels."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return "faithfulness"

    @told
    def sentence(self) -> str:
        """The result in one sentence."""
        parts = []
        if self.moved is not None:
            parts.append(self._moved(self.moved))
        if self.named is not None:
            parts.append(f"its attention names {self.named[0]} of the {self.named[1]} words with the largest effect")
        if not parts and self.tau_b:
            return "Its attention is scores that a choice follows, so moving it does not apply."
        if not parts:
            return "This model has no attention that could be moved."
        text = "; ".join(parts)
        return " ".join([f"{text[0].upper()}{text[1:]}.", *self.limits])

    def _moved(self, moved: Moved) -> str:
        said = (
            f"moving this model’s attention changes its verdict in {moved.changed} of {moved.permutations} permutations"
        )
        if not moved.mean:
            return said
        number = self.labels.index(self.verdict)
        before, after = self.probabilities[number], moved.mean[number]
        return f"{said} and brings its probability from {percent(before)} to {percent(after)} on average"

    @told
    def facts(self) -> tuple[Fact, ...]:
        """Each of its numbers in words, with its source and what it cannot tell."""
        return tuple(facts(self, self.names or self.labels, LARGEST_CHANGE))

    @told
    def methods(self) -> tuple[Erased, ...]:
        """Each method's curves, best first."""
        lines = (erased(title, self.curves[name], STEPS) for name, title in self.titles.items())
        return tuple(sorted(lines, key=lambda line: -line.taken))

    @told
    def chance(self) -> Erased:
        """The curves of random orders."""
        return erased("Random orders", self.curves[RANDOM], STEPS)

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits of this pair's permutation test, and results of the same test on a data set."""
        if self.moved is None or not self.moved.mean:
            return ()
        mismatch = (
            "Moved attention aligns the words wrongly, which itself favours this verdict: an unchanged verdict "
            "does not show that the model’s attention is unnecessary."
        )
        return (*([mismatch] if self.verdict in _OF_MISMATCH else []), *self.elsewhere)

    def with_adversary(self, maps: Sequence[ShownMap], adversary: Adversary | None) -> Faithfulness:
        """A copy with the result of an adversarial search."""
        return replace(self, maps=tuple(maps), adversary=adversary)

    def to_text(self, explanation: Explanation | None = None) -> list[str]:
        lines = [self.sentence, "", f"{'':<22}  only its words left   its words taken out"]
        for method, curves in self.curves.items():
            sufficiency, comprehensiveness = curves.aopc
            lines.append(f"  {method:<20}  {sufficiency:>+19.3f}  {comprehensiveness:>+19.3f}")
        found = self.adversary
        if found is not None and found.maps:
            lines.append(
                f"Attention {found.divergence:.3f} nats from the model's leaves {self.verdict} at "
                f"{percent(found.probabilities[self.labels.index(self.verdict)])}."
            )
        return lines

    def to_csv(self, explanation: Explanation | None = None) -> str:
        """One line per number: its name, what it refers to, where, and its value. Rows and columns of maps count from
        1."""
        return csv_text(["number", "of", "at", "value"], map(list, self._cells()))

    def _cells(self) -> Iterator[Cell]:
        for method, curves in self.curves.items():
            for name in ("sufficiency", "comprehensiveness"):
                for step, value in zip(STEPS, getattr(curves, name), strict=True):
                    yield name, method, step, value
        for label, p in zip(self.labels, self.probabilities, strict=True):
            yield "probability", label, "", p
        if self.moved is not None:
            yield "permutations that change the verdict", f"{self.moved.permutations}", "", self.moved.changed
            yield "total variation", "permutations", "mean", self.moved.total_variation
            for label, p in zip(self.labels, self.moved.uniform, strict=True):
                yield "probability under uniform attention", label, "", p
        for number, tau in enumerate(self.tau_b, 1):
            yield "Kendall's tau-b of weight and effect", f"map {number}", "", "" if tau is None else tau
        if self.named is not None:
            yield "words of largest effect among the most attended", f"{self.named[1]}", "", self.named[0]
        if self.adversary is not None:
            yield from _of_adversary(self.adversary, self.labels, self.maps)


def _of_adversary(found: Adversary, labels: Sequence[str], own: Sequence[ShownMap]) -> Iterator[Cell]:
    if not found.maps:
        yield "adversary", "", "", "none found"
        return
    yield "Jensen-Shannon divergence", "adversary", "nats", found.divergence
    yield "total variation", "adversary", "", found.total_variation
    for label, p in zip(labels, found.probabilities, strict=True):
        yield "probability under the adversary", label, "", p
    both = {"weight": [one.weights for one in own], "weight of the adversary": found.maps}
    for name, maps in both.items():
        for number, weights in enumerate(maps, 1):
            for i, row in enumerate(weights, 1):
                for j, weight in enumerate(row, 1):
                    yield name, f"map {number}", f"{i}.{j}", weight
