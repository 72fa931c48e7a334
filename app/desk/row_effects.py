"""The effect of each word in the open row on the models' predictions, requested by the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app import components
from app.desk.open_run import PAGE, OpenRun, checkpoint_named
from core.desk.run import LETTERS
from core.wording import class_names


@dataclass(frozen=True)
class RowModel:
    """An installed model of the run. ``names``: its class names by label."""

    letter: str
    question: Mapping[str, str]
    names: Mapping[str, str]


@dataclass(frozen=True)
class RowEffects:
    """One question per model about the row."""

    models: Sequence[RowModel]


def draw(opened: OpenRun, place: int) -> None:
    """Draws the words with the largest effects, for each installed model."""
    row, models = opened.run.dataset.rows[place], list[RowModel]()
    for number, model in enumerate(opened.run.models):
        name = checkpoint_named(model)
        if name is not None:
            question = {"model": name, "first": row.first, "second": row.second}
            names = dict(zip(model.labels, class_names(model.labels, model.roles.judged), strict=True))
            models.append(RowModel(LETTERS[number], question, names))
    if models:
        frame = components.Frame(projector=PAGE.state.projector)
        components.draw("rowEffects", RowEffects(models), frame, key="row effects")
