"""Inter-annotator agreement on tags and on labels, over the rows with several annotators, and the disagreements to
settle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.desk.file_state import RowState
from core.lazy import import_alone


@dataclass(frozen=True)
class MarkAgreement:
    """Agreement on one tag or class, or on all classes. ``kappa``: Cohen's (1960), for two annotators; ``alpha``:
    Krippendorff's (2004) for nominal data, for more than two. None if undefined: no common rows, or all ratings are
    equal."""

    name: str
    rows: int
    """Rows reviewed or labelled by at least two annotators."""
    given: int
    """Number of these rows with the tag or class from at least one of them."""
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


def agreement(tags: Sequence[str], rows: Mapping[str, RowState]) -> list[MarkAgreement]:
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
            out.append(
                MarkAgreement(tag, len(shared), sum(map(bool, given)), agreed, *_coefficients(np.array(ratings)))
            )
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


ALL_CLASSES = "all classes"


def label_agreement(rows: Mapping[str, RowState]) -> list[MarkAgreement]:
    """The agreement on all classes together and on each class, most frequent first, over the rows that at least two
    annotators labelled; if some annotators are unsure of a row, the others' labels count. Empty if there are no such
    rows."""
    shared = [row.labels for row in rows.values() if len(row.labels) > 1]
    counts = Counter(label for labels in shared for label in labels.values())
    annotators = sorted({name for labels in shared for name in labels})
    numbers = {label: float(at) for at, label in enumerate(counts)}
    ratings = np.array([[numbers.get(labels.get(name, ""), np.nan) for labels in shared] for name in annotators])

    def measured(name: str, given: int, own: np.ndarray) -> MarkAgreement:
        agreed = int((np.nanmin(own, axis=0) == np.nanmax(own, axis=0)).sum())
        return MarkAgreement(name, len(shared), given, agreed, *_coefficients(own))

    if not shared:
        return []
    out = [measured(ALL_CLASSES, len(shared), ratings)]
    for label, _ in counts.most_common():
        own = np.where(np.isnan(ratings), np.nan, ratings == numbers[label])
        out.append(measured(label, int((own == 1).any(axis=0).sum()), own))
    return out


def label_disagreements(rows: Mapping[str, RowState]) -> list[str]:
    """The rows without a decision on which annotators disagree, or on which someone is unsure."""
    return [
        key for key, row in rows.items() if row.decision is None and (row.unsure or len({*row.labels.values()}) > 1)
    ]


def _coefficients(ratings: np.ndarray) -> tuple[float | None, float | None]:
    """κ for two annotators or α for more, from ratings ``[annotators, rows]``: the number of a class, or 1 for a given
    tag and 0 for none; NaN: not reviewed."""
    if len(np.unique(ratings[~np.isnan(ratings)])) < 2:
        return None, None
    if len(ratings) == 2 and not np.isnan(ratings).any():
        import_alone("sklearn.metrics")
        from sklearn.metrics import cohen_kappa_score  # imported here, so that the page's other parts start without it

        return float(cohen_kappa_score(*ratings)), None
    import krippendorff

    return None, float(krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal"))
