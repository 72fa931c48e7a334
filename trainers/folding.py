"""A word table of a checkpoint's own, passed through the model's learned projection once and for all.

What travels with the checkpoint are then the projected rows, which the training made, and not a copy of somebody's
vectors; and the model reads them without a projection.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch import nn

from core.models.phrases.model import PhraseMatcher
from core.reading.word_table import WordTable


@torch.no_grad()
def fold(model: nn.Module, words: WordTable) -> tuple[nn.Module, WordTable]:
    """The model without its projection and the table with it; both as they are for a model without one.

    Rows are rounded to int8 anew. A word outside the table gets an n-gram vector as long as its projected one would
    be but for the bias.
    """
    if not isinstance(model, PhraseMatcher) or model.projection is None:
        return model, words
    weight, bias = model.projection.weight.cpu(), model.projection.bias.cpu()
    rows = words.vectors(words.words) @ weight.T + bias
    scale = words.unknown_scale * float(weight.norm()) / words.width**0.5
    table = WordTable.from_vectors(words.words, rows, scale, f"{words.name}, projected")
    settings: dict[str, Any] = {"projection": 0, "input_size": table.width}
    folded = PhraseMatcher(dataclasses.replace(model.config, **settings))
    folded.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("projection.")})
    return folded.to(model.classifier.weight.device).eval(), table
