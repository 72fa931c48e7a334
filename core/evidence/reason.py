"""Why a verdict holds, in a sentence whose clauses are changes that forward passes have confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

SCORE, SLOW = "score", "slow"
"""Kinds of reason beside the steps of the search: the largest change of a score, and the cost of an answer that was not
computed."""


@dataclass(frozen=True)
class Clause:
    """A change, and the model's verdict after it."""

    text: str
    """As it stands in the sentence: with “three” instead, entailment (82 %)."""
    edits: tuple[str, ...]
    """The change in the form that links have, to be made one after the other."""
    verdict: str
    """The label after it."""
    probability: float
    """Of that label; of one output the score."""


@dataclass(frozen=True)
class Reason:
    """Why a verdict holds: the first change in the order of :data:`core.effects.differences.RULES` that flips it, the
    strongest of its kind.

    ``kind``: a key of that table, :data:`SCORE` or :data:`SLOW`; empty where no change flips
    the verdict: then the clause is the change that lowers its probability most. ``sentence``: all of it, with the texts
    of its ``clauses`` in their order; ``named``: the words that it names, as number of the text and of the token;
    ``passes``: texts that models read for it."""

    kind: str
    sentence: str
    clauses: tuple[Clause, ...] = ()
    named: tuple[tuple[int, int], ...] = ()
    passes: int = 0

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>"
