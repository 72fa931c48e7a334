"""A similarity of two texts as a sum over pairs of their words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from core.evidence.attention_map import SPECIAL
from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import CELL_STYLE, Matrix, table_html
from core.json_types import told
from core.spreadsheet import csv_text
from core.wording import the

STRONGEST = 8
"""Number of word pairs listed on the terminal."""


@dataclass(frozen=True)
class SimilarityShares(Record, kind="similarity_shares"):
    """The signed share of each word pair in a similarity, ``[T_rows + 1, T_columns + 1]``: the last row and column are
    the special tokens. ``shares`` add up to ``score`` minus ``reference``, except for :attr:`residual`.

    Shares at the output layer are exact and need no reference, but the word states there are contextualised. Integrated
    Jacobians attribute to the input words: s(a, b) - s(r_a, b) - s(a, r_b) + s(r_a, r_b), where each r is a reference
    text of padding tokens, so that ``reference`` is s(r_a, b) + s(a, r_b) - s(r_a, r_b).
    """

    name: str
    rows: str
    """Role of the sentence along the rows."""
    columns: str
    shares: Matrix
    score: float
    """The similarity the model computed."""
    reference: float = 0.0
    """The part of the score that depends on at most one of the two texts."""
    passes: int = 1
    """Number of texts the model read."""

    @told
    def total(self) -> float:
        """The sum of all shares."""
        return sum(map(sum, self.shares))

    @told
    def special(self) -> str:
        """The name of the last row and column."""
        return SPECIAL

    @told
    def residual(self) -> float:
        """The part of the score not covered by the shares and the reference."""
        return self.score - self.reference - self.total

    def to_text(self, explanation: Explanation) -> list[str]:
        cells = sorted(self._cells(explanation), key=lambda cell: -abs(cell[2]))[:STRONGEST]
        rest = f", reference terms {self.reference:+.3f}, residual {self.residual:+.3f}" if self.passes > 1 else ""
        head = f"{self.name}: they add up to {self.total:.3f} of the similarity {self.score:.3f}{rest}"
        return ["", head, *(f"  {share:+.3f}  {row} · {column}" for row, column, share in cells)]

    def to_html(self, explanation: Explanation) -> str:
        rows, columns = self._words(explanation)
        caption = (
            f"{self.name} {self.score:.3f}, in thousandths; rows: {the(self.rows)}, columns: {the(self.columns)}; they "
            f"add up to {self.total:.3f}."
        )
        most = max(abs(share) for row in self.shares for share in row) or 1.0
        lines = ((word, (_cell(share, most) for share in row)) for word, row in zip(rows, self.shares, strict=True))
        return table_html(caption, columns, lines)

    def to_csv(self, explanation: Explanation) -> str:
        """One line per cell: both words and their share."""
        return csv_text([f"{self.rows}_word", f"{self.columns}_word", "share"], self._cells(explanation))

    def _words(self, explanation: Explanation) -> tuple[list[str], list[str]]:
        rows, columns = (
            [*(token.text for token in explanation.sentence(role).tokens), SPECIAL]
            for role in (self.rows, self.columns)
        )
        return rows, columns

    def _cells(self, explanation: Explanation) -> Iterator[tuple[str, str, float]]:
        rows, columns = self._words(explanation)
        for row, shares in zip(rows, self.shares, strict=True):
            for column, share in zip(columns, shares, strict=True):
                yield row, column, share


def _cell(share: float, most: float) -> str:
    """A ``<td>`` on a diverging scale: orange adds to the similarity, blue subtracts from it."""
    colour = "#b06c0a" if share > 0 else "#2464b0"
    ground = f"color-mix(in srgb, {colour} {abs(share) / most:.0%}, white)"
    ink = "#ffffff" if abs(share) > 0.6 * most else "#000000"
    return f'<td style="{CELL_STYLE};background:{ground};color:{ink}">{escape(f"{1000 * share:+.0f}")}</td>'
