"""The official SNLI and MultiNLI layout: a JSON object a line with gold_label, sentence1, sentence2 and pairID."""

from __future__ import annotations

from typing import Any

from core.data.dataset import Example, Parsed, Problem, other_columns
from core.data.lines import Line, objects, says_something

NAME = "SNLI jsonl"
LABELS = ("entailment", "neutral", "contradiction")
_TAKEN = {
    "gold_label",
    "sentence1",
    "sentence2",
    "pairID",
    # The parses repeat both sentences twice; a gigabyte of SNLI's train.
    "sentence1_parse",
    "sentence2_parse",
    "sentence1_binary_parse",
    "sentence2_binary_parse",
}


def recognises(head: list[Line]) -> bool:
    """True when one of the first lines is a JSON object with ``sentence1`` and ``sentence2``."""
    return any({"sentence1", "sentence2"} <= record.keys() for _, record in objects(head, []))


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; those whose gold label is ``-`` are dropped, or kept without label if not ``labelled``."""
    rows: list[Example] = []
    problems: list[Problem] = []
    dropped = 0
    for number, record in objects(lines, problems):
        what = _wrong(record, labelled)
        if what:
            problems.append(Problem(number, what))
            continue
        label = str(record.get("gold_label", "-")).strip().lower()
        if label not in LABELS:
            if labelled:
                dropped += 1
                continue
            label = ""
        key = record.get("pairID") or f"line {number}"
        columns = other_columns(record.items(), _TAKEN)
        rows.append(Example(str(key), record["sentence1"], record["sentence2"], label or None, columns=columns))
    return rows, problems, dropped, NAME


def _wrong(record: dict[str, Any], labelled: bool) -> str:
    for key in ("sentence1", "sentence2"):
        if key not in record:
            return f"no {key}"
        if not isinstance(record[key], str):
            return f"{key} is not text"
        if not says_something(record[key]):
            return f"{key} is empty"
    if not labelled:
        return ""
    label = record.get("gold_label")
    if label is None:
        return "no gold_label"
    if str(label).strip().lower() not in (*LABELS, "-"):
        return f"gold_label {str(label)[:40]!r} is none of {', '.join(LABELS)} or '-'"
    return ""
