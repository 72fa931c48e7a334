"""Compares two models of a run on the same rows: the rows that each gets right, and the difference of their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.desk.charts import Figure
from core.desk.run import LETTERS, Run, column_of
from core.desk.slices import Items
from core.evaluation.intervals import bootstrap_mean, paired_difference
from core.evaluation.reliability import McNemar, mcnemar
from core.wording import counted, score_percent


@dataclass(frozen=True)
class Comparison:
    """The first model and another one on the same labelled rows."""

    test: McNemar
    scores: tuple[float, float]
    """The mean score of each: accuracy, or MAP for a set of questions."""
    interval: tuple[float, float]
    """95 % interval of the second score minus the first: for accuracies, Newcombe's (1998) interval for paired
    proportions; for MAP, a bootstrap over questions."""
    items: str
    """The items that the scores are averaged over, such as “6 rows” or “120 questions”."""

    @classmethod
    def of(cls, run: Run, other: int, rows: np.ndarray) -> Comparison:
        """The run's first model and its model ``other`` on the labelled ones of ``rows`` (bool ``[N]``)."""
        judged = rows & run.judged
        test = mcnemar(run.right(0)[judged], run.right(other)[judged])
        first, second = (items.kept(rows[items.rows]) for items in (Items.of(run, 0), Items.of(run, other)))
        if first.ranks:
            interval = bootstrap_mean(second.scores - first.scores)
        else:
            interval = paired_difference(test.both, test.only_first, test.only_second, test.neither)
        items = counted(len(first.rows), "question" if first.ranks else "row")
        return cls(test, (first.mean[0], second.mean[0]), interval, items)

    @property
    def p(self) -> str:
        """The p of McNemar's exact test in words."""
        return "p < .0001" if self.test.p < 0.0001 else f"p = {self.test.p:.4f}"

    def difference(self, other: int) -> str:
        """The difference of the scores with its interval in words."""
        first, second = self.scores
        low, high = map(_points, self.interval)
        letters = f"{LETTERS[other]} − {LETTERS[0]}"
        return f"{letters} = {_points(second - first)} percentage points (95 % interval: {low} to {high})"


def against(run: Run, other: int, rows: np.ndarray) -> Figure:
    """For ``rows`` (bool ``[N]``): how many the first model and another one get right, if rows have labels, and on how
    many their predictions differ."""
    a, b = run.models[0], run.models[other]
    names = f"{LETTERS[0]} ({a.title})", f"{LETTERS[other]} ({b.title})"
    right_a, right_b = column_of("right", 0), column_of("right", other)
    differing = int((a.predicted != b.predicted)[rows].sum())
    lines = [("Predictions differ", differing, f"{column_of('predicted', 0)} != {column_of('predicted', other)}")]
    how = ""
    if run.labelled and (rows & run.judged).any():
        found = Comparison.of(run, other, rows)
        test, (first, second) = found.test, found.scores
        lines = [
            ("Both right", test.both, f"{right_a} and {right_b}"),
            (f"Only {names[0]}", test.only_first, f"{right_a} and not {right_b}"),
            (f"Only {names[1]}", test.only_second, f"{right_b} and not {right_a}"),
            ("Neither", test.neither, f"not {right_a} and not {right_b}"),
            *lines,
        ]
        how = (
            f"{'MAP' if run.ranks(0) else 'Accuracy'} in {found.items}: {names[0]} {score_percent(first)}, {names[1]} "
            f"{score_percent(second)}; {found.difference(other)}. McNemar’s exact test of whether both err equally "
            f"often: {found.p}."
        )
    shown, filters = [(name, f"{count:,}") for name, count, _ in lines], [expression for *_, expression in lines]
    title = f"{a.title} against {b.title}"
    return Figure(title, how, "Select a line to see its rows.", ("", "rows"), shown, filters)


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}".replace("-", "−")
