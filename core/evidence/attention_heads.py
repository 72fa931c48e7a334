"""Summaries of a transformer's attention heads between two texts, used to choose which head to show."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from core.evidence.as_json import LATER
from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import Matrix, matrix
from core.layers.heads import title_of
from core.wording import percent, the

THUMBNAIL = 8
"""Number of rows and of columns in a thumbnail."""


@dataclass(frozen=True)
class Between:
    """Attention of one text's words: ``weights [rows, columns]`` to the other text, ``special [rows]`` to special
    tokens, ``own [rows]`` to the text itself. Each row adds up to 1, or to 0 for a word without a piece."""

    weights: Tensor
    special: Tensor
    own: Tensor


@dataclass(frozen=True)
class AttentionHeads(Record, kind="attention_heads"):
    """All heads of a cross-encoder (in an encoder-decoder, of the encoder); each matrix is ``[layers][heads]``.

    ``across`` has one matrix per looking text, the second text first: the mean weight its words give to the words of
    the other text; ``special`` is the mean weight given to special tokens, ``own`` to words of the same text. Averaged
    over both texts, the three add up to 1. ``thumbnails``: one base64 string per looking text, the second first, of
    layers · heads · 8 · 8 bytes: each head's matrix max-pooled to 8 × 8 and scaled so that its largest weight is 255.
    """

    name: str
    head: str
    """The head shown: "7.4" (layer 7, head 4), "mean" or "rollout"."""
    first: str
    second: str
    across: tuple[Matrix, Matrix]
    special: Matrix
    own: Matrix
    thumbnails: tuple[str, str]
    measured: str = field(default="", metadata=LATER)
    """The head that agrees best with human word alignments, empty if none was measured; ``f1`` is its score."""
    f1: float = field(default=0.0, metadata=LATER)

    @classmethod
    def of(cls, head: str, roles: tuple[str, str], seen: tuple[Between, Between], **measured: Any) -> AttentionHeads:
        """Builds the record from the attention of the first and of the second text (one
        :class:`Between` each, with all heads ``[layers, heads, …]``); ``measured`` sets the
        fields on human alignments."""
        first, second = seen
        counts = first.special.shape[-1], second.special.shape[-1]

        def mean(values: Sequence[Tensor]) -> Matrix:
            whole = torch.cat([*values], dim=-1).sum(-1) / sum(counts)
            return matrix(whole)

        across = tuple(matrix(one.weights.sum(-1).mean(-1)) for one in (second, first))
        return cls(
            "heads",
            head,
            *roles,
            across,  # type: ignore[arg-type]
            mean((first.special, second.special)),
            mean((first.own, second.own)),
            (_thumbnails(second.weights), _thumbnails(first.weights)),
            **measured,
        )

    @property
    def agreement(self) -> str:
        """The reason this head is shown first: its measured agreement, or a note that no head was measured."""
        if not self.measured:
            return "No head was measured against people’s word alignments."
        return f"{title_of(self.measured)}: F1 {f'{self.f1:.2f}'.removeprefix('0')} against people"

    def to_text(self, explanation: Explanation) -> list[str]:
        shares = [
            (across, title_of(f"{layer + 1}.{head + 1}"))
            for layer, row in enumerate(self.across[0])
            for head, across in enumerate(row)
        ]
        most = sorted(shares, reverse=True)[:5]
        looking = f"Heads whose words of {the(self.second)} look most at {the(self.first)}:"
        return ["", looking, "  " + ", ".join(f"{title} {percent(share)}" for share, title in most), self.agreement]


def _thumbnails(weights: Tensor) -> str:
    """Downsamples ``[layers, heads, rows, columns]`` to :data:`THUMBNAIL` rows and columns."""
    small = F.adaptive_max_pool2d(weights.float(), THUMBNAIL)
    largest = small.amax((-2, -1), keepdim=True).clamp_min(1e-9)
    shades = (small / largest * 255).round().to(torch.uint8)
    return base64.b64encode(shades.numpy().tobytes()).decode("ascii")
