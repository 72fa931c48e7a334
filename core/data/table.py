"""Layouts with one row a line and named columns: SICK, WikiQA, TrecQA, MSRP, and any CSV or TSV with a header.

Rows are pairs, or documents where the header names one text and its label (or its id or title).

Tab-separated files are read without quoting (a ``"`` in them is a character of the sentence: so the official SICK,
WikiQA and MSRP files); comma-separated ones with it, as RFC 4180 has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.data.dataset import Example, Parsed, Problem, other_columns
from core.data.delimited import MAX_DOCUMENT_LINES, MAX_QUOTED_LINES, records, split
from core.data.lines import Line, says_something


@dataclass(frozen=True)
class Layout:
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
    Layout(
        "SICK TSV", ("sentence_a",), ("sentence_b",), ("entailment_judgment", "entailment_label"), ("pair_id",),
        labels=("entailment", "neutral", "contradiction"),
    ),
    Layout(
        "WikiQA TSV", ("question",), ("sentence",), ("label",), ("sentenceid",), ("questionid",), labels=("0", "1"),
    ),
    Layout("TrecQA CSV", ("qtext",), ("atext",), ("label",), group=("qtext",), labels=("0", "1")),
    Layout("MSRP TSV", ("#1 string",), ("#2 string",), ("quality",), labels=("0", "1")),
    Layout(
        "question-answer table", ("question",), ("answer",), ("label",), ("id",), ("question_id", "question"),
        labels=("0", "1"),
    ),
    Layout(
        "sentence-pair table",
        ("premise", "prem", "sentence1", "first", "text1", "question1"),
        ("hypothesis", "hyp", "sentence2", "second", "text2", "question2"),
        ("label", "gold_label", "gold", "is_duplicate"),
        ("id", "pairid", "pair_id"),
    ),
    Layout(
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


def fitting(names: Sequence[str]) -> tuple[Layout, dict[str, int]] | None:
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


def recognises(head: list[Line]) -> bool:
    """True when the first line is a header that one of the layouts knows (a label column may be missing)."""
    return _match(head) is not None


def _match(lines: list[Line]) -> tuple[Layout, str, dict[str, int]] | None:
    """Layout, delimiter and the columns of its fields."""
    if not lines:
        return None
    for delimiter in ("\t", ",", ";"):
        matched = fitting([name.strip().lower() for name in split(lines[0][1], delimiter)])
        # One known name alone may be a word of a sentence.
        if matched and len(matched[1]) > 1:
            return matched[0], delimiter, matched[1]
    return None


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; those whose label is ``-`` are dropped, or kept without label if not ``labelled``."""
    matched = _match(lines)
    assert matched is not None, "recognises() was not asked"
    layout, delimiter, columns = matched
    names = [name.strip() for name in split(lines[0][1], delimiter)]
    taken = {names[at] for at in columns.values()}
    longest = MAX_QUOTED_LINES if layout.second else MAX_DOCUMENT_LINES
    rows: list[Example] = []
    problems: list[Problem] = []
    dropped = 0
    if labelled and "label" not in columns:
        return [], [Problem(lines[0][0], f"no column named {' or '.join(layout.label)}")], 0, layout.name
    for number, cells in records(lines[1:], delimiter, len(names), problems, longest):
        fields = {what: cells[at] for what, at in columns.items()}
        label = fields.get("label", "").strip().lower()
        empty = next((side for side in ("first", "second") if not says_something(fields.get(side, "-"))), None)
        if empty:
            side = f"{empty} sentence" if layout.second else "text"
            problems.append(Problem(number, f"the {side} is empty"))
        elif labelled and label == "-":
            dropped += 1
        elif labelled and not label:
            problems.append(Problem(number, "the label is empty"))
        elif labelled and layout.labels and label not in layout.labels:
            problems.append(Problem(number, f"label {label[:40]!r} is none of {', '.join(layout.labels)}"))
        else:
            key, known = fields.get("id", f"line {number}"), None if label in ("", "-") else label
            others = other_columns(zip(names, cells, strict=True), taken)
            if layout.second:
                rows.append(Example(key, fields["first"], fields["second"], known, fields.get("group"), columns=others))
            else:
                rows.append(Example.document(key, fields["first"], known, fields.get("title", ""), others))
    return rows, problems, dropped, layout.name
