"""The pair as read by the model: the data behind Explore's drawing."""

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
    """The pair of a ``page`` as read by its model. ``shown``: the displayed explanation, with the attention edits
    applied; ``trained``: the model's own; ``alone``: the verdict of a model that reads only the judged sentence,
    without evidence; ``steps``: the pair as typed and after each manual edit; ``cards``: of all models."""

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
    """Reads the pair. ``cards``: of all models, by name. Raises CheckpointError and PairError."""
    checkpoint = load_named(page.model or "")
    head = heads.shown(page, checkpoint)
    trained = explained(checkpoint, *page.pair.now, head=head)
    steps = what_if.tried(page, checkpoint, head)
    alone = explained_alone(checkpoint.card, *page.pair.now, cards)
    return Read(page, checkpoint, steps[len(page.made)].explanation, trained, alone, steps, cards)
