"""Layouts with one row a line and named columns: SICK, WikiQA, TrecQA, MSRP, and any CSV or TSV with a header.

Tab-separated files are read without quoting (a ``"`` in them is a character of the sentence: so the official SICK,
WikiQA and MSRP files); comma-separated ones with it, as RFC 4180 has it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from trainers.data.lines import Line, says_something
from trainers.data.records import Example, Problem

MAX_QUOTED_LINES = 50
"""A quote that is still open after so many lines was never meant to be one: its first line is reported as broken."""


@dataclass(frozen=True)
class Layout:
    """Which columns of a header hold what; the first spelling that is there counts (compared in lower case)."""

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    label: tuple[str, ...]
    id: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
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
        ("premise", "sentence1", "first", "text1", "question1"),
        ("hypothesis", "sentence2", "second", "text2", "question2"),
        ("label", "gold_label", "gold"),
        ("id", "pairid", "pair_id"),
    ),
)  # fmt: skip


def recognises(head: list[Line]) -> bool:
    """True when the first line is a header that one of the layouts knows (a label column may be missing)."""
    return _match(head) is not None


def _match(lines: list[Line]) -> tuple[Layout, str, dict[str, int]] | None:
    """Layout, delimiter and the columns of its fields."""
    if not lines:
        return None
    for delimiter in ("\t", ",", ";"):
        names = [name.strip().lower() for name in _cells(lines[0][1], delimiter)]
        for layout in LAYOUTS:
            columns = {}
            for what in ("first", "second", "label", "id", "group"):
                spelling = next((s for s in getattr(layout, what) if s in names), None)
                if spelling is not None:
                    columns[what] = names.index(spelling)
            if {"first", "second"} <= columns.keys() and len(names) > 1:
                return layout, delimiter, columns
    return None


def read(lines: list[Line], labelled: bool) -> tuple[list[Example], list[Problem], int, str]:
    """Rows, broken rows, number of rows whose label is ``-``, and the layout's name."""
    matched = _match(lines)
    assert matched is not None, "recognises() was not asked"
    layout, delimiter, columns = matched
    width = len(_split(lines[0][1], delimiter))
    rows: list[Example] = []
    problems: list[Problem] = []
    dropped = 0
    if labelled and "label" not in columns:
        return [], [Problem(lines[0][0], f"no column named {' or '.join(layout.label)}")], 0, layout.name
    for number, cells in _records(lines[1:], delimiter, width, problems):
        first, second = cells[columns["first"]], cells[columns["second"]]
        label = cells[columns["label"]].strip().lower() if "label" in columns else ""
        empty = next((name for name, text in (("first", first), ("second", second)) if not says_something(text)), None)
        if empty:
            problems.append(Problem(number, f"the {empty} sentence is empty"))
        elif labelled and label == "-":
            dropped += 1
        elif labelled and not label:
            problems.append(Problem(number, "the label is empty"))
        elif labelled and layout.labels and label not in layout.labels:
            problems.append(Problem(number, f"label {label[:40]!r} is none of {', '.join(layout.labels)}"))
        else:
            key = cells[columns["id"]] if "id" in columns else f"line {number}"
            group = cells[columns["group"]] if "group" in columns else None
            rows.append(Example(key, first, second, None if label in ("", "-") else label, group))
    return rows, problems, dropped, layout.name


def _split(text: str, delimiter: str) -> list[str]:
    return text.split("\t") if delimiter == "\t" else next(csv.reader([text], delimiter=delimiter, strict=True))


def _records(lines: list[Line], delimiter: str, width: int, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Rows as lists of cells; a quoted cell may hold line ends, a stray quote costs its own line only."""
    at = 0
    while at < len(lines):
        number, text = lines[at]
        cells, end = _joined(lines, at, delimiter)
        if len(cells) != width:
            cells, end = _cells(text, delimiter), at + 1
        if len(cells) == width:
            yield number, cells
        elif cells:
            problems.append(Problem(number, f"{len(cells)} columns where the header has {width}"))
        else:
            problems.append(Problem(number, 'a quote (") is opened and never closed'))
        at = end


def _joined(lines: list[Line], at: int, delimiter: str) -> tuple[list[str], int]:
    """The record that begins at line ``at`` with all lines that its quotes take in, and the line behind it."""
    text, end = lines[at][1], at + 1
    # RFC 4180 doubles a quote inside a quoted cell, so a whole record has an even number of them.
    while delimiter != "\t" and text.count('"') % 2 and end < min(len(lines), at + MAX_QUOTED_LINES):
        text += "\n" + lines[end][1]
        end += 1
    return _cells(text, delimiter), end


def _cells(text: str, delimiter: str) -> list[str]:
    """The cells of a record, none when its quotes do not close."""
    try:
        return _split(text, delimiter)
    except csv.Error:
        return []
