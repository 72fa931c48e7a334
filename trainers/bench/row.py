"""A measured value beside its bar, and times that are measured in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace


class Unmeasured(Exception):
    """Why nothing could be measured, in a few words: a part of the measurement is not there."""


@dataclass(frozen=True)
class Row:
    """One measured value against its bar."""

    name: str
    value: float | None
    """None when it could not be measured; ``note`` says why."""
    unit: str
    bar: float | None
    """None for what nothing is asked of: it stands there to be seen."""
    at_most: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None when nothing was measured or asked."""
        if self.value is None or self.bar is None:
            return None
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    @property
    def cells(self) -> dict[str, str]:
        """The row of a table."""
        measured = "-" if self.value is None else f"{self.value:.3g} {self.unit}"
        bar = "–" if self.bar is None else f"{'≤' if self.at_most else '≥'} {self.bar:g} {self.unit}"
        kept = {True: "yes", False: "no", None: "not measured" if self.value is None else "–"}[self.met]
        return {"what": self.name, "measured": measured, "bar": bar, "kept": kept, "note": self.note}


def filled(rows: Sequence[Row], measure: Callable[[], Sequence[tuple[float, str]]]) -> list[Row]:
    """The rows with their values and notes, or, where nothing can be measured, with the reason."""
    try:
        values = measure()
    except Unmeasured as error:
        return [replace(row, note=str(error)) for row in rows]
    return [replace(row, value=value, note=note) for row, (value, note) in zip(rows, values, strict=True)]


def medians(forms: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median time of each form in ms. They are measured in turns, so that a busy moment falls on all of them, after one
    turn that does not count."""
    times: list[list[float]] = [[] for _ in forms]
    for turn in range(repeats + 1):
        for taken, compute in zip(times, forms, strict=True):
            started = time.perf_counter()
            compute()
            if turn:
                taken.append((time.perf_counter() - started) * 1000)
    return [statistics.median(taken) for taken in times]


def times_faster(name: str, bar: float, forms: Sequence[Callable[[], object]], other: str, repeats: int) -> Row:
    """How many times faster our form is than the other one, which the note calls ``other``."""
    ours, plain = medians(forms, repeats)
    return Row(name, plain / ours, "x", bar, False, f"{ours:.0f} ms; {other} {plain:,.0f} ms")
