"""A text of the pair with its words, as explanations hold it."""

from __future__ import annotations

from dataclasses import dataclass

from core.json_types import told


@dataclass(frozen=True)
class TokenRecord:
    """A word of the input text: ``text`` is characters [start, end) of the original."""

    text: str
    start: int
    end: int
    unknown: bool
    """True if the word is out of vocabulary: its vector is built from its character n-grams."""


@dataclass(frozen=True)
class Sentence:
    """One side of the pair. ``role`` is the data set's name for it (premise, hypothesis; question, answer)."""

    role: str
    text: str
    tokens: tuple[TokenRecord, ...]
    truncated: int = 0
    """Number of tokens truncated at the end (a side keeps 200)."""

    @told
    def line_starts(self) -> tuple[int, ...]:
        """The first token of each non-empty line: evidence is typed one sentence per line."""
        lines = [self.text.count("\n", 0, token.start) for token in self.tokens]
        return tuple(i for i, line in enumerate(lines) if i == 0 or line != lines[i - 1])

    @property
    def lower(self) -> list[str]:
        """The tokens in lower case."""
        return [token.text.lower() for token in self.tokens]

    def words(self, span: tuple[int, int]) -> str:
        """The tokens [first, last), separated by spaces."""
        return " ".join(token.text for token in self.tokens[slice(*span)])
