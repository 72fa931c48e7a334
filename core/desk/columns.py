"""What is known of every row of a run, by the names that filters, orders and slices use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.desk.annotations import FileState
from core.desk.run import Run, column_of
from core.evaluation.scores import question_kind
from core.linguistics.features import NEGATIONS
from core.reading.tokens import tokenize
from core.reading.word_table import default_table

_EVIDENCE = ("evidence", "evidences", "evidence_sentences")
"""Names of columns that hold a JSON list of sentences."""


@dataclass(frozen=True)
class Column:
    """Values of all rows ``[N]``. ``kind``: "text" (str), "number" (float, NaN where unknown), "yes" (bool) or "set"
    (collections of str, of tags). ``about``: what it is, for a list of all names; empty for the file's own columns."""

    values: np.ndarray
    kind: str
    about: str = ""


def columns(run: Run, known: Callable[[str], bool] | None = None) -> dict[str, Column]:
    """All columns of a run by name; the file's own come last, as ``file.NAME`` where the name is taken.

    ``known``: whether the word table has a word, by default the shared one's.
    """
    out = _texts(run) | _of_models(run) | _of_words(run, known or default_table().known)
    rows = run.dataset.rows
    for name in dict.fromkeys(name for row in rows for name in row.columns):
        own = [row.columns.get(name, "") for row in rows]
        out[f"file.{name}" if name in out else name] = _own(own)
    return out


def with_tags(known: Mapping[str, Column], run: Run, state: FileState) -> dict[str, Column]:
    """The same with what people said of the rows."""
    rows = [state.row(key) for key in run.keys]
    return {
        **known,
        "tag": Column(_objects([row.tags_that_hold() for row in rows]), "set", "tags that anybody gave the row"),
        "annotator": Column(_objects([row.looked for row in rows]), "set", "who looked at the row"),
        "note": Column(_objects([" ".join(row.notes.values()) for row in rows]), "text", "all notes on the row"),
    }


def ordered(rows: np.ndarray, column: Column, *, largest_first: bool) -> np.ndarray:
    """The numbers ``rows [n]`` in the order of the column's values; rows of one value stay as they are either way,
    those of an unknown one come last, and sets have no order."""
    if column.kind == "set":
        return rows
    values = column.values[rows]
    if column.kind == "text":
        # Not in NumPy's arrays of text, where each one takes as much room as the longest.
        place = {text: i for i, text in enumerate(sorted({*values}))}
        values = np.array([place[text] for text in values])
    keys = np.nan_to_num(values.astype(float), nan=np.inf)
    if largest_first:
        keys = np.where(np.isinf(keys), keys, -keys)
    order: np.ndarray = rows[np.argsort(keys, kind="stable")]
    return order


def _texts(run: Run) -> dict[str, Column]:
    rows, (first, second) = run.dataset.rows, _roles(run)
    out = {
        "id": Column(_objects(run.keys), "text", "the row's id"),
        "first": Column(_objects([row.first for row in rows]), "text", f"the {first}"),
    }
    if not run.dataset.single:
        out["second"] = Column(_objects([row.second for row in rows]), "text", f"the {second}")
    out["gold"] = Column(run.gold, "text", "the file's label")
    return out


def _roles(run: Run) -> tuple[str, str]:
    roles = run.models[0].roles
    return roles["first"], roles["second"]


def _of_models(run: Run) -> dict[str, Column]:
    out: dict[str, Column] = {}
    for i, model in enumerate(run.models):
        places = {label: at for at, label in enumerate(model.labels)}
        gold = np.array([places.get(label, -1) for label in run.gold])
        # Rounded, or 0.7 as float32 would lie below the 0.7 of a filter.
        chances = model.probabilities.astype(float).round(6)
        rows = np.arange(len(gold))
        of_gold = np.where(gold >= 0, chances[rows, np.maximum(gold, 0)], np.nan)
        out |= {
            column_of("predicted", i): Column(model.predicted, "text", f"what {model.title} says"),
            column_of("right", i): Column(run.right(i), "yes", f"whether {model.title} says the file's label"),
            column_of("p", i): Column(chances[rows, model.best], "number", "probability of what it says"),
            column_of("p_gold", i): Column(of_gold, "number", "probability that it gives the file's label"),
        }
        for label, at in places.items():
            name = re.sub(r"\W+", "_", label)
            out.setdefault(f"{column_of('p', i)}_{name}", Column(chances[:, at], "number", f"probability of {label}"))
    return out


def _of_words(run: Run, known: Callable[[str], bool]) -> dict[str, Column]:
    seen: dict[str, tuple[str, ...]] = {}

    def words(text: str) -> tuple[str, ...]:
        if text not in seen:
            seen[text] = tuple(token.norm for token in tokenize(text) if token.is_word)
        return seen[text]

    rows = run.dataset.rows
    firsts, seconds = [words(row.first) for row in rows], [words(row.second) for row in rows]
    judged = firsts if run.dataset.single else seconds
    memory: dict[str, bool] = {}

    def unknown(text: Sequence[str]) -> float:
        for word in text:
            if word not in memory:
                memory[word] = not known(word)
        return float(np.mean([memory[word] for word in text])) if text else 0.0

    first, second = _roles(run)
    out = {"words_first": Column(np.array([float(len(text)) for text in firsts]), "number", f"words of the {first}")}
    if not run.dataset.single:
        shares = [len({*own} & {*other}) / max(1, len({*own})) for own, other in zip(seconds, firsts, strict=True)]
        out |= {
            "words_second": Column(
                np.array([float(len(text)) for text in seconds]), "number", f"words of the {second}"
            ),
            "overlap": Column(np.array(shares), "number", f"share of the {second}'s words that the {first} has"),
        }
    out |= {
        "negation": Column(
            np.array([not NEGATIONS.isdisjoint(text) for text in judged]),
            "yes",
            f"whether the {first if run.dataset.single else second} has a word of negation",
        ),
        "question_word": Column(
            _objects([question_kind(text) for text in firsts]), "text", f"first question word of the {first}"
        ),
        "unknown": Column(
            np.array([unknown((*a, *b)) for a, b in zip(firsts, seconds, strict=True)]),
            "number",
            "share of words that the word table lacks",
        ),
    }
    counts = _evidence(run)
    return out if counts is None else out | {"evidence_sentences": Column(counts, "number", "sentences of evidence")}


def _evidence(run: Run) -> np.ndarray | None:
    """Sentences of evidence a row, where a column holds lists of them."""
    rows = run.dataset.rows
    name = next((name for name in _EVIDENCE if any(row.columns.get(name, "")[:1] == "[" for row in rows)), None)
    if name is None:
        return None
    counts = []
    for row in rows:
        try:
            value = json.loads(row.columns.get(name, ""))
        except (ValueError, RecursionError):
            value = None
        counts.append(float(len(value)) if isinstance(value, list) else np.nan)
    return np.array(counts)


def _own(texts: list[str]) -> Column:
    """A column of the file: numbers where all of its cells are numbers or empty."""
    try:
        numbers = np.array([float(text) if text.strip() else np.nan for text in texts])
    except ValueError:
        return Column(_objects(texts), "text")
    if not np.isfinite(numbers).any() or np.isinf(numbers).any():
        return Column(_objects(texts), "text")
    return Column(numbers, "number")


def _objects(values: Sequence[object]) -> np.ndarray:
    return np.array(values, dtype=object)
