"""The columns computed from a data file alone, without a model: :data:`FEATURES` lists the columns about its texts.

They are computed once per run and stored in its folder, with a checksum of the code that computed them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.desk import votes
from core.desk.columns import Cells, RunColumn, cells
from core.desk.run import OTHER_COLUMN, Run, read_table
from core.desk.run_folder import FEATURES as STORED
from core.evaluation import scores
from core.files import FileError, whole_file
from core.linguistics import constructions
from core.linguistics import features as lists
from core.reading import shared_words, tokens
from core.reading.shared_words import share_in
from core.reading.word_table import default_table

Features = Mapping[str, pa.Array]
"""The values of all rows, ``[N]``, by feature."""
_IDENTITY = "identity"
"""The feature with a hash of each row's words, which is not shown as a column."""
_CHUNK = 10_000
_LENGTHS, _SHARES = (5, 10, 15, 20, 30), (0.2, 0.4, 0.6, 0.8, 0.999)
_DIGIT = re.compile(r"\d")
_ARTICLES = {"a", "an", "the"}
_WRITTEN_NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]{1,3})?", re.IGNORECASE)
"""A number without a plus sign and without leading zeros, which are typical of codes."""
_CODE = (
    __file__,
    constructions.LISTS,
    *(each.__file__ for each in (votes, constructions, lists, scores, shared_words, tokens)),
)
"""The files with the code and the word lists that determine the features."""


class RowText:
    """A text of a row with its normalised words, which exclude punctuation."""

    def __init__(self, text: str) -> None:
        self.text, self.words = text, tuple(constructions.words_of(text))
        self._has: dict[Callable[[Sequence[str]], bool], bool] = {}

    def has(self, construction: Callable[[Sequence[str]], bool]) -> bool:
        """Whether its words have a construction; cached, because many rows may share a text."""
        if construction not in self._has:
            self._has[construction] = construction(self.words)
        return self._has[construction]


class RowTexts(NamedTuple):
    """The texts of a row; in a run of single texts, ``second`` is empty and ``judged`` is the first one."""

    first: RowText
    second: RowText
    judged: RowText
    in_vocabulary: Callable[[str], bool]
    """Whether the word vectors have a word."""


@dataclass(frozen=True)
class Feature:
    """A column computed from each row's texts. In its name, and in the texts of its column, ``{first}`` and
    ``{second}`` stand for the names of both texts, ``{judged}`` and ``{either}`` for the text or texts it is about."""

    name: str
    column: RunColumn
    compute: Callable[[Any], object]
    """Its value from a row's :class:`RowTexts`, or from its cell in ``source``; None if unknown."""
    pairs: bool = False
    """Only for pairs of texts."""
    questions: bool = False
    """Slices only if the first texts are questions."""
    source: tuple[str, ...] = ()
    """Names of the columns of the file, of which the first that has any value is read instead of the texts."""


def _heuristic(about: str, dimension: str) -> RunColumn:
    return RunColumn("yes", f"{about} (heuristic, based on words only)", dimension, rare=True)


def _of_either(construction: Callable[[Sequence[str]], bool]) -> Callable[[RowTexts], bool]:
    return lambda row: row.first.has(construction) or row.second.has(construction)


def _unknown(row: RowTexts) -> float:
    words = *row.first.words, *row.second.words
    return sum(not row.in_vocabulary(word) for word in words) / max(1, len(words))


def _length_of_list(text: str) -> int | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return len(value) if isinstance(value, list) else None


FEATURES = (
    Feature(
        "{first}.words",
        RunColumn("number", "words in the {first}", "length of the {first}", (*_LENGTHS, 50)),
        lambda row: len(row.first.words),
    ),
    Feature(
        "{second}.words",
        RunColumn("number", "words in the {second}", "length of the {second}", _LENGTHS),
        lambda row: len(row.second.words),
        pairs=True,
    ),
    Feature(
        "overlap",
        RunColumn(
            "number", "share of the {second}'s words that are in the {first}", "word overlap", _SHARES, share=True
        ),
        lambda row: share_in(row.second.words, row.first.words),
        pairs=True,
    ),
    Feature(
        "negation",
        RunColumn("yes", "whether the {judged} has a negation word", "negation"),
        lambda row: not lists.NEGATIONS.isdisjoint(row.judged.words),
    ),
    Feature(
        "numbers",
        RunColumn("yes", "whether the {judged} has a digit", "numbers"),
        lambda row: any(map(_DIGIT.search, row.judged.words)),
    ),
    Feature(
        "exchanged",
        _heuristic("whether both texts have the same words in another order", "exchanged words"),
        lambda row: constructions.exchanged(row.first.words, row.second.words),
        pairs=True,
    ),
    Feature("passive", _heuristic("whether {either} has a passive", "passive"), _of_either(constructions.passive)),
    Feature(
        "quantifier",
        _heuristic("whether {either} has a quantifier", "quantifier"),
        _of_either(constructions.quantifier),
    ),
    Feature(
        "embedded_clause",
        _heuristic("whether {either} has an embedded clause", "embedded clause"),
        _of_either(constructions.embedded_clause),
    ),
    Feature(
        "question_word",
        RunColumn("text", "first question word of the {first}", "question word"),
        lambda row: scores.question_kind(row.first.words),
        questions=True,
    ),
    Feature(
        "unknown",
        RunColumn("number", "out-of-vocabulary rate", "unknown words", (0, 0.05, 0.1, 0.2), share=True),
        _unknown,
    ),
    Feature(
        "evidence_sentences",
        RunColumn("number", "sentences of evidence", "sentences of evidence", (1, 2, 3, 5)),
        _length_of_list,
        source=("evidence", "evidences", "evidence_sentences"),
    ),
)
"""The features in the order of their columns. A feature added here becomes a column of every run: in filters, sort
orders, slices, exports and the list of columns."""


