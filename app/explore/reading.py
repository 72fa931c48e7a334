"""The pair as the model reads it: what Explore's drawing is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.explore import heads, what_if
from app.page_state.explore import ExploreState
from core.alone import explained_alone
from core.card import Card
from core.checkpoint import Checkpoint, load_named
from core.effects.attention_edits import OF_ANY_WORDS
from core.evidence import Explanation
from core.explain import explained


@dataclass(frozen=True)
class Read:
    """The pair of a ``page`` as its model reads it. ``shown``: the explanation that is drawn, under its edits of
    attention; ``trained``: the model's own; ``alone``: the verdict of a model that reads the judged
    sentence alone, without evidence; ``steps``: the pair as typed and after each edit by hand; ``cards``: of all
    models."""

    page: ExploreState
    checkpoint: Checkpoint
    shown: Explanation
    trained: Explanation
    alone: Explanation | None
    steps: Sequence[what_if.EditedPair]
    cards: Mapping[str, Card]

    @property
    def unlike(self) -> str:
        """The changes to the model's attention in words; empty if there are none."""
        if self.shown is self.trained:
            return ""
        acting = self.page.attention
        changes = [edit.describe((), ()) for edit in acting if edit.kind in OF_ANY_WORDS]
        by_hand = ["attention changed by hand"] if len(changes) < len(acting) else []
        return " and ".join([*changes, *by_hand])


def read(page: ExploreState, cards: Mapping[str, Card]) -> Read:
    """Read the pair. ``cards``: of all models, by name. Raises CheckpointError and PairError."""
    checkpoint = load_named(page.model or "")
    head = heads.shown(page, checkpoint)
    trained = explained(checkpoint, *page.pair.now, head=head)
    steps = what_if.tried(page, checkpoint, head)
    alone = explained_alone(checkpoint.card, *page.pair.now, cards)
    return Read(page, checkpoint, steps[len(page.made)].explanation, trained, alone, steps, cards)
