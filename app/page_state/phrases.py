"""The state of the page Phrases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.examples import PHRASE_EXAMPLES
from app.page_state.codec import parameter, whole_number
from app.page_state.texts import TextState

LARGEST_K = 10
"""k goes from 1 to this (the paper's figure 6)."""


@dataclass(frozen=True)
class PickedPhrase:
    """A phrase of the first (``side`` 0) or the second sentence, by its index in the paper's order."""

    side: int
    index: int

    def __str__(self) -> str:
        return f"{'ab'[self.side]}{self.index + 1}"

    @classmethod
    def parse(cls, text: str) -> PickedPhrase | None:
        """``a12`` (12th phrase of the first sentence) or ``b3`` (3rd of the second); None for anything else."""
        match = re.fullmatch(r"([ab])([1-9]\d{0,4})", text, re.ASCII)
        return None if match is None else cls("ab".index(match[1]), int(match[2]) - 1)

    def fits(self, counts: Sequence[int]) -> bool:
        """Whether the sentence has that many phrases."""
        return self.index < counts[self.side]


@dataclass(frozen=True)
class PhraseState(TextState):
    """Everything that determines what Phrases shows. ``k`` is None for the trained k."""

    page = "phrases"
    all_examples = PHRASE_EXAMPLES
    k: int | None = parameter(None, whole_number(1, LARGEST_K))
    selection: PickedPhrase | None = parameter(None, PickedPhrase.parse, name="select", belongs_to=("texts",))
