"""The base class of all evidence records: frozen numbers of a model's computation, with their text, CSV and HTML forms.

Each module of this package defines one record. A record is identified by its ``kind``; JSON conversion follows the
types of its fields (:mod:`core.evidence.codec`), so a new record needs no code elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from core.evidence.explanation import Explanation

Matrix = tuple[tuple[float, ...], ...]

RECORDS: dict[str, type[Record]] = {}
"""All kinds of records by name."""

LATER = {"later": True}
"""Metadata of a field added after records had been saved: JSON leaves it out while it holds its default."""


class told(property):
    """A property that JSON has beside the fields, so that the pages' scripts need not derive it again."""


@dataclass(frozen=True)
class TokenRecord:
    """A word of the input text: ``text`` is characters [start, end) of the original."""

    text: str
    start: int
    end: int
    unknown: bool
    """True if the word is out of vocabulary: its vector is built from its character n-grams."""


@dataclass(frozen=True)
class Sentence:
    """One side of the pair. ``role`` is the data set's name for it (premise, hypothesis; question, answer)."""

    role: str
    text: str
    tokens: tuple[TokenRecord, ...]
    truncated: int = 0
    """Number of tokens truncated at the end (a side keeps 200)."""

    @property
    def line_starts(self) -> tuple[int, ...]:
        """The first token of each non-empty line: evidence is typed one sentence per line."""
        lines = [self.text.count("\n", 0, token.start) for token in self.tokens]
        return tuple(i for i, line in enumerate(lines) if i == 0 or line != lines[i - 1])

    def words(self, span: tuple[int, int]) -> str:
        """The tokens [first, last), separated by spaces."""
        return " ".join(token.text for token in self.tokens[slice(*span)])


class Record:
    """Base of all records: frozen dataclasses declared as ``class MyRecord(Record, kind="my_record")``."""

    kind: ClassVar[str]
    name: str
    """Display name, in the model's terms."""

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        RECORDS[kind] = cls

    def to_text(self, explanation: Explanation) -> list[str]:
        """Lines for a terminal; empty if the record can only be shown as a figure."""
        return []

    def to_html(self, explanation: Explanation) -> str:
        """Static HTML for a notebook or report with all input text escaped; by default the terminal lines."""
        lines = "\n".join(self.to_text(explanation)).strip()
        return f"<pre>{escape(lines)}</pre>" if lines else ""

    @property
    def title(self) -> str:
        """A title that tells the record apart from others in its explanation."""
        return self.name

    @property
    def tabular(self) -> bool:
        """Whether the record can be exported as a table."""
        return type(self).to_csv is not Record.to_csv

    def to_csv(self, explanation: Explanation) -> str:
        """The numbers as CSV; empty unless the record is :attr:`tabular`."""
        return ""


def matrix(values: Any) -> Matrix:
    """Converts a tensor ``[n, m]`` to nested tuples."""
    return tuple(map(tuple, values.tolist()))


def table_html(caption: str, head: Sequence[str], rows: Iterable[tuple[str, Iterable[str]]]) -> str:
    """An HTML table whose cells are ready-made ``<td>`` elements; caption and headings are escaped."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row" style="text-align:right">{escape(name)}</th>{"".join(cells)}</tr>' for name, cells in rows
    )
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{escape(caption)}</caption>'
        f"<tr><td></td>{top}</tr>{body}</table>"
    )


CELL_STYLE = "padding:3px 6px;text-align:center;font-variant-numeric:tabular-nums"

# Eleven steps of cividis (Nuñez et al. 2018), light to dark: perceptually uniform, so it also prints in grey.
_CIVIDIS = (
    "#fee838",
    "#e6d54a",
    "#cfc157",
    "#b7ae62",
    "#a09c69",
    "#8b8a70",
    "#757874",
    "#606870",
    "#47586c",
    "#264672",
    "#00224e",
)


def weight_cell(weight: float) -> str:
    """A ``<td>`` with a weight in per cent, coloured by cividis."""
    step = min(10, max(0, round(weight * 10)))
    ink = "#ffffff" if step >= 6 else "#000000"
    return f'<td style="{CELL_STYLE};background:{_CIVIDIS[step]};color:{ink}">{weight * 100:.0f}</td>'


def the(role: str) -> str:
    """A role with its article: "the premise", but "question 2", which is a name."""
    return role if role[-1:].isdigit() else f"the {role}"
