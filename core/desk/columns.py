"""What is known of every row of a run, by the names that filters, orders and slices use."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.desk.annotations import FileState
from core.desk.run import Run, column_of
from core.evaluation.scores import question_kind
from core.linguistics import constructions
from core.linguistics.features import NEGATIONS
from core.reading.word_table import default_table

_EVIDENCE = ("evidence", "evidences", "evidence_sentences")
"""Names of columns that hold a JSON list of sentences."""
_LENGTHS = (5, 10, 15, 20, 30)
_OWN = "a column of the file"
Words = tuple[str, ...]
"""The normalised words of a text, without signs."""


@dataclass(frozen=True)
class RunColumn:
    """Values of all rows ``[N]``. ``kind``: "text" (str), "number" (float, NaN where unknown), "yes" (bool) or "set"
    (collections of str, of tags). ``about``: what it is, for a list of all names."""

    values: np.ndarray
    kind: str
    about: str = ""
    dimension: str = ""
    """What slices by its values are called; empty where it makes none."""
    bounds: tuple[float, ...] = ()
    """Upper bounds of the slices of numbers, each of which takes in several; the last slice has none."""
    known: np.ndarray | None = None
    """Rows whose value is known, bool ``[N]``; None: all, but of "number" those that are not NaN."""
    rare: bool = False
    """Of "yes": whether the rows without are no slice. They are nearly all rows, and three rows with it would put them
    first among the slices."""


def columns(run: Run, known: Callable[[str], bool] | None = None) -> dict[str, RunColumn]:
    """All columns of a run by name; the file's own come last, as ``file.NAME`` where the name is taken.

    ``known``: whether the word table has a word, by default the shared one's.
    """
    out = _texts(run) | _of_models(run) | _of_words(run, known or default_table().known)
    rows = run.dataset.rows
    for name in dict.fromkeys(name for row in rows for name in row.columns):
        own = f"file.{name}" if name in out else name
        out[own] = _own(own, [row.columns.get(name, "") for row in rows])
    return out


def with_tags(known: Mapping[str, RunColumn], run: Run, state: FileState) -> dict[str, RunColumn]:
    """The same with what people said of the rows."""
    rows = [state.row(key) for key in run.keys]
    tags, looked = _objects([row.tags_that_hold() for row in rows]), _objects([row.looked for row in rows])
    return {
        **known,
        "tag": RunColumn(tags, "set", "tags that anybody gave the row", "tag"),
        "annotator": RunColumn(looked, "set", "who looked at the row"),
        "note": RunColumn(_objects([" ".join(row.notes.values()) for row in rows]), "text", "all notes on the row"),
    }


def ordered(rows: np.ndarray, column: RunColumn, *, largest_first: bool) -> np.ndarray:
    """The numbers ``rows [n]`` in the order of the column's values; rows of one value stay as they are either way,
    those of an unknown one come last, and sets have no order."""
    if column.kind == "set":
        return rows
    values = pd.Series(column.values[rows], index=rows, dtype=column.values.dtype)
    if column.known is not None:
        values = values.astype(object).where(column.known[rows])
    return values.sort_values(ascending=not largest_first, kind="stable").index.to_numpy()


def _texts(run: Run) -> dict[str, RunColumn]:
    rows, (first, second) = run.dataset.rows, _roles(run)
    out = {
        "id": RunColumn(_objects(run.keys), "text", "the row's id"),
        "first": RunColumn(_objects([row.first for row in rows]), "text", f"the {first}"),
    }
    if not run.dataset.single:
        out["second"] = RunColumn(_objects([row.second for row in rows]), "text", f"the {second}")
    out["gold"] = RunColumn(run.gold, "text", "the file's label", "gold label", known=run.gold != "")
    return out


def _roles(run: Run) -> tuple[str, str]:
    roles = run.models[0].roles
    return roles.first, roles.second


def _of_models(run: Run) -> dict[str, RunColumn]:
    out: dict[str, RunColumn] = {}
    for i, model in enumerate(run.models):
        # Rounded, or 0.7 as float32 would lie below the 0.7 of a filter.
        chances, answers = (values.astype(float).round(6) for values in (model.probabilities, model.answers))
        rows, gold = np.arange(len(chances)), run.gold_answers[i]
        of_gold, about = (
            np.where(gold >= 0, answers[rows, np.maximum(gold, 0)], np.nan),
            "whether that is the file's label",
        )
        out |= {
            column_of("predicted", i): RunColumn(model.predicted, "text", f"class that {model.title} predicts"),
            column_of("right", i): RunColumn(run.right(i), "yes", f"{about} ({model.title})", known=gold >= 0),
            column_of("p", i): RunColumn(chances[rows, model.best], "number", "probability of the predicted class"),
            column_of("p_gold", i): RunColumn(of_gold, "number", "probability of the file's label"),
        }
        if model.scale.several:
            names = np.array(model.scale.names, dtype=object)[model.answered]
            about = "label with the largest sum of probabilities, by which right is told"
            out[column_of("predicted_label", i)] = RunColumn(names, "text", about)
        for at, label in enumerate(model.labels):
            name = column_of("p", i) + "_" + re.sub(r"\W+", "_", label)
            out.setdefault(name, RunColumn(chances[:, at], "number", f"probability of {label}"))
    return out


def _of_words(run: Run, known: Callable[[str], bool]) -> dict[str, RunColumn]:
    @functools.cache
    def words(text: str) -> Words:
        return tuple(constructions.words_of(text))

    @functools.cache
    def unknown(word: str) -> bool:
        return not known(word)

    rows, (first, second) = run.dataset.rows, _roles(run)
    firsts, seconds = [words(row.first) for row in rows], [words(row.second) for row in rows]
    judged = firsts if run.dataset.single else seconds

    def number(values: Sequence[float], about: str, dimension: str, bounds: tuple[float, ...]) -> RunColumn:
        return RunColumn(np.array(values, dtype=float), "number", about, dimension, bounds)

    lengths = [len(text) for text in firsts]
    out = {"words_first": number(lengths, f"words of the {first}", f"length of the {first}", (*_LENGTHS, 50))}
    if not run.dataset.single:
        lengths = [len(text) for text in seconds]
        shares = [len({*own} & {*other}) / max(1, len({*own})) for own, other in zip(seconds, firsts, strict=True)]
        about = f"share of the {second}'s words that the {first} has"
        out["words_second"] = number(lengths, f"words of the {second}", f"length of the {second}", _LENGTHS)
        out["overlap"] = number(shares, about, "word overlap", (0.2, 0.4, 0.6, 0.8, 0.999))
    negated = np.array([not NEGATIONS.isdisjoint(text) for text in judged])
    about = f"whether the {first if run.dataset.single else second} has a word of negation"
    out["negation"] = RunColumn(negated, "yes", about, "negation")
    of = f"the {first}" if run.dataset.single else f"the {first} or the {second}"
    out |= _constructions(firsts, seconds, of, single=run.dataset.single)
    kinds, about = _objects([question_kind(text) for text in firsts]), f"first question word of the {first}"
    out["question_word"] = RunColumn(kinds, "text", about, "question word" if _asks(run) else "")
    shares = [float(np.mean([unknown(word) for word in (*a, *b)] or 0)) for a, b in zip(firsts, seconds, strict=True)]
    out["unknown"] = number(shares, "share of words that the word table lacks", "unknown words", (0, 0.05, 0.1, 0.2))
    counts = _evidence(run)
    if counts is not None:
        out["evidence_sentences"] = number(counts, "sentences of evidence", "sentences of evidence", (1, 2, 3, 5))
    return out


def _constructions(firsts: Sequence[Words], seconds: Sequence[Words], of: str, *, single: bool) -> dict[str, RunColumn]:
    """Shallow features (:mod:`core.linguistics.constructions`), which say where to look: whether the words of a pair
    are exchanged, and whether one of its texts has a construction. ``of``: whose texts they are, for people."""

    def yes(values: Iterable[bool], about: str, dimension: str) -> RunColumn:
        about += ", told by words alone"
        return RunColumn(np.array([*values], dtype=bool), "yes", about, dimension, rare=True)

    def either(holds: Callable[[Words], bool]) -> Iterable[bool]:
        known = functools.cache(holds)
        return (known(first) or known(second) for first, second in zip(firsts, seconds, strict=True))

    out: dict[str, RunColumn] = {}
    if not single:
        values = map(constructions.exchanged, firsts, seconds)
        out["exchanged"] = yes(values, "whether both texts have the same words in another order", "exchanged words")
    out["passive"] = yes(either(constructions.passive), f"whether {of} has a passive", "passive")
    out["quantifier"] = yes(either(constructions.quantifier), f"whether {of} has a quantifier", "quantifier")
    about = f"whether {of} has an embedded clause"
    out["embedded_clause"] = yes(either(constructions.embedded_clause), about, "embedded clause")
    return out


def _asks(run: Run) -> bool:
    """Whether the first texts are questions: by what they are to the model or the file, or by most of their ends."""
    rows = run.dataset.rows
    ends = sum(row.first.rstrip().endswith("?") for row in rows)
    return run.dataset.ranking or run.models[0].roles.first.startswith("question") or 2 * ends > len(rows)


def _evidence(run: Run) -> list[float] | None:
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
        counts.append(len(value) if isinstance(value, list) else np.nan)
    return counts


def _own(name: str, texts: list[str]) -> RunColumn:
    """A column of the file: numbers where all of its cells are numbers or empty."""
    try:
        numbers = np.array([float(text) if text.strip() else np.nan for text in texts])
    except ValueError:
        numbers = np.array([np.inf])
    if np.isnan(numbers).all() or np.isinf(numbers).any():
        return RunColumn(_objects(texts), "text", _OWN, name)
    return RunColumn(numbers, "number", _OWN, name)


def _objects(values: Sequence[object]) -> np.ndarray:
    return np.array(values, dtype=object)
