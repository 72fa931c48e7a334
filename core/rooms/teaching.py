"""Teaches the model with half of the pairs that a class agreed on, and tests it on the other half."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from core.adaptation.adapt import Examples, assembled
from core.adaptation.corrections import Correction, to_csv
from core.adaptation.features import feature_vectors
from core.adaptation.fits import KEEP
from core.adaptation.what_changed import fitted, old_classifier, thorough_pull
from core.checkpoint import Checkpoint
from core.checkpoint.adapted import origin_of, save_unlisted
from core.checkpoint.unlisted import discard, new_name
from core.json_types import JsonObject
from core.reading.tokens import norms
from core.rooms.room import AGREED, RoomError, Round, Sent

LEAST = 2
"""Minimum number of pairs: one to teach, one to test."""


@dataclass(frozen=True)
class Halves:
    """The pairs to teach with, and the held-back pairs."""

    taught: list[Sent]
    held_back: list[Sent]


def agreed_pairs(pairs: Iterable[Sent]) -> list[Sent]:
    """The pairs that the class agreed on, in the order they were sent, each pair of texts once."""
    different: dict[tuple[str, ...], Sent] = {}
    for one in pairs:
        if one.status == AGREED:
            different.setdefault((*norms(one.first), "|", *norms(one.second)), one)
    return [*different.values()]


def halves(pairs: Sequence[Sent]) -> Halves:
    """Every second of :func:`agreed_pairs`: the same pair from two phones must not be on both sides. Raises RoomError
    for fewer than :data:`LEAST`."""
    agreed = agreed_pairs(pairs)
    if len(agreed) < LEAST:
        raise RoomError(
            "teaching needs two pairs that fool the model and on which classmates agree: play “Break it” first"
        )
    return Halves(agreed[::2], agreed[1::2])


def teach(checkpoint: Checkpoint, pairs: Sequence[Sent], maker: str = "") -> JsonObject:
    """Adapts the model to half of the agreed pairs. Returns the result of the round: the unlisted name of the adapted
    ``model``, which is kept for a day; how many of the held-back pairs are right before and after; and a sentence on
    the suites. ``maker``: the key of the lecturer, who finds the model in lists.

    The pairs were chosen because the model was wrong on them, so "before" is 0 for the model that they fooled. Raises
    RoomError for too few pairs, UserError for a model that cannot be adapted.
    """
    parts, base = halves(pairs), origin_of(checkpoint)
    if base.labels != checkpoint.labels:
        raise RoomError("a model with other classes than its base cannot be taught in a room: choose its base")
    corrections = [Correction(one.first, one.second, one.label) for one in parts.taught]
    examples = Examples.of(base, [one.pair for one in corrections], [one.label for one in corrections])
    pull = thorough_pull(base, examples)
    found = fitted(base, examples, pull)
    held = feature_vectors(base, [(one.first, one.second) for one in parts.held_back])
    gold = torch.tensor([base.labels.index(one.label) for one in parts.held_back])
    before, after = (
        int((linear.logits(held).argmax(1) == gold).sum()) for linear in (old_classifier(base), found.linear)
    )
    name = new_name(base.name)
    title = f"{base.card['title']} + {len(corrections)} of the class"
    adapted = assembled(base, examples, found.linear, {"pull": pull, "keep": KEEP}, name=name, title=title)
    # Explore lists pairs stored with a model, and it may be on the projector.
    kept = to_csv(corrections) if all(one.shown for one in parts.taught) else ""
    save_unlisted(name, adapted, kept, [one.pair for one in corrections], maker)
    kinds = found.changed.kinds
    suites = ""
    if kinds:
        right, was, total = (sum(getattr(one, part) for one in kinds) for part in ("after", "before", "total"))
        suites = f"Of our {total:,} test pairs of all kinds, {right:,} are right; before, {was:,} were."
        if found.changed.lost:
            suites += f" {found.changed.lost}."
    counts = {"taught": len(parts.taught), "held_back": len(parts.held_back), "before": before, "after": after}
    return {"model": name, **counts, "suites": suites}


def forget(rounds: Iterable[Round]) -> None:
    """Deletes the models that were taught in these rounds: they contain pairs of the class."""
    for one in rounds:
        for model in models_of(one):
            discard(model)


def models_of(asked: Round) -> list[str]:
    """The models that were taught in a round, the newest last."""
    result = asked.result or {}
    return [*result.get("earlier", []), result["model"]] if result else []
