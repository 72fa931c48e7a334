"""The table of all models: what each was made for and of, how well and how fast it judges, and the paper's number."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.examples import EXAMPLES, MAP_EXAMPLES, kind_of
from app.model_choice import Card, is_external, megabytes
from app.models import card as lines
from app.models import guest
from core.card import details
from core.checkpoint import CheckpointError, in_memory, load_named
from core.evaluation import sweeps
from core.explain import explain
from core.reading.reader import PairError

_REPEATS = 3
TIMES: dict[tuple[str, str], float | None] = {}
"""Milliseconds of one explanation by name and checksum, as far as this server has measured them."""


@dataclass(frozen=True)
class TableCell:
    """A cell of the table of models: its text, its second line and its sort key (None: last in either order)."""

    text: str
    by: str | float | None
    note: str = ""


@dataclass(frozen=True)
class ModelRow:
    """One line of the table: a cell a column."""

    name: str
    cells: dict[str, TableCell]


@dataclass(frozen=True)
class Table:
    """All models."""

    models: tuple[ModelRow, ...]


def row(name: str, card: Card, folder: Path) -> ModelRow:
    """A model's row. Accuracy and MAP can't be compared, so they are sorted separately."""
    known, time = _of(name, card) in TIMES, TIMES.get(_of(name, card))
    title, data = str(card["title"]), ", ".join(lines.trained_on(card))
    return ModelRow(
        name,
        {
            "title": TableCell(title, title.lower(), name),
            "task": _task(card),
            "data": TableCell("elsewhere", "elsewhere") if is_external(card) else TableCell(data or "–", data.lower()),
            "score": _measured(_held_out(card, folder)),
            "paper": _measured(lines.papers_result(card)),
            "size": _size_of_external(folder) if is_external(card) else _size(card),
            "time": TableCell(_milliseconds(time) if known else "–" if _waits(name, card) else "…", time),
        },
    )


def _task(card: Card) -> TableCell:
    if card.get("asked"):
        return TableCell("not said yet", "", "what its classes mean: open its card")
    return TableCell(str(card["task"]), str(card["task"]))


def _size_of_external(folder: Path) -> TableCell:
    numbers, size = guest.parameters(folder), guest.weights(folder)
    note = f"{megabytes(size)} on disk" if size else ""
    return TableCell(lines.count(numbers) if numbers else "–", numbers or None, note)


def _size(card: Card) -> TableCell:
    weights = details(card).parameters
    if weights is None:
        return TableCell("–", None)
    note = f"+ {lines.count(weights.projection)} projection" if weights.projection else ""
    return TableCell(lines.count(weights.model), weights.model + weights.projection, note)


def _milliseconds(time: float | None) -> str:
    if time is None:
        return "–"
    return f"{time:.0f} ms" if time >= 9.5 else f"{time:.1f} ms"


def _held_out(card: Card, folder: Path) -> lines.Result | None:
    """The mean over runs with the same settings, if the model's folder has a table of folds or seeds; the model's own
    score is then biased (best seed on a small dev set, or tested on its training fold). Otherwise the model's score."""
    result = lines.first_result(card)
    if result is None:
        return None
    config = card.get("config") or {}
    for kind in ("folds", "seeds"):
        with contextlib.suppress(sweeps.SweepError):
            table = sweeps.read(folder / f"{kind}.csv")
            if isinstance(table, sweeps.Comparisons):
                continue
            for varied, means in table.variants:
                # In a table of single folds the last row is their mean, without a fold.
                fits = all(str(config.get(key.removeprefix("model."), "")) == value for key, value in varied.items())
                if fits and result.measure in means:
                    mean = means[result.measure]
                    text = sweeps.text(mean, result.measure)
                    text = f"MAP {text}" if result.measure == "map" else text
                    return lines.Result(text, f"{table.dev}, {mean.runs} {kind}", result.measure, mean.value)
    return result


def _measured(result: lines.Result | None) -> TableCell:
    if result is None:
        return TableCell("–", None)
    return TableCell(result.text, result.value + (result.measure == "accuracy"), result.data)


def unmeasured(cards: Mapping[str, Card]) -> list[str]:
    """Models whose explanation was not timed yet."""
    return [name for name, card in cards.items() if _of(name, card) not in TIMES and not _waits(name, card)]


def _waits(name: str, card: Card) -> bool:
    """Whether a model is not loaded for being timed: an external model may be of any size."""
    return is_external(card) and not in_memory(name)


def measure(name: str, card: Card) -> None:
    """Time explanations of an example: the median of three after one more. A model that cannot be used has no time."""
    try:
        checkpoint = load_named(name)
        first, second = _example(card)
        runs = [explain(checkpoint, first, second).milliseconds for _ in range(_REPEATS + 1)]
        TIMES[_of(name, card)] = statistics.median(runs[1:])
    except (CheckpointError, PairError):
        TIMES[_of(name, card)] = None


def _example(card: Card) -> tuple[str, str]:
    """Two sentences of the models' usual length, or one text for a model that reads a single one."""
    if card["roles"]["second"]:
        return EXAMPLES[0].texts[0].now
    return next(example for example in MAP_EXAMPLES if example.kind == kind_of(card)).texts[0].now


def _of(name: str, card: Card) -> tuple[str, str]:
    return name, str(card.get("sha256"))
