"""Features of an answer that the question's words call for: a year for "when", a new name for "who".

Li & Roth (2002) classify questions by the expected type of answer; here a few question words and patterns do so, and
each kind of question has a separate weight for each cue in the answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.linguistics.content_words import directions, neighbours, norms, stem, stop_words, weight
from core.reading.tokens import Token

if TYPE_CHECKING:
    from core.reading.word_table import WordTable

QUESTIONS = ("any", "who", "when", "where", "how many", "how", "what")
"""Kinds of question; a question may have several ("what year": what and when)."""

CUES = ("new numbers", "a year", "new names", "is or was", "a definition", "a bracket or quote")

NAMES = (
    "shared stems",
    "weight of shared stems",
    "share of the question's weight",
    "shared pairs of words",
    "shared pairs of stems",
    "place of the first shared word",
    "nearest to what is asked for",
    *(f"{cue} ({kind})" for kind in QUESTIONS for cue in CUES),
)
"""Names of the values of :func:`expected_answer`, in order."""

AMOUNTS = frozenset(("many", "much", "big", "old", "long", "tall", "far", "large", "fast", "high", "deep", "often"))
YEAR = re.compile(r"1\d{3}|20\d\d")
DIGIT = re.compile(r"\d")
MOST_NUMBERS, MOST_NAMES = 3, 4
"""Counts are capped at these."""
BE = frozenset(("is", "was", "are", "were"))
EARLY = 8
"""Number of words at the start of an answer in which "is" or "was", or a definition of one of the question's words,
counts."""
ASIDE = frozenset(("(", '"', "``", "“"))
REACH = 4
"""Number of words after a question word in which to look for the requested type, the first content word ("what kind of
whale")."""


def expected_answer(question: Sequence[Token], answer: Sequence[Token], words: WordTable) -> list[float]:
    """The values named in ``NAMES`` for a question and an answer; finite even for empty ones.

    A stem has the weight of its word (:func:`core.linguistics.content_words.weight`). "Nearest to what is asked for" is
    the largest cosine, in ``words``, between the content word after the question word and a content word that only the
    answer has. A name is a capitalised word other than the answer's first one, so lower-cased text has none.
    """
    one, other = norms(question), norms(answer)
    return [*_overlap(one, other, words), _nearest(one, other, words), *_cues(one, answer)]


def kinds(question: Sequence[str]) -> list[bool]:
    """For each of ``QUESTIONS``, whether the question (normalised words) is of this kind."""
    first = next((word for word in question if word in ("what", "where", "how", "when", "who")), "")
    pairs = neighbours(question)
    amount = any(("how", word) in pairs for word in AMOUNTS)
    when = first == "when" or ("what", "year") in pairs
    return [True, first == "who", when, first == "where", amount, first == "how" and not amount, first == "what"]


def _overlap(question: Sequence[str], answer: Sequence[str], words: WordTable) -> list[float]:
    content = [word for word in dict.fromkeys(question) if word not in stop_words()]
    weights = {stem(word): weight(word, words) for word in content}
    stems, other = [stem(word) for word in question], [stem(word) for word in answer]
    shared = [value for form, value in weights.items() if form in set(other)]
    share = math.fsum(shared) / math.fsum(weights.values()) if weights else 0.0
    pairs = [neighbours(question) & neighbours(answer), neighbours(stems) & neighbours(other)]
    place = next((i for i, word in enumerate(answer) if word in content), len(answer)) / max(1, len(answer))
    return [float(len(shared)), math.fsum(shared), share, *(float(len(both)) for both in pairs), place]


def _nearest(question: Sequence[str], answer: Sequence[str], words: WordTable) -> float:
    at = next((i for i, word in enumerate(question) if word in ("what", "which", "how")), len(question))
    after = (word for word in question[at + 1 : at + 1 + REACH] if word not in stop_words())
    wanted, stems = next(after, None), {stem(word) for word in question}
    new = [word for word in dict.fromkeys(answer) if word not in stop_words() and stem(word) not in stems]
    if wanted is None or not new:
        return 0.0
    rows = directions([wanted, *new], words)
    return float((rows[1:] @ rows[0]).max())


def _cues(question: Sequence[str], answer: Sequence[Token]) -> list[float]:
    new = [token for token in answer if token.norm not in set(question)]
    numbers = sum(bool(DIGIT.search(token.text)) for token in new)
    names = sum(token.text[:1].isupper() for token in new if token is not answer[0])
    year = any(YEAR.fullmatch(token.text) for token in answer)
    early = norms(answer)[:EARLY]
    stems = {stem(word) for word in question if word not in stop_words()}
    be = [i for i, word in enumerate(early) if word in BE]
    defined = any(stem(word) in stems for word in early[: be[-1]]) if be else False
    aside = any(token.norm in ASIDE for token in answer)
    cues = min(numbers, MOST_NUMBERS), year, min(names, MOST_NAMES), bool(be), defined, aside
    return [float(kind * cue) for kind in kinds(question) for cue in cues]
