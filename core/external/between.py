"""Attention between two texts in a transformer's pieces, aggregated to attention between their words."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from core.evidence.attention_heads import Between
from core.external.pieces import Pieces
from core.layers.heads import MEAN, ROLLOUT, Head, HeadError, parse_head


def chosen_attention(layers: Sequence[Tensor], chosen: str) -> Tensor:
    """The requested attention ``[P, P]``, from ``[1, heads, P, P]`` for each layer. Raises HeadError for a head that
    the model lacks."""
    head = parse_head(chosen)
    if head == ROLLOUT:
        return rollout(layers)
    if isinstance(head, Head):
        if head.layer >= len(layers) or head.number >= layers[head.layer].shape[1]:
            raise HeadError(
                f"no head {chosen}: the model has {len(layers)} layers of {layers[0].shape[1]} heads; "
                f"choose another, or {MEAN}"
            )
        return layers[head.layer][0, head.number]
    if head is None:
        raise HeadError(f"{chosen[:40]!r} names no head: write 7.4 (layer 7, head 4), {MEAN} or {ROLLOUT}")
    return torch.stack([layer[0].mean(0) for layer in layers]).mean(0)


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """Abnar and Zuidema 2020, equation 1: the product over layers of (mean over heads + I) / 2, ``[P, P]``."""
    whole = torch.eye(layers[0].shape[-1], dtype=layers[0].dtype)
    for layer in layers:
        whole = (layer[0].mean(0) + torch.eye(len(whole), dtype=whole.dtype)) / 2 @ whole
    return whole


def between(attention: Tensor, pieces: Pieces) -> tuple[Between, Between]:
    """Attention of the first and of the second text's words, from attention over the pieces of one pair ``[..., P,
    P]``: summed over the key word's pieces, averaged over the query word's."""
    first, second = pieces.words[0]
    of_words = pieces.of_words.to(attention)
    looked_at, rows = attention @ of_words.mT, of_words[:-1]
    by_word = rows @ looked_at / rows.sum(1).clamp_min(1)[:, None]
    texts = slice(0, first), slice(first, first + second)
    return tuple(  # type: ignore[return-value]
        Between(
            by_word[..., texts[looking], texts[1 - looking]],
            by_word[..., texts[looking], -1],
            by_word[..., texts[looking], texts[looking]].sum(-1),
        )
        for looking in (0, 1)
    )
