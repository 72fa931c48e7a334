"""What the pages draw for an explanation. An evidence panel is a folder with its script, which registers itself for a
kind of record, and its style sheet. It does not depend on any model, and a new folder needs no further code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.panels.verdict import Verdict
from core.evidence import (
    AttentionMap,
    AttentiveContext,
    Explanation,
    FilterProvenance,
    GeneratedFilters,
    PhraseSelection,
    Record,
)
from core.evidence.attention_heads import AttentionHeads
from core.evidence.filter_provenance import FilterProducts
from core.layers.heads import title_of

if TYPE_CHECKING:
    from app.explore.asking import Why

__path__: list[str]
ELSEWHERE: Mapping[type[Record], tuple[str, str]] = {
    GeneratedFilters: ("filter_map", "Show this pair’s filters on the map"),
    PhraseSelection: ("phrases", "Show this pair’s phrases"),
}
"""The pages (files of app/views) that show more of these records, with the link texts."""


def folders() -> list[Path]:
    """The folders with the panels' scripts and styles."""
    return sorted({script.parent for place in __path__ for script in Path(place).glob("*/*.js")})


@dataclass(frozen=True)
class Drawing:
    """The browser's data for an explanation. ``axes``: the roles of the sentences along the rows and columns of its
    matrix; ``show``: the matrix's contents (weight, column or score); ``unread``: the role of a sentence that the model
    does not read; ``head``: the names of a transformer's heads, and the card's default; ``why``: the page's questions
    about the pair, None on a page that only shows it."""

    explanation: Explanation
    axes: tuple[str, str]
    verdict: Verdict
    show: str = "weight"
    unread: str = ""
    head: Mapping[str, str | None] | None = None
    why: Why | None = None

    @classmethod
    def of(cls, explanation: Explanation, **more: Any) -> Drawing:
        """Uses the explanation's own verdict, unless the fields include another."""
        heads = explanation.find(AttentionHeads)
        if heads is not None:
            more["head"] = {"title": title_of(heads.head)} | more.get("head", {})
        verdict = more.pop("verdict", None) or Verdict.of(explanation)
        return cls(explanation, axes(explanation), verdict, **more)


def drawable(explanation: Explanation) -> Explanation:
    """Leaves out large parts that can wait: the filters' winners, which their panel requests, and records drawn only on
    other pages (generated filters, and phrase matches)."""

    def drawn(record: Record) -> bool:
        phrases = isinstance(record, AttentionMap) and record.units == "phrases"
        return not phrases and not isinstance(record, GeneratedFilters | FilterProducts)

    def light(record: Record) -> Record:
        return replace(record, filters=(), compared=()) if isinstance(record, FilterProvenance) else record

    return replace(explanation, evidence=tuple(map(light, filter(drawn, explanation.evidence))))


def word_maps(explanation: Explanation) -> Sequence[AttentionMap]:
    """The maps drawn as matrices of words, in the order of the records."""
    return [one for one in explanation.evidence if isinstance(one, AttentionMap) and one.of_words]


def axes(explanation: Explanation) -> tuple[str, str]:
    """The roles of the sentences whose words are selected as rows and as columns, taken from the first map of words or
    windows; without maps, the judged sentence (or the second) has the rows."""
    for record in explanation.evidence:
        if isinstance(record, AttentionMap | AttentiveContext) and getattr(record, "units", "") != "phrases":
            return record.rows, record.columns
    first, second = explanation.first.role, explanation.second.role
    row = explanation.judged if explanation.judged in (first, second) else second
    return row, first if row == second else second


def length(explanation: Explanation, role: str) -> int:
    """Number of words in the sentence with this role, 0 if there is none."""
    return len(explanation.sentence(role).tokens) if role else 0
