"""People's reasons for a row's label, in the file's other columns: explanations in their words, or marked words.

Read are e-SNLI's columns (Camburu et al. 2018): ``Explanation_1`` and so on, or a list ``explanations``; without these
``Sentence1_Highlighted_1`` and so on, places of whitespace tokens; and ERASER's ``evidences`` (DeYoung et al. 2020),
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
"""For each of the two texts what each person used of it: an explanation counts for both, marked words for their own."""
_FIRST, _SECOND = ({pair[side] for pair in PAIRS} for side in (0, 1))


def holds_reasons(name: str) -> bool:
    """Whether a column of this name may hold people's reasons."""
    known = plain(name)
    return known in EVIDENCES or any(pattern.fullmatch(known) for pattern in (EXPLANATIONS, HIGHLIGHTED))


def voices(row: Example) -> Voices:
    """What people gave as reasons for this row's label; no voice where the file has none."""
    cells = {plain(name): text for name, text in row.columns.items() if text.strip()}
    explained = [one for name, text in cells.items() if EXPLANATIONS.fullmatch(name) for one in _listed(text)]
    if explained:
        return explained, explained
    spans = [span for name, text in cells.items() if name in EVIDENCES for span in _spans(text)]
    return _of_spans(spans) if spans else _highlighted(row, cells)


def _listed(text: str) -> list[str]:
    """The texts of a cell: it holds one, or a JSON list of several."""
    value = _value(text) if text.startswith("[") else None
    return [one for one in value if isinstance(one, str) and one.strip()] if isinstance(value, list) else [text]


def _highlighted(row: Example, cells: Mapping[str, str]) -> Voices:
    """The marked words of each person, one column a side: ``0,3``, or ``{}`` for none."""
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
    """The spans of ERASER's list of lists; none in another column of this name."""
    value = _value(text)
    groups = value if isinstance(value, list) else []
    spans = [span for group in groups for span in (group if isinstance(group, list) else [group])]
    return [span for span in spans if isinstance(span, dict) and isinstance(span.get("text"), str) and "docid" in span]


def _of_spans(spans: list[Mapping[str, Any]]) -> Voices:
    """One voice: all spans of a side together. A ``docid`` that names no side counts for both."""
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
