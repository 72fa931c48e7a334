"""The verdict with its evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.api.endpoint import PairRequest, endpoint
from core.effects.attention_edits import explain_under
from core.effects.history import acting
from core.errors import UserError
from core.evidence import AttentionMap, Explanation, record_kinds
from core.explain import with_nearest
from core.json_types import setting
from core.progress import Progress
from core.wording import hint


@dataclass(frozen=True)
class Word:
    """A word, given by the index of its text and its position there, both from 0."""

    side: int = setting(least=0, most=1)
    index: int = setting(least=0)


@dataclass(frozen=True)
class ExplainRequest(PairRequest):
    """``word``: the word whose attentive context is also described by its nearest words; ``records``: the kinds of
    evidence to return, by default all."""

    head: str = ""
    word: Word | None = None
    records: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        known = record_kinds()
        for kind in self.records or ():
            if kind not in known:
                raise ValueError(f"records has no kind {kind[:100]!r}{hint(kind, known)}")


@endpoint("explain", ExplainRequest, quick=True)
def explain(asked: ExplainRequest, progress: Progress) -> Explanation:
    """The verdict with its evidence, after the edits."""
    checkpoint, first, second = asked.pair
    if asked.head and checkpoint.model.knockouts is None:
        raise UserError(f"{checkpoint.name} has no heads to choose from: leave head out")
    # With all records, as on the pages, so that a page and its questions compute an explanation once.
    explanation = explain_under(checkpoint, first, second, acting(asked.parsed_edits), head=asked.head)
    if asked.records is not None:
        wanted = tuple(record for record in explanation.evidence if record.kind in asked.records)
        explanation = replace(explanation, evidence=wanted)
    if asked.word is None:
        return explanation
    sides = explanation.sentences
    if asked.word.side >= len(sides) or asked.word.index >= len(sides[asked.word.side].tokens):
        raise UserError("there is no such word in this pair: word.side and word.index count from 0")
    return with_nearest(checkpoint, explanation, asked.word.index, sides[asked.word.side].role)


@endpoint("preview", PairRequest, kept=False, quick=True)
def preview(asked: PairRequest, progress: Progress) -> Explanation:
    """The verdict after the edits with only its attention, fast enough to follow a slider."""
    checkpoint, first, second = asked.pair
    return explain_under(checkpoint, first, second, acting(asked.parsed_edits), records=(AttentionMap,))
