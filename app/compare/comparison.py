"""What two explanations have in common and where they differ: attention on one scale, and words that were changed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.errors import MendableError
from core.evidence import AttentionMap, Explanation, Matrix, PooledAttention
from core.evidence.attention_map import NO_WORD


class PredictionsError(MendableError):
    """A file that holds no predictions; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Looks:
    """Where the words of one sentence look in the other, each row adding up to 1 with the null word's column (named
    :data:`core.evidence.attention_map.NO_WORD`), which only some models have."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Matrix


def looks(explanation: Explanation, role: str) -> Looks | None:
    """Where the words of the sentence with this role look, None where the model shows no attention of its words."""
    maps = (record for record in explanation.evidence if isinstance(record, AttentionMap) and record.units == "words")
    record = next((record for record in maps if record.rows == role), None)
    if record is None:
        return None
    own, other = (words(explanation, name) for name in (record.rows, record.columns))
    # Over several contexts a row adds up to 1 in each: its mean is a share of the whole.
    contexts = len(record.blocks(explanation))
    weights = tuple(tuple(weight / contexts for weight in row) for row in record.override)
    return Looks(own, (*other, NO_WORD) if record.null else other, weights)


def pooled(explanation: Explanation, role: str) -> tuple[float, ...] | None:
    """How much each word of the sentence counts in pooling (shares), None for a model without attentive pooling."""
    records = (record for record in explanation.evidence if isinstance(record, PooledAttention))
    record = next((record for record in records if record.role == role), None)
    return None if record is None else record.shares()


def words(explanation: Explanation, role: str) -> tuple[str, ...]:
    """The words of the sentence with this role."""
    return tuple(token.text for token in explanation.sentence(role).tokens)


@dataclass(frozen=True)
class Difference:
    """The first one's weights minus the second's over the words that both have, and each row's total variation."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Matrix
    variation: tuple[float, ...]
    """Half the sum of the absolute differences: the share of a word's weight that lies elsewhere, 0 to 1."""

    @property
    def mean(self) -> float:
        """Mean total variation of all rows."""
        return sum(self.variation) / len(self.variation)


def difference(first: Looks, second: Looks) -> Difference | None:
    """How two readings differ; None where they have no word in common. Weight on words that only one reading has counts
    in its row's total variation."""
    rows = _common(first.rows, second.rows)
    columns = _common(_own(first), _own(second))
    if not rows or not columns:
        return None
    null = NO_WORD in (first.columns[-1], second.columns[-1])
    cells, variation = [], []
    for i, k in rows:
        row = [first.weights[i][j] - second.weights[k][m] for j, m in columns]
        if null:
            row.append(_null(first, i) - _null(second, k))
        # What lies on words that only one of them has is elsewhere as a whole.
        alone = _beyond(first, i, {j for j, _ in columns}) + _beyond(second, k, {m for _, m in columns})
        cells.append(tuple(row))
        variation.append((sum(map(abs, row)) + alone) / 2)
    names = tuple(first.columns[j] for j, _ in columns)
    return Difference(
        tuple(first.rows[i] for i, _ in rows), (*names, NO_WORD) if null else names, tuple(cells), tuple(variation)
    )


def _own(looks: Looks) -> tuple[str, ...]:
    """The columns that are words."""
    return looks.columns[:-1] if looks.columns[-1] == NO_WORD else looks.columns


def _beyond(looks: Looks, row: int, columns: set[int]) -> float:
    """A row's weight on words other than these."""
    return sum(looks.weights[row][j] for j in range(len(_own(looks))) if j not in columns)


def _null(looks: Looks, row: int) -> float:
    return looks.weights[row][-1] if looks.columns[-1] == NO_WORD else 0.0


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


@dataclass(frozen=True)
class Disagreement:
    """A pair that two files judge differently. ``sure``: the product of both predictions' probabilities."""

    first: str
    second: str
    label: str
    verdicts: tuple[str, str]
    sure: float


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


def disagreements(first: Sequence[Prediction], second: Sequence[Prediction]) -> list[Disagreement]:
    """Pairs of both files that got different predictions, those first of which both are surest."""
    theirs = {(row.first, row.second): row for row in second}
    out = []
    for row in first:
        other = theirs.get((row.first, row.second))
        if other is not None and other.predicted != row.predicted:
            verdicts = row.predicted, other.predicted
            out.append(Disagreement(row.first, row.second, row.label, verdicts, row.p * other.p))
    return sorted(out, key=lambda one: -one.sure)
