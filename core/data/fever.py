"""FEVER (Thorne et al. 2018): claims with their evidence, one JSON object per line with claim, label and evidence.

Evidence is a list of sentences, or the official list of groups of ``[annotation, evidence, page, line]`` with the
sentence's text appended: the task's own files only name pages, whose texts are in its Wikipedia dump. The distinct
sentences of a row are in :attr:`core.data.dataset.Example.second`, one per line.

NOT ENOUGH INFO claims have no evidence in either format. Empty evidence would reveal the label, so it is filled from
the same file: the number of sentences n is sampled from the other two classes (seed 0), and the n sentences of other
claims nearest to the claim by TF-IDF are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from core.data.dataset import Example, other_columns
from core.data.labels import gold
from core.data.lines import Line, objects, says_something
from core.data.reader import RowReader, recogniser
from core.json_types import JsonObject
from core.lazy import import_alone
from core.tasks import FACTS

NAME = "FEVER jsonl"
LABELS = ("supports", "refutes", "not enough info")
_NOTHING = LABELS[2]
_TAKEN = {"id", "label", "claim", "evidence"}
_CHUNK = 512
"""Number of claims whose similarities to all sentences are held at once."""


@recogniser
def recognise(head: list[Line]) -> RowReader | None:
    """Recognises files with a JSON object with ``claim`` and ``evidence`` in the first lines."""
    if not any({"claim", "evidence"} <= record.keys() for _, record in objects(head, [])):
        return None
    return RowReader(NAME, _row, objects, _usable, "no evidence, and no other claim of the file has any", FACTS)


def _row(number: int, record: JsonObject) -> Example:
    text = str(record.get("label") or "").strip()
    label = gold(text)
    evidence = list(dict.fromkeys(_sentences(record.get("evidence"))))
    claim = record.get("claim")
    if not isinstance(claim, str) or not says_something(claim):
        raise ValueError("the claim is empty" if isinstance(claim, str) else "no claim")
    if label in LABELS[:2] and not evidence:
        raise ValueError("its evidence names pages without their text" if record.get("evidence") else "no evidence")
    key, columns = str(record.get("id", f"line {number}")), other_columns(record.items(), _TAKEN)
    return Example(key, claim, "\n".join(evidence), label, columns=columns, label_text=text)


def _usable(rows: list[Example]) -> list[Example | None]:
    return [row if row.second else None for row in filled(rows)]


def _sentences(evidence: object) -> Iterator[str]:
    """The texts in either format: the strings of a list, or the fifth value of each list."""
    if isinstance(evidence, str):
        text = " ".join(evidence.split())
        if says_something(text):
            yield text
    elif isinstance(evidence, list):
        named = len(evidence) >= 4 and not any(isinstance(value, list) for value in evidence)
        for value in evidence[4:5] if named and not isinstance(evidence[0], str) else evidence:
            yield from _sentences(value)


def filled(rows: list[Example]) -> list[Example]:
    """The rows, with sentences of other claims for those without evidence, if the file has any."""
    empty = [place for place, row in enumerate(rows) if not row.second]
    counts = np.array([row.second.count("\n") + 1 for row in rows if row.second and row.label != _NOTHING])
    if not empty or not len(counts):
        return rows
    sentences = list(dict.fromkeys(text for row in rows if row.second for text in row.second.split("\n")))
    drawn = np.random.default_rng(0).choice(counts, len(empty))
    nearest = _nearest([rows[place].first for place in empty], sentences, int(drawn.max()))
    out = list(rows)
    for place, count, order in zip(empty, drawn, nearest, strict=True):
        row = rows[place]
        second = "\n".join(sentences[k] for k in order[:count])
        out[place] = replace(row, second=second)
    return out


def _nearest(claims: Sequence[str], sentences: Sequence[str], count: int) -> Iterator[np.ndarray]:
    """Indices of the ``count`` sentences nearest to each claim by TF-IDF, nearest first, on ties the earliest first.

    scikit-learn's TF-IDF without English stop words; document frequencies are computed over the sentences.
    """
    import_alone("sklearn.feature_extraction")
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(stop_words="english")
    index = vectorizer.fit_transform(sentences).T.tocsr()
    count = min(count, len(sentences))
    for start in range(0, len(claims), _CHUNK):
        for row in vectorizer.transform(claims[start : start + _CHUNK]) @ index:
            best = row.indices[np.lexsort((row.indices, -row.data))][:count]
            # A claim with no or few known words gets the file's first sentences for the rest.
            rest = np.setdiff1d(np.arange(2 * count), best)[: count - len(best)]
            yield np.concatenate([best, rest[rest < len(sentences)]])
