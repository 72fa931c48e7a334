"""Notation and titles for a transformer's attention heads."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from core.errors import UserError
from core.json_types import JsonMapping

MEAN, ROLLOUT = "mean", "rollout"
"""The mean over all layers and heads, and attention rollout (Abnar and Zuidema 2020, section 3). In an encoder-decoder
both refer to the encoder."""
DECODER, CROSS = "decoder", "cross"
"""The stacks other than an encoder: the decoder's self-attention and its cross-attention to the encoder. Alone, a
stack's name means the mean over its layers and heads."""
STACKS = {DECODER: "decoder", CROSS: "cross-attention"}


class HeadError(UserError):
    """The model lacks this head; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Head:
    """One head: its layer and its index there, from 0, and its ``stack``, empty for the encoder or a single stack;
    written ``7.4`` (layer 7, head 4, from 1) or ``cross.7.4``."""

    layer: int
    number: int
    stack: str = ""

    def __str__(self) -> str:
        return f"{self.stack}{'.' if self.stack else ''}{self.layer + 1}.{self.number + 1}"


_LAYERS = ("encoder_layers", "num_hidden_layers", "n_layers", "n_layer", "num_layers")
_HEADS = ("encoder_attention_heads", "num_attention_heads", "n_heads", "n_head", "num_heads")


def sizes_of(config: JsonMapping) -> tuple[int, int]:
    """The numbers of layers and heads in a configuration, 0 where missing: only loading the model makes them
    certain."""
    layers, heads = (
        next((config[name] for name in names if config.get(name) is not None), 0) for names in (_LAYERS, _HEADS)
    )
    return layers, heads


def parse_head(text: str) -> Head | str | None:
    """``7.4``, ``decoder.7.4``, ``cross.7.4``, :data:`MEAN`, :data:`ROLLOUT` or the name of a stack; None for anything
    else."""
    if text in (MEAN, ROLLOUT, *STACKS):
        return text
    match = re.fullmatch(r"(?:(decoder|cross)\.)?([1-9]\d{0,2})\.([1-9]\d{0,2})", text, re.ASCII)
    return Head(int(match[2]) - 1, int(match[3]) - 1, match[1] or "") if match else None


def stack_of(text: str) -> str:
    """The stack that a choice refers to, empty for the encoder or a single stack."""
    stack = text.partition(".")[0]
    return stack if stack in STACKS else ""


def title_of(chosen: str, stacks: Collection[str] = ()) -> str:
    """The title of a choice: layer 7, head 4; for a model with other ``stacks``, encoder layer 7, head 4."""
    head = parse_head(chosen)
    stack = STACKS.get(stack_of(chosen), "encoder" if stacks else "")
    if isinstance(head, Head):
        return f"{stack} layer {head.layer + 1}, head {head.number + 1}".strip()
    if head == ROLLOUT:
        return "rollout through all layers of the encoder" if stack else "rollout through all layers"
    return f"mean of all layers and heads of the {stack}" if stack else "mean of all layers and heads"
