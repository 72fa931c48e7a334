"""Human rationales for a row's label, in the file's other columns: free-text explanations, or marked words.

Supports e-SNLI's columns (Camburu et al. 2018): ``Explanation_1`` and so on, or a list ``explanations``; otherwise
``Sentence1_Highlighted_1`` and so on, positions of whitespace tokens; and ERASER's ``evidences`` (DeYoung et al. 2020),
spans with their ``text`` and a ``docid`` that ends with the name of a side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from core.data.dataset import Example
from core.data.layouts import EVIDENCES, EXPLANATIONS, HIGHLIGHTED, PAIRS, plain

Voices = tuple[list[str], list[str]]
"""For each of the two texts, the words each person used: explanations count for both texts, marked words for one."""
_FIRST, _SECOND = ({pair[side] for pair in PAIRS} for side in (0, 1))


def holds_reasons(name: str) -> bool:
    """Whether a column with this name may hold rationales."""
    known = plain(name)
    return known in EVIDENCES or any(pattern.fullmatch(known) for pattern in (EXPLANATIONS, HIGHLIGHTED))


def voices(row: Example) -> Voices:
    """The rationales given for this row's label; empty if the file has none."""
    cells = {plain(name): text for name, text in row.columns.items() if text.strip()}
    explained = [one for name, text in cells.items() if EXPLANATIONS.fullmatch(name) for one in _listed(text)]
    if explained:
        return explained, explained
    spans = [span for name, text in cells.items() if name in EVIDENCES for span in _spans(text)]
    return _of_spans(spans) if spans else _highlighted(row, cells)


def _listed(text: str) -> list[str]:
    """The texts in a cell, which holds one, or a JSON list of several."""
    value = _value(text) if text.startswith("[") else None
    return [one for one in value if isinstance(one, str) and one.strip()] if isinstance(value, list) else [text]


def _highlighted(row: Example, cells: Mapping[str, str]) -> Voices:
    """The words each person marked, one column per side: ``0,3``, or ``{}`` for none."""
    found: Voices = [], []
    for name, places in cells.items():
        match = HIGHLIGHTED.fullmatch(name)
        side = None if match is None else 0 if match[1] in _FIRST else 1 if match[1] in _SECOND else None
        if side is not None:
            words = (row.first, row.second)[side].split()
            marked = [int(place) for place in re.findall(r"\d+", places)]
            found[side].append(" ".join(words[place] for place in marked if place < len(words)))
    return found


def _spans(text: str) -> list[Mapping[str, Any]]:
    """The spans in ERASER's list of lists; empty if another column has this name."""
    value = _value(text)
    groups = value if isinstance(value, list) else []
    spans = [span for group in groups for span in (group if isinstance(group, list) else [group])]
    return [span for span in spans if isinstance(span, dict) and isinstance(span.get("text"), str) and "docid" in span]


def _of_spans(spans: list[Mapping[str, Any]]) -> Voices:
    """A single voice with all spans of each side. A ``docid`` that does not name a side counts for both."""
    sides: Voices = [], []
    for span in spans:
        name = plain(str(span["docid"]))
        for texts, own, other in zip(sides, (_FIRST, _SECOND), (_SECOND, _FIRST), strict=True):
            if name.endswith(tuple(own)) or not name.endswith(tuple(other)):
                texts.append(span["text"])
    first, second = ([" ".join(texts)] for texts in sides)
    return first, second


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
