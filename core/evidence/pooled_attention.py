"""How much each word of a sentence counts in attentive pooling."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import table_html, weight_cell
from core.spreadsheet import csv_text
from core.wording import the


@dataclass(frozen=True)
class PooledAttention(Record, kind="pooled_attention"):
    """The weight of every position of one sentence in attentive pooling, one record per side (AttConv, figure 6b)."""

    name: str
    role: str
    """Role of the sentence that is pooled."""
    weights: tuple[float, ...]
    """[T]; softmax weights add up to 1, ABCNN's sums of scores do not."""

    @property
    def title(self) -> str:
        return f"{self.name}, {self.role}"

    def shares(self) -> tuple[float, ...]:
        """The weights divided by their sum."""
        total = sum(self.weights) or 1.0
        return tuple(weight / total for weight in self.weights)

    def to_text(self, explanation: Explanation) -> list[str]:
        words = [token.text for token in explanation.sentence(self.role).tokens]
        ranked = sorted(zip(self.shares(), words, strict=True), key=lambda pair: -pair[0])[:8]
        return ["", f"What pooling takes of {the(self.role)}: " + ", ".join(f"{word} {w:.0%}" for w, word in ranked)]

    def to_html(self, explanation: Explanation) -> str:
        words = [token.text for token in explanation.sentence(self.role).tokens]
        caption = f"How much each word of {the(self.role)} counts in pooling, in per cent."
        return table_html(caption, words, [("weight", map(weight_cell, self.shares()))])

    def to_csv(self, explanation: Explanation) -> str:
        """One line per word: its position (from 1), text and weight."""
        words = [token.text for token in explanation.sentence(self.role).tokens]
        rows = zip(range(1, len(words) + 1), words, self.weights, strict=True)
        return csv_text([f"{self.role}_position", f"{self.role}_word", "weight"], rows)
