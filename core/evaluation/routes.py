"""The routes that carry the effect of one exchanged word, by kind of exchange, over hand-written pairs. One version is
the pair (premise, hypothesis), the other (premise, premise): the words that differ are exchanged back. Only pairs with
as many words in both texts, and verdicts that differ enough, are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.data import Dataset
from core.effects.asked_pair import target_class
from core.effects.routes import log_odds, patched_logits, shares_of
from core.errors import RunError
from core.evaluation.intervals import bootstrap_median
from core.evidence.routes import RouteShare
from core.json_types import JsonObject
from core.models.routes import Patching, Route, subsets
from core.progress import Progress
from core.reading.reader import Reading

CLEAR = 1.0
"""The smallest difference in log-odds of a pair that is counted: shares of smaller ones vary widely."""
AT_ONCE = 24
"""Pairs per call: with three routes, 240 rows."""
FEWEST = 3
"""Minimum number of pairs of a kind for a median."""


class Divided(NamedTuple):
    """A pair's difference, and its routes' shares in it."""

    kind: str
    difference: float
    routes: tuple[RouteShare, ...]


def divided(checkpoint: Checkpoint, pairs: Dataset, progress: Progress) -> list[Divided]:
    """The pairs whose difference is divided. Raises RunError for a model without routes or of single texts."""
    routes = checkpoint.model.routes(checkpoint.card["config"])
    if not routes or checkpoint.single:
        raise RunError(f"{checkpoint.name} has no routes between two texts: choose a model that attends or compares")
    rows = []
    for row in pairs.rows:
        versions = checkpoint.read(row.first, row.second), checkpoint.read(row.first, row.first)
        lengths = [[len(side.tokens) for side in version.texts()] for version in versions]
        if lengths[0] == lengths[1] and not versions[0].cut:
            rows.append((row.columns.get("kind") or row.label or "", versions))
    rows.sort(key=lambda row: len(row[1][0].first.tokens))
    out: list[Divided] = []
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        found = _divided(checkpoint, routes, [versions for _, versions in some])
        out += [Divided(kind, *one) for (kind, _), one in zip(some, found, strict=True)]
        progress(start + len(some), len(rows))
    return out


def _divided(
    checkpoint: Checkpoint, routes: Sequence[Route], versions: Sequence[tuple[Reading, Reading]]
) -> Iterator[tuple[float, tuple[RouteShare, ...]]]:
    """Each pair's difference, for the class of its first version, and its shares."""
    logits = patched_logits(checkpoint, versions, Patching.of(routes, subsets(routes)))
    for own in torch.unbind(logits, dim=1):
        target = target_class(checkpoint, checkpoint.model.answers.chances(own[0]).tolist())
        odds = log_odds(own, target).tolist()
        yield odds[0] - odds[-1], shares_of(routes, odds)


def by_kind(pairs: Sequence[Divided]) -> JsonObject:
    """For each kind with enough clear differences, how many there are, and each route's median share of the difference
    with its interval; also as the first and as the last route to be exchanged."""
    kinds = dict.fromkeys(pair.kind for pair in pairs)
    clear = [pair for pair in pairs if abs(pair.difference) >= CLEAR]
    each = {kind: [pair for pair in clear if pair.kind == kind] for kind in sorted(kinds)}
    return {kind: _of_kind(some) for kind, some in each.items() if len(some) >= FEWEST}


def _of_kind(pairs: Sequence[Divided]) -> JsonObject:
    routes: JsonObject = {}
    for number, route in enumerate(pairs[0].routes):
        own = [(pair.routes[number], pair.difference) for pair in pairs]
        shares = np.array([[one.share / whole, one.alone / whole, one.last / whole] for one, whole in own])
        share, alone, last = np.median(shares, axis=0).tolist()
        interval = [round(end, 3) for end in bootstrap_median(shares[:, 0])]
        numbers = {"share": round(share, 3), "interval": interval}
        routes[route.route] = numbers | {"alone": round(alone, 3), "last": round(last, 3)}
    return {"pairs": len(pairs), "routes": routes}
