"""Through which states and heads of a transformer a difference between two versions travels, by activation patching."""

from __future__ import annotations

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


def divide(checkpoint: Checkpoint, one: Reading, other: Reading, progress: Progress) -> LayerRoutes:
    """The shares of a difference that a word's states after each layer, and each head, restore. Raises RoutesError if
    the difference cannot be divided, or if the model's layers cannot be told apart."""
    model: CrossEncoder = checkpoint.model  # type: ignore[assignment]
    check_versions(one, other)
    versions = _pieces(checkpoint, model, one, other)
    words, heads, layers = versions.of_words.bool(), model.config.heads, len(model.states)
    rows = []
    for layer in range(layers):
        progress(layer, layers)
        with torch.inference_mode():
            rows.append(model.patched(versions, LayerPatch(layer, words, heads)))
    logits = torch.stack(rows)
    check_finite(checkpoint, logits)
    ends = model.answers.chances(logits[0, -2:]).tolist()
    target = target_class(checkpoint, ends[0])
    odds = log_odds(logits, target)
    difference = float(odds[0, -2] - odds[0, -1])
    check_difference(difference)
    shares: Tensor = (odds[:, -2:-1] - odds[:, :-2]) / difference
    states, patterns, values = torch.split(shares, [len(words), heads, heads], dim=1)
    named = [[token.text for side in reading.texts() for token in side.tokens] for reading in (one, other)]
    return LayerRoutes(
        **described(checkpoint, (one, other), target, ends, difference),
        words=((*named[0], SPECIAL), (*named[1], SPECIAL)),
        states=matrix(states),
        patterns=matrix(patterns),
        values=matrix(values),
        sentence=sentence_of(subject_of(one.texts(), other.texts()), (*named[0], SPECIAL), matrix(states)),
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
