"""The words that two texts share, and the words that only one of them has, compared by normalised form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Stretches = tuple[slice, slice]
"""A stretch of words of the first text, and the corresponding stretch of the second."""


def only_in(words: Sequence[str], other: Sequence[str]) -> list[int]:
    """The positions of the words that the other text lacks."""
    known = {*other}
    return [place for place, word in enumerate(words) if word not in known]


def share_in(words: Sequence[str], other: Sequence[str]) -> float:
    """The share of a text's distinct words that the other one has too; 0 for a text without words."""
    return len({*words} & {*other}) / max(1, len({*words}))


def in_both(words: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """The positions, in each text, of the words that both have in the same order."""
    blocks = SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
    return [(block.a + k, block.b + k) for block in blocks for k in range(block.size)]


def differing(words: Sequence[str], other: Sequence[str]) -> Iterator[Stretches]:
    """The stretches in which two texts differ, with the rest in the same order; one of the two may be empty."""
    for kind, start, end, other_start, other_end in SequenceMatcher(None, words, other, autojunk=False).get_opcodes():
        if kind != "equal":
            yield slice(start, end), slice(other_start, other_end)
