"""The words along the edges of an effects map of attention links."""

from __future__ import annotations

from collections.abc import Sequence

from core.evidence.attention_map import FINAL_STATE, NO_WORD
from core.evidence.effects import HEADS, LinkEffects
from core.evidence.explanation import Explanation
from core.evidence.filter_provenance import FilterProvenance
from core.evidence.phrase_selection import PhraseSelection


def edge_words(
    rows: str, columns: str, units: str, null: bool, shape: tuple[int, int], explanation: Explanation
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words along the rows and the columns of a map between these two roles."""
    if units == HEADS:
        return _numbered(f"{rows} ", shape[0]), _numbered(f"{columns} ", shape[1])
    along = _units(columns, "words" if units == FINAL_STATE else units, explanation)
    heads = (*along, *([NO_WORD] if null else []))
    return _as_many(_units(rows, units, explanation), shape[0]), _as_many(heads, shape[1])


def link_edges(links: LinkEffects, explanation: Explanation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """:func:`edge_words` for a map of link effects."""
    shape = len(links.effects), len(links.effects[0])
    return edge_words(links.rows, links.columns, links.units, links.null, shape, explanation)


def _units(role: str, units: str, explanation: Explanation) -> Sequence[str]:
    """Labels for the units along one edge."""
    sentence = explanation.sentence(role)
    tokens = [token.text for token in sentence.tokens]
    if units == FINAL_STATE:
        return [units]
    phrases = explanation.find(PhraseSelection)
    if units == "phrases" and phrases is not None:
        side = next(side for side in phrases.sides if side.role == role)
        return [sentence.words(phrase.span) for phrase in side.phrases]
    filters = explanation.find(FilterProvenance)
    if units == "windows" and filters is not None:
        count = max(1, len(tokens) - filters.width + 1)
        return [" ".join(tokens[start : start + filters.width]) for start in range(count)]
    return tokens


def _as_many(words: Sequence[str], count: int) -> tuple[str, ...]:
    """The names if there are ``count`` of them, else numbers: units such as the hops of self-attention have no
    names."""
    return tuple(words) if len(words) == count else _numbered("", count)


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}{i + 1}" for i in range(count))
