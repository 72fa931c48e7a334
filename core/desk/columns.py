"""The columns of a run's rows for filters, sort orders and slices, and their sources."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from core.data.labels import is_number, proposed
from core.desk import votes
from core.desk.run import LETTERS, OTHER_COLUMN, Run, column_of, prediction_of
from core.evaluation.scores import question_kind
from core.linguistics import constructions
from core.linguistics.features import NEGATIONS

_EVIDENCE = ("evidence", "evidences", "evidence_sentences")
"""Names of columns with a JSON list of sentences."""
_LENGTHS = (5, 10, 15, 20, 30)
SLICE = "slice."
"""Prefix of a saved slice's column."""
_CHUNK = 10_000
_DIGIT = re.compile(r"\d")
_WRITTEN_NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]{1,3})?", re.IGNORECASE)
"""A number without a sign + and without leading zeros, which codes have."""


@dataclass(frozen=True)
class RunColumn:
    """A column. ``kind``: "text", "number", "yes" (a boolean) or "set" (of tags)."""

    kind: str
    about: str = ""
    """Its meaning, for the list of columns."""
    dimension: str = ""
    """The name of the slices by its values; empty if there are none."""
    bounds: tuple[float, ...] = ()
    """Upper bounds of numeric slices; the last slice has none."""
    rare: bool = False
    """For "yes": no slice for the remaining rows, because they are nearly all rows."""
    share: bool = False
    """For "number": a probability or another share from 0 to 1, which filters may write in per cent."""
    grades: bool = False
    """For "text": all values are numbers, so filters may compare and compute with them."""
    sql: str = ""
    """The SQL expression of its values, NULL if unknown."""
    computed_from: frozenset[str] = frozenset()
    """For a user's own column: the run's columns in its formula."""
    spelled: str = ""
    """The SQL expression of its values as the file spells them (0.50 for 0.5); empty: they have no other spelling."""

    @property
    def folded(self) -> str:
        """The SQL expression of its case-folded texts."""
        return f"list_transform({self.sql}, lambda text: fold(text))" if self.kind == "set" else f"fold({self.sql})"


class Cells(NamedTuple):
    """A column with its values for all rows; null if unknown."""

    column: RunColumn
    values: pa.Array


def cells(
    values: Sequence[object] | np.ndarray, kind: str, about: str = "", unknown: np.ndarray | None = None, **more: Any
) -> Cells:
    """A column with these values; NaN, None and the values in ``unknown`` rows (bool ``[N]``) are unknown; ``more``:
    the column's other fields."""
    types = {"text": pa.string(), "number": pa.float64(), "yes": pa.bool_(), "set": pa.list_(pa.string())}
    array = pa.array(values, types[kind], mask=unknown, from_pandas=True)
    return Cells(RunColumn(kind, about, **more), array)


def find(name: str, columns: Mapping[str, RunColumn]) -> str | None:
    """The column for a name; case matters only to distinguish two columns."""
    return name if name in columns else {own.lower(): own for own in columns}.get(name.lower())


def of_model(model: int, columns: Mapping[str, Cells]) -> dict[str, Cells]:
    """A model's columns by their names in filters (:func:`core.desk.run.column_of`)."""
    return {column_of(name, model): column for name, column in columns.items()}


def facts(run: Run) -> dict[str, Cells]:
    """Keys, labels and the models' predictions."""
    gold = [label or None for label in run.gold]
    grades = bool(run.spellings) and all(map(is_number, run.spellings))
    out = {
        "id": cells(run.keys.tolist(), "text", "the row's id"),
        "gold": cells(gold, "text", "the file's label", dimension="gold label", grades=grades),
        "held_back": cells(run.held_back, "yes", "the half of the rows, by a hash of the id, to confirm a finding on"),
    }
    for i, model in enumerate(run.models):
        # Rounded, because 0.7 in float32 is less than a filter's 0.7.
        chances, answers = (values.astype(float).round(6) for values in (model.probabilities, model.answers))
        rows, label = np.arange(len(chances)), run.gold_answers[i]
        of_gold = np.where(label >= 0, answers[rows, np.maximum(label, 0)], np.nan)
        about = f"whether that is the file's label ({model.title})"
        share = len(model.labels) > 1
        known = {
            "predicted": cells(
                model.predicted, "text", f"class that {model.title} predicts", dimension=prediction_of(i)
            ),
            "right": cells(run.right(i), "yes", about, unknown=label < 0),
            "p": cells(chances[rows, model.best], "number", "probability of the predicted class", share=share),
            "p_gold": cells(of_gold, "number", "probability of the file's label", share=share),
        }
        if model.scale.several:
            names = np.array(model.scale.names, dtype=object)[model.answered]
            about = "label with the largest sum of probabilities, which decides whether the model is right"
            known["predicted_label"] = cells(names, "text", about)
        if model.truncated is not None:
            about = f"whether {model.title} read only the beginning of one of the texts"
            known["truncated"] = cells(
                model.truncated, "yes", about, dimension=f"truncated for {LETTERS[i]}", rare=True
            )
        out |= of_model(i, known)
        for at, label_name in enumerate(model.labels):
            name = _class_column(i, label_name)
            about = f"probability of {label_name}"
            out.setdefault(name, cells(chances[:, at], "number", about, share=share))
    return out


