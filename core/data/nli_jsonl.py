"""The official SNLI and MultiNLI layout: a JSON object a line with gold_label, sentence1, sentence2 and pairID."""

from __future__ import annotations

from core.data.dataset import Example, other_columns
from core.data.lines import Line, objects, says_something
from core.data.reader import KEYS, Reader, layouts
from core.json_types import JsonObject

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


@layouts(NAME, clue=KEYS)
def recognise(head: list[Line]) -> Reader | None:
    """One of the first lines is a JSON object with ``sentence1`` and ``sentence2``."""
    fits = any({"sentence1", "sentence2"} <= record.keys() for _, record in objects(head, []))
    return Reader(NAME, _row, objects) if fits else None


def _row(number: int, record: JsonObject, labelled: bool) -> Example | None:
    """None where the gold label is ``-`` and one is needed."""
    _check(record, labelled)
    label = str(record.get("gold_label", "-")).strip().lower()
    known = label if label in LABELS else None
    if labelled and known is None:
        return None
    key = str(record.get("pairID") or f"line {number}")
    columns = other_columns(record.items(), _TAKEN)
    return Example(key, record["sentence1"], record["sentence2"], known, columns=columns)


def _check(record: JsonObject, labelled: bool) -> None:
    for key in ("sentence1", "sentence2"):
        if key not in record:
            raise ValueError(f"no {key}")
        if not isinstance(record[key], str):
            raise ValueError(f"{key} is not text")
        if not says_something(record[key]):
            raise ValueError(f"{key} is empty")
    label = record.get("gold_label")
    if labelled and label is None:
        raise ValueError("no gold_label")
    if labelled and str(label).strip().lower() not in (*LABELS, "-"):
        raise ValueError(f"gold_label {str(label)[:40]!r} is none of {', '.join(LABELS)} or '-'")
