"""The state of the page Phrases."""

from __future__ import annotations

from dataclasses import dataclass

from app.examples import PHRASE_EXAMPLES
from app.page_state.codec import matching, parameter, whole_number
from app.page_state.texts import TextState

LARGEST_K = 10
"""k goes from 1 to this (the paper's figure 6)."""


@dataclass(frozen=True)
class PhraseState(TextState):
    """Everything that determines what Phrases shows. ``k`` is None for the trained k; ``selection`` is ``a12`` (12th
    phrase of the first sentence, in the paper's order) or ``b3`` (3rd of the second)."""

    page = "phrases"
    all_examples = PHRASE_EXAMPLES
    k: int | None = parameter(None, whole_number(1, LARGEST_K))
    selection: str | None = parameter(None, matching(r"[ab][1-9]\d{0,4}"), name="select", belongs_to=("texts",))
