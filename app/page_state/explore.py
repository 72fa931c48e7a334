"""Page state and its link: what Explore shows, as URL query parameters or, when too long for a link, as a small file.

The URL is the only place where state outlives a browser tab, so opening a copied link gives the same page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.examples import EXAMPLES
from app.page_state.address import asked_model, asked_pair, pair_parameters, read_file, short, short_enough, to_file

SHOWN: dict[str, str] = {
    "weight": "Weights, rows add up to 1",
    "column": "Weights, columns add up to 1 (not what the model used)",
    "score": "Raw scores before the softmax",
}
"""What the matrix may show, by its name in a link."""

PREFERRED_MODELS = ("nli-attconv-advanced", "nli-attconv-light")


@dataclass(frozen=True)
class Selection:
    """A word of the judged sentence (``row``), of its context (``column``) or, with both, a cell of the matrix."""

    row: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        row = "" if self.row is None else f"x{self.row + 1}"
        column = "" if self.column is None else f"y{self.column + 1}"
        return row + column

    @classmethod
    def parse(cls, text: str) -> Selection | None:
        """``x6`` (6th judged word), ``y14`` (14th context word) or ``x6y14`` (their cell); None for anything else."""
        match = re.fullmatch(r"(?:x([1-9]\d{0,3}))?(?:y([1-9]\d{0,3}))?", text, re.ASCII)
        if not text or match is None:
            return None
        row, column = (None if group is None else int(group) - 1 for group in match.groups())
        return cls(row, column)

    def fits(self, rows: int, columns: int) -> bool:
        """Whether both words exist in a pair of ``rows`` judged and ``columns`` context words."""
        return (self.row is None or self.row < rows) and (self.column is None or self.column < columns)


@dataclass(frozen=True)
class PageState:
    """All that decides what Explore shows. ``model`` is None when no checkpoint is there."""

    model: str | None
    first: str
    second: str
    selection: Selection | None = None
    show: str = "weight"

    def to_parameters(self) -> dict[str, str]:
        """Query parameters; an example's pair is named by its slug, which keeps the link short."""
        out = {} if self.model is None else {"model": self.model}
        out |= pair_parameters(self.first, self.second, EXAMPLES)
        if self.show != "weight":
            out["show"] = self.show
        if self.selection is not None and str(self.selection):
            out["select"] = str(self.selection)
        return out

    def link_parameters(self) -> dict[str, str] | None:
        """:meth:`to_parameters`, or None when they are too long for a link."""
        return short_enough(self.to_parameters())

    def to_file(self) -> str:
        """JSON text that :func:`from_file` opens again."""
        return to_file("explore", self.first, self.second, self.to_parameters())


def default_model(models: Sequence[str]) -> str | None:
    """The model that is shown when none is asked for."""
    return next((name for name in (*PREFERRED_MODELS, *models) if name in models), None)


def from_parameters(parameters: Mapping[str, str], models: Sequence[str]) -> tuple[PageState, list[str]]:
    """State of a link and one sentence for each value that could not be used. Never raises."""
    problems: list[str] = []
    model = asked_model(parameters, models, default_model(models), problems)
    first, second = asked_pair(parameters, EXAMPLES, problems)
    show = parameters.get("show", "weight")
    if show not in SHOWN:
        problems.append(f"The link asks to show “{short(show)}”; known are {', '.join(SHOWN)}: weights are shown.")
        show = "weight"
    selection = None
    if parameters.get("select"):
        selection = Selection.parse(parameters["select"])
        if selection is None:
            problems.append(
                f"The link selects “{short(parameters['select'])}”, which names no word: "
                "write x6 (a word of the judged sentence), y14 (of its context) or x6y14 (their cell)."
            )
    return PageState(model, first, second, selection, show), problems


def from_file(text: str, models: Sequence[str]) -> tuple[PageState | None, list[str]]:
    """State of a saved file, or None and one sentence when it is not such a file."""
    parameters, problems = read_file("explore", text)
    return (None, problems) if parameters is None else from_parameters(parameters, models)
