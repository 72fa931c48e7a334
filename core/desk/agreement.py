"""How far annotators agree on each tag, over the rows that they looked at, and what they have to settle."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Looked = Mapping[str, Collection[str]]
"""Keys of the rows that each annotator looked at."""
Marks = Mapping[str, Mapping[str, Collection[str]]]
"""Keys of the rows to which each annotator gave a tag: by tag, then by annotator."""


@dataclass(frozen=True)
class Agreement:
    """Of one tag. ``kappa``: Cohen's (1960), of two annotators; ``alpha``: Krippendorff's (2004) for nominal data, of
    more. None where they say nothing: no row in common, or all annotators always said the same one thing."""

    tag: str
    rows: int
    """Looked at by two annotators or more."""
    given: int
    """Rows of these to which at least one of them gave it."""
    agreed: int
    """Rows of these about which all who looked at them said the same."""
    kappa: float | None
    alpha: float | None


@dataclass(frozen=True)
class Disagreement:
    """A row and a tag about which annotators who looked at it differ."""

    row: str
    tag: str
    gave: tuple[str, ...]
    left_out: tuple[str, ...]


def agreement(tags: Sequence[str], looked: Looked, marks: Marks) -> list[Agreement]:
    """Of every tag that was given at least once, in the order of ``tags``."""
    annotators = sorted(name for name, rows in looked.items() if rows)
    shared = _shared(looked)
    out = []
    for tag in tags:
        own = marks.get(tag, {})
        if not any(own.values()):
            continue
        ratings = np.full((len(annotators), len(shared)), np.nan)
        for i, annotator in enumerate(annotators):
            seen, given = set(looked[annotator]), set(own.get(annotator, ()))
            ratings[i] = [float(row in given) if row in seen else np.nan for row in shared]
        columns = [column[~np.isnan(column)] for column in ratings.T]
        agreed = sum(len({*column}) == 1 for column in columns)
        two, more = len(annotators) == 2, len(annotators) > 2
        out.append(
            Agreement(
                tag,
                len(shared),
                sum(bool(column.any()) for column in columns),
                agreed,
                _kappa(*ratings) if two else None,
                _alpha(ratings) if more else None,
            )
        )
    return out


def disagreements(tags: Sequence[str], looked: Looked, marks: Marks) -> list[Disagreement]:
    """What to settle, by tag, then by row."""
    out = []
    for tag in tags:
        for row in _shared(looked):
            seen = sorted(annotator for annotator, rows in looked.items() if row in rows)
            gave = tuple(a for a in seen if row in marks.get(tag, {}).get(a, ()))
            if 0 < len(gave) < len(seen):
                out.append(Disagreement(row, tag, gave, tuple(a for a in seen if a not in gave)))
    return out


def _shared(looked: Looked) -> list[str]:
    """Rows that two annotators or more looked at, in order of appearance."""
    counts: dict[str, int] = {}
    for rows in looked.values():
        for row in rows:
            counts[row] = counts.get(row, 0) + 1
    return [row for row, count in counts.items() if count > 1]


def _kappa(first: np.ndarray, second: np.ndarray) -> float | None:
    from sklearn.metrics import cohen_kappa_score  # here, so that the page's other parts start without it

    if len(first) == 0 or len({*first, *second}) < 2:
        return None
    return float(cohen_kappa_score(first, second))


def _alpha(ratings: np.ndarray) -> float | None:
    import krippendorff

    known = ratings[~np.isnan(ratings)]
    if len({*known}) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        value = float(krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal"))
    return None if np.isnan(value) else value