Features = dict[str, pa.Array]
"""Features computed only from the texts of a run's rows: values ``[N]`` by column name."""


def features_of(run: Run, known: Callable[[str], bool]) -> Features:
    """Features of all rows, computed from 10,000 texts at a time; ``known``: whether a word is in the vocabulary."""
    compute = _PairFeatures(run.single, known)
    chunks = [compute(firsts, seconds) for firsts, seconds in run.rows.texts(_CHUNK)]
    values = {name: pa.concat_arrays([chunk[name] for chunk in chunks]) for name in chunks[0]}
    evidence = _evidence(run)
    if evidence is not None:
        values["evidence_sentences"] = pa.array(evidence, pa.float64())
    voted = next((name for name in votes.COLUMNS if name in run.rows.other_columns()), None)
    if voted is not None:
        found = votes.features(other_values(run, voted))
        values |= {name: pa.array(own, from_pandas=True) for name, own in found.items()}
    for name in run.rows.other_columns():
        numbers = _numbers(other_values(run, name))
        if numbers is not None:
            values[OTHER_COLUMN + name] = pa.array(numbers, from_pandas=True)
    return values


def other_values(run: Run, name: str) -> list[str]:
    """The cells of another column of the file; empty if a row has none."""
    return run.rows.column(OTHER_COLUMN + name)


class _PairFeatures:
    """Features of texts based only on their words, meant as hints (:mod:`core.linguistics.constructions`)."""

    def __init__(self, single: bool, known: Callable[[str], bool]) -> None:
        self._single, self._known = single, functools.cache(known)

    def __call__(self, first_texts: Sequence[str], second_texts: Sequence[str]) -> dict[str, pa.Array]:
        words = functools.cache(lambda text: tuple(constructions.words_of(text)))
        firsts, seconds = [words(text) for text in first_texts], [words(text) for text in second_texts]
        pairs = list(zip(firsts, seconds, strict=True))
        out: dict[str, Iterable[object]] = {"words_first": (float(len(text)) for text in firsts)}
        if not self._single:
            out["words_second"] = (float(len(text)) for text in seconds)
            out["overlap"] = (len({*own} & {*other}) / max(1, len({*own})) for other, own in pairs)
            out["exchanged"] = itertools.starmap(constructions.exchanged, pairs)
        out["pair"] = (_identity(*own) for own in pairs)
        judged = firsts if self._single else seconds
        out["negation"] = (not NEGATIONS.isdisjoint(text) for text in judged)
        out["numbers"] = (any(map(_DIGIT.search, text)) for text in judged)
        for name in ("passive", "quantifier", "embedded_clause"):
            holds: Callable[[tuple[str, ...]], bool] = functools.cache(getattr(constructions, name))
            out[name] = [holds(first) or holds(second) for first, second in pairs]
        out["question_word"] = map(question_kind, firsts)
        out["unknown"] = (sum(not self._known(word) for word in (*a, *b)) / max(1, len(a) + len(b)) for a, b in pairs)
        return {name: pa.array(values) for name, values in out.items()}


_ARTICLES = {"a", "an", "the"}


def _identity(first: Sequence[str], second: Sequence[str]) -> int:
    """A hash of a pair's words without articles: the same for near duplicates."""
    words = (" ".join(word for word in text if word not in _ARTICLES) for text in (first, second))
    return int.from_bytes(blake2b("\0".join(words).encode(), digest_size=8).digest(), "little", signed=True)


def duplicates(run: Run, features: Features) -> dict[str, Cells]:
    """The rows that repeat another one, and those that do so with a different label."""
    pairs = features["pair"].to_numpy()
    _, groups, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    places = {label: place for place, label in enumerate(run.spellings.values())}
    labels = np.array([places.get(label, -1) for label in run.gold])
    labelled = labels >= 0
    different = np.unique(groups[labelled] * max(1, len(places)) + labels[labelled]) // max(1, len(places))
    conflicts = labelled & (np.bincount(different, minlength=len(counts)) > 1)[groups]
    about = "whether another row has the same words in the same order, ignoring case, punctuation and articles"
    other = f"{about}, and a different label"
    return {
        "near_duplicate": cells(counts[groups] > 1, "yes", about, dimension="near duplicate", rare=True),
        "label_conflict": cells(conflicts, "yes", other, dimension="duplicate with another label", rare=True),
    }


def _evidence(run: Run) -> list[float | None] | None:
    """The number of evidence sentences in each row, if a column contains lists of them."""
    for name in _EVIDENCE:
        if name in run.rows.other_columns():
            texts = other_values(run, name)
            if any(text[:1] == "[" for text in texts):
                return [_length(text) for text in texts]
    return None


def _length(text: str) -> float | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return float(len(value)) if isinstance(value, list) else None


