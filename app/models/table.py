"""The table of all models: task, training data, accuracy and speed, and the paper's number."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from app.examples import EXAMPLES, MAP_EXAMPLES, kind_of
from app.model_choice import Card, megabytes
from app.models import card as lines
from app.models import guest
from core.card import details, is_external
from core.checkpoint import CheckpointError, in_memory, load_named
from core.evaluation import sweeps
from core.explain import explain
from core.reading.reader import PairError

_REPEATS = 3
TIMES: dict[tuple[str, str], float | None] = {}
"""Milliseconds per explanation by name and checksum, as measured by this server."""


class Cell(NamedTuple):
    """A table cell: its text, and its sort key (None: last in either order)."""

    text: str
    by: str | float | None


UNKNOWN = Cell("–", None)


def row(name: str, title: str, card: Card, folder: Path) -> dict[str, Cell]:
    """A model's cells by column. ``title``: its display name. Accuracy and MAP cannot be compared, so they are sorted
    separately."""
    time = TIMES.get(_of(name, card))
    data = "elsewhere" if is_external(card) else ", ".join(data.name for data in details(card).data) or "–"
    return {
        "title": _text(title),
        "task": Cell("not named yet: open its card", "") if card.get("asked") else _text(str(card["task"])),
        "data": _text(data),
        "score": _measured(_held_out(card, folder)),
        "paper": _measured(lines.papers_result(card)),
        "size": _size_of_external(folder) if is_external(card) else _size(card),
        "time": Cell(_milliseconds(time), time),
    }


def ordered(rows: Mapping[str, Mapping[str, Cell]], sort: str | None) -> list[str]:
    """The names sorted by a column, with a leading - for descending; None keeps their order."""
    if sort is None:
        return [*rows]
    by: dict[str, Any] = {name: cells[sort.removeprefix("-")].by for name, cells in rows.items()}
    known = sorted((name for name in rows if by[name] is not None), key=by.__getitem__, reverse=sort.startswith("-"))
    return [*known, *(name for name in rows if by[name] is None)]


def _text(text: str) -> Cell:
    return Cell(text, text.lower())


def _size_of_external(folder: Path) -> Cell:
    numbers, size = guest.parameters(folder), guest.weights(folder)
    disk = f" ({megabytes(size)} on disk)" if size else ""
    return Cell((lines.count(numbers) if numbers else "–") + disk, numbers or None)


def _size(card: Card) -> Cell:
    weights = details(card).parameters
    return UNKNOWN if weights is None else Cell(lines.size(card), weights.model + weights.projection)


def _milliseconds(time: float | None) -> str:
    if time is None:
        return "–"
    return f"{time:.0f} ms" if time >= 9.5 else f"{time:.1f} ms"


def _held_out(card: Card, folder: Path) -> lines.Result | None:
    """The mean over runs with the same settings, if the model's folder has a table of folds or seeds; the model's own
    score is then biased (best seed on a small dev set, or tested on its training fold). Otherwise its own score."""
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


def _measured(result: lines.Result | None) -> Cell:
    if result is None:
        return UNKNOWN
    return Cell(f"{result.text} ({result.data})", result.value + (result.measure == "accuracy"))


def untimed(cards: Mapping[str, Card]) -> list[str]:
    """The models whose explanation this server has not timed and can time."""
    return [name for name, card in cards.items() if _of(name, card) not in TIMES and not _waits(name, card)]


def _waits(name: str, card: Card) -> bool:
    """Whether a model is not loaded just for timing: an external model may be of any size."""
    return is_external(card) and not in_memory(name)


def measure(name: str, card: Card) -> None:
    """Times explanations of an example: the median of three after a warm-up. An unusable model has no time."""
    try:
        checkpoint = load_named(name)
        first, second = _example(card)
        runs = [explain(checkpoint, first, second).milliseconds for _ in range(_REPEATS + 1)]
        TIMES[_of(name, card)] = statistics.median(runs[1:])
    except (CheckpointError, PairError):
        TIMES[_of(name, card)] = None


def _example(card: Card) -> tuple[str, str]:
    """Two sentences of typical length, or one text for a model of single texts."""
    if card["roles"]["second"]:
        return EXAMPLES[0].texts[0].now
    return next(example for example in MAP_EXAMPLES if example.kind == kind_of(card)).texts[0].now


def _of(name: str, card: Card) -> tuple[str, str]:
    return name, str(card.get("sha256"))
