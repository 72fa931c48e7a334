"""The transformer head whose attention is shown: the user's choice, or the card's default."""

from __future__ import annotations

from app.model_choice import is_external, shows
from app.page_state.explore import ExploreState
from core.checkpoint import Checkpoint
from core.evidence.attention_heads import AttentionHeads
from core.external.heads import Head, parse_head, title_of


def shown(page: ExploreState, checkpoint: Checkpoint) -> str:
    """The chosen head if the model has it; empty for the card's default."""
    return "" if _problem(page, checkpoint) else page.head


def problems(page: ExploreState, checkpoint: Checkpoint) -> list[str]:
    """One sentence for each choice that a transformer does not support, and for a head the model lacks."""
    out, elsewhere = [_problem(page, checkpoint)], is_external(checkpoint.card)
    if elsewhere and page.show == "score":
        out.append("The link asks for raw scores, which an external model does not have: weights are shown.")
    return [problem for problem in out if problem]


def _problem(page: ExploreState, checkpoint: Checkpoint) -> str:
    if not page.head:
        return ""
    asked = f"The link asks for the {title_of(page.head)}; this model has"
    if not shows(AttentionHeads)(checkpoint.card):
        return f"{asked} no heads to choose from: its attention is shown."
    config, head = checkpoint.card["config"], parse_head(page.head)
    layers, heads = config["layers"], config["heads"]
    if isinstance(head, Head) and (head.layer >= layers or head.number >= heads):
        return f"{asked} {layers} layers of {heads} heads: the {title_of(config['head'])} is shown."
    return ""
