"""What Explore shows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.examples import EXAMPLES
from app.page_state.codec import Codec, one_of, parameter
from app.page_state.texts import Texts, TextState
from app.pairs import Pair
from core.effects import METHODS
from core.effects.words import TAKEN_AWAY

SHOWN: dict[str, str] = {
    "weight": "Weights, rows add up to 1",
    "column": "Columns add up to 1 (rescaled: not what the model used)",
    "score": "Raw scores before the softmax",
}
"""What the matrix may show, by its name in a link."""

TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""What the softmax's scores may be divided by, to see what if; models are trained at 1."""

NOTHING = "none"
"""In a link: no word is selected."""


@dataclass(frozen=True)
class Selection:
    """A word of the judged sentence (``row``), of its context (``column``) or, with both, a cell of the matrix; with
    neither, nothing is selected, not even the word that a page selects at first."""

    row: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        row = "" if self.row is None else f"x{self.row + 1}"
        column = "" if self.column is None else f"y{self.column + 1}"
        return row + column or NOTHING

    @classmethod
    def parse(cls, text: str) -> Selection | None:
        """``x6`` (6th judged word), ``y14`` (14th context word), ``x6y14`` (their cell) or ``none``; None for anything
        else."""
        if text == NOTHING:
            return cls()
        match = re.fullmatch(r"(?:x([1-9]\d{0,3}))?(?:y([1-9]\d{0,3}))?", text, re.ASCII)
        if not text or match is None:
            return None
        row, column = (None if group is None else int(group) - 1 for group in match.groups())
        return cls(row, column)

    def fits(self, rows: int, columns: int) -> bool:
        """Whether both words exist in a pair of ``rows`` judged and ``columns`` context words."""
        return (self.row is None or self.row < rows) and (self.column is None or self.column < columns)


_NOT_SHOWN = f"The link asks to show “{{}}”; it can ask for {', '.join(SHOWN)}: weights are shown."
_NO_WORD = (
    "The link selects “{}”, which names no word: write x6 (a word of the judged sentence), y14 (of its context), "
    "x6y14 (their cell) or none."
)


_NOT_OFFERED = (
    f"The link asks for the temperature “{{}}”; it can ask for {', '.join(f'{t:g}' for t in TEMPERATURES)}: 1 is used."
)


_NO_SWITCH = "The link says “{}” of crossings, which are off or left out: the model counts them as it was trained."


def _temperature(text: str) -> float | None:
    return next((t for t in TEMPERATURES if f"{t:g}" == text), None)


METHOD = Codec(
    "method",
    f"The link asks what words do by “{{}}”; it can ask by {', '.join(METHODS)}: the first is used.",
    one_of(METHODS),
)
"""How effects are asked for, by its name in a link."""


@dataclass(frozen=True)
class Candidates(Codec):
    """Candidate answers as they were typed; what is too long for a link goes without them."""

    def shortened(self, value: str) -> str:
        return ""


@dataclass(frozen=True)
class ExploreState(TextState):
    """All that decides what Explore shows. ``direction``: the role of the sentence whose words look, in a model whose
    both sentences do; None for the first. ``crossings``: whether the model counts the words that look across a word
    (q), where it can. ``method``: how effects of words are asked for. ``candidates``: other answers of the question,
    one a line."""

    page = "explore"
    texts: tuple[Pair, ...] = parameter((Pair(),), Texts(examples=EXAMPLES))
    show: str = parameter("weight", Codec("show", _NOT_SHOWN, one_of(SHOWN)))
    selection: Selection | None = parameter(None, Codec("select", _NO_WORD, Selection.parse), belongs_to=("texts",))
    temperature: float = parameter(1.0, Codec("temperature", _NOT_OFFERED, _temperature, "{:g}".format))
    direction: str | None = parameter(None, Codec("direction"), belongs_to=("model",))
    crossings: bool = parameter(
        True,
        Codec("crossings", _NO_SWITCH, lambda text: False if text == "off" else None, lambda counted: "off"),
        belongs_to=("model",),
    )
    method: str = parameter(TAKEN_AWAY, METHOD)
    candidates: str = parameter("", Candidates("candidates"))
