"""The effects of words and attention links on a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.evidence.explanation import Explanation
from core.evidence.record import LATER, Record, the
from core.spreadsheet import csv_text
from core.wording import class_names, counted, shown

HEADS = "heads"
"""Units of effects of whole heads."""


@dataclass(frozen=True)
class WordEffect:
    """The effect of one word."""

    role: str
    """Role of its sentence."""
    index: int
    """Its place in its sentence, from 0."""
    text: str
    effect: float | None
    """In the record's ``unit``; None where the way cannot be taken, as the only word of a side cannot be dropped."""
    spread: float | None = None
    """Standard deviation of the effect over the drawn replacements; None where none were drawn."""
    log_odds: float | None = None
    """The log-odds of the verdict before minus after."""
    probabilities: tuple[float, ...] | None = None
    """The probability of every class after the change; the mean over several replacements."""
    by_way: dict[str, float] = field(default_factory=dict)
    """If the effect is a mean over several methods, each method's effect."""
    spread_by_way: dict[str, float] = field(default_factory=dict)
    """``spread`` by method, for methods that draw words."""
    passes: int = field(default=0, metadata=LATER)
    """Texts that the model read for it."""


def complete(completeness: tuple[float, float]) -> bool:
    """Whether effects add up (first) to the difference of log p that they should be (second): within 5 % of it or 0.05,
    whichever is larger."""
    added_up, difference = completeness
    return abs(added_up - difference) <= max(0.05 * abs(difference), 0.05)


@dataclass(frozen=True)
class LinkEffects:
    """The effect of each link of one attention map, in the order of the map's rows and columns.

    With the units :data:`HEADS` its rows are the layers of a transformer and its columns their heads, each cut out
    whole, and ``before`` is what a word gives to the other text on average.
    """

    rows: str
    """Role of the sentence along the rows."""
    columns: str
    units: str
    """The unit of a row, as in :class:`~core.evidence.attention_map.AttentionMap`."""
    null: bool
    """Whether the last column is the null word."""
    renormalised: bool
    """Whether the rest of the row was divided by its sum, so that it adds up to 1 again."""
    least: float | None
    """The new value of a cell: None for weights, which became 0; for scores the minimum of a match."""
    before: tuple[tuple[float, ...], ...]
    """The map as it was, ``[R, C]``."""
    effects: tuple[tuple[float | None, ...], ...]
    """``[R, C]``, log p of the verdict before minus after; positive: the link supports the verdict; None where a link
    was not cut."""
    tau_b: float | None
    """Kendall's τ-b over the cells that were cut between weight and size of the effect; None where one of them is the
    same everywhere."""
    layer: int = field(default=0, metadata=LATER)
    """In a transformer, the first layer (from 0) in which links were cut."""
    passes: int = field(default=0, metadata=LATER)
    """Links that were cut, each a pass through the model."""
    words: tuple[tuple[str, ...], ...] = field(default=(), metadata=LATER)
    """The words along the rows, and along the columns."""

    @property
    def title(self) -> str:
        """Its rows and columns in words."""
        if self.units == HEADS:
            return "Heads that are cut out whole, a line a layer"
        since = f", cut from layer {self.layer + 1} on" if self.layer else ""
        return f"Links of {the(self.rows)} into {the(self.columns)}{since}"


def links_csv(links: Sequence[LinkEffects], words: Sequence[tuple[Sequence[str], Sequence[str]]]) -> str:
    """One line per cell of all maps: the roles, the labels of both edges (``words``, of each map) with positions from
    1, the original weight or score, and the effect."""
    head = ["rows", "columns", "row", "row_word", "column", "column_word", "before", "effect"]
    cells = (
        [of.rows, of.columns, i + 1, rows[i], j + 1, columns[j], of.before[i][j], of.effects[i][j]]
        for of, (rows, columns) in zip(links, words, strict=True)
        for i in range(len(rows))
        for j in range(len(columns))
    )
    return csv_text(head, cells)


