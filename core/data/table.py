"""Layouts with one row a line and named columns: SICK, WikiQA, TrecQA, MSRP, and any table with a header.

Rows are pairs, or documents where the header names one text and its label (or its id or title).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.data.dataset import Example, Problem, other_columns
from core.data.delimited import DELIMITERS, MAX_DOCUMENT_LINES, MAX_QUOTED_LINES, Form
from core.data.labels import ANSWERS, ENTAILMENT, PARAPHRASE, gold
from core.data.lines import Line, says_something
from core.data.names import ABOUT, CLASSES, IDS, LABELS, PAIRS, TEXTS, found, names_a_side, plain, unique
from core.data.reader import HEADER, RowReader, layouts


@dataclass(frozen=True)
class ColumnLayout:
    """Which columns hold what, by their plain names (:func:`core.data.names.plain`); the first that is there counts."""

    name: str
    texts: tuple[tuple[str, ...], ...]
    """The two texts of a pair, or the only one of a document."""
    label: tuple[str, ...]
    id: tuple[str, ...] = IDS
    group: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    task: str = ""
    """What such files are for, as cards name tasks; empty where a header does not say."""
    needed: tuple[str, ...] = ()
    """The parts besides texts without which a file has another layout."""

    @property
    def of_pairs(self) -> bool:
        """Whether rows are pairs, not documents."""
        return len(self.texts[0]) == 2

    def places(self, names: Sequence[str]) -> dict[str, int] | None:
        """Where the parts of a row are among columns with these plain names; None for another layout."""
        texts = next((one for one in self.texts if {*one} <= {*names}), None)
        if texts is None:
            return None
        places = {part: names.index(name) for part, name in zip(("first", "second"), texts, strict=False)}
        others = ["" if at in places.values() else name for at, name in enumerate(names)]
        places |= found(others, label=self.label, id=self.id, title=self.title) | found(names, group=self.group)
        if not {*self.needed} <= places.keys() or (not self.of_pairs and names_a_side(others)):
            return None
        return places


LAYOUTS = (
    ColumnLayout(
        "SICK TSV", (("sentencea", "sentenceb"),), ("entailmentjudgment", "entailmentlabel"),
        task=ENTAILMENT, needed=("label",),
    ),
    ColumnLayout(
        "WikiQA TSV", (("question", "sentence"),), ("label",), ("sentenceid",), ("questionid",), task=ANSWERS,
        needed=("group",),
    ),
    ColumnLayout("TrecQA CSV", (("qtext", "atext"),), ("label",), group=("qtext",), task=ANSWERS),
    ColumnLayout("MSRP TSV", (("1string", "2string"),), ("quality",), task=PARAPHRASE),
    ColumnLayout(
        "question-answer table", (("question", "answer"),), ("label",), ("id",), ("questionid", "question"),
        task=ANSWERS, needed=("label",),
    ),
    ColumnLayout("sentence-pair table", tuple(pair for pair in PAIRS if pair[1] in ("hypothesis", "hyp", "h")), LABELS,
                 task=ENTAILMENT),
    ColumnLayout("sentence-pair table", (("question1", "question2"), ("question", "question2"), ("q1", "q2")), LABELS,
                 task=PARAPHRASE),
    ColumnLayout("sentence-pair table", PAIRS, LABELS),
    ColumnLayout("document table", tuple((text,) for text in TEXTS), CLASSES, ("id",), title=("title",)),
)  # fmt: skip


def fitting(names: Sequence[str]) -> tuple[ColumnLayout, dict[str, int]] | None:
    """The layout that columns with these names belong to, and the places of its parts among them."""
    compared = [plain(name) for name in names]
    matches = ((layout, layout.places(compared)) for layout in LAYOUTS)
    return next(((layout, places) for layout, places in matches if places is not None), None)


def drops_a_text(
    layout: ColumnLayout, places: Mapping[str, int], names: Sequence[str], rows: Sequence[Sequence[object]]
) -> bool:
    """Whether rows that are read as documents have sentences under another name too: then which is which is asked."""
    others = {at for at, name in enumerate(names) if at not in places.values() and not plain(name).startswith(ABOUT)}
    columns = ([row[at] for row in rows if len(row) == len(names) and row[at]] for at in others)
    return not layout.of_pairs and any(2 * sum(map(is_sentence, column)) > len(column) > 0 for column in columns)


def is_sentence(value: object) -> bool:
    """Whether a value looks like a sentence, not like a name, a number or a label."""
    words = value.split() if isinstance(value, str) else []
    if len(words) == 1:
        return not words[0].isascii() and len(words[0]) > 9  # of a language without spaces
    return len(words) > 3 or (len(words) > 1 and words[-1].endswith((".", "?", "!")))


@dataclass(frozen=True)
class Table:
    """How a file's lines become cells under names."""

    form: Form
    names: tuple[str, ...]
    header: int = 0
    """How many lines the header takes; 0 where there is none."""
    titles: tuple[str, ...] = ()
    """The header's cells as they stand there."""
    least: int | None = None
    """The fewest cells of a row where rows may differ; None: each has as many as there are names."""

    @classmethod
    def of(cls, head: Sequence[Line], delimiter: str, header: bool = True) -> Table:
        """The table that begins with these lines; columns without a name are called by their numbers."""
        form = Form.of(head, delimiter)
        cells, taken = form.first(head)
        if not header:
            return cls(form, tuple(map(str, range(1, len(cells) + 1))))
        rows = [form.split(text) for _, text in head[taken:]]
        while len(cells) > 1 and not cells[-1].strip() and not any("".join(row[len(cells) - 1 :]) for row in rows):
            cells.pop()
        # R's write.table names no column of row numbers.
        if rows and all(len(row) == len(cells) + 1 and row[0].isdecimal() for row in rows):
            cells.insert(0, "")
        named = (cell.strip() or f"column {place}" for place, cell in enumerate(cells, start=1))
        return cls(form, tuple(unique([*named])), taken, tuple(cells))

    def records(self, lines: Iterator[Line], problems: list[Problem], longest: int) -> Iterator[tuple[int, list[str]]]:
        """The cells of each row; a header that comes again, where files were joined, is none."""
        rest = itertools.islice(lines, self.header, None)
        for number, cells in self.form.records(rest, len(self.names), problems, longest, self.least):
            if tuple(cells) != self.titles:
                yield number, cells


