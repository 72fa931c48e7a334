"""Notation and titles for a transformer's attention heads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.errors import UserError

MEAN, ROLLOUT = "mean", "rollout"
"""The mean over all layers and heads, and attention rollout (Abnar and Zuidema 2020, section 3)."""


class HeadError(UserError):
    """The model lacks this head; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Head:
    """One head: its layer and its index there, from 0; written ``7.4`` (layer 7, head 4, from 1)."""

    layer: int
    number: int

    def __str__(self) -> str:
        return f"{self.layer + 1}.{self.number + 1}"


def parse_head(text: str) -> Head | str | None:
    """``7.4``, :data:`MEAN` or :data:`ROLLOUT`; None for anything else."""
    if text in (MEAN, ROLLOUT):
        return text
    match = re.fullmatch(r"([1-9]\d{0,2})\.([1-9]\d{0,2})", text, re.ASCII)
    return Head(int(match[1]) - 1, int(match[2]) - 1) if match else None


def title_of(chosen: str) -> str:
    """The title of a choice: layer 7, head 4."""
    head = parse_head(chosen)
    if isinstance(head, Head):
        return f"layer {head.layer + 1}, head {head.number + 1}"
    return "rollout through all layers" if head == ROLLOUT else "mean of all layers and heads"
