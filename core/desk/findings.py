"""The findings of a run, as sentences with row counts and intervals, each with the filter for its rows and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.desk import charts
from core.desk.against import Comparison
from core.desk.filters import compiled, literal
from core.desk.found_slices import search
from core.desk.run import LETTERS, Run, column_of
from core.desk.slices import Items, SliceScore
from core.desk.table import RunTable
from core.evaluation.intervals import wilson
from core.wording import capital, counted, score_percent

MOST_SLICES = 5
"""Maximum number of slices, so that the sentences fit on a page."""
MOST_EXAMPLES = 3
"""Maximum number of example rows of a finding."""
SAME_ROWS = 0.4
"""Two slices are one finding if their rows correlate at least so much (φ), or are each other's complement."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class Finding:
    """A sentence, the filter for its rows, and the indices of a few of them, chosen by a hash of their ids."""

    sentence: str
    expression: str
    examples: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Confirmed:
    """A slice confirmed for a model, and its rows, bool ``[N]``."""

    model: int
    score: SliceScore
    rows: np.ndarray

    @property
    def difference(self) -> float:
        """The score here minus the score of all other rows."""
        return self.score.score - self.score.outside

    @property
    def about(self) -> str:
        """The slice in words."""
        return f"{self.score.slice.dimension}: {self.score.slice.value}"


def findings(run: Run, table: RunTable) -> list[Finding]:
    """All findings: each model's score and its largest group of errors, the slices confirmed on the held-back half, and
    the first model compared with each other one."""
    found = list[Finding]()
    models = range(len(run.models))
    for i in models:
        if run.labelled or run.grades(i):
            found.append(_score(run, i))
        if run.labelled and not run.grades(i):
            found += _errors(run, i)
    if run.labelled:
        found += _slices(run, table, [i for i in models if not run.grades(i)])
        found += [_against(run, other) for other in models[1:]]
    return found


def _examples(run: Run, rows: np.ndarray) -> tuple[int, ...]:
    """A few of these rows (bool ``[N]``)."""
    places = np.flatnonzero(rows)
    return tuple(places[np.argsort(run.draws[places], kind="stable")[:MOST_EXAMPLES]].tolist())


def _score(run: Run, model: int) -> Finding:
    grades = run.grades(model)
    count = len((grades or [Items.of(run, model).scores])[0])
    items = counted(count, "question" if run.ranks(model) else "row")
    sentence = f"The score of {_name(run, model)} in {items}: {charts.headline(run, model)}."
    return Finding(sentence, "", () if grades else _examples(run, run.judged & ~run.right(model)))


def _errors(run: Run, model: int) -> Iterator[Finding]:
    """The most frequent pair of a label and a wrong prediction."""
    wrong = run.judged & ~run.right(model)
    predictions = run.models[model]
    pairs = zip(run.gold[wrong].tolist(), predictions.predicted[wrong].tolist(), strict=True)
    for (label, predicted), count in Counter(pairs).most_common(1):
        total, name = int(wrong.sum()), column_of("predicted", model)
        low, high = wilson(count, total)
        sentence = (
            f"The most frequent error of {_name(run, model)} is to predict {predicted} where the label is {label}: "
            f"{count:,} of {counted(total, 'error')}, {score_percent(count / total)} "
            f"({score_percent(low)} – {score_percent(high)})."
        )
        rows = wrong & (run.gold == label) & (predictions.predicted == predicted)
        yield Finding(sentence, f"gold = {literal(label)} and {name} = {literal(predicted)}", _examples(run, rows))


