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
from core.data.labels import ANSWERS, ENTAILMENT, PARAPHRASE, gold
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
    task: str = ""
    """What such files are for, as cards name tasks; empty where a header does not say."""


_LABELS, _IDS = ("label", "gold_label", "gold", "is_duplicate", "score"), ("id", "pairid", "pair_id")
LAYOUTS = (
    ColumnLayout(
        "SICK TSV", ("sentence_a",), ("sentence_b",), ("entailment_judgment", "entailment_label"), ("pair_id",),
        task=ENTAILMENT,
    ),
    ColumnLayout(
        "WikiQA TSV", ("question",), ("sentence",), ("label",), ("sentenceid",), ("questionid",), task=ANSWERS,
    ),
    ColumnLayout("TrecQA CSV", ("qtext",), ("atext",), ("label",), group=("qtext",), task=ANSWERS),
    ColumnLayout("MSRP TSV", ("#1 string",), ("#2 string",), ("quality",), task=PARAPHRASE),
    ColumnLayout(
        "question-answer table", ("question",), ("answer",), ("label",), ("id",), ("question_id", "question"),
        task=ANSWERS,
    ),
    ColumnLayout("sentence-pair table", ("premise", "prem"), ("hypothesis", "hyp"), _LABELS, _IDS, task=ENTAILMENT),
    ColumnLayout("sentence-pair table", ("question1",), ("question2",), _LABELS, _IDS, task=PARAPHRASE),
    ColumnLayout(
        "sentence-pair table",
        ("premise", "prem", "sentence1", "first", "text1", "question1"),
        ("hypothesis", "hyp", "sentence2", "second", "text2", "question2"),
        _LABELS,
        _IDS,
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


@layouts(*dict.fromkeys(layout.name for layout in LAYOUTS), clue=HEADER)
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
        task=layout.task,
        no_label="" if "label" in columns else f"no column named {' or '.join(layout.label)}",
    )


def _row(layout: ColumnLayout, names: list[str], columns: dict[str, int], number: int, cells: list[str]) -> Example:
    fields = {what: cells[at] for what, at in columns.items()}
    others = other_columns(zip(names, cells, strict=True), {names[at] for at in columns.values()})
    return row_of(layout, fields, others, number)


def row_of(layout: ColumnLayout, fields: Mapping[str, str], others: Mapping[str, str], number: int) -> Example:
    """The row of a layout's ``fields``, by what they are, and its other columns. Raises ValueError for a broken row."""
    empty = next((side for side in ("first", "second") if not says_something(fields.get(side, "-"))), None)
    if empty:
        raise ValueError(f"the {f'{empty} sentence' if layout.second else 'text'} is empty")
    key, text = fields.get("id", f"line {number}"), fields.get("label", "").strip()
    if layout.second:
        return Example(key, fields["first"], fields["second"], gold(text), fields.get("group"), "", others, text)
    return Example.document(key, fields["first"], gold(text), fields.get("title", ""), others, text)
