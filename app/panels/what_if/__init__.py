"""What if the pair were another one: words changed by hand, and a list of the changes, each with its verdict."""

from __future__ import annotations

from dataclasses import dataclass

from app.panels.panel import Panel, Payload
from app.panels.verdict import Share


@dataclass(frozen=True)
class Step:
    """The verdict after an edit, or of the pair as it was typed. ``said``: the edit for people; ``follows``: the
    probability of the class that is followed; ``change``: by how much this edit changed that."""

    said: str
    classes: tuple[Share, ...]
    label: str
    p: float
    follows: float
    change: float | None


@dataclass(frozen=True)
class WhatIf(Payload):
    """All steps, the pair as typed first. ``at``: how many edits are in effect; ``followed``: the first verdict's
    class, as people read it; ``sides``: the roles of the texts, in the order in which edits number them."""

    steps: tuple[Step, ...]
    at: int
    followed: str
    sides: tuple[str, ...]


PANEL = Panel(("what_if",), "first")
