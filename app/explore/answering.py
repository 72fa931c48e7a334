"""The model's answer for the pair: the data behind Explore's drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.explore import what_if
from app.model_choice import shows
from app.page_state.explore import HEADS, ExploreState, has_words
from app.panels import axes, length, word_maps
from core.alone import explained_alone
from core.card import Card
from core.checkpoint import Checkpoint, load_named
from core.effects import METHODS
from core.effects.links import Taken
from core.effects.question import Question
from core.effects.words import TAKEN_AWAY
from core.evidence import Explanation
from core.evidence.attention_heads import AttentionHeads
from core.explain import explained
from core.layers.heads import Head, parse_head


@dataclass(frozen=True)
class Answered:
    """The pair of a ``page`` with its model's answer. ``unusable``: the names of settings that do not suit this model
    or pair, without which the ``page`` is shown; ``shown``: the displayed explanation, with the attention edits
    applied; ``trained``: the model's own; ``alone``: the verdict of a model that reads only the judged sentence,
    without evidence; ``steps``: the pair as typed and after each manual edit; ``cards``: of all models."""

    page: ExploreState
    unusable: Sequence[str]
    checkpoint: Checkpoint
    shown: Explanation
    trained: Explanation
    alone: Explanation | None
    steps: Sequence[what_if.EditedPair]
    cards: Mapping[str, Card]

    @property
    def question(self) -> Question:
        """About the pair and the unchanged model."""
        return Question(self.checkpoint, *self.page.pair.now)

    @property
    def unlike(self) -> str:
        """The changes to the model's attention in words; empty if there are none."""
        if self.shown is self.trained:
            return ""
        acting = self.page.attention
        changes = [edit.describe((), ()) for edit in acting if edit.of_any_words]
        by_hand = ["attention changed by hand"] if len(changes) < len(acting) else []
        return " and ".join([*changes, *by_hand])


def answer(page: ExploreState, cards: Mapping[str, Card]) -> Answered:
    """Asks the page's model about its pair. ``cards``: of all models, by name. Raises CheckpointError and PairError."""
    checkpoint = load_named(page.shown_model)
    head = page.head if _has_head(checkpoint, page.head) else ""
    trained = explained(checkpoint, *page.pair.now, head=head)
    steps = what_if.tried(page, checkpoint, head)
    alone = explained_alone(checkpoint.card, *page.pair.now, cards)
    shown = steps[len(page.made)].explanation
    suited = replace(_suited(page, checkpoint, shown), head=head)
    usable = suited.to_parameters()
    unusable = [name for name, value in page.to_parameters().items() if usable.get(name) != value]
    return Answered(suited, unusable, checkpoint, shown, trained, alone, steps, cards)


def _has_head(checkpoint: Checkpoint, name: str) -> bool:
    """Whether the model is a transformer with this attention head, or mean of heads."""
    if not name or not shows(AttentionHeads)(checkpoint.card):
        return False
    config, head = checkpoint.card["config"], parse_head(name)
    return not isinstance(head, Head) or (head.layer < config["layers"] and head.number < config["heads"])


def _suited(page: ExploreState, checkpoint: Checkpoint, shown: Explanation) -> ExploreState:
    """The state with the default instead of each setting that this model or pair does not support."""
    rows, columns = (length(shown, role) for role in axes(shown))
    no_scores = page.show == "score" and not checkpoint.settable
    no_heads = page.links == HEADS and checkpoint.model.knockouts is None
    return replace(
        page,
        show="weight" if no_scores else page.show,
        selection=page.selection if has_words(page.selection or "", rows, columns) else None,
        direction=page.direction if page.direction in [record.rows for record in word_maps(shown)] else None,
        method=page.method if METHODS[page.method].available(checkpoint) else TAKEN_AWAY,
        links=Taken.KEPT.value if no_heads else page.links,
    )
