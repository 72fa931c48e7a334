"""The official SNLI and MultiNLI layout: a JSON object a line with gold_label, sentence1, sentence2 and pairID."""

from __future__ import annotations

from core.data import pair_jsonl
from core.data.dataset import Example
from core.data.labels import ENTAILMENT
from core.data.lines import Line, objects
from core.data.reader import KEYS, RowReader, layouts
from core.data.table import ColumnLayout
from core.json_types import JsonObject

NAME = "SNLI jsonl"
_LAYOUT = ColumnLayout(NAME, (("sentence1", "sentence2"),), ("goldlabel",), ("pairid",))
_KEYS = {"first": "sentence1", "second": "sentence2", "label": "gold_label", "id": "pairID"}
_PARSES = {f"sentence{i}_{kind}" for i in (1, 2) for kind in ("parse", "binary_parse")}
"""They repeat both sentences twice; a gigabyte of SNLI's train."""


@layouts(NAME, clue=KEYS)
def recognise(head: list[Line]) -> RowReader | None:
    """One of the first lines is a JSON object with ``gold_label``, ``sentence1`` and ``sentence2``."""
    fits = any({*_KEYS.values()} - {"pairID"} <= record.keys() for _, record in objects(head, []))
    return RowReader(NAME, _row, objects, task=ENTAILMENT) if fits else None


def _row(number: int, record: JsonObject) -> Example:
    fields = {key: value for key, value in record.items() if key not in _PARSES and (value or key != "pairID")}
    return pair_jsonl.row(_LAYOUT, _KEYS, number, fields)
