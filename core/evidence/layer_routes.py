"""The states and heads of a transformer that carry a difference between two versions of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import Matrix
from core.evidence.routes import signed_percent
from core.json_types import told
from core.spreadsheet import csv_text
from core.wording import counted

SPECIAL = "special tokens"
"""The column of the pieces that belong to no word."""


@dataclass(frozen=True)
class LayerRoutes(Record, kind="layer_routes"):
    """The shares of a difference that single parts of a transformer restore, taken from the other version one at a
    time. Unlike :class:`~core.evidence.routes.Routes` they need not add up; the difference is defined as there."""

    model: str
    model_title: str
    """The model's display name."""
    verdict: str
    """The class whose probability is measured."""
    versions: tuple[tuple[str, ...], tuple[str, ...]]
    """The texts of this version and of the other."""
    probabilities: tuple[float, float]
    """The class's probability for both, or the score."""
    unit: str
    change: str
    """How the verdict changes from this version to the other, in words."""
    difference: float
    words: tuple[tuple[str, ...], tuple[str, ...]]
    """The words of both texts in this version and in the other, then :data:`SPECIAL`."""
    layers: int
    """Number of the model's layers; the matrices have fewer rows while they are computed."""
    states: Matrix
    """[layers, words]: the share restored if one word's states after one layer come from the other version."""
    patterns: Matrix
    """[layers, heads]: the same for one head's attention weights."""
    values: Matrix
    """[layers, heads]: the same for the values that one head reads."""
    sentence: str
    """Where the difference lies, in words; empty while layers are missing."""
    passes: int
    """Number of pairs the model read."""
    name: str = field(default="states of the difference", init=False)

    def to_text(self, explanation: Explanation | None = None) -> list[str]:
        width = max(map(len, self.words[0]))
        lines = [
            f"{self.change}   {self.model_title}",
            self.sentence,
            "",
            "Share restored by a word's state after a layer",
        ]
        for number, (own, other) in enumerate(zip(*self.words, strict=True)):
            cells = " ".join(f"{signed_percent(row[number]):>6}" for row in self.states)
            lines.append(f"{own:<{width}} {cells}{'' if own == other else f'   ({other})'}")
        lines += ["", "Strongest heads, by pattern alone and by values alone"]
        lines += [
            f"{name:<8} {', '.join(_strongest(of))}"
            for name, of in (("pattern", self.patterns), ("values", self.values))
        ]
        return [*lines, "", counted(self.passes, "pass", "es")]

    @told
    def csv(self) -> str | None:
        """The numbers as a file, once all layers are known."""
        return self.to_csv() if len(self.states) == self.layers else None

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        return f"<pre>{escape(chr(10).join(self.to_text()))}</pre>"

    def to_csv(self, explanation: Explanation | None = None) -> str:
        """One line per layer and word, then per layer and head: the kind of part, the layer and the word or head from
        1, and the share."""
        rows: list[list[object]] = []
        for what, of in (("state", self.states), ("pattern", self.patterns), ("values", self.values)):
            for layer, shares in enumerate(of, 1):
                names = self.words[0] if what == "state" else [str(head + 1) for head in range(len(shares))]
                rows += [
                    [what, layer, at, name, share]
                    for at, (name, share) in enumerate(zip(names, shares, strict=True), 1)
                ]
        return csv_text(["part", "layer", "number", "name", "share"], rows)


HALF = 0.5
"""The difference is said to be in one word's states if they restore at least this share."""
SPREAD = "in several words’ states together"


def _strongest(heads: Matrix, most: int = 5) -> list[str]:
    ranked = sorted(
        ((abs(share), share, layer, head) for layer, row in enumerate(heads, 1) for head, share in enumerate(row, 1)),
        reverse=True,
    )
    return [f"{layer}.{head} {signed_percent(share)}" for _, share, layer, head in ranked[:most]]


def sentence_of(subject: str, words: Sequence[str], states: Matrix) -> str:
    """Where the difference lies, from layer to layer: in the states of the word that restores most of it after each,
    or in several words' if none restores half."""
    names = [f"the {word}" if word == SPECIAL else f"“{word}”" for word in words]
    strongest = [names[row.index(max(row))] if max(row) >= HALF else "" for row in map(list, states)]
    first, final, last = strongest[0], strongest[-1], len(strongest)
    if {*strongest} == {first}:
        where = f"stays in the states of {first}" if first else f"is {SPREAD}"
        return f"{subject} {where} through all {last} layers."
    until = next(at for at, name in enumerate(strongest) if name != first)
    since = last - next(at for at, name in enumerate(strongest[::-1]) if name != final) + 1
    begins = f"mainly in the states of {first}" if first else SPREAD
    ends = f"in {final}" if final else SPREAD
    return f"{subject} is {begins} up to layer {until} of {last}, from layer {since} {ends}."
