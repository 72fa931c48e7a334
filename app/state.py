"""Page state and its link: what Explore shows, as URL query parameters or, when too long for a link, as a small file.

The URL is the only place where state outlives a browser tab, so opening a copied link gives the same page. Wrong values
each give one sentence and a fallback; nothing here raises for what a person may have typed into an address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from app.examples import DEFAULT, by_slug, matching

LINK_LIMIT = 2000
"""Characters of a query string that browsers, mail and chat programs pass on whole."""

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
        example = matching(self.first, self.second)
        if example is not None:
            out["example"] = example.slug
        else:
            out |= {"first": self.first, "second": self.second}
        if self.show != "weight":
            out["show"] = self.show
        if self.selection is not None and str(self.selection):
            out["select"] = str(self.selection)
        return out

    def link_parameters(self) -> dict[str, str] | None:
        """:meth:`to_parameters`, or None when they are too long for a link."""
        parameters = self.to_parameters()
        return parameters if len(urlencode(parameters, errors="replace")) <= LINK_LIMIT else None

    def to_file(self) -> str:
        """JSON text that :func:`from_file` opens again."""
        return json.dumps({"pairlens": "explore", "version": 1, **self.to_parameters()}, ensure_ascii=False, indent=1)


def default_model(models: Sequence[str]) -> str | None:
    """The model that is shown when none is asked for."""
    return next((name for name in (*PREFERRED_MODELS, *models) if name in models), None)


def from_parameters(parameters: Mapping[str, str], models: Sequence[str]) -> tuple[PageState, list[str]]:
    """State of a link and one sentence for each value that could not be used. Never raises."""
    problems: list[str] = []
    model = default_model(models)
    asked = parameters.get("model")
    if asked is not None and asked in models:
        model = asked
    elif asked is not None:
        instead = "no model is installed" if model is None else f"{model} is shown instead"
        problems.append(f"The link asks for the model “{_short(asked)}”, which is not here: {instead}.")
    first, second = _pair(parameters, problems)
    show = parameters.get("show", "weight")
    if show not in SHOWN:
        problems.append(f"The link asks to show “{_short(show)}”; known are {', '.join(SHOWN)}: weights are shown.")
        show = "weight"
    selection = None
    if parameters.get("select"):
        selection = Selection.parse(parameters["select"])
        if selection is None:
            problems.append(
                f"The link selects “{_short(parameters['select'])}”, which names no word: "
                "write x6 (a word of the judged sentence), y14 (of its context) or x6y14 (their cell)."
            )
    return PageState(model, first, second, selection, show), problems


def _pair(parameters: Mapping[str, str], problems: list[str]) -> tuple[str, str]:
    if "first" in parameters or "second" in parameters:
        return parameters.get("first", ""), parameters.get("second", "")
    slug = parameters.get("example", DEFAULT.slug)
    example = by_slug(slug)
    if example is None:
        problems.append(f"The link asks for the example “{_short(slug)}”, which does not exist: the first is shown.")
        example = DEFAULT
    return example.first, example.second


def from_file(text: str, models: Sequence[str]) -> tuple[PageState | None, list[str]]:
    """State of a saved file, or None and one sentence when it is not such a file."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("pairlens") != "explore" or data.get("version") != 1:
        return None, ["This file is no pair saved by this page: choose one that “Save this pair” wrote."]
    return from_parameters({key: value for key, value in data.items() if isinstance(value, str)}, models)


def _short(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