def _slices(run: Run, table: RunTable, models: Sequence[int]) -> Iterator[Finding]:
    """The confirmed slices of these models with their numbers on the held-back half. Slices that depend on a prediction
    come last, and slices of more than half of the rows after their complements. Slices with nearly the same rows, and
    complements, are merged into one finding."""
    confirmed = list[_Confirmed]()
    for i in models:
        scores = [one.held_back for one in search(run, i, table).found if one.holds]
        conditions = [compiled(score.expression, table.columns) for score in scores]
        masks = table.masks(conditions).columns if conditions else list[Any]()
        confirmed += [_Confirmed(i, *known) for known in zip(scores, (mask.to_numpy() for mask in masks), strict=True)]
    confirmed.sort(key=lambda one: ("prediction of" in one.about, one.rows.mean() > 0.5, -one.score.weight))
    groups = list[list[_Confirmed]]()
    for one in confirmed:
        group = next((known for known in groups if any(_alike(other, one) for other in known)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    for group in groups[:MOST_SLICES]:
        yield _of_group(run, group)


def _alike(one: _Confirmed, other: _Confirmed) -> bool:
    """Whether two slices say the same: much the same rows with a difference in the same direction, or complements with
    opposite ones; or one adds a condition to the other."""
    expressions = sorted((one.score.expression, other.score.expression), key=len)
    narrower = expressions[1].startswith(f"{expressions[0]} and ") or expressions[1].endswith(f" and {expressions[0]}")
    with np.errstate(invalid="ignore"):
        phi = float(np.corrcoef(one.rows, other.rows)[0, 1])
    same = one.difference * other.difference > 0
    return (same and (narrower or phi >= SAME_ROWS)) or (not same and phi <= -SAME_ROWS)


def _of_group(run: Run, group: Sequence[_Confirmed]) -> Finding:
    """The first slice, with the numbers of each model for which it is confirmed, and the names of the others."""
    first, named = group[0], list[str]()
    parts, by_model = list[str](), dict[int, _Confirmed]()
    for one in group:
        if one.score.expression == first.score.expression:
            by_model.setdefault(one.model, one)
        elif one.difference * first.difference > 0 and one.about not in named:
            named.append(one.about)
    for model, one in sorted(by_model.items()):
        score, measure = one.score, "MAP" if run.ranks(model) else "accuracy"
        q = "q < 0.001" if score.q < 0.001 else f"q = {score.q:.3f}"
        parts.append(
            f"the {measure} of {_name(run, model)} is {score_percent(score.score)} ({score_percent(score.low)} – "
            f"{score_percent(score.high)}, n = {score.items:,}), {100 * abs(one.difference):.1f} points "
            f"{'higher' if one.difference > 0 else 'lower'} than in all other rows ({q}; held-back half)"
        )
    sentence = f"{capital(first.about)}. Here {'; '.join(parts)}."
    if named:
        more = f" and {counted(len(named) - _MOST_NAMED, 'more slice')}" if len(named) > _MOST_NAMED else ""
        sentence += f" Much the same rows: {'; '.join(named[:_MOST_NAMED])}{more}."
    expression = f"({first.score.expression}) and held_back"
    rows = first.rows & run.held_back & run.judged
    telling = rows & (run.right(first.model) == (first.difference > 0))
    return Finding(sentence, expression, _examples(run, telling if telling.any() else rows))


def _against(run: Run, other: int) -> Finding:
    found = Comparison.of(run, other, np.ones(len(run.keys), dtype=bool))
    first, second = found.scores
    sentence = (
        f"{_name(run, 0)} scores {score_percent(first)} and {_name(run, other)} {score_percent(second)} in "
        f"{found.items}; {found.difference(other)}. Only {LETTERS[0]} is right in "
        f"{counted(found.test.only_first, 'row')}, only {LETTERS[other]} in {found.test.only_second:,} (McNemar’s "
        f"exact test: {found.p})."
    )
    differing = run.judged & (run.right(0) != run.right(other))
    expression = f"{column_of('right', 0)} != {column_of('right', other)}"
    return Finding(sentence, expression, _examples(run, differing))


def _name(run: Run, model: int) -> str:
    return f"{LETTERS[model]} ({run.models[model].title})"
