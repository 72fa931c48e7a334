"""All heads of a transformer as small multiples, to choose the one whose matrix is shown."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from app.panels.panel import Panel, Payload
from core.evidence import Explanation, Matrix
from core.evidence.attention_heads import THUMBNAIL, AttentionHeads
from core.external.heads import MEAN, STACKS, title_of


@dataclass(frozen=True)
class HeadsLooking:
    """The heads as the words of ``role`` look at those of ``other``. ``across [layers][heads]``: the share that goes
    there; ``shades``: base64, of each head its matrix in ``blocks`` times ``blocks`` numbers of 4 bits, row by row, 15
    its largest weight."""

    role: str
    other: str
    across: Matrix
    shades: str


@dataclass(frozen=True)
class Heads(Payload):
    """What the picker draws. ``head``: whose matrix is shown ("7.4", "mean" or "rollout"); ``looking``: the second
    text's words first; ``title``: of what is shown; ``beside``: the other stacks of an encoder-decoder, by name and
    title; ``own``: the head that is shown before anybody chooses; ``measured``: the one that agrees best
    with people's alignments of words, and how well (``about``), empty where nobody has measured it."""

    head: str
    layers: int
    heads: int
    blocks: int
    looking: tuple[HeadsLooking, HeadsLooking]
    title: str
    beside: tuple[tuple[str, str], ...]
    own: str = MEAN
    measured: str = ""
    about: str = ""


def payloads(records: Sequence[AttentionHeads], explanation: Explanation, show: str) -> list[Heads]:
    """One picker for each record."""
    return [_heads(record) for record in records]


def _heads(record: AttentionHeads) -> Heads:
    roles = (record.second, record.first), (record.first, record.second)
    first, second = (
        HeadsLooking(*role, tuple(tuple(round(share, 3) for share in row) for row in across), _halved(shades))
        for role, across, shades in zip(roles, record.across, record.thumbnails, strict=True)
    )
    layers, heads = len(record.across[0]), len(record.across[0][0])
    about = f"F1 {_decimals(record.f1)} against people’s alignments of words" if record.measured else ""
    if record.random_95:
        about += f"; the best of as many random maps: {_decimals(record.random_95)}"
    title = title_of(record.head, record.stacks)
    beside = tuple((stack, STACKS[stack]) for stack in record.stacks)
    looking = first, second
    return Heads(record.head, layers, heads, THUMBNAIL, looking, title, beside, measured=record.measured, about=about)


def _decimals(share: float) -> str:
    """.78, 1.00"""
    return f"{share:.2f}".removeprefix("0")


def _halved(shades: str) -> str:
    """Two shades of a byte each as one byte of two."""
    whole = base64.b64decode(shades)
    pairs = zip(whole[::2], whole[1::2], strict=True)
    return base64.b64encode(bytes(first >> 4 << 4 | second >> 4 for first, second in pairs)).decode("ascii")


PANEL = Panel(("attention_heads",), "beside", payloads)
