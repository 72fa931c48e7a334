"""How much two sentences have in common, word by word, and how much each has alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.linguistics.content_words import common_subsequence, directions, neighbours, norms, stem, stop_words, weight
from core.reading.tokens import Token

if TYPE_CHECKING:
    from core.reading.word_table import WordTable

_SIDES = ("first", "second")

NAMES = (
    "share of stems", "share of weights", "weight of shared stems", "share of pairs of stems",
    *(f"stems in order, {side}" for side in _SIDES), *(f"log length, {side}" for side in _SIDES),
    "difference of lengths",
    *(
        f"{what}, {side}"
        for side in _SIDES
        for what in (
            "weight alone", "largest weight alone", "nothing alone", "farthest word", "distance", "largest distance",
        )
    ),
    "nothing alone", "smaller weight alone", "cosine of the sentences",
)  # fmt: skip
"""Names of the numbers of :func:`overlap`, in its order."""


def overlap(first: Sequence[Token], second: Sequence[Token], words: WordTable) -> list[float]:
    """The numbers named by ``NAMES`` for two sentences; finite for empty ones, too.

    Content words are compared by their stems and weighed by :func:`core.linguistics.content_words.weight`. A word
    that only one sentence has is as near to the other as the largest cosine, in ``words``, to one of its content words:
    "farthest word" is the smallest such nearness, "distance" the sum of weight times 1 - nearness. The cosine of the
    sentences is that of their content words' weighed mean directions.
    """
    sides = norms(first), norms(second)
    content = [[word for word in dict.fromkeys(side) if word not in stop_words()] for side in sides]
    weights = [{stem(word): weight(word, words) for word in side} for side in content]
    shared = math.fsum(value for form, value in weights[0].items() if form in weights[1])
    both = len(weights[0].keys() & weights[1].keys()), len(weights[0].keys() | weights[1].keys())
    total = math.fsum(math.fsum(side.values()) for side in weights) - shared
    stems = [[stem(word) for word in side] for side in sides]
    pairs = [neighbours(side) for side in stems]
    common = common_subsequence(*stems)
    lengths = [math.log1p(len(side)) for side in sides]
    rows = [directions(side, words) if side else None for side in content]
    alone = []
    for side in (0, 1):
        new = [i for i, word in enumerate(content[side]) if stem(word) not in weights[1 - side]]
        heavy = [weight(content[side][i], words) for i in new]
        own, other = rows[side], rows[1 - side]
        near = [0.0] * len(new) if own is None or other is None else (own[new] @ other.T).amax(1).tolist()
        far = [value * (1 - nearness) for value, nearness in zip(heavy, near, strict=True)]
        alone.append((math.fsum(heavy), max(heavy, default=0.0), float(not new), min(near, default=1.0),
                      math.fsum(far), max(far, default=0.0)))  # fmt: skip
    return [
        both[0] / max(1, both[1]), shared / total if total else 1.0, shared,
        len(pairs[0] & pairs[1]) / max(1, len(pairs[0] | pairs[1])),
        *(common / max(1, len(side)) for side in stems), *lengths, float(abs(len(sides[0]) - len(sides[1]))),
        *alone[0], *alone[1], alone[0][2] * alone[1][2], min(alone[0][0], alone[1][0]),
        _cosine(content, words),
    ]  # fmt: skip


def _cosine(content: Sequence[Sequence[str]], words: WordTable) -> float:
    if not all(content):
        return 0.0
    means = []
    for side in content:
        rows = directions(side, words)
        means.append((rows * rows.new_tensor([weight(word, words) for word in side])[:, None]).sum(0))
    return float(means[0] @ means[1] / (means[0].norm() * means[1].norm()).clamp_min(1e-6))
