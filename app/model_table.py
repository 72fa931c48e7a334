"""The table of all models: what each was made for and of, how well and how fast it judges, and the paper's number."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from app.examples import EXAMPLES, MAP_EXAMPLES, kind_of
from app.panels import card as lines
from app.panels.panel import Payload
from core.checkpoint import CheckpointError, load_named
from core.evaluation import sweeps
from core.explain import explain
from core.reading.reader import PairError

Card = Mapping[str, Any]
_REPEATS = 5
_KEY = "explain times"


def row(name: str, card: Card, folder: Path) -> Payload:
    """One line: what each column shows (``text``, and a second line ``note``), and what it is sorted by (``by``; None:
    last either way). Accuracy and MAP are no numbers of one kind: they are sorted apart."""
    known, time = _of(name, card) in times(), times().get(_of(name, card))
    score, paper = _held_out(card, folder), lines.papers_result(card)
    weights = lines.parameters(card)
    return {
        "name": name,
        "cells": {
            "title": {"text": str(card["title"]), "note": name, "by": str(card["title"]).lower()},
            "task": {"text": str(card["task"]), "by": str(card["task"])},
            "data": {"text": ", ".join(lines.trained_on(card)) or "–", "by": ", ".join(lines.trained_on(card)).lower()},
            "score": _measured(score),
            "paper": _measured(paper),
            "size": {
                "text": lines.count(weights[0]) if weights else "–",
                "note": f"+ {lines.count(weights[1])} projection" if weights and weights[1] else "",
                "by": sum(weights) if weights else None,
            },
            "time": {
                "text": _milliseconds(time) if known else "…",
                "by": time,
            },
        },
    }


def _milliseconds(time: float | None) -> str:
    if time is None:
        return "–"
    return f"{time:.0f} ms" if time >= 9.5 else f"{time:.1f} ms"


def _held_out(card: Card, folder: Path) -> lines.Result | None:
    """The mean of runs of the same settings, from the table of folds or seeds beside the card: where there is one, the
    model's own score is that of the best seed on a small dev set, or of one that it was trained on. Else its own."""
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
                # Of folds one by one the last row is their mean, with no fold of its own.
                fits = all(str(config.get(key.removeprefix("model."), "")) == value for key, value in varied.items())
                if fits and result.measure in means:
                    mean = means[result.measure]
                    text = sweeps.text(mean, result.measure)
                    text = f"MAP {text}" if result.measure == "map" else text
                    return lines.Result(text, f"{table.dev}, {mean.runs} {kind}", result.measure, mean.value)
    return result


def _measured(result: lines.Result | None) -> Payload:
    if result is None:
        return {"text": "–", "note": "", "by": None}
    return {"text": result.text, "note": result.data, "by": result.value + (result.measure == "accuracy")}


def times() -> dict[tuple[str, str], float | None]:
    """Milliseconds of one explanation by name and checksum, as far as this server has measured them."""
    return _measured_times()


@st.cache_resource(show_spinner=False)
def _measured_times() -> dict[tuple[str, str], float | None]:
    return {}


def unmeasured(cards: Mapping[str, Card]) -> list[str]:
    """Models whose explanation was not timed yet."""
    return [name for name, card in cards.items() if _of(name, card) not in times()]


def measure(name: str, card: Card) -> None:
    """Time explanations of an example: the median of five after one more. A model that cannot be used has no time."""
    try:
        checkpoint = load_named(name)
        first, second = _example(card)
        runs = [explain(checkpoint, first, second).milliseconds for _ in range(_REPEATS + 1)]
        times()[_of(name, card)] = statistics.median(runs[1:])
    except (CheckpointError, PairError):
        times()[_of(name, card)] = None


def _example(card: Card) -> tuple[str, str]:
    """Two sentences of the models' usual length, or one text for a model that reads a single one."""
    if card["roles"]["second"]:
        return EXAMPLES[0].texts[0].now
    return next(example for example in MAP_EXAMPLES if example.kind == kind_of(card)).texts[0].now


def _of(name: str, card: Card) -> tuple[str, str]:
    return name, str(card.get("sha256"))
