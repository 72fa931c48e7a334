"""Attention between two texts in the pieces of a transformer, read as attention between their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.errors import MendableError
from core.guests.pieces import NO_WORD, Pieces

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


def chosen_attention(layers: Sequence[Tensor], chosen: str) -> Tensor:
    """The attention ``[P, P]`` that is asked for, of all layers' ``[1, heads, P, P]``. Raises HeadError for a head that
    the model does not have."""
    head = parse_head(chosen)
    if head == ROLLOUT:
        return rollout(layers)
    if isinstance(head, Head):
        if head.layer >= len(layers) or head.number >= layers[head.layer].shape[1]:
            raise HeadError(
                f"there is no head {chosen}: the model has {len(layers)} layers of {layers[0].shape[1]} heads; "
                f"choose another, or {MEAN}"
            )
        return layers[head.layer][0, head.number]
    if head is None:
        raise HeadError(f"{chosen[:40]!r} names no head: write 7.4 (layer 7, head 4), {MEAN} or {ROLLOUT}")
    return torch.stack([layer[0].mean(0) for layer in layers]).mean(0)


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """Abnar and Zuidema 2020, equation 1: the product over layers of (the mean of the heads + I) / 2, ``[P, P]``."""
    whole = torch.eye(layers[0].shape[-1], dtype=layers[0].dtype)
    for layer in layers:
        whole = (layer[0].mean(0) + torch.eye(len(whole), dtype=whole.dtype)) / 2 @ whole
    return whole


@dataclass(frozen=True)
class Between:
    """Where the words of one text look: ``weights [rows, columns]`` in the other text, ``special [rows]`` to pieces
    that stand for no word, ``own [rows]`` in the text itself. Each row adds up to 1; that of a word without a piece to
    0."""

    weights: Tensor
    special: Tensor
    own: Tensor


def between(attention: Tensor, pieces: Pieces) -> tuple[Between, Between]:
    """From attention over the pieces of one pair, ``[..., P, P]``, that of the first text's words, and that of the
    second's: the sum over the pieces of the word that is looked at, the mean over those of the looking one."""
    first, second = pieces.words[0]
    owners = pieces.owners[0, : attention.shape[-1]].to(attention.device)
    # Columns: each word, then all that is no word.
    of_word = torch.nn.functional.one_hot(
        torch.where(owners == NO_WORD, first + second, owners), first + second + 1
    ).to(attention.dtype)
    of_word = of_word * pieces.real[0, : attention.shape[-1], None].to(of_word)
    looked_at = attention @ of_word
    counts = of_word[:, :-1].sum(0).clamp_min(1)
    by_word = of_word[:, :-1].mT @ looked_at / counts[:, None]
    texts = slice(0, first), slice(first, first + second)
    return tuple(  # type: ignore[return-value]
        Between(
            by_word[..., texts[looking], texts[1 - looking]],
            by_word[..., texts[looking], -1],
            by_word[..., texts[looking], texts[looking]].sum(-1),
        )
        for looking in (0, 1)
    )
