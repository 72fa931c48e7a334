"""The heads of a transformer, as they are written and called."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.errors import MendableError

MEAN, ROLLOUT = "mean", "rollout"
"""Of all layers and heads; and what flows through all layers (Abnar and Zuidema 2020, section 3)."""


class HeadError(MendableError):
    """A head that a model does not have; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Head:
    """One head: its layer and its number there, from 0; written ``7.4`` (layer 7, head 4, from 1)."""

    layer: int
    number: int

    def __str__(self) -> str:
        return f"{self.layer + 1}.{self.number + 1}"

    @property
    def title(self) -> str:
        return f"layer {self.layer + 1}, head {self.number + 1}"


def parse_head(text: str) -> Head | str | None:
    """``7.4``, :data:`MEAN` or :data:`ROLLOUT`; None for anything else."""
    if text in (MEAN, ROLLOUT):
        return text
    match = re.fullmatch(r"([1-9]\d{0,2})\.([1-9]\d{0,2})", text, re.ASCII)
    return Head(int(match[1]) - 1, int(match[2]) - 1) if match else None


def title_of(chosen: str) -> str:
    """What a choice is called: layer 7, head 4."""
    head = parse_head(chosen)
    if isinstance(head, Head):
        return head.title
    return "rollout through all layers" if head == ROLLOUT else "mean of all layers and heads"
