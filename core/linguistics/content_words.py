"""Words that carry content, and what each weighs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from core.linguistics import import_nltk
from core.reading.tokens import Token

if TYPE_CHECKING:
    from core.reading.word_table import WordTable


def norms(tokens: Sequence[Token]) -> list[str]:
    """The normalised words among tokens; signs such as commas are left out."""
    return [token.norm for token in tokens if token.is_word]


@functools.cache
def stop_words() -> frozenset[str]:
    """scikit-learn's list of English words without content."""
    from sklearn.feature_extraction import text  # the package first: else this and nltk can block each other

    return frozenset(text.ENGLISH_STOP_WORDS)


def weight(word: str, words: WordTable) -> float:
    """log(1 + rank) / log(1 + V), above 0 to 1: a word's rank among the V words of the table stands for its inverse
    document frequency (Zipf's law), so that no counts of a corpus need to travel with a checkpoint. A word outside
    the table has rank V."""
    last = max(1, len(words))
    return math.log1p(words.rank(word) or last) / math.log1p(last)


@functools.lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Porter's stem of a word (1980)."""
    return _stemmer().stem(word)


@functools.lru_cache(maxsize=100_000)
def snowball_stem(word: str) -> str:
    """Snowball's English stem of a word, Porter's later and better one (Porter 2001)."""
    return _snowball().stem(word)


def neighbours(words: Sequence[str]) -> set[tuple[str, str]]:
    """Pairs of words that stand side by side."""
    return set(itertools.pairwise(words))


def directions(listed: Sequence[str], words: WordTable) -> Tensor:
    """Vectors of words, each of length 1, ``[N, D]``: their products are cosines."""
    rows = words.vectors(list(listed))
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-6)


@functools.cache
def _stemmer() -> Any:
    # Imported here because nltk takes more than a second, which an app without these features need not wait.
    import_nltk()
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@functools.cache
def _snowball() -> Any:
    import_nltk()
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")
