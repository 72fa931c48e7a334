"""What the page Phrases shows, as URL query parameters or, when too long for a link, as a small file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.examples import PHRASE_EXAMPLES
from app.page_state.address import asked_model, asked_pair, pair_parameters, read_file, short, short_enough, to_file

LARGEST_K = 10
"""k goes from 1 to this (the paper's figure 6)."""

PREFERRED_MODELS = ("te-phrases-kmin", "te-phrases-kmax", "as-phrases-kmax", "as-phrases-kmin")
"""The first that is there is shown when none is asked for; the list of models begins with them."""


@dataclass(frozen=True)
class PickedPhrase:
    """A phrase of the first (``side`` 0) or of the second sentence, by its place in the paper's order."""

    side: int
    index: int

    def __str__(self) -> str:
        return f"{'ab'[self.side]}{self.index + 1}"

    @classmethod
    def parse(cls, text: str) -> PickedPhrase | None:
        """``a12`` (12th phrase of the first sentence) or ``b3`` (3rd of the second); None for anything else."""
        match = re.fullmatch(r"([ab])([1-9]\d{0,4})", text, re.ASCII)
        return None if match is None else cls("ab".index(match[1]), int(match[2]) - 1)

    def fits(self, counts: Sequence[int]) -> bool:
        """Whether the sentence has that many phrases."""
        return self.index < counts[self.side]


@dataclass(frozen=True)
class PhrasePage:
    """All that decides what Phrases shows. ``model`` is None when no phrase model is there, ``k`` None for the one that
    the model was trained with."""

    model: str | None
    first: str
    second: str
    k: int | None = None
    selection: PickedPhrase | None = None

    def to_parameters(self) -> dict[str, str]:
        """Query parameters; an example's pair is named by its slug."""
        out = {} if self.model is None else {"model": self.model}
        out |= pair_parameters(self.first, self.second, PHRASE_EXAMPLES)
        if self.k is not None:
            out["k"] = str(self.k)
        if self.selection is not None:
            out["select"] = str(self.selection)
        return out

    def link_parameters(self) -> dict[str, str] | None:
        """:meth:`to_parameters`, or None when they are too long for a link."""
        return short_enough(self.to_parameters())

    def to_file(self) -> str:
        """JSON text that :func:`from_file` opens again."""
        return to_file("phrases", self.first, self.second, self.to_parameters())


def default_model(models: Sequence[str]) -> str | None:
    """The model that is shown when none is asked for."""
    return next((name for name in (*PREFERRED_MODELS, *models) if name in models), None)


def from_parameters(parameters: Mapping[str, str], models: Sequence[str]) -> tuple[PhrasePage, list[str]]:
    """State of a link and one sentence for each value that could not be used. Never raises."""
    problems: list[str] = []
    model = asked_model(parameters, models, default_model(models), problems, "phrase model")
    first, second = asked_pair(parameters, PHRASE_EXAMPLES, problems)
    k = None
    if parameters.get("k"):
        k = int(parameters["k"]) if re.fullmatch(r"[1-9]\d?", parameters["k"], re.ASCII) else 0
        if not 1 <= k <= LARGEST_K:
            problems.append(
                f"The link asks for k = “{short(parameters['k'])}”; k is a whole number from 1 to {LARGEST_K}: "
                "the trained one is shown."
            )
            k = None
    selection = None
    if parameters.get("select"):
        selection = PickedPhrase.parse(parameters["select"])
        if selection is None:
            problems.append(
                f"The link selects “{short(parameters['select'])}”, which names no phrase: "
                "write a12 (12th phrase of the first sentence) or b3 (3rd of the second)."
            )
    return PhrasePage(model, first, second, k, selection), problems


def from_file(text: str, models: Sequence[str]) -> tuple[PhrasePage | None, list[str]]:
    """State of a saved file, or None and one sentence when it is not such a file."""
    parameters, problems = read_file("phrases", text)
    return (None, problems) if parameters is None else from_parameters(parameters, models)