def guessed(head: Sequence[Line], header: bool = True) -> Table:
    """The table by the delimiter that divides most of these lines into as many cells as the first."""
    tables = [Table.of(head, delimiter, header) for delimiter in DELIMITERS]

    def even(table: Table) -> tuple[int, int]:
        width = len(table.names)
        return sum(len(table.form.split(text)) == width for _, text in head) * (width > 1), width

    return max(tables, key=even)


@layouts(*dict.fromkeys(layout.name for layout in LAYOUTS), clue=HEADER)
def recognise(head: list[Line]) -> RowReader | None:
    """The first line is a header that one of the layouts knows (a label column may be missing)."""
    for delimiter in DELIMITERS:
        table = Table.of(head, delimiter)
        matched = fitting(table.names)
        # One known name alone may be a word of a sentence.
        if matched and len(matched[1]) > 1:
            rows = [table.form.split(text) for _, text in head[table.header :]]
            return None if drops_a_text(*matched, table.names, rows) else reader_of(*matched, table)
    return None


def reader_of(layout: ColumnLayout, places: Mapping[str, int], table: Table) -> RowReader:
    """What reads the rows of a table whose columns hold a layout's parts."""
    longest = MAX_QUOTED_LINES if layout.of_pairs else MAX_DOCUMENT_LINES
    return RowReader(
        layout.name,
        functools.partial(_row, layout, table.names, places),
        lambda lines, problems: table.records(iter(lines), problems, longest),
        task=layout.task,
        no_label="" if "label" in places else no_label(table.names),
    )


def no_label(names: Sequence[str]) -> str:
    """Why no row of a file with these columns has a label."""
    return (
        f"no column named label or the like; it has {', '.join(names[:20])[:300]}, of which --columns can name one: "
        "premise=…,hypothesis=…,label=NAME"
    )


def _row(
    layout: ColumnLayout,
    names: Sequence[str],
    places: Mapping[str, int],
    number: int,
    cells: list[str],
) -> Example:
    fields = {what: cells[at] for what, at in places.items()}
    if len(cells) > len(names):
        names = [*names, *map(str, range(len(names) + 1, len(cells) + 1))]
    others = other_columns(zip(names, cells, strict=False), {names[at] for at in places.values()})
    return row_of(layout, fields, others, number)


def row_of(layout: ColumnLayout, fields: Mapping[str, str], others: Mapping[str, str], number: int) -> Example:
    """The row of a layout's ``fields``, by what they are, and its other columns. Raises ValueError for a broken row."""
    empty = next((side for side in ("first", "second") if not says_something(fields.get(side, "-"))), None)
    if empty:
        raise ValueError(f"the {f'{empty} sentence' if layout.of_pairs else 'text'} is empty")
    key, text = fields.get("id") or f"line {number}", fields.get("label", "").strip()
    if layout.of_pairs:
        group = fields.get("group") or None
        return Example(key, fields["first"], fields["second"], gold(text), group, "", others, text)
    return Example.document(key, fields["first"], gold(text), fields.get("title", ""), others, text)
