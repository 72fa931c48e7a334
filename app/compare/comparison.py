"""Compares two texts word by word, and two files of predictions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.errors import UserError
from core.evidence import Sentence


class PredictionsError(UserError):
    """A file that holds no predictions; the message is one sentence with the remedy."""


def common(first: Sentence, second: Sentence) -> list[tuple[int, int]]:
    """Places of the words that stand in both, in order."""
    words, others = ([token.text.lower() for token in one.tokens] for one in (first, second))
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    return [(block.a + k, block.b + k) for block in matcher.get_matching_blocks() for k in range(block.size)]


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
