"""How well attention agrees with the word alignments that people made.

A word of the target (hypothesis) links to the word of the source (premise) that has the largest weight of its row, if
that weight is above a threshold and above the null word's. Models split texts in their own way, so a link counts for
the whitespace tokens that its two tokens lie in. Signs link as words do: people aligned them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.data import DataError
from core.data.alignments import AlignedPair, Link
from core.evidence import AttentionMap
from core.reading.reader import ReadText
from core.reading.tokens import Token

THRESHOLDS = tuple(k / 100 for k in range(100))
"""Those tried by :func:`best_threshold`."""

Strengths = Mapping[Link, float]
"""The links of one pair (source position, target position), each with the weight that makes it."""


@dataclass(frozen=True)
class Agreement:
    """Links of a model beside those of people, over all pairs: |A ∩ S| / |A|, |A ∩ S| / |S|, their harmonic mean, and
    the alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) with P the sure and the possible links (Och and Ney
    2003, section 4)."""

    precision: float
    recall: float
    f1: float
    aer: float
    links: int
    """|A|"""
    sure: int
    """|S|"""


def whitespace_places(text: str, tokens: Sequence[Token]) -> list[list[int]]:
    """For each token the positions of the whitespace tokens that it shares a character with."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    return [[k for k, (start, end) in enumerate(spans) if start < t.end and t.start < end] for t in tokens]


def strengths(
    weights: Any, null: Sequence[float], row_places: Sequence[Sequence[int]], column_places: Sequence[Sequence[int]]
) -> dict[Link, float]:
    """The links of one attention map, weights ``[rows, columns]`` and null ``[rows]`` (empty: none), as (column's
    position, row's position) with the largest weight that makes each. Of equal weights the first is the largest.

    ``row_places``, ``column_places``: positions of whitespace tokens of each token (:func:`whitespace_places`).
    """
    links: dict[Link, float] = {}
    for i, row in enumerate(np.asarray(weights, dtype=np.float64)):
        best = int(row.argmax())
        if len(null) and row[best] <= null[i]:
            continue
        for link in product(column_places[best], row_places[i]):
            links[link] = max(links.get(link, 0.0), float(row[best]))
    return links


def above(links: Strengths, threshold: float) -> set[Link]:
    """The links whose weight is above the threshold."""
    return {link for link, weight in links.items() if weight > threshold}


def identical_words(source: Sequence[Token], target: Sequence[Token]) -> list[Link]:
    """The baseline, in tokens: each token of the target links to the equal one of the source (compared as looked up, in
    lower case); of several equal ones to the nearest in relative place, i / T."""
    places: dict[str, list[int]] = {}
    for i, token in enumerate(source):
        places.setdefault(token.norm, []).append(i)
    links = []
    for j, token in enumerate(target):
        apart = {i: abs(i / len(source) - j / len(target)) for i in places.get(token.norm, ())}
        if apart:
            links.append((min(apart, key=apart.__getitem__), j))
    return links


def agreement(predicted: Sequence[Iterable[Link]], pairs: Sequence[AlignedPair]) -> Agreement:
    """Micro-averaged agreement of each pair's predicted links with people's."""
    links = sure = right = allowed = 0
    for own, pair in zip(map(set, predicted), pairs, strict=True):
        links, sure = links + len(own), sure + len(pair.sure)
        right, allowed = right + len(own & pair.sure), allowed + len(own & (pair.sure | pair.possible))
    return _agreement(links, sure, right, allowed)


def _agreement(links: int, sure: int, right: int, allowed: int) -> Agreement:
    total = links + sure
    error = 1 - (right + allowed) / total if total else 0.0
    f1 = 2 * right / total if total else 0.0
    return Agreement(right / links if links else 0.0, right / sure if sure else 0.0, f1, error, links, sure)


def best_threshold(linked: Sequence[Strengths], pairs: Sequence[AlignedPair]) -> float:
    """That of :data:`THRESHOLDS` with the best F1 over sure links, the lowest of equal ones."""
    weights = np.array([weight for links in linked for weight in links.values()])
    right = np.array(
        [link in pair.sure for links, pair in zip(linked, pairs, strict=True) for link in links], dtype=bool
    )
    sure = sum(len(pair.sure) for pair in pairs)
    scores = [2 * (right & over).sum() / max(1, over.sum() + sure) for over in (weights > t for t in THRESHOLDS)]
    return THRESHOLDS[int(np.argmax(scores))]


@dataclass(frozen=True)
class Attended:
    """A pair as a model read it: the source is its first sentence, the target its second."""

    pair: AlignedPair
    source: ReadText
    target: ReadText
    forward: AttentionMap
    """Rows: the target's tokens."""
    backward: AttentionMap | None
    """Rows: the source's tokens; None for a model whose words look one way alone."""

    def links(self) -> dict[Link, float]:
        """Of the target's words, with their weights."""
        return strengths(self.forward.weights, null_of(self.forward), *self._places(self.target, self.source))

    def backward_links(self) -> dict[Link, float]:
        """Of the source's words, with their weights; none for a model whose words look one way alone."""
        if self.backward is None:
            return {}
        turned = strengths(self.backward.weights, null_of(self.backward), *self._places(self.source, self.target))
        return {(source, target): weight for (target, source), weight in turned.items()}

    def _places(self, *sides: ReadText) -> list[list[list[int]]]:
        return [whitespace_places(side.text, side.tokens) for side in sides]


def null_of(record: AttentionMap) -> tuple[float, ...]:
    null: tuple[float, ...] = getattr(record, "null", ())
    return null


@torch.inference_mode()
def attend(checkpoint: Checkpoint, pairs: Iterable[AlignedPair]) -> Iterator[Attended]:
    """The attention maps between the words of each pair.

    Raises DataError for a model without a map from the words of its second sentence to those of its first.
    """
    for pair in pairs:
        reading = checkpoint.read(pair.source, pair.target)
        evidence = checkpoint.model.evidence(reading, checkpoint.model(reading.batch(checkpoint.reader)))
        records = (make() for kind, make in evidence if kind is AttentionMap)
        maps = {(r.rows, r.columns): r for r in records if isinstance(r, AttentionMap) and r.units == "words"}
        source, target = reading.first.role, reading.second.role
        if (target, source) not in maps:
            raise DataError(
                f"{checkpoint.name} has no attention from the words of one sentence to those of the other: "
                "choose a model with an attention matrix, such as nli-attconv-light"
            )
        yield Attended(pair, reading.first, reading.second, maps[target, source], maps.get((source, target)))
