"""Verdicts that a user corrected: pairs with the right class."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.adaptation.features import Pair

MOST = 200
"""Maximum number of corrections collected on a page."""
HEADER = ("sentence1", "sentence2", "label")


@dataclass(frozen=True)
class Correction:
    """A pair (a text alone with an empty ``second``) and the class that is right for it."""

    first: str
    second: str
    label: str

    @property
    def pair(self) -> Pair:
        """The texts."""
        return self.first, self.second


def to_lines(corrections: Sequence[Correction]) -> str:
    """One correction per line, as JSON."""
    return "\n".join(json.dumps([one.first, one.second, one.label], ensure_ascii=False) for one in corrections)


def from_lines(text: str) -> tuple[Correction, ...] | None:
    """The corrections in the text of :func:`to_lines`; None if a line is something else."""
    found = list[Correction]()
    for line in text.split("\n"):
        try:
            first, second, label = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            return None
        if not all(isinstance(part, str) for part in (first, second, label)) or not first.strip() or not label:
            return None
        found.append(Correction(first, second, label))
    return tuple(found[:MOST])


def put(corrections: Sequence[Correction], new: Correction) -> tuple[Correction, ...]:
    """The corrections with one more, which replaces an earlier one of the same pair."""
    return (*(one for one in corrections if one.pair != new.pair), new)[-MOST:]


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