def features_of(run: Run, known: Callable[[str], bool] | None = None) -> Features:
    """The features of a run, computed unless its folder has them. ``known``: whether a word is in the vocabulary, by
    default the shared one; features are stored only for the default."""
    if known is not None:
        return _computed(run, known)
    words, path = default_table(), run.folder / STORED
    version = _checksum(words.sha256)
    if path.is_file():
        table = read_table(path)
        if (table.schema.metadata or {}).get(b"pairlens_features") == version and table.num_rows == len(run.rows):
            return {name: table.column(name).combine_chunks() for name in table.column_names}
    features = _computed(run, words.known)
    table = pa.table(dict(features)).replace_schema_metadata({b"pairlens_features": version})
    with contextlib.suppress(FileError), whole_file(path) as scratch:  # else they are computed again next time
        pq.write_table(table, scratch, compression="zstd")
    return features


def _checksum(words: str) -> bytes:
    """Changes with the list of features, the code that computes them and the word vectors (of checksum ``words``)."""
    digest = hashlib.sha256(repr([words, *((one.name, one.column.kind) for one in FEATURES)]).encode())
    for path in _CODE:
        digest.update(Path(str(path)).read_bytes())
    return digest.hexdigest().encode()


def _computed(run: Run, known: Callable[[str], bool]) -> dict[str, pa.Array]:
    """All features, 10,000 rows at a time."""
    of_texts = [feature for feature in FEATURES if not feature.source and not (feature.pairs and run.single)]
    chunks = [[*_of_rows(rows, of_texts)] for rows in _rows(run, known)]
    names = [*(feature.name for feature in of_texts), _IDENTITY]
    values = {name: pa.concat_arrays(parts) for name, parts in zip(names, zip(*chunks, strict=True), strict=True)}
    others = run.rows.other_columns()
    for feature in FEATURES:
        for name in feature.source:
            if name in others and feature.name not in values:
                found = _array(feature, other_values(run, name))
                values |= {feature.name: found} if found.null_count < len(found) else {}
    voted = next((name for name in votes.COLUMNS if name in others), None)
    if voted is not None:
        found = votes.features(other_values(run, voted))
        values |= {name: pa.array(own, from_pandas=True) for name, own in found.items()}
    for name in others:
        numbers = _numbers(other_values(run, name))
        if numbers is not None:
            values[OTHER_COLUMN + name] = pa.array(numbers, from_pandas=True)
    return values


def _rows(run: Run, known: Callable[[str], bool]) -> Iterator[list[RowTexts]]:
    known = functools.cache(known)
    for firsts, seconds in run.rows.texts(_CHUNK):
        of = functools.cache(RowText)
        pairs = [(of(first), of(second)) for first, second in zip(firsts, seconds, strict=True)]
        yield [RowTexts(first, second, first if run.single else second, known) for first, second in pairs]


def _of_rows(rows: Sequence[RowTexts], features: Sequence[Feature]) -> Iterator[pa.Array]:
    """The values of the features, then the rows' identities."""
    for feature in features:
        yield _array(feature, rows)
    yield pa.array([_identity(row) for row in rows], pa.int64())


def _array(feature: Feature, inputs: Sequence[object]) -> pa.Array:
    return cells([*map(feature.compute, inputs)], feature.column.kind).values


def _identity(row: RowTexts) -> int:
    """A hash of a pair's words without articles: the same for near duplicates."""
    words = (" ".join(word for word in text.words if word not in _ARTICLES) for text in (row.first, row.second))
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def other_values(run: Run, name: str) -> list[str]:
    """The cells of another column of the file; empty if a row has none."""
    return run.rows.column(OTHER_COLUMN + name)


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


def feature_columns(run: Run, features: Features, asks: bool) -> dict[str, Cells]:
    """The columns of the run's features, by their names in filters. ``asks``: whether most first texts are
    questions."""
    first, second = run.roles.first, run.roles.second
    either, judged = (f"the {first}", first) if run.single else (f"the {first} or the {second}", second)
    asks = run.dataset.ranking or first.startswith("question") or asks
    named = functools.partial(str.format, first=first, second=second, judged=judged, either=either)
    out = _duplicates(run, features)
    for feature in FEATURES:
        if feature.name in features:
            column = feature.column
            dimension = named(column.dimension) if asks or not feature.questions else ""
            name = feature.name.format(first=run.text_columns[0], second=run.text_columns[1])
            column = replace(column, about=named(column.about), dimension=dimension)
            out[name] = Cells(column, features[feature.name])
    return out | {name: Cells(column, features[name]) for name, column in votes.columns(features).items()}


def _duplicates(run: Run, features: Features) -> dict[str, Cells]:
    """The rows that repeat another one, and those that do so with a different label."""
    pairs = features[_IDENTITY].to_numpy()
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
