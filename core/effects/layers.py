"""Finds the states and heads of a transformer that carry a difference between two versions, by activation patching."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.checkpoint.checkpoint import check_finite
from core.effects.asked_pair import target_class
from core.effects.routes import RoutesError, check_difference, check_versions, described, log_odds, subject_of
from core.evidence.layer_routes import SPECIAL, LayerRoutes, sentence_of
from core.evidence.matrix import matrix
from core.external.model import CrossEncoder
from core.external.patching import LayerPatch
from core.external.pieces import Pieces
from core.progress import Progress
from core.reading.reader import Reading


def ignored(so_far: LayerRoutes) -> None:
    """For callers that wait for all layers."""


def divide(
    checkpoint: Checkpoint,
    one: Reading,
    other: Reading,
    progress: Progress,
    so_far: Callable[[LayerRoutes], None] = ignored,
) -> LayerRoutes:
    """The shares of a difference that a word's states after each layer, and each head, restore. ``so_far`` is called
    with the layers known so far, after each layer but the last. Raises RoutesError if the difference cannot be divided,
    or if the model's layers cannot be told apart."""
    model: CrossEncoder = checkpoint.model  # type: ignore[assignment]
    check_versions(one, other)
    versions = _pieces(checkpoint, model, one, other)
    words, heads, layers = versions.of_words.bool(), model.config.heads, len(model.states)
    rows: list[Tensor] = []
    for layer in range(layers):
        progress(layer, layers)
        if rows:
            so_far(_record(checkpoint, (one, other), torch.stack(rows), (len(words), heads, layers)))
        with torch.inference_mode():
            rows.append(model.patched(versions, LayerPatch(layer, words, heads)))
        check_finite(checkpoint, rows[-1])
    return _record(checkpoint, (one, other), torch.stack(rows), (len(words), heads, layers))


def _record(
    checkpoint: Checkpoint, versions: tuple[Reading, Reading], logits: Tensor, sizes: tuple[int, int, int]
) -> LayerRoutes:
    """The record of the first layers, from their logits ``[layers, words + 2 heads + 2, C]``. ``sizes``: of words, of
    a layer's heads, and of all layers."""
    (one, other), (count, heads, layers) = versions, sizes
    model = checkpoint.model
    ends = model.answers.chances(logits[0, -2:]).tolist()
    target = target_class(checkpoint, ends[0])
    odds = log_odds(logits, target)
    difference = float(odds[0, -2] - odds[0, -1])
    check_difference(difference)
    shares: Tensor = (odds[:, -2:-1] - odds[:, :-2]) / difference
    states, patterns, values = torch.split(shares, [count, heads, heads], dim=1)
    named = [[token.text for side in reading.texts() for token in side.tokens] for reading in (one, other)]
    sentence = sentence_of(subject_of(one.texts(), other.texts()), (*named[0], SPECIAL), matrix(states))
    return LayerRoutes(
        **described(checkpoint, versions, target, ends, difference),
        words=((*named[0], SPECIAL), (*named[1], SPECIAL)),
        layers=layers,
        states=matrix(states),
        patterns=matrix(patterns),
        values=matrix(values),
        sentence=sentence if len(states) == layers else "",
        passes=logits.shape[0] * logits.shape[1],
    )


def _pieces(checkpoint: Checkpoint, model: CrossEncoder, one: Reading, other: Reading) -> Pieces:
    """Both versions as two rows with the same pieces of every word."""
    if not model.states or not model.config.heads:
        raise RoutesError(f"The layers of {checkpoint.name} were not found in its computation: choose another model")
    if not model.together:
        raise RoutesError(f"{checkpoint.name} cannot read several pairs at once: choose another model")
    versions: Pieces = checkpoint.reader.batch_of([one, other])  # type: ignore[attr-defined]
    if not versions.real.all() or not torch.equal(versions.owners[0], versions.owners[1]):
        raise RoutesError(
            f"{checkpoint.name} splits the exchanged words into different numbers of pieces, so their states cannot "
            "be exchanged: try other words"
        )
    return versions
