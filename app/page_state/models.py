"""The state of the page Models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from app.page_state.codec import PageState, one_of, parameter

COLUMNS = {
    "title": "Model",
    "score": "Measured",
    "task": "Task",
    "paper": "In the paper",
    "size": "Parameters",
    "time": "Explains in",
    "data": "Trained on",
}
"""Columns of the table of all models, by their names in a link."""
TEXTS = ("title", "task", "data")
"""The text columns."""


@dataclass(frozen=True)
class ModelsState(PageState):
    """Everything that determines what Models shows. ``model``: the model whose card is open, None for the table of all
    models; ``sort``: a column, with a leading - for descending, None for the order by task."""

    page = "models"
    model: str | None = parameter(None)
    sort: str | None = parameter(None, one_of((*COLUMNS, *(f"-{name}" for name in COLUMNS))))

    def sorted_by(self, column: str) -> Self:
        """A copy sorted by a column; a second click reverses the order."""
        first, second = (column, f"-{column}") if column in (*TEXTS, "time") else (f"-{column}", column)
        return replace(self, sort=second if self.sort == first else first)

    def suited(self, models: Mapping[str, str]) -> Self:
        return self if self.model in models else replace(self, model=None)
