"""The findings of a run, as sentences with row counts and intervals, each with the filter for its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.desk import charts
from core.desk.against import Comparison
from core.desk.filters import literal
from core.desk.found_slices import search
from core.desk.run import LETTERS, Run, column_of
from core.desk.slices import Items
from core.desk.table import RunTable
from core.evaluation.intervals import wilson
from core.wording import capital, counted, score_percent

MOST_SLICES = 5
"""Maximum number of slices per model, so that the sentences fit on a page."""


@dataclass(frozen=True)
class Finding:
    """A sentence, and the filter for its rows."""

    sentence: str
    expression: str


def findings(run: Run, table: RunTable) -> list[Finding]:
    """All findings: each model's score, its largest group of errors, the slices confirmed on the held-back half, and
    the first model compared with each other one."""
    found = list[Finding]()
    for i in range(len(run.models)):
        if run.labelled or run.grades(i):
            found.append(_score(run, i))
        if run.labelled and not run.grades(i):
            found += [*_errors(run, i), *_slices(run, i, table)]
    if run.labelled:
        found += [_against(run, other) for other in range(1, len(run.models))]
    return found


def _score(run: Run, model: int) -> Finding:
    grades = run.grades(model)
    count = len((grades or [Items.of(run, model).scores])[0])
    items = counted(count, "question" if run.ranks(model) else "row")
    return Finding(f"The score of {_name(run, model)} in {items}: {charts.headline(run, model)}.", "")


def _errors(run: Run, model: int) -> Iterator[Finding]:
    """The most frequent pair of a label and a wrong prediction."""
    wrong = run.judged & ~run.right(model)
    predictions = run.models[model]
    pairs = zip(run.gold[wrong].tolist(), predictions.predicted[wrong].tolist(), strict=True)
    for (label, predicted), count in Counter(pairs).most_common(1):
        total, name = int(wrong.sum()), column_of("predicted", model)
        low, high = wilson(count, total)
        sentence = (
            f"Its most frequent error is to predict {predicted} where the label is {label}: {count:,} of "
            f"{counted(total, 'error')}, {score_percent(count / total)} ({score_percent(low)} – {score_percent(high)})."
        )
        yield Finding(sentence, f"gold = {literal(label)} and {name} = {literal(predicted)}")


def _slices(run: Run, model: int, table: RunTable) -> Iterator[Finding]:
    """The confirmed slices, with their numbers on the held-back half."""
    measure = "MAP" if run.ranks(model) else "accuracy"
    holding = [one.held_back for one in search(run, model, table).found if one.holds]
    for score in holding[:MOST_SLICES]:
        difference = 100 * (score.score - score.outside)
        sentence = (
            f"{score.slice.dimension}: {score.slice.value}. Here the {measure} of {LETTERS[model]} is "
            f"{score_percent(score.score)} ({score_percent(score.low)} – {score_percent(score.high)}, "
            f"n = {score.items:,}), {abs(difference):.1f} points {'higher' if difference > 0 else 'lower'} than in all "
            f"other rows ({'q < 0.001' if score.q < 0.001 else f'q = {score.q:.3f}'}; held-back half)."
        )
        yield Finding(capital(sentence), f"({score.slice.expression}) and held_back")


def _against(run: Run, other: int) -> Finding:
    found = Comparison.of(run, other, np.ones(len(run.keys), dtype=bool))
    first, second = found.scores
    sentence = (
        f"{_name(run, 0)} scores {score_percent(first)} and {_name(run, other)} {score_percent(second)} in "
        f"{found.items}; {found.difference(other)}. Only {LETTERS[0]} is right in "
        f"{counted(found.test.only_first, 'row')}, only {LETTERS[other]} in {found.test.only_second:,} (McNemar’s "
        f"exact test: {found.p})."
    )
    return Finding(sentence, f"{column_of('right', 0)} != {column_of('right', other)}")


def _name(run: Run, model: int) -> str:
    return f"{LETTERS[model]} ({run.models[model].title})"
