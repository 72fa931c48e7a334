"""The user's input: pairs of texts or single texts, each with the history of its edits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from core.reading.tokens import tokenize

SIDES = ("first", "second")
LONGEST_TRAIL = 8
"""Maximum number of earlier versions per text; the oldest is dropped."""
SAME_TEXT = 1 / 3
"""Minimum share of words that an edited text keeps; with fewer it counts as another text."""
LONG, SEVERAL = 4, 3
"""Letters in a long word, and how many such words identify a text: "is a … in the" is kept by chance."""

Version = tuple[str, str]
"""A single text with an empty second one, or both texts of a pair."""


@dataclass(frozen=True)
class Pair:
    """The user's pair, or single text (``first``), and its versions before each edit, oldest first."""

    first: str = ""
    second: str = ""
    earlier: tuple[Version, ...] = ()

    @property
    def now(self) -> Version:
        """Both current texts."""
        return self.first, self.second

    @property
    def versions(self) -> tuple[Version, ...]:
        """Oldest first, the current one last."""
        return (*self.earlier, self.now)

    @property
    def empty(self) -> bool:
        """Whether nothing is typed."""
        return not self.first.strip() and not self.second.strip()

    def typed(self, side: str, text: str) -> Pair:
        """A copy with ``text`` on this ``side`` (first or second). If the text keeps too few of the side's previous
        words, it is not an edit, and the history starts over."""
        if text == getattr(self, side):
            return self
        had = (version[side == "second"] for version in reversed(self.versions))
        last = next((words for words in had if _words(words)), "")
        earlier = self.earlier if self.empty else self.versions[-LONGEST_TRAIL:]
        return replace(self, earlier=earlier if is_edit(last, text) else (), **{side: text})


def is_edit(before: str, after: str) -> bool:
    """Whether ``after`` is an edit of ``before``: it keeps enough of its words, and not only short ones."""
    old, new = ({word for word in _words(text) if len(word) >= LONG} for text in (before, after))
    strangers = min(len(old), len(new)) >= SEVERAL and not old & new
    return kept_words(before, after) >= SAME_TEXT and not strangers


def kept_words(before: str, after: str) -> float:
    """Share of words that both texts have, counted with multiplicity, relative to the longer text; 1 if a text has no
    words, and hence none that could have been kept. Case does not matter."""
    old, new = _words(before), _words(after)
    return (old & new).total() / max(old.total(), new.total()) if old and new else 1.0


def _words(text: str) -> Counter[str]:
    return Counter(token.norm for token in tokenize(text) if token.is_word)
