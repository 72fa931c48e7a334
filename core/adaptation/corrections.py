"""Verdicts that a user corrected: pairs with the right class."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.adaptation.features import Pair
from core.errors import UserError
from core.wording import counted

MOST = 200
"""Maximum number of corrections collected on a page."""
HEADER = ("sentence1", "sentence2", "label")


@dataclass(frozen=True)
class Correction:
    """A pair (``second`` is empty for a single text) and its right class."""

    first: str
    second: str
    label: str

    @property
    def pair(self) -> Pair:
        """The texts."""
        return self.first, self.second

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Equal for corrections of the same pair (:func:`words_of`)."""
        return words_of(self.pair)


def words_of(pair: Pair) -> tuple[tuple[str, ...], ...]:
    """Equal for pairs that differ in spaces only, at the ends of texts or between words."""
    return tuple(tuple(text.split()) for text in pair)


def to_lines(corrections: Sequence[Correction]) -> str:
    """One correction per line, as JSON."""
    return "\n".join(json.dumps([one.first, one.second, one.label], ensure_ascii=False) for one in corrections)


def from_lines(text: str) -> tuple[Correction, ...] | None:
    """The corrections in the text of :func:`to_lines`, each pair once; None if a line is something else."""
    found = list[Correction]()
    for line in text.split("\n"):
        try:
            first, second, label = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            return None
        if not all(isinstance(part, str) for part in (first, second, label)) or not first.strip() or not label:
            return None
        found.append(Correction(first, second, label))
    return merged((), found)[0]


def put(corrections: Sequence[Correction], new: Correction) -> tuple[Correction, ...]:
    """The corrections with one more, which replaces an earlier one of the same pair. Raises UserError for more than
    :data:`MOST`."""
    found, told = merged(corrections, [new])
    if told:
        raise UserError(f"at most {MOST} corrections can be collected: save them, and remove some")
    return found


def merged(corrections: Sequence[Correction], rows: Sequence[Correction]) -> tuple[tuple[Correction, ...], list[str]]:
    """The corrections merged with a file's ``rows``; and sentences about rows that do not count: rows beyond
    :data:`MOST`, and rows followed by another class for the same pair."""
    found, seen = {one.words: one for one in corrections}, dict[object, str]()
    twice = left_out = 0
    for one in rows:
        twice += seen.get(one.words, one.label) != one.label
        seen[one.words] = one.label
        if one.words not in found and len(found) >= MOST:
            left_out += 1
        else:
            found.pop(one.words, None)
            found[one.words] = one
    told = [f"Another class further down counts for {counted(twice, 'row')} of the file."] if twice else []
    if left_out:
        told.append(f"{left_out:,} of {counted(len(rows), 'correction')} left out, because the limit is {MOST}.")
    return (*found.values(),), told


def to_csv(corrections: Sequence[Correction]) -> str:
    """The corrections as a CSV file that all commands read."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows((one.first, one.second, one.label) for one in corrections)
    return out.getvalue()


def from_csv(text: str) -> tuple[Correction, ...]:
    """The corrections in the text of :func:`to_csv`."""
    return tuple(Correction(*row) for row in list(csv.reader(io.StringIO(text)))[1:] if len(row) == len(HEADER))
