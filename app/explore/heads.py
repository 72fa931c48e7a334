"""The transformer head whose attention is shown: the user's choice, or the card's default."""

from __future__ import annotations

from app.model_choice import shows
from app.page_state.explore import ExploreState
from core.checkpoint import Checkpoint
from core.evidence.attention_heads import AttentionHeads
from core.external.heads import Head, parse_head


def shown(page: ExploreState, checkpoint: Checkpoint) -> str:
    """The chosen head if the model has it; empty for the card's default."""
    if not page.head or not shows(AttentionHeads)(checkpoint.card):
        return ""
    config, head = checkpoint.card["config"], parse_head(page.head)
    missing = isinstance(head, Head) and (head.layer >= config["layers"] or head.number >= config["heads"])
    return "" if missing else page.head