def _numbers(texts: Sequence[str]) -> np.ndarray | None:
    """A column of the file as numbers, NaN in empty cells; None if all are empty, or if any cell is not a number or
    would not survive as one: codes such as 007, ids of more digits than a float64 holds, and versions, of which 1.1 and
    1.10 are not the same."""
    known: dict[str, float] = {}
    for text in {text.strip() for text in texts}:
        if text.lower() in ("", "nan"):
            known[text] = np.nan
        elif _WRITTEN_NUMBER.fullmatch(text) and Decimal(text) == Decimal(repr(float(text))):
            known[text] = float(text)
        else:
            return None
    different = [number for number in known.values() if not np.isnan(number)]
    if not different or len({*different}) < len(different):
        return None
    return np.array([known[text.strip()] for text in texts])


def feature_columns(run: Run, features: Features, asks: bool) -> dict[str, RunColumn]:
    """The columns by feature. ``asks``: whether most first texts are questions."""
    roles = run.models[0].roles
    first, second = roles.first, roles.second
    either = f"the {first}" if run.single else f"the {first} or the {second}"
    judged = first if run.single else second
    asks = run.dataset.ranking or roles.first.startswith("question") or asks

    def heuristic(name: str, about: str) -> RunColumn:
        return RunColumn("yes", f"{about} (heuristic, based on words only)", name, rare=True)

    known = {
        "words_first": RunColumn("number", f"words in the {first}", f"length of the {first}", (*_LENGTHS, 50)),
        "words_second": RunColumn("number", f"words in the {second}", f"length of the {second}", _LENGTHS),
        "overlap": RunColumn(
            "number",
            f"share of the {second}'s words that are in the {first}",
            "word overlap",
            (0.2, 0.4, 0.6, 0.8, 0.999),
            share=True,
        ),
        "negation": RunColumn("yes", f"whether the {judged} has a negation word", "negation"),
        "numbers": RunColumn("yes", f"whether the {judged} has a digit", "numbers"),
        "exchanged": heuristic("exchanged words", "whether both texts have the same words in another order"),
        "passive": heuristic("passive", f"whether {either} has a passive"),
        "quantifier": heuristic("quantifier", f"whether {either} has a quantifier"),
        "embedded_clause": heuristic("embedded clause", f"whether {either} has an embedded clause"),
        "question_word": RunColumn("text", f"first question word of the {first}", "question word" if asks else ""),
        "unknown": RunColumn("number", "out-of-vocabulary rate", "unknown words", (0, 0.05, 0.1, 0.2), share=True),
        "evidence_sentences": RunColumn("number", "sentences of evidence", "sentences of evidence", (1, 2, 3, 5)),
        "entropy": RunColumn("number", "entropy of the annotators' votes in bits"),
        "agreement": RunColumn(
            "number",
            "share of the most frequent vote",
            "agreement of the annotators",
            (0.5, 0.7, 0.9, 0.999),
            share=True,
        ),
    }
    for name in features:
        if name.startswith(votes.SHARE):
            label = name.removeprefix(votes.SHARE)
            known[name] = RunColumn("number", f"share of the annotators' votes for {label}", share=True)
    return {name: column for name, column in known.items() if name in features}


def distances(run: Run, columns: Mapping[str, RunColumn]) -> dict[str, RunColumn]:
    """By model, the SQL expression for the total variation distance between its probabilities and the annotators'
    votes: the probability that would have to move to other labels. Missing for a model that lacks a label."""
    voted = {name.removeprefix(votes.SHARE): column for name, column in columns.items() if name.startswith(votes.SHARE)}
    out = {}
    for i, model in enumerate(run.models):
        # A label that only annotators gave, such as ChaosNLI's c, is not mapped.
        meant = {label: proposed(label, voted, model.labels) for label in model.scale.unknown(voted)}
        answers = model.scale.of([meant[label][0] if meant.get(label) else label for label in voted])
        if not voted or (answers < 0).any():
            continue
        terms = []
        for answer, members in enumerate(model.scale.members):
            sums = [columns[_class_column(i, model.labels[place])].sql for place in members]
            people = [column.sql for column, own in zip(voted.values(), answers, strict=True) if own == answer]
            terms.append(f"abs({' + '.join(sums)} - ({' + '.join(people) or '0'}))")
        about = f"distance of {model.title} from the annotators' votes (total variation)"
        out[column_of("distance", i)] = RunColumn("number", about, share=True, sql=f"(({' + '.join(terms)}) / 2)")
    return out


def _class_column(model: int, label: str) -> str:
    """The name of the column with a class's probability."""
    return column_of("p", model) + "_" + re.sub(r"\W+", "_", label)


def texts_of_row(run: Run) -> dict[str, RunColumn]:
    """The text columns."""
    roles = run.models[0].roles
    sides = ("first", "second")[: 1 if run.single else 2]
    known = zip(sides, run.text_columns, (roles.first, roles.second), strict=False)
    return {name: RunColumn("text", f"the {role}", sql=f"d_{side}") for side, name, role in known}
