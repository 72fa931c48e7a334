"""Sources of the lessons on trained models: what a forward pass over a pair computed on the way."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from core.checkpoint import Checkpoint, available, load_named
from core.explain import check_words
from core.layers.convolution import GatedConvolution, windows
from core.layers.projection import read_words
from core.lessons.lesson import Values
from core.lessons.sources import Evaluated, Given, source
from core.lessons.two_dimensions import shares
from core.models.attconv import AttConv, AttConvAdvanced
from core.models.base import Output
from core.reading.batch import Batch


class Read(NamedTuple):
    """A pair as a checkpoint read it."""

    checkpoint: Checkpoint
    batch: Batch
    output: Output
    words: dict[str, list[str]]
    """Those of the judged sentence (x), of its context (y), and the classes."""


def read(given: Given) -> Read:
    """The lesson's pair through the first of its checkpoints that is there. Raises CheckpointError where none is, and
    PairError for a text without a word."""
    names = available()
    checkpoint = load_named(next((name for name in given.checkpoints if name in names), given.checkpoints[0]))
    reading = checkpoint.read(given.texts["first"], given.texts["second"])
    check_words(reading)
    batch = reading.batch(checkpoint.reader)
    words = {"x": [token.text for token in reading.x.tokens], "y": [token.text for token in reading.y.tokens],
             "classes": list(checkpoint.labels)}  # fmt: skip
    return Read(checkpoint, batch, checkpoint.model(batch), words)


def _attentive(given: Given, pair: Read) -> tuple[Values, int]:
    """What light and advanced share: the attention of one word of t_x, one filter, max-pooling and the decision; and
    which word it is, from 0."""
    model, trace = pair.checkpoint.model, pair.output.trace
    assert isinstance(model, AttConv)
    x, y = (read_words(model.projection, side, 0.0)[0] for side in (pair.batch.x, pair.batch.y))
    i, k = given.number("word", len(x)), given.number("filter", trace.winners.shape[1])
    here = torch.full_like(trace.winners[0], i)
    parts = model.convolution.parts(trace.beneficiary[0], trace.context[0], here)
    pooled, logits = pair.output.features[0], pair.output.logits[0]
    values: Values = {
        "word": float(i + 1), "filter": float(k + 1), "x": x.tolist(), "y": y.tolist(), "own": x[i].tolist(),
        "score": trace.scores[0, i].tolist(), **shares(trace.scores[0, i].tolist()),
        "alpha": trace.weights[0, i].tolist(), "c": trace.context[0, i].tolist(),
        "parts": [*parts["offsets"][k].tolist(), parts["context"][k].item(), parts["bias"][k].item()],
        "z": trace.preactivations[0, i, k].item(), "new": torch.tanh(trace.preactivations[0, i, k]).item(),
        "over_words": torch.tanh(trace.preactivations[0, :, k]).tolist(), "largest": pooled[k].item(),
        "winner": float(trace.winners[0, k].item() + 1), "pooled": pooled.tolist(), "logit": logits.tolist(),
        "of_class": model.classifier.weight[0].tolist(), "class_bias": model.classifier.bias[0].item(),
        "verdict": torch.softmax(logits, 0).tolist(),
    }  # fmt: skip
    return values, i


PARTS = {"parts": ["left", "itself", "right", "context", "bias"]}
"""What a filter's value is summed from."""


@source("attconv light")
@torch.inference_mode()
def light(given: Given) -> Evaluated:
    """Inputs ``word`` and ``filter`` say which word of the hypothesis and which filter are followed, from 1."""
    pair = read(given)
    values, _ = _attentive(given, pair)
    return Evaluated(values, pair.words | PARTS, pair.checkpoint.name)


@source("attconv advanced")
@torch.inference_mode()
def advanced(given: Given) -> Evaluated:
    """The same, and how the ``word``'s source, focus and beneficiary come about."""
    pair = read(given)
    values, i = _attentive(given, pair)
    model = pair.checkpoint.model
    assert isinstance(model, AttConvAdvanced)
    x = read_words(model.projection, pair.batch.x, 0.0)
    y = read_words(model.projection, pair.batch.y, 0.0)
    x_mask, y_mask = pair.batch.x.mask, pair.batch.y.mask
    hidden, gate = _gated(model.trigram, x)
    values |= {
        "hidden": hidden[i].tolist(), "gate": gate[i].tolist(),
        "phrase": model.trigram(x, x_mask)[0, i].tolist(), "single": model.unigram(x, x_mask)[0, i].tolist(),
        "source": model.source(x, x_mask)[0, i].tolist(), "focus": model.source(y, y_mask)[0].tolist(),
        "beneficiary": model.beneficiary(x, x_mask)[0, i].tolist(),
    }  # fmt: skip
    return Evaluated(values, pair.words | PARTS, pair.checkpoint.name)


def _gated(layer: GatedConvolution, states: Tensor) -> tuple[Tensor, Tensor]:
    """What a gated convolution would make of each word of one sentence, and its gate: ``[T, d]`` each."""
    phrases = windows(states, layer.width)
    return torch.tanh(layer.hidden(phrases))[0], torch.sigmoid(layer.gate(phrases))[0]
