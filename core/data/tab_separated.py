"""Pairs as lines of tab-separated cells without header and quoting: Quora, SciTail and SelQA.

Wang et al.'s (2017) layout of Quora question pairs is 0 or 1, question, question, id; SciTail's ``tsv_format`` (Khot et
al. 2018) premise, hypothesis, label; SelQA's of answer sentence selection question, sentence, 0 or 1. None has a mark
for a missing label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.data.dataset import Example
from core.data.labels import ANSWERS, ENTAILMENT, PARAPHRASE, gold
from core.data.lines import Line, mostly, says_something
from core.data.reader import LOOK, RowReader, layouts


def _first(head: list[Line], fits: Callable[[str], bool]) -> bool:
    return fits(head[0][1])


@dataclass(frozen=True)
class Layout:
    """Places of the cells of a line, from 0."""

    name: str
    width: int
    first: int
    """The first text; the second stands behind it."""
    label: int
    labels: tuple[str, ...]
    """The labels that such files have, by which they are recognised."""
    text: str
    """What a text is called."""
    task: str
    id: int | None = None
    grouped: bool = False
    """Whether rows are answers to the question that is their first text."""
    enough: Callable[[list[Line], Callable[[str], bool]], bool] = mostly
    """How many of the first lines must fit."""

    def fits(self, line: str) -> bool:
        """Whether a line has as many cells, and a label in its place."""
        cells = line.split("\t")
        return len(cells) == self.width and cells[self.label].strip() in self.labels

    def row(self, number: int, line: str) -> Example:
        """Raises ValueError for a broken line."""
        cells = line.split("\t")
        if len(cells) != self.width:
            raise ValueError(f"{len(cells)} columns instead of {self.width}")
        first, second = cells[self.first : self.first + 2]
        if not says_something(first) or not says_something(second):
            raise ValueError(f"an empty {self.text}")
        label = cells[self.label].strip()
        key = ("" if self.id is None else cells[self.id].strip()) or f"line {number}"
        return Example(key, first, second, gold(label), first if self.grouped else None, label_text=label)


_BINARY = ("0", "1")
LAYOUTS = (
    Layout("Quora TSV", 4, first=1, label=0, labels=_BINARY, text="question", task=PARAPHRASE, id=3),
    Layout("SciTail", 3, first=0, label=2, labels=("entails", "neutral"), text="sentence", task=ENTAILMENT),
    Layout(
        "SelQA TSV", 3, first=0, label=2, labels=_BINARY, text="sentence", task=ANSWERS, grouped=True, enough=_first
    ),
)


@layouts(*(layout.name for layout in LAYOUTS), clue=LOOK)
def recognise(head: list[Line]) -> RowReader | None:
    """Most of the first lines have a layout's cells, of SelQA the first: any other may follow a header."""
    layout = next((layout for layout in LAYOUTS if layout.enough(head, layout.fits)), None)
    return None if layout is None else RowReader(layout.name, layout.row, task=layout.task)
