"""A word table of a checkpoint's own, passed through the model's learned projection once.

The checkpoint then holds the projected rows, which the training made, and no copy of third-party vectors; and the model
reads them without a projection.
"""

from __future__ import annotations

import torch

from core.models import PairModel
from core.reading.word_table import WordTable


@torch.no_grad()
def fold(model: PairModel, words: WordTable) -> tuple[PairModel, WordTable]:
    """The model without its projection and the table with it; both unchanged for a model that must project, and for a
    table that lies over another one, whose rows the checkpoint does not hold.

    Rows are rounded to int8 again. A word outside the table gets an n-gram vector as long as its projected one would
    be but for the bias.
    """
    config = model.config.unprojected()
    if config is None or words.beneath is not None:
        return model, words
    projection = model.projection
    assert projection is not None, "unprojected() says so"
    weight, bias = projection.weight.cpu(), projection.bias.cpu()
    rows = words.vectors(words.words) @ weight.T + bias
    scale = words.unknown_scale * float(weight.norm()) / words.width**0.5
    table = WordTable.from_vectors(words.words, rows, scale, f"{words.name}, projected")
    folded = type(model)(config)
    folded.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("projection.")})
    return folded.to(model.classifier.weight.device).eval(), table
