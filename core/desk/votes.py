"""Labels from several annotators: SNLI's and MultiNLI's ``annotator_labels``, ChaosNLI's ``label_counter``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np

from core.data.labels import key

COLUMNS = ("annotator_labels", "label_counter")
"""Columns of votes in JSON: a list of labels, or an object with the count of each label."""
SHARE = "votes."
"""Prefix of the features with each label's share."""
_MOST_LABELS = 10


def features(texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Values ``[N]`` from each row's votes, NaN for rows with fewer than two: ``entropy`` in bits, ``agreement``, the
    share of the most frequent label, and each label's share. Empty if the texts are not votes."""
    counts = [_counts(text) for text in texts]
    labels = sorted({label for own in counts for label in own})
    if not 1 < len(labels) <= _MOST_LABELS:
        return {}
    votes = np.array([[own[label] for label in labels] for own in counts], dtype=float)
    total = votes.sum(axis=1, keepdims=True)
    shares = np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    measured = {"entropy": np.abs((shares * logs).sum(axis=1)), "agreement": shares.max(axis=1)}
    return measured | {f"{SHARE}{label}": share for label, share in zip(labels, shares.T, strict=True)}


def _counts(text: str) -> Counter[str]:
    """A row's votes by label; empty if unreadable."""
    try:
        votes = json.loads(text)
    except (ValueError, RecursionError):
        return Counter()
    if isinstance(votes, list):
        votes = Counter(vote for vote in votes if isinstance(vote, str) and vote)
    counts = Counter[str]()
    for label, count in votes.items() if isinstance(votes, dict) else ():
        if type(count) is int and 0 < count < 1_000_000:
            counts[key(label)] += count
    return counts
