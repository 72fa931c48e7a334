"""What each word's attentive context is mixed from."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.record import Explained, Matrix, Record


@dataclass(frozen=True)
class ContextWord:
    """A word's attentive context in words: the table's nearest words to the weights' mix of input word vectors."""

    nearest: tuple[str, ...]
    similarity: tuple[float, ...]
    """Cosine of each nearest word to the mix."""


@dataclass(frozen=True)
class AttentiveContext(Record, kind="attentive_context"):
    """Per word of the sentence along the rows, what its context vector is mixed from: ``weights[i]`` over the context's
    words.

    ``nearest`` holds the table's nearest words for the rows that were asked for (None elsewhere: they cost a search of
    the word table and are computed when a word is selected, see :func:`core.explain.nearest_to_context`). Where each
    line of the context is one of its own, a word has a mix a line, and what is nearest is nearest to all of them.
    """

    name: str
    rows: str
    columns: str
    weights: Matrix
    nearest: tuple[ContextWord | None, ...]

    def to_text(self, explanation: Explained) -> list[str]:
        """The nearest words of the rows that were asked for."""
        lines = []
        for token, context in zip(explanation.sentence(self.rows).tokens, self.nearest, strict=True):
            if context is not None:
                words = zip(context.nearest, context.similarity, strict=True)
                nearest = ", ".join(f"{word} {cosine:.2f}" for word, cosine in words)
                lines += ["", f"Nearest words to the attentive context of “{token.text}” (cosine): {nearest}"]
        return lines
