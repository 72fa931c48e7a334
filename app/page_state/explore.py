"""The state of the page Explore."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from app.examples import EXAMPLES, ExampleTexts
from app.page_state.codec import matching, one_of, parameter, switch, whole_number
from app.page_state.texts import TextState
from app.pairs import Pair, Version
from core.adaptation.corrections import Correction, from_lines, to_lines
from core.checkpoint import CheckpointError, load_named
from core.effects import METHODS
from core.effects.attention_edits import AttentionEdit
from core.effects.edits import Edit, EditError, Split
from core.effects.history import AnyEdit, acting, parse_edit, words_after
from core.effects.links import Taken
from core.effects.words import TAKEN_AWAY
from core.layers.heads import parse_head
from core.reading.scripts import without_spaces
from core.reading.tokens import tokenize

SHOWN: dict[str, str] = {
    "weight": "Weights, rows add up to 1",
    "column": "Columns add up to 1 (rescaled: not what the model used)",
    "score": "Raw scores before the softmax",
}
"""The possible contents of the matrix, by their names in a link."""

SELECTION = r"none|(?=[xy])(x[1-9]\d{0,3})?(y[1-9]\d{0,3})?"
"""In a link: ``x6`` (6th judged word), ``y14`` (14th context word), ``x6y14`` (their cell) or ``none`` (not even the
default word)."""


def has_words(selection: str, rows: int, columns: int) -> bool:
    """Whether the selected words exist in a pair of ``rows`` judged and ``columns`` context words."""
    counts = {"x": rows, "y": columns}
    return all(int(number) <= counts[axis] for axis, number in re.findall(r"([xy])(\d+)", selection))


EVERY, HEADS = "all", "heads"
"""Alternatives to a rule for ablating links in a transformer: every link, not just the strongest; whole heads."""


DOORS = {"what-if": ("edits", "turns"), "how-sure": ("believed",), "details": ("links", "jacobians")}
"""The collapsible sections of the page, each with the settings that open it if the link does not list open sections."""

MOST_EDITS = 40
"""Maximum number of edits of a pair."""


def split_by(model: str | None, texts: Version) -> Split:
    """How a model splits these texts into the words that edits count; models differ only for scripts without spaces."""
    if model is not None and any(map(without_spaces, texts)):
        with contextlib.suppress(CheckpointError):
            return load_named(model).reader.tokens
    return tokenize


def _head(text: str) -> str | None:
    return text if parse_head(text) is not None else None


def _doors(text: str) -> str | None:
    return text if text == "none" or {*text.split()} <= DOORS.keys() else None


def opened(doors: str, *more: str) -> str:
    """Adds ``more`` to the open sections."""
    return " ".join(door for door in DOORS if door in (*doors.split(), *more))


def _edits(text: str) -> tuple[AnyEdit | None, ...]:
    """Parses manual edits in their text form, one per line; None for an invalid line."""
    edits: list[AnyEdit | None] = []
    for line in text.split("\n"):
        try:
            edits.append(parse_edit(line))
        except EditError:
            edits.append(None)
    return tuple(edits)


_OF_PAIR = ("model", "texts", "edits")


@dataclass(frozen=True)
class ExploreState(TextState):
    """Everything that determines what Explore shows.

    - ``direction``: the role of the sentence whose words attend, in a model with two directions; None for the first;
    - ``head``: the transformer head to show, empty for the card's first one;
    - ``method``: for word effects; ``drawn``: whether the slow default method was chosen for a slow model;
    - ``links``: how links are ablated when their effects are requested, else empty;
    - ``believed``: whether faithfulness is requested;
    - ``jacobians``: whether integrated Jacobians are requested, for a bi-encoder;
    - ``candidates``: other answers to the question, one per line;
    - ``corrections``: the pairs for which the user named the right class;
    - ``open``: the open sections of the page (:data:`DOORS`); empty: those with a setting; or ``none``.

    ``texts`` are the pair as typed, and ``edits`` the manual changes to it, or to the model's attention, since then;
    ``step``: how many of them are in effect, None for all; ``turns``: whether the smallest changes that flip the
    verdict are requested. The page shows the pair after these edits (:attr:`pair`)."""

    page = "explore"
    all_examples = EXAMPLES
    show: str = parameter("weight", one_of(SHOWN), asked=True)
    selection: str | None = parameter(None, matching(SELECTION), name="select", belongs_to=("texts",))
    direction: str | None = parameter(None, belongs_to=("model",))
    head: str = parameter("", _head, belongs_to=("model",), asked=True)
    method: str = parameter(TAKEN_AWAY, one_of(METHODS), asked=True)
    drawn: str = parameter("", one_of(("few", "all")), belongs_to=_OF_PAIR, asked=True)
    links: str = parameter("", one_of((*Taken, EVERY, HEADS)), asked=True)
    believed: bool = switch(False, belongs_to=_OF_PAIR, asked=True)
    jacobians: bool = switch(False, belongs_to=_OF_PAIR, asked=True)
    candidates: str = parameter("", long=True)
    corrections: tuple[Correction, ...] = parameter((), from_lines, to_lines, long=True)
    edits: tuple[AnyEdit, ...] = parameter((), _edits, lambda edits: "\n".join(map(str, edits)), belongs_to=("texts",))
    step: int | None = parameter(None, whole_number(), belongs_to=("texts", "edits"))
    turns: bool = switch(False, belongs_to=(*_OF_PAIR, "step"), asked=True)
    open: str = parameter("", _doors, asked=True)

    @property
    def doors(self) -> str:
        """The open sections of the page."""
        return self.open or opened("", *(door for door, names in DOORS.items() if any(getattr(self, n) for n in names)))

    def suited(self, models: Mapping[str, str]) -> Self:
        """Edits from the first impossible one on are dropped. Attention edits that do not fit the model are reported
        elsewhere: they are kept for another model, or for another pair of words."""
        state = super().suited(models)
        texts, possible = state.texts[0].now, list[AnyEdit]()
        with contextlib.suppress(EditError):
            for edit in state.edits[:MOST_EDITS]:
                if edit is None:
                    break
                texts = words_after(texts, [edit], split_by(state.model, texts))
                possible.append(edit)
        step = state.step if state.step is None or state.step <= len(possible) else None
        return replace(state, edits=tuple(possible), step=step)

    @property
    def made(self) -> tuple[AnyEdit, ...]:
        """The edits in effect."""
        return self.edits[: self.step]

    @property
    def attention(self) -> tuple[AttentionEdit, ...]:
        """The edits in effect that change attention between the current words."""
        return acting(self.made)

    @property
    def reworded(self) -> bool:
        """Whether any edit in effect has changed the words."""
        return any(isinstance(edit, Edit) for edit in self.made)

    @property
    def pair(self) -> Pair:
        """The pair after the edits, which all pages share."""
        if not self.reworded:
            return self.texts[0]
        texts = self.texts[0].now
        return Pair(*words_after(texts, self.made, split_by(self.model, texts)))

    @property
    def example(self) -> ExampleTexts | None:
        """The example shown, None for the user's own texts and for an edited example."""
        return None if self.reworded else super().example
