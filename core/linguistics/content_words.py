"""Content words and their weights."""

from __future__ import annotations

import functools
import itertools
import math
import runpy
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from core.linguistics import import_nltk
from core.reading.tokens import Token

if TYPE_CHECKING:
    from core.reading.word_table import WordTable


def norms(tokens: Sequence[Token]) -> list[str]:
    """The normalised words among tokens, without punctuation."""
    return [token.norm for token in tokens if token.is_word]


@functools.cache
def stop_words() -> frozenset[str]:
    """scikit-learn's English stop words, read from their file because the package takes more than a second to
    import."""
    package = find_spec("sklearn")
    assert package is not None and package.origin is not None, "it is required"
    file = Path(package.origin).parent / "feature_extraction" / "_stop_words.py"
    return frozenset(runpy.run_path(str(file))["ENGLISH_STOP_WORDS"])


def weight(word: str, words: WordTable) -> float:
    """log(1 + rank) / log(1 + V), in (0, 1]: a word's rank among the V words of the table approximates its inverse
    document frequency (Zipf's law), so that checkpoints need no corpus counts. Out-of-vocabulary words have rank V."""
    last = max(1, len(words))
    return math.log1p(words.rank(word) or last) / math.log1p(last)


@functools.lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Porter's stem of a word (1980)."""
    return _stemmer("porter").stem(word)


@functools.lru_cache(maxsize=100_000)
def snowball_stem(word: str) -> str:
    """Snowball's English stem of a word, Porter's later and better algorithm (Porter 2001)."""
    return _stemmer("english").stem(word)


def neighbours(words: Sequence[str]) -> set[tuple[str, str]]:
    """Pairs of adjacent words."""
    return set(itertools.pairwise(words))


def directions(listed: Sequence[str], words: WordTable) -> Tensor:
    """Word vectors normalised to length 1, ``[N, D]``: their products are cosines."""
    rows = words.vectors(list(listed))
    return rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-6)


@functools.cache
def _stemmer(name: str) -> Any:
    # Imported here because nltk takes more than a second, which an app without these features should not spend.
    import_nltk()
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(name)
