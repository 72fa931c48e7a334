"""Inter-annotator agreement for each tag, over the rows they reviewed, and the disagreements to settle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.desk.annotations import RowState
from core.lazy import import_alone


@dataclass(frozen=True)
class TagAgreement:
    """Agreement on one tag. ``kappa``: Cohen's (1960), for two annotators; ``alpha``: Krippendorff's (2004) for nominal
    data, for more than two. None if undefined: no common rows, or all ratings are equal."""

    tag: str
    rows: int
    """Rows reviewed by at least two annotators."""
    given: int
    """Number of these rows with the tag from at least one of them."""
    agreed: int
    """Number of these rows to which all their annotators gave the same rating."""
    kappa: float | None
    alpha: float | None


@dataclass(frozen=True)
class TagDisagreement:
    """A row and a tag on which the annotators who reviewed the row disagree."""

    row: str
    tag: str
    gave: tuple[str, ...]
    left_out: tuple[str, ...]


def agreement(tags: Sequence[str], rows: Mapping[str, RowState]) -> list[TagAgreement]:
    """The agreement on each tag given at least once, in the order of ``tags``."""
    annotators = sorted({name for row in rows.values() for name in row.looked})
    shared = [row for row in rows.values() if len(row.looked) > 1]
    out = []
    for tag in tags:
        if any(tag in row.tags for row in rows.values()):
            given = [row.tags.get(tag, set()) for row in shared]
            agreed = sum(own in (set(), row.looked) for own, row in zip(given, shared, strict=True))
            ratings = [
                [float(name in own) if name in row.looked else np.nan for own, row in zip(given, shared, strict=True)]
                for name in annotators
            ]
            out.append(TagAgreement(tag, len(shared), sum(map(bool, given)), agreed, *_coefficients(np.array(ratings))))
    return out


def disagreements(tags: Sequence[str], rows: Mapping[str, RowState]) -> list[TagDisagreement]:
    """The disagreements, by tag, then by row."""
    out = []
    for tag in tags:
        for key, row in rows.items():
            gave = row.tags.get(tag, set())
            if gave and gave < row.looked:
                out.append(TagDisagreement(key, tag, tuple(sorted(gave)), tuple(sorted(row.looked - gave))))
    return out


def _coefficients(ratings: np.ndarray) -> tuple[float | None, float | None]:
    """κ for two annotators or α for more, from ratings ``[annotators, rows]`` (1: given, 0: not, NaN: not reviewed)."""
    if len(np.unique(ratings[~np.isnan(ratings)])) < 2:
        return None, None
    if len(ratings) == 2:
        import_alone("sklearn.metrics")
        from sklearn.metrics import cohen_kappa_score  # imported here, so that the page's other parts start without it

        return float(cohen_kappa_score(*ratings)), None
    import krippendorff

    return None, float(krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal"))