@dataclass(frozen=True)
class Effects(Record, kind="effects"):
    """The effect of each word on the verdict by one method, and of each link if requested.

    The effect of something is log p(verdict) before minus after it is taken away: positive supports the verdict,
    negative opposes it. ``unit`` is "log p"; "norm" for the gradient's norm and "attention" for what a word receives of
    it, which have no sign; or "score" for a model with one output, where an effect is the score before minus after.
    """

    model: str
    model_title: str
    """The model's name for people."""
    verdict: str
    """The class whose probability is followed: the most probable one; of a model that ranks, the class that ranks."""
    probability: float
    method: str
    unit: str
    labels: tuple[str, ...]
    words: tuple[WordEffect, ...]
    """In the order of the texts."""
    links: tuple[LinkEffects, ...] = ()
    completeness: tuple[float, float] | None = None
    """For integrated gradients: the sum of all effects, and the value it should have: log p(verdict) minus log p
    for the baseline (vectors a thousandth as long)."""
    milliseconds: float = 0.0
    passes: int = field(default=0, metadata=LATER)
    """How often the model was asked: texts read and links cut."""
    warnings: tuple[str, ...] = field(default=(), metadata=LATER)
    """Warnings of the pair's explanation."""
    answer: str = field(default="", metadata=LATER)
    """The kind of verdict (:attr:`core.evidence.Explanation.answer`)."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"effects, {self.method}"

    @property
    def strongest(self) -> WordEffect | None:
        """The word with the largest positive effect; None where no word supports the verdict."""
        supporting = [word for word in self.words if word.effect is not None and word.effect > 0]
        return max(supporting, key=lambda word: word.effect or 0, default=None)

    def of(self, role: str) -> tuple[WordEffect, ...]:
        """The effects of one sentence's words."""
        return tuple(word for word in self.words if word.role == role)

    def with_links(self, links: Sequence[LinkEffects]) -> Effects:
        """A copy with the effects of more links, and their passes."""
        more = sum(of_map.passes for of_map in links)
        return replace(self, links=(*self.links, *links), passes=self.passes + more)

    def to_text(self, explanation: Explanation | None = None) -> list[str]:
        roles = [word.role for word in self.words]
        names = class_names(self.labels, roles[-1]) if roles else self.labels
        followed = f"{names[self.labels.index(self.verdict)]} {shown(self.probability, len(self.labels))}"
        lines = [f"{followed}   {self.model_title}; {self.method}, in {self.unit}", *self.warnings]
        for role in dict.fromkeys(word.role for word in self.words):
            lines += ["", f"What each word of {the(role)} does:"]
            lines += [f"  {_number(word.effect)} {_spread(word.spread)}  {word.text}" for word in self.of(role)]
        for links in self.links:
            agreement = "" if links.tau_b is None else f", Kendall's τ-b with the weights {links.tau_b:.2f}"
            lines += ["", f"{links.title}{agreement}:"]
            lines += ["  " + " ".join(_number(effect) for effect in row) for row in links.effects]
        if self.completeness:
            added_up, difference = self.completeness
            only = "" if complete(self.completeness) else f", off by {abs(added_up - difference):.2f}"
            lines += [
                "",
                f"The effects add up to {added_up:+.2f}; {self.unit} lost on the path: {difference:+.2f}{only}",
            ]
        return [*lines, "", counted(self.passes, "pass", "es")] if self.passes else lines

    def to_csv(self, explanation: Explanation | None = None) -> str:
        """One line a word: its sentence, position (from 1), text, effect, spread and log-odds, the probabilities
        without it, and of a mean of several ways the effect by each alone."""
        ways = list(dict.fromkeys(way for word in self.words for way in word.by_way))
        head = ["sentence", "position", "word", "effect", "spread", "log_odds"]
        head += [f"p_{name}" for name in self.labels] + [f"effect_{way}" for way in ways]
        lines = []
        for word in self.words:
            own = [word.role, word.index + 1, word.text, word.effect, word.spread, word.log_odds]
            after = word.probabilities or [None] * len(self.labels)
            line = [*own, *after, *(word.by_way.get(way) for way in ways)]
            lines.append(["" if value is None else value for value in line])
        return csv_text(head, lines)


def _number(value: float | None) -> str:
    return "     –" if value is None else f"{value:+6.2f}"


def _spread(value: float | None) -> str:
    return "     " if value is None else f"±{value:.2f}"
