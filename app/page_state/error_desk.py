"""The state of the Error desk, without the annotator's name."""

from __future__ import annotations

from dataclasses import dataclass

from app.page_state.codec import PageState, matching, one_of, parameter, whole_number
from core.desk.filters import LONGEST
from core.desk.run import MOST_MODELS

VIEWS = {
    "rows": "Rows",
    "scores": "Scores",
    "slices": "Slices",
    "words": "Strongest words",
    "perturbations": "Perturbations",
    "map": "Map",
    "against": "A against B",
    "tags": "Tags",
    "labels": "Labels",
    "files": "Export",
}
"""Parts of the page by their name in a link."""
UNPREDICTED = ("rows", "labels", "tags", "files")
"""The parts for a file that no model has predicted."""

_CHECKSUM = matching("[0-9a-f]{16}")
_OF_FILE = ("file",)


def _models(text: str) -> tuple[str, ...] | None:
    models = tuple(text.split("."))
    return models if len(models) <= MOST_MODELS and all(map(_CHECKSUM, models)) else None


@dataclass(frozen=True)
class DeskState(PageState):
    """Everything that determines what the Error desk shows. ``file`` and ``models`` are beginnings of checksums;
    ``row``: the key of the open row; ``of``: the model of the figures, by its position from 1; ``sort``: a column, with
    a leading - for descending; ``columns``: the formulas of the user's own columns, one per line."""

    page = "error desk"
    file: str | None = parameter(None, _CHECKSUM)
    models: tuple[str, ...] = parameter((), _models, ".".join)
    view: str = parameter("rows", one_of(VIEWS), belongs_to=_OF_FILE)
    filter: str = parameter("", lambda text: text[:LONGEST], belongs_to=_OF_FILE, long=True)
    sort: str = parameter("", belongs_to=_OF_FILE)
    row: str = parameter("", belongs_to=_OF_FILE)
    of: int = parameter(1, whole_number(1, MOST_MODELS), belongs_to=("file", "models"))
    columns: str = parameter("", lambda text: text[:LONGEST], belongs_to=_OF_FILE, long=True)
