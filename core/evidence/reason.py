"""The reason for a verdict, as a sentence whose clauses are changes confirmed by forward passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from core.evidence.as_json import LATER

SCORE, SLOW = "score", "slow"
"""Kinds of reason outside the search rules: the largest change of a score, and a search too slow to run unasked."""


@dataclass(frozen=True)
class Clause:
    """A change, and the model's verdict after it."""

    text: str
    """The clause as written in the sentence: with “three” instead, entailment (82 %)."""
    edits: tuple[str, ...]
    """The edits in the link format, to be made one after the other."""
    verdict: str
    """The label after the change."""
    probability: float
    """Probability of that label; the score of a model with one output."""


@dataclass(frozen=True)
class Reason:
    """The reason for a verdict: the first change, in the order of :data:`core.effects.differences.RULES`, that flips
    it; among changes of the same kind the strongest.

    ``kind``: a key of that table, :data:`SCORE` or :data:`SLOW`; empty if no change flips the verdict: the clause is
    then the change that lowers its probability most. ``sentence``: the full text, which contains the texts of its
    ``clauses`` in order; ``named``: the words it names, as (text number, token number); ``passes``: number of texts the
    models read."""

    kind: str
    sentence: str
    clauses: tuple[Clause, ...] = ()
    named: tuple[tuple[int, int], ...] = ()
    passes: int = 0
    known: str = field(default="", metadata=LATER)
    """The model's accuracy on hand-written pairs with this kind of change; empty if there are none."""

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(text)}</p>" for text in (self.sentence, self.known) if text)
