"""Layouts with one row a line and named columns: SICK, WikiQA, TrecQA, MSRP, and any CSV or TSV with a header.

Rows are pairs, or documents where the header names one text and its label (or its id or title).

Tab-separated files are read without quoting (a ``"`` in them is a character of the sentence: so the official SICK,
WikiQA and MSRP files); comma-separated ones with it, as RFC 4180 has it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.data.dataset import Example, other_columns
from core.data.delimited import MAX_DOCUMENT_LINES, MAX_QUOTED_LINES, records, split
from core.data.lines import Line, says_something
from core.data.reader import HEADER, RowReader, layouts


@dataclass(frozen=True)
class ColumnLayout:
    """Which columns of a header hold what; the first spelling that is there counts (compared in lower case)."""

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    """Empty: rows are documents."""
    label: tuple[str, ...]
    id: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """The only labels that may occur, in lower case; empty: any."""


LAYOUTS = (
    ColumnLayout(
        "SICK TSV", ("sentence_a",), ("sentence_b",), ("entailment_judgment", "entailment_label"), ("pair_id",),
        labels=("entailment", "neutral", "contradiction"),
    ),
    ColumnLayout(
        "WikiQA TSV", ("question",), ("sentence",), ("label",), ("sentenceid",), ("questionid",), labels=("0", "1"),
    ),
    ColumnLayout("TrecQA CSV", ("qtext",), ("atext",), ("label",), group=("qtext",), labels=("0", "1")),
    ColumnLayout("MSRP TSV", ("#1 string",), ("#2 string",), ("quality",), labels=("0", "1")),
    ColumnLayout(
        "question-answer table", ("question",), ("answer",), ("label",), ("id",), ("question_id", "question"),
        labels=("0", "1"),
    ),
    ColumnLayout(
        "sentence-pair table",
        ("premise", "prem", "sentence1", "first", "text1", "question1"),
        ("hypothesis", "hyp", "sentence2", "second", "text2", "question2"),
        ("label", "gold_label", "gold", "is_duplicate"),
        ("id", "pairid", "pair_id"),
    ),
    ColumnLayout(
        "document table",
        ("text", "content", "abstract", "description", "review", "document", "sentence"),
        (),
        ("label", "class", "class index", "category", "sentiment"),
        ("id",),
        title=("title",),
    ),
)  # fmt: skip

_SIDES = {name for layout in LAYOUTS if layout.second for name in (*layout.first, *layout.second)}
"""Names of a pair's sides: a document has none of them beside its text."""


def fitting(names: Sequence[str]) -> tuple[ColumnLayout, dict[str, int]] | None:
    """The layout that columns with these names (lower case) belong to, and the places of its fields among them."""
    for layout in LAYOUTS:
        columns = {}
        for what in ("first", "second", "label", "id", "group", "title"):
            spelling = next((s for s in getattr(layout, what) if s in names), None)
            if spelling is not None:
                columns[what] = names.index(spelling)
        pair = {"first", "second"} <= columns.keys()
        document = not layout.second and "first" in columns and not _SIDES & ({*names} - {names[columns["first"]]})
        if pair or document:
            return layout, columns
    return None


@layouts(*(layout.name for layout in LAYOUTS), clue=HEADER)
def recognise(head: list[Line]) -> RowReader | None:
    """The first line is a header that one of the layouts knows (a label column may be missing)."""
    for delimiter in ("\t", ",", ";"):
        names = [name.strip() for name in split(head[0][1], delimiter)]
        matched = fitting([name.lower() for name in names])
        # One known name alone may be a word of a sentence.
        if matched and len(matched[1]) > 1:
            return _reader(*matched, names, delimiter)
    return None


def _reader(layout: ColumnLayout, columns: dict[str, int], names: list[str], delimiter: str) -> RowReader:
    longest = MAX_QUOTED_LINES if layout.second else MAX_DOCUMENT_LINES
    return RowReader(
        layout.name,
        functools.partial(_row, layout, names, columns),
        lambda lines, problems: records(itertools.islice(lines, 1, None), delimiter, len(names), problems, longest),
        no_label="" if "label" in columns else f"no column named {' or '.join(layout.label)}",
    )


def _row(
    layout: ColumnLayout, names: list[str], columns: dict[str, int], number: int, cells: list[str], labelled: bool
) -> Example | None:
    fields = {what: cells[at] for what, at in columns.items()}
    others = other_columns(zip(names, cells, strict=True), {names[at] for at in columns.values()})
    return row_of(layout, fields, others, number, labelled)


def row_of(
    layout: ColumnLayout, fields: Mapping[str, str], others: Mapping[str, str], number: int, labelled: bool
) -> Example | None:
    """The row of a layout's ``fields``, by what they are, and its other columns; None where the label is ``-`` and one
    is needed. Raises ValueError for a broken row."""
    label = fields.get("label", "").strip().lower()
    empty = next((side for side in ("first", "second") if not says_something(fields.get(side, "-"))), None)
    if empty:
        raise ValueError(f"the {f'{empty} sentence' if layout.second else 'text'} is empty")
    if labelled and label == "-":
        return None
    if labelled and not label:
        raise ValueError("the label is empty")
    if labelled and layout.labels and label not in layout.labels:
        raise ValueError(f"label {label[:40]!r} is none of {', '.join(layout.labels)}")
    key, known = fields.get("id", f"line {number}"), None if label in ("", "-") else label
    if layout.second:
        return Example(key, fields["first"], fields["second"], known, fields.get("group"), columns=others)
    return Example.document(key, fields["first"], known, fields.get("title", ""), others)
