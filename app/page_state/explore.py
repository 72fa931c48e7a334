"""What Explore shows."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.examples import EXAMPLES, Example
from app.page_state.codec import Address, Codec, one_of, parameter, switch, whole_number
from app.page_state.texts import Texts, TextState
from app.pairs import Pair, Version
from core.checkpoint import CheckpointError, load_named
from core.effects import METHODS
from core.effects.attention_edits import AttentionEdit
from core.effects.edits import Edit, EditError, Split
from core.effects.history import AnyEdit, acting, parse_edit, words_after
from core.effects.links import Taken
from core.effects.words import TAKEN_AWAY
from core.external.heads import parse_head
from core.reading.scripts import without_spaces
from core.reading.tokens import tokenize

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


_HEAD = Codec(
    "head",
    "The link asks for the head “{}”; write 7.4 (layer 7, head 4), mean or rollout: the model’s first choice is shown.",
    lambda text: text if parse_head(text) is not None else None,
)
"""Whose attention is shown, of a transformer, by its name in a link."""


_METHOD = Codec(
    "method",
    f"The link asks what words do by “{{}}”; it can ask by {', '.join(METHODS)}: the first is used.",
    one_of(METHODS),
)
"""How effects are asked for, by its name in a link."""


EVERY, HEADS = "all", "heads"
"""In the place of a rule of cutting links, of a transformer: each link, not the strongest alone; whole heads."""
_LINKS = Codec(
    "links",
    f"The link asks to cut links by “{{}}”; it can ask for {', '.join((*Taken, EVERY, HEADS))}: where words look is "
    "shown.",
    one_of((*Taken, EVERY, HEADS)),
)
"""How links are cut, by its name in a link; empty where weights are shown."""


_LAYER = Codec(
    "layer",
    "The link cuts links from layer “{}” on; layers are numbered from 1: all are cut.",
    whole_number(1, 999),
)
"""The first layer in which links are cut, of a transformer, by its name in a link."""


_DRAWN = Codec(
    "drawn",
    "The link asks for “{}” replacements of each word; it can ask for few or all: those that take no wait are drawn.",
    one_of(("few", "all")),
)
"""Which replacements of words are asked for, of a model whose passes take long."""


@dataclass(frozen=True)
class TwoWords:
    """Two words, each by the number of its sentence and its place there, from 0."""

    one: tuple[int, int]
    other: tuple[int, int]

    def __str__(self) -> str:
        return "-".join(f"{side + 1}.{index + 1}" for side, index in (self.one, self.other))

    @classmethod
    def parse(cls, text: str) -> TwoWords | None:
        """``1.1-2.3``: the first word of the first sentence and the third of the second; None for anything else."""
        match = re.fullmatch(r"([12])\.([1-9]\d{0,3})-([12])\.([1-9]\d{0,3})", text, re.ASCII)
        if match is None:
            return None
        side, index, other_side, other_index = (int(group) - 1 for group in match.groups())
        one, other = (side, index), (other_side, other_index)
        return None if one == other else cls(one, other)

    def fits(self, lengths: Sequence[int]) -> bool:
        """Whether both words exist in sentences of so many words."""
        return all(side < len(lengths) and index < lengths[side] for side, index in (self.one, self.other))


_NOT_ASKED = "The link says “{}” of whether it can be believed, which is on or left out: it is not computed."
_NO_TWO_WORDS = "The link asks for “{}” together; two words are written 1.1-2.3 (sentence and word, twice)."


@dataclass(frozen=True)
class Candidates(Codec):
    """Candidate answers as they were typed; what is too long for a link goes without them."""

    def shortened(self, value: str) -> str:
        return ""


def split_by(model: str | None, texts: Version) -> Split:
    """How a model splits these texts into the words that edits count: all split alike but in scripts without spaces."""
    if model is not None and any(map(without_spaces, texts)):
        with contextlib.suppress(CheckpointError):
            return load_named(model).reader.tokens
    return tokenize


MOST_EDITS = 40
"""Edits of a pair that are listed."""


@dataclass(frozen=True)
class Edits(Codec):
    """Edits by hand in their text form, one a line. Those from one on that cannot be made are left out. Whether an edit
    of attention fits the model is said where it is made: it stays for another model, or for another pair of words."""

    def read(self, address: Address, default: tuple[AnyEdit, ...]) -> tuple[AnyEdit, ...]:
        text, texts = address.parameters.get(self.name), address.values["texts"][0].now
        edits: list[AnyEdit] = []
        for line in text.split("\n")[:MOST_EDITS] if text else ():
            try:
                edit = parse_edit(line)
                texts = words_after(texts, [edit], split_by(address.values["model"], texts))
            except EditError as error:
                address.problems.append(f"The link’s edits are made up to one that cannot be: {error}.")
                break
            edits.append(edit)
        return tuple(edits)

    def write(self, value: tuple[AnyEdit, ...], default: tuple[AnyEdit, ...], examples: bool = True) -> dict[str, str]:
        return {self.name: "\n".join(map(str, value))} if value else {}


@dataclass(frozen=True)
class Step(Codec):
    """How many of the edits are in effect, where some are undone."""

    def parse(self, text: str, address: Address) -> Any:
        return whole_number(0, len(address.values["edits"]))(text)


_NO_TURNS = (
    "The link says “{}” of the smallest changes that turn the verdict, which are on or left out: they are left out."
)
_OF_THE_PAIR = ("texts", "edits", "step")
_NO_STEP = "The link is at step “{}” of its edits, which has no such step: all are made."


@dataclass(frozen=True)
class ExploreState(TextState):
    """All that decides what Explore shows. ``direction``: the role of the sentence whose words look, in a model whose
    both sentences do; None for the first. ``crossings``: whether the model counts the words that look across a word
    (q), where it can. ``head``: whose attention is shown, of a transformer, empty for the first one of its card.
    ``method``: how effects of words are asked for; ``drawn``: with which replacements, of a model whose passes take
    long; ``links``: how links are cut whose effects are asked for, empty where none are; ``layer``: the first one of a
    transformer, from 1, in which they are; ``together``: two words whose effect together is asked for; ``believed``:
    whether it is asked how far all this can be believed. ``candidates``: other answers of the question, one a line.

    ``texts`` are the pair as it was typed, and ``edits`` what was changed of it, or of the model's attention to it, by
    hand since; ``step``: how many of them are in effect, None for all; ``turns``: whether the smallest changes that
    turn the verdict are asked for. What the page shows is the pair after these (:attr:`pair`)."""

    page = "explore"
    texts: tuple[Pair, ...] = parameter((Pair(),), Texts(examples=EXAMPLES))
    show: str = parameter("weight", Codec("show", _NOT_SHOWN, one_of(SHOWN)))
    selection: Selection | None = parameter(None, Codec("select", _NO_WORD, Selection.parse), belongs_to=("texts",))
    temperature: float = parameter(1.0, Codec("temperature", _NOT_OFFERED, _temperature, "{:g}".format))
    direction: str | None = parameter(None, Codec("direction"), belongs_to=("model",))
    crossings: bool = parameter(
        True,
        switch("crossings", _NO_SWITCH, "off"),
        belongs_to=("model",),
    )
    head: str = parameter("", _HEAD, belongs_to=("model",), asked=True)
    method: str = parameter(TAKEN_AWAY, _METHOD, asked=True)
    drawn: str = parameter("", _DRAWN, belongs_to=("model", "texts", "edits"), asked=True)
    links: str = parameter("", _LINKS, asked=True)
    layer: int = parameter(1, _LAYER, belongs_to=("model",), asked=True)
    together: TwoWords | None = parameter(
        None, Codec("together", _NO_TWO_WORDS, TwoWords.parse), belongs_to=_OF_THE_PAIR, asked=True
    )
    believed: bool = parameter(
        False, switch("believed", _NOT_ASKED), belongs_to=("texts", "model", "edits"), asked=True
    )
    candidates: str = parameter("", Candidates("candidates"))
    edits: tuple[AnyEdit, ...] = parameter((), Edits("edits"), belongs_to=("texts",))
    step: int | None = parameter(None, Step("step", _NO_STEP), belongs_to=("texts", "edits"))
    turns: bool = parameter(
        False, switch("turns", _NO_TURNS), belongs_to=("model", "texts", "edits", "step"), asked=True
    )

    @property
    def made(self) -> tuple[AnyEdit, ...]:
        """The edits that are in effect."""
        return self.edits[: self.step]

    @property
    def attention(self) -> tuple[AttentionEdit, ...]:
        """Those of them that change attention to the words that are shown."""
        return acting(self.made)

    @property
    def reworded(self) -> bool:
        """Whether one of them has changed the words."""
        return any(isinstance(edit, Edit) for edit in self.made)

    @property
    def pair(self) -> Pair:
        """The pair after the edits, which all pages share."""
        if not self.reworded:
            return self.texts[0]
        texts = self.texts[0].now
        return Pair(*words_after(texts, self.made, split_by(self.model, texts)))

    @property
    def example(self) -> Example | None:
        """The example that is shown, None for texts of a person's own and for one with a change."""
        return None if self.reworded else super().example
