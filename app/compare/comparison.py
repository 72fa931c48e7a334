"""Compares two explanations: attention on one scale, and changed words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from core.errors import UserError
from core.evidence import AttentionMap, Explanation, Matrix, PooledAttention
from core.evidence.attention_map import NO_WORD, SPECIAL


class PredictionsError(UserError):
    """A file that holds no predictions; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Looks:
    """One sentence's attention over the other; each row adds up to 1, with a last column ``none`` in some models:
    ``none_word`` labels it as the null word or a transformer's special tokens."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Matrix
    none: tuple[float, ...] | None = None
    none_word: str = ""


def looks(explanation: Explanation, role: str) -> Looks | None:
    """The attention of the sentence with this role, None if the model shows none."""
    maps = (record for record in explanation.evidence if isinstance(record, AttentionMap) and record.units == "words")
    record = next((record for record in maps if record.rows == role), None)
    if record is None:
        return None
    own, other = (words(explanation, name) for name in (record.rows, record.columns))
    # Over several contexts a row adds up to 1 in each: its mean is a share of the whole.
    contexts = len(record.blocks(explanation))
    none = tuple(weight / contexts for weight in record.null) or None
    none_word = "" if none is None else SPECIAL if record.own else NO_WORD
    return Looks(own, other, _matrix(np.array(record.weights) / contexts), none, none_word)


def stays(explanation: Explanation, role: str) -> Iterator[str]:
    """One sentence on the attention that a transformer's words in this role give to words outside the matrix."""
    for record in explanation.evidence:
        if isinstance(record, AttentionMap) and record.own and record.rows == role:
            yield record.stays.rstrip(".")


def _matrix(numbers: np.ndarray) -> Matrix:
    return tuple(map(tuple, numbers.tolist()))


def pooled(explanation: Explanation, role: str) -> tuple[float, ...] | None:
    """How much each word of the sentence counts in pooling (shares), None for a model without attentive pooling."""
    records = (record for record in explanation.evidence if isinstance(record, PooledAttention))
    record = next((record for record in records if record.role == role), None)
    return None if record is None else record.shares()


def words(explanation: Explanation, role: str) -> tuple[str, ...]:
    """The words of the sentence with this role."""
    return tuple(token.text for token in explanation.sentence(role).tokens)


@dataclass(frozen=True)
class Difference(Looks):
    """The first one's weights minus the second's over the words that both have, and each row's total variation."""

    variation: tuple[float, ...] = ()
    """Half the sum of the absolute differences: the share of a word's weight that lies elsewhere, 0 to 1."""

    @property
    def mean(self) -> float:
        """Mean total variation of all rows."""
        return sum(self.variation) / len(self.variation)


def difference(first: Looks, second: Looks) -> Difference | None:
    """The difference of two explanations; None if they share no word. Weight on words that only one of them has counts
    in its row's total variation."""
    rows, columns = _common(first.rows, second.rows), _common(first.columns, second.columns)
    if not rows or not columns:
        return None
    (own_rows, other_rows), (own_columns, other_columns) = np.transpose(rows), np.transpose(columns)
    own, other = np.array(first.weights)[own_rows], np.array(second.weights)[other_rows]
    cells = own[:, own_columns] - other[:, other_columns]
    null = _null(first)[own_rows] - _null(second)[other_rows]
    # All weight on words that only one of the sentences has counts as moved.
    alone = np.delete(own, own_columns, axis=1).sum(1) + np.delete(other, other_columns, axis=1).sum(1)
    return Difference(
        tuple(first.rows[i] for i in own_rows),
        tuple(first.columns[i] for i in own_columns),
        _matrix(cells),
        None if first.none is second.none is None else tuple(null.tolist()),
        " / ".join(filter(None, dict.fromkeys([first.none_word, second.none_word]))),
        tuple(((abs(cells).sum(1) + abs(null) + alone) / 2).tolist()),
    )


def _null(looks: Looks) -> np.ndarray:
    """Weights ``[rows]`` of the last column, 0 without one."""
    return np.array(looks.none or [0.0] * len(looks.rows))


def _common(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the words that stand in both, in order."""
    matcher = SequenceMatcher(None, [w.lower() for w in first], [w.lower() for w in second], autojunk=False)
    return [(block.a + k, block.b + k) for block in matcher.get_matching_blocks() for k in range(block.size)]


def changed(before: Sequence[str], after: Sequence[str]) -> tuple[set[int], set[int]]:
    """Places of the words of each that are not in the other."""
    common = _common(before, after)
    first, second = {i for i, _ in common}, {k for _, k in common}
    return set(range(len(before))) - first, set(range(len(after))) - second


@dataclass(frozen=True)
class Prediction:
    """One row of a file of predictions."""

    first: str
    second: str
    label: str
    predicted: str
    p: float


def predictions(text: str, name: str) -> list[Prediction]:
    """The rows of what `python -m trainers predict` wrote, CSV or JSON lines. Raises PredictionsError for another."""
    what = f"{name[:60]} holds no predictions: give a file that `python -m trainers predict` wrote"
    try:
        rows = list(_records(text))
        if not rows:
            raise PredictionsError(what)
        return [
            Prediction(
                str(row["first"]),
                str(row.get("second") or ""),
                str(row.get("label") or ""),
                str(row["predicted"]),
                float(row[f"p_{row['predicted']}"]),
            )
            for row in rows
        ]
    except (KeyError, TypeError, ValueError, csv.Error, RecursionError) as error:
        raise PredictionsError(what) from error


def _records(text: str) -> Iterator[dict[str, str]]:
    if text.lstrip().startswith("{"):
        yield from (json.loads(line) for line in text.splitlines() if line.strip())
    else:
        yield from csv.DictReader(io.StringIO(text))


def disagreements(first: Sequence[Prediction], second: Sequence[Prediction]) -> list[tuple[Prediction, Prediction]]:
    """Both files' predictions for the pairs they disagree on, the most confident disagreements first."""
    theirs = {(row.first, row.second): row for row in second}
    both = [(row, theirs[row.first, row.second]) for row in first if (row.first, row.second) in theirs]
    differing = [(own, other) for own, other in both if own.predicted != other.predicted]
    return sorted(differing, key=lambda pair: -pair[0].p * pair[1].p)
