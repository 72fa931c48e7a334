"""The effects of words and attention links on a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from core.evidence.as_json import LATER
from core.evidence.explanation import Explanation, Record
from core.json_types import told
from core.spreadsheet import csv_text
from core.wording import class_names, counted, shown, the

HEADS = "heads"
"""Unit of effects of whole attention heads."""


@dataclass(frozen=True)
class Unsigned:
    """A unit of numbers without a sign, which leave open whether a word supports the verdict. ``axis``: the meaning of
    a bar's length; ``says``: a word's number in words, with {} for the number; ``reading``: how to read the bars."""

    name: str
    axis: str
    says: str
    reading: str


@dataclass(frozen=True)
class WordEffect:
    """The effect of one word."""

    role: str
    """Role of the word's sentence."""
    index: int
    """Position in the sentence, from 0."""
    text: str
    effect: float | None
    """In the record's ``unit``; None if the method does not apply: the only word of a sentence cannot be dropped."""
    spread: float | None = None
    """Standard deviation of the effect over sampled replacements; None if none were sampled."""
    log_odds: float | None = None
    """The log-odds of the verdict before the change minus after."""
    probabilities: tuple[float, ...] | None = None
    """The probability of every class after the change, averaged over replacements if there are several."""
    by_way: dict[str, float] = field(default_factory=dict)
    """Each method's effect, if the effect is a mean over several methods."""
    spread_by_way: dict[str, float] = field(default_factory=dict)
    """``spread`` by method, for methods that sample replacements."""
    passes: int = field(default=0, metadata=LATER)
    """Number of texts the model read to compute it."""


def complete(completeness: tuple[float, float]) -> bool:
    """Whether the sum of the effects (first) matches the expected difference of log p (second) within 5 % or 0.05,
    whichever is larger."""
    added_up, difference = completeness
    return abs(added_up - difference) <= max(0.05 * abs(difference), 0.05)


@dataclass(frozen=True)
class LinkEffects:
    """The effect of each link of one attention map, in the order of the map's rows and columns.

    If the units are :data:`HEADS`, rows are a transformer's layers and columns its heads, each head ablated as a whole,
    and ``before`` is the mean weight a word gives to the other text.
    """

    rows: str
    """Role of the sentence along the rows."""
    columns: str
    units: str
    """The unit of a row, as in :class:`~core.evidence.attention_map.AttentionMap`."""
    null: bool
    """Whether the last column is the null word."""
    renormalised: bool
    """Whether the rest of the row was renormalised to add up to 1."""
    least: float | None
    """The new value of a cell: None for weights, which are set to 0; for scores the lowest possible match."""
    before: tuple[tuple[float, ...], ...]
    """The original map, ``[R, C]``."""
    effects: tuple[tuple[float | None, ...], ...]
    """``[R, C]``, log p of the verdict before ablating the link minus after; positive: the link supports the verdict;
    None if the link was not ablated."""
    tau_b: float | None
    """Kendall's τ-b between the weights and the absolute effects of the ablated cells; None if either is constant."""
    passes: int = field(default=0, metadata=LATER)
    """Number of ablated links; each takes one forward pass."""
    words: tuple[tuple[str, ...], ...] = field(default=(), metadata=LATER)
    """The words along the rows and along the columns."""

    @property
    def title(self) -> str:
        """A title that names the rows and columns."""
        if self.units == HEADS:
            return "Ablated heads, one line per layer"
        return f"Links of {the(self.rows)} into {the(self.columns)}"


def links_csv(links: Sequence[LinkEffects], words: Sequence[tuple[Sequence[str], Sequence[str]]]) -> str:
    """One line per cell of all maps: the roles, the labels of both edges (``words``, one pair per map) with positions
    from 1, the original weight or score, and the effect."""
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

    An effect is log p(verdict) before the removal minus after it: positive supports the verdict, negative opposes it.
    ``unit`` is "log p"; "score" for a model with one output, where an effect is the score before minus after; or the
    name of a unit without a sign, such as the gradient's "norm".
    """

    model: str
    model_title: str
    """The model's display name."""
    verdict: str
    """The class whose probability is measured: the most probable one, or for a ranking model the class it ranks by."""
    probability: float
    method: str
    unit: str
    labels: tuple[str, ...]
    words: tuple[WordEffect, ...]
    """In the order of the texts."""
    links: tuple[LinkEffects, ...] = ()
    completeness: tuple[float, float] | None = None
    """For integrated gradients: the sum of all effects, and the value it should equal: log p(verdict) minus log p at
    the baseline (embeddings scaled to a thousandth)."""
    milliseconds: float = 0.0
    passes: int = field(default=0, metadata=LATER)
    """Number of forward passes: texts read plus links ablated."""
    warnings: tuple[str, ...] = field(default=(), metadata=LATER)
    """Warnings from the pair's explanation."""
    answer: str = field(default="", metadata=LATER)
    """The kind of verdict (:attr:`core.evidence.Explanation.answer`)."""
    unsigned: Unsigned | None = field(default=None, metadata=LATER)
    """The ``unit`` if its numbers have no sign."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"effects, {self.method}"

    @told
    def adds_up(self) -> bool:
        """Whether the effects add up to what they should (:func:`complete`); true where nothing is known of it."""
        return self.completeness is None or complete(self.completeness)

    @property
    def strongest(self) -> WordEffect | None:
        """The word with the largest positive effect; None if no word supports the verdict."""
        supporting = [word for word in self.words if word.effect is not None and word.effect > 0]
        return max(supporting, key=lambda word: word.effect or 0, default=None)

    def of(self, role: str) -> tuple[WordEffect, ...]:
        """The effects of one sentence's words."""
        return tuple(word for word in self.words if word.role == role)

    def with_links(self, links: Sequence[LinkEffects]) -> Effects:
        """A copy with the effects of more links and the passes they took."""
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
            only = "" if self.adds_up else f", off by {abs(added_up - difference):.2f}"
            lines += [
                "",
                f"The effects add up to {added_up:+.2f}; {self.unit} lost on the path: {difference:+.2f}{only}",
            ]
        return [*lines, "", counted(self.passes, "pass", "es")] if self.passes else lines

    def to_csv(self, explanation: Explanation | None = None) -> str:
        """One line per word: its sentence, position (from 1), text, effect, spread and log-odds, the class
        probabilities without it, and, for a mean of several methods, the effect by each method."""
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
