"""Tables of saved slices and of slices found by a search (:class:`core.desk.charts.Figure`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from core.desk.charts import Figure
from core.desk.filters import FilterError
from core.desk.found_slices import LEVEL, MOST_ROWS, Search
from core.desk.slices import SliceScore
from core.wording import counted, score_percent

_TEST = "Tested by permutation against all other rows; q-values of Benjamini and Hochberg."


def saved_slices(
    filters: Mapping[str, str],
    rows: Mapping[str, int],
    scores: Mapping[str, Mapping[str, SliceScore]],
    errors: Mapping[str, FilterError],
    measure: str,
) -> Figure:
    """The saved slices (their filters by name) with their numbers of rows, each model's score by the model's letter,
    and the errors of invalid ones."""
    head = ["slice", "rows"]
    for letter in scores:
        head += [f"{name} ({letter})" for name in (measure, "95 % interval", "difference", "q")]
    lines = []
    for name in filters:
        own = [cell for by_name in scores.values() for cell in _cells(by_name.get(name))]
        lines.append((name, f"{rows[name]:,}" if name in rows else "–", *own))
    how = f"The {measure} of each slice, and its difference from all other rows. {_TEST}"
    for name in filters:
        if name in errors:
            how += f" “{name}” cannot be read: {errors[name]}"
        elif not rows[name]:
            how += f" No row is in “{name}”."
    return Figure("Saved slices", how, "Select a line to see its rows.", tuple(head), lines, [*filters.values()])


def found_slices(title: str, search: Search, rows: int, measure: str, unit: str, most: int) -> Figure:
    """The first slices found by a search. ``rows``: number of rows in the run."""
    if not search.tested:
        return Figure(f"Found slices of {title}", "No slice has enough right and wrong answers for a test.")
    found, holding = search.found[:most], sum(one.holds for one in search.found)
    sample = f"a random sample of {MOST_ROWS:,} of {rows:,} {unit}" if rows > MOST_ROWS else f"the {unit}"
    how = (
        f"Of {counted(search.tested, 'slice')}, {len(search.found):,} differ (q ≤ {LEVEL:g}) on one half of {sample} "
        f"({search.searched:,}, chosen by a hash of each row’s id). {holding:,} of these hold on the held-back half "
        f"({search.held_back:,}): the same direction, q ≤ {LEVEL:g} again. All numbers but the last are of the "
        f"held-back half. {_TEST}"
    )
    if len(search.found) > most:
        how += f" Shown are {most}."
    head = ("holds", "slice", unit, measure, "95 % interval", "difference", "q", "difference (searched)")
    lines = [
        (
            "yes" if one.holds else "no",
            f"{one.searched.slice.dimension}: {one.searched.slice.value}",
            f"{one.held_back.items:,}",
            *_cells(one.held_back),
            _difference(one.searched),
        )
        for one in found
    ]
    filters = [one.searched.slice.expression for one in found]
    return Figure(f"Found slices of {title}", how, "Select a line to see its rows.", head, lines, filters)


def _cells(score: SliceScore | None) -> Sequence[str]:
    """Score, interval, difference and q; dashes if a slice has no score."""
    if score is None:
        return ("–",) * 4
    interval = f"{score_percent(score.low)} – {score_percent(score.high)}"
    return score_percent(score.score), interval, _difference(score), _q(score.q)


def _difference(score: SliceScore) -> str:
    """In percentage points, signed."""
    points = 100 * (score.score - score.outside)
    return "–" if math.isnan(points) else f"{points:+.1f}".replace("-", "−")


def _q(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
