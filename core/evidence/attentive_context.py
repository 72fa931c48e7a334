"""The composition of each word's attentive context."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import Matrix

NOT_IN_THE_TABLE = "which is not in the word table (its vector is made of its letters): no word is near it in meaning."


@dataclass(frozen=True)
class ContextWord:
    """A word's attentive context in words: the vocabulary's nearest neighbours of the attention-weighted mean of input
    word vectors. The list is empty if most of the weight lies on out-of-vocabulary words, whose vectors reflect
    spelling, not meaning."""

    nearest: tuple[str, ...]
    similarity: tuple[float, ...]
    """Cosine between each nearest word and the weighted mean."""


@dataclass(frozen=True)
class AttentiveContext(Record, kind="attentive_context"):
    """The weights that make up the context vector of each word of the row sentence: ``weights[i]`` over the context's
    words.

    ``nearest`` holds the nearest words of the requested rows and None elsewhere: each needs a search of the word
    vectors and is computed when a word is selected, see :func:`core.explain.nearest_to_context`. If each line of the
    text is a separate context, a word has one weighted mean per line, and the nearest words are those closest to all of
    them.
    """

    name: str
    rows: str
    columns: str
    weights: Matrix
    nearest: tuple[ContextWord | None, ...]

    def unknown(self, explanation: Explanation, row: int) -> str:
        """The out-of-vocabulary word with the largest weight in the row's context; empty if there is none."""
        words = zip(self.weights[row], explanation.sentence(self.columns).tokens, strict=True)
        return max(((weight, token.text) for weight, token in words if token.unknown), default=(0.0, ""))[1]

    def to_text(self, explanation: Explanation) -> list[str]:
        """The nearest words of the requested rows."""
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
