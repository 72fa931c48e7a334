"""How a difference between two versions of a pair reaches the verdict: the shares of a model's routes.

Each subset of the routes is taken from the other version in turn (activation patching), all in one batch. A route's
share is its Shapley value over these subsets (Shapley 1953), so that the shares add up to the difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.checkpoint.checkpoint import check_finite
from core.effects.asked_pair import target_class
from core.errors import UserError
from core.evaluation.suites import RELATIONS, exchange, kind_of_exchange
from core.evidence import BOTH
from core.evidence.routes import Routes, RouteShare, sentence_of, signed
from core.explain import check_words
from core.json_types import JsonObject
from core.models.intervention import Intervention
from core.models.routes import Patching, Route, subsets
from core.reading.reader import Reading, ReadText
from core.wording import capital, class_names, counted, shown, the

LEAST = 0.05
"""The smallest difference, in log-odds, that is divided: smaller ones are mostly rounding errors of the shares."""


class RoutesError(UserError):
    """The difference cannot be divided; the message is one sentence."""


def log_odds(logits: Tensor, target: int) -> Tensor:
    """The log-odds of a class from logits ``[…, C]``, float64; the logit of a model with one output."""
    logits = logits.double()
    if logits.shape[-1] == 1:
        return logits[..., 0]
    others = [number for number in range(logits.shape[-1]) if number != target]
    return logits[..., target] - torch.logsumexp(logits[..., others], dim=-1)


def shapley(values: Mapping[frozenset[Route], float], routes: Sequence[Route]) -> dict[Route, float]:
    """Each route's Shapley value, from the value of every subset."""
    count = len(routes)
    weight = [math.factorial(k) * math.factorial(count - k - 1) / math.factorial(count) for k in range(count)]
    return {
        route: math.fsum(
            weight[len(rest)] * (values[rest | {route}] - values[rest]) for rest in values if route not in rest
        )
        for route in routes
    }


def divide(checkpoint: Checkpoint, one: Reading, other: Reading) -> Routes:
    """The shares of the routes in the difference between a model's verdicts on two versions of a pair, as it reads
    them. Raises RoutesError, in one sentence, if the difference cannot be divided."""
    routes = checkpoint.model.routes(checkpoint.card["config"])
    if not routes:
        raise RoutesError(
            f"the model {checkpoint.name} has no parts to tell apart: choose one that attends or compares texts"
        )
    check_versions(one, other)
    chosen = subsets(routes)
    logits = patched_logits(checkpoint, [(one, other)], Patching.of(routes, chosen))[:, 0]
    ends = checkpoint.model.answers.chances(logits[[0, -1]]).tolist()
    target = target_class(checkpoint, ends[0])
    odds = log_odds(logits, target).tolist()
    check_difference(odds[0] - odds[-1])
    divided = shares_of(routes, odds)
    difference = odds[0] - odds[-1]
    return Routes(
        **described(checkpoint, (one, other), target, ends, difference),
        routes=divided,
        sentence=sentence_of(subject_of(one.texts(), other.texts()), divided, difference),
        passes=len(chosen) + 2,
    )


def shares_of(routes: Sequence[Route], odds: Sequence[float]) -> tuple[RouteShare, ...]:
    """The share of each route, from the log-odds under every subset of the routes (:func:`core.models.routes.subsets`).
    They fall from this version to the other, so that a positive share lowers the verdict."""
    lost = {subset: odds[0] - value for subset, value in zip(subsets(routes), odds, strict=True)}
    shares, whole = shapley(lost, routes), frozenset(routes)
    return tuple(
        RouteShare(route.name, route.by, shares[route], lost[frozenset({route})], lost[whole] - lost[whole - {route}])
        for route in routes
    )


def described(
    checkpoint: Checkpoint, versions: Sequence[Reading], target: int, ends: Sequence[Sequence[float]], difference: float
) -> JsonObject:
    """The fields of a record that describe the versions and the verdict. ``ends``: the probabilities of both."""
    labels, roles = checkpoint.labels, checkpoint.roles
    name = class_names(labels, roles["second"] if roles["judged"] == BOTH else roles["judged"])[target]
    one, other = (shown(end[target], len(labels)) for end in ends)
    unit = "log-odds" if len(labels) > 1 else "score"
    return {
        "model": checkpoint.name,
        "model_title": checkpoint.card["title"],
        "verdict": labels[target],
        "versions": tuple(tuple(side.text for side in version.texts()) for version in versions),
        "probabilities": tuple(end[target] for end in ends),
        "unit": unit,
        "change": f"{capital(name)} {one} in this version, {other} in the other (this minus the other: "
        f"{signed(difference)} {unit})",
        "difference": difference,
    }


def patched_logits(checkpoint: Checkpoint, pairs: Sequence[tuple[Reading, Reading]], patching: Patching) -> Tensor:
    """The logits of each row of a patching and each pair, ``[N, M, C]``, for two versions of every pair, whose texts
    have equal numbers of words."""
    reader: Any = checkpoint.reader  # of words, or of an external model's own pieces
    rows = [version for versions in zip(*pairs, strict=True) for version in versions]
    with torch.inference_mode():
        logits = checkpoint.model.under(reader.batch_of(rows), Intervention(patching=patching)).logits
    check_finite(checkpoint, logits)
    return logits.view(-1, len(pairs), logits.shape[1])


def check_versions(one: Reading, other: Reading) -> None:
    """Raises RoutesError, or PairError for a text without words, unless both versions are read to the end, have equal
    numbers of words, and differ."""
    for reading in (one, other):
        check_words(reading)
    sides = [[(side.role, side) for side in (reading.first, *reading.contexts)] for reading in (one, other)]
    if one.cut or other.cut:
        raise RoutesError("A text is longer than the model reads: shorten it, since the rest could differ unseen")
    for (role, own), (_, theirs) in zip(*sides, strict=False):
        count, counts = len(own.tokens), len(theirs.tokens)
        if count != counts:
            raise RoutesError(
                f"{capital(the(role))} has {counted(count, 'word')} in this version and {counts} in the other: routes "
                "can be compared only word by word, so replace or exchange words instead of adding or dropping them"
            )
    if len(sides[0]) != len(sides[1]):
        raise RoutesError("The versions have different numbers of lines: give both the same lines")
    if all(own.norms == theirs.norms for (_, own), (_, theirs) in zip(*sides, strict=True)):
        raise RoutesError("The model reads the same words in both versions: change a word of one of them")


def check_difference(difference: float) -> None:
    """Raises RoutesError for a difference too small to divide."""
    if abs(difference) < LEAST:
        raise RoutesError(
            f"The verdict hardly changes (by {abs(difference):.2f} log-odds), so there is nothing to divide: change a "
            "word that matters more"
        )


def subject_of(one: Sequence[ReadText], other: Sequence[ReadText]) -> str:
    """What differs between two versions, as the subject of a sentence: the kind of an exchanged word, the two words, or
    the order of the words."""
    changed = [(own, theirs) for own, theirs in zip(one, other, strict=True) if own.norms != theirs.norms]
    if len(changed) == 1:
        own, theirs = changed[0]
        if sorted(own.norms) == sorted(theirs.norms):
            return "The order of the words"
        words = exchange(own.text, theirs.text)
        kind = kind_of_exchange(*words) if words else None
        if kind and kind not in RELATIONS:
            return f"The {kind}"
        if words:
            return f"“{words[1]}” instead of “{words[0]}”"
    return "The change"
