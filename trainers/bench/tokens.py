"""Speed of the tokeniser against its rules written plainly."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import regex

from core.reading.tokens import AS_TYPED, CLASSES, RAISED, as_typed, looked_up, read_together, rules, tokenize
from core.reading.word_table import default_table
from trainers.bench.row import Row, times_faster

_RULES = regex.compile(rules(*CLASSES), regex.VERBOSE | regex.IGNORECASE)


@dataclass(frozen=True)
class PlainToken:
    """The fields of :class:`core.reading.tokens.Token`."""

    text: str
    start: int
    end: int
    norm: str


def plainly(text: str) -> list[PlainToken]:
    """The tokens of a text by one pattern for all scripts, normalised without a cache."""
    found = list(_RULES.finditer(as_typed(text)))
    forms = read_together([_norm(match.group()) for match in found])
    return [
        PlainToken(text[match.start() : match.end()], match.start(), match.end(), form)
        for match, form in zip(found, forms, strict=True)
    ]


def _norm(text: str) -> str:
    form = unicodedata.normalize("NFKC", RAISED.sub(r" \g<0>", text.translate(AS_TYPED))).lower()
    return looked_up("".join(c for c in form if unicodedata.category(c) != "Cf") or form)


def sentences(count: int) -> list[str]:
    """Made-up sentences, no two alike, with word frequencies, clitics and full stops as in English."""
    random = np.random.default_rng(0)
    words = default_table().words
    # Zipf's law: the n-th word is drawn in proportion to 1 / n.
    chances = 1 / np.arange(1, len(words) + 1)
    drawn = random.choice(words, size=(count, 12), p=chances / chances.sum()).tolist()
    texts = (f"{' '.join(row[:6]).capitalize()}, {' '.join(row[6:])} doesn't." for row in drawn)
    return list(dict.fromkeys(texts))


def tokens(quick: bool) -> list[Row]:
    """Tokens of distinct sentences against the same rules written plainly. Raises AssertionError when the two do not
    give the same tokens."""
    repeats = 3 if quick else 15
    texts = sentences(4000 * (repeats + 1))
    turns = [texts[turn :: repeats + 1] for turn in range(repeats + 1)]
    ours, theirs = iter(turns), iter(turns)
    assert sum(len(tokenize(text)) for text in texts[:100]) == sum(len(plainly(text)) for text in texts[:100])
    return [
        times_faster(
            "tokens, times faster than plain rules",
            4,
            (lambda: [tokenize(text) for text in next(ours)], lambda: [plainly(text) for text in next(theirs)]),
            f"plainly, of {len(turns[0]):,} sentences",
            repeats,
        )
    ]
