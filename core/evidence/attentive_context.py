"""The make-up of each word's attentive context."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.explanation import Explanation
from core.evidence.record import Matrix, Record

NOT_IN_THE_TABLE = "which is not in the word table (its vector is made of its letters): no word is near it in meaning."


@dataclass(frozen=True)
class ContextWord:
    """A word's attentive context in words: the table's nearest words to the weights' mix of input word vectors. There
    are none where the mix is mostly of words outside the table: what their letters are near to says nothing."""

    nearest: tuple[str, ...]
    similarity: tuple[float, ...]
    """Cosine of each nearest word to the mix."""


@dataclass(frozen=True)
class AttentiveContext(Record, kind="attentive_context"):
    """Per word of the sentence along the rows, what its context vector is mixed from: ``weights[i]`` over the context's
    words.

    ``nearest`` holds the table's nearest words for the rows that were asked for (None elsewhere: they cost a search of
    the word table and are computed when a word is selected, see :func:`core.explain.nearest_to_context`). Where each
    line of the text is a separate context, a word has one mix per line, and the nearest words are near to all of them.
    """

    name: str
    rows: str
    columns: str
    weights: Matrix
    nearest: tuple[ContextWord | None, ...]

    def unknown(self, explanation: Explanation, row: int) -> str:
        """The heaviest of the words outside the word table in the row's mix; empty where there is none."""
        words = zip(self.weights[row], explanation.sentence(self.columns).tokens, strict=True)
        return max(((weight, token.text) for weight, token in words if token.unknown), default=(0.0, ""))[1]

    def to_text(self, explanation: Explanation) -> list[str]:
        """The nearest words of the rows that were asked for."""
        lines = []
        words = zip(explanation.sentence(self.rows).tokens, self.nearest, strict=True)
        for row, (token, context) in enumerate(words):
            if context is not None and not context.nearest:
                unknown = self.unknown(explanation, row)
                lines += ["", f"The attentive context of “{token.text}” is mostly “{unknown}”, {NOT_IN_THE_TABLE}"]
            elif context is not None:
                cosines = zip(context.nearest, context.similarity, strict=True)
                nearest = ", ".join(f"{word} {cosine:.2f}" for word, cosine in cosines)
                lines += ["", f"Nearest words to the attentive context of “{token.text}” (cosine): {nearest}"]
        return lines
