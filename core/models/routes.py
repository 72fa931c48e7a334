"""The routes of a model: the parts of its computation through which a difference between two versions of a pair can
reach the logits. A forward pass may take each of them from the other version.

Routes are parallel: no route contains another, and together they carry everything that the logits depend on. So a pass
that takes no route from the other version equals the one version, and a pass that takes all equals the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor


class Route(NamedTuple):
    """A route. ``by``: its name in words that can follow “by” in a sentence."""

    name: str
    by: str


WEIGHTS = Route("attention weights", "where attention looks")
ATTENDED = Route("attended words", "the words attended to")
OWN = Route("own words", "the words themselves")
POOLING = Route("matching and pooling", "how words match and are weighted in pooling")
STATES = Route("states", "the states that are pooled")
FIRST = Route("first text", "the first text alone")
SECOND = Route("second text", "the second text alone")
FILTERS = Route("generated filters", "the generated filters")
TEXTS = Route("texts", "the texts that the filters read")
MATCHING = Route("matching attention", "which states are matched")
CHOICE = Route("choice of phrases", "which phrases are kept")
PHRASES = Route("phrase states", "the states of the phrases")
SUMS = Route("word sums", "the sums of the words")
EXTRA = Route("linguistic features", "the linguistic features")

ATTENTION = (WEIGHTS, ATTENDED, OWN)
"""The routes of a model that attends to words or states."""
TEXT_BY_TEXT = (FIRST, SECOND)
"""The routes of a model that encodes the texts separately."""


@dataclass(frozen=True)
class Patching:
    """The routes that each of N rows takes from the other version (activation patching, Vig et al. 2020).

    A forward pass over M pairs gets (N + 2) M rows: N times all pairs, in their one version, and then all pairs in the
    one version and in the other. At each route, a row takes the value that the route has in one of the two rows of its
    pair at the end, whatever it took before."""

    takes: Mapping[Route, Tensor] = field(default_factory=dict)
    """For each route, bool ``[N]``: true in rows that take it from the other version."""
    pairs: int = 1
    """M, the number of pairs."""

    @classmethod
    def of(cls, routes: Collection[Route], rows: Collection[Collection[Route]]) -> Patching:
        """The patching in which each row takes these routes."""
        return cls({route: torch.tensor([route in row for row in rows]) for route in routes})

    def __call__(self, route: Route, values: Tensor) -> Tensor:
        """The values of a route ``[(N + 2) M, …]``, each row's from the version that it takes; without patching, and
        for a route that this model does not have, the values themselves."""
        if route not in self.takes:
            return values
        ends = values[-2 * self.pairs :]
        one, other = torch.split(ends, self.pairs)
        takes = self.takes[route].to(values.device).view(-1, *[1] * one.ndim)
        return torch.cat([torch.where(takes, other, one).flatten(0, 1), ends])


UNPATCHED = Patching()
"""Takes no route from another version."""


def subsets(routes: Collection[Route]) -> list[frozenset[Route]]:
    """All subsets, the empty one first and the whole one last."""
    return [frozenset(chosen) for size in range(len(routes) + 1) for chosen in combinations(routes, size)]
