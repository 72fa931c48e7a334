"""Speed of the tokeniser against its rules written plainly."""

from __future__ import annotations

import statistics
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import regex

from core.reading.tokens import Token, tokenize
from core.reading.word_table import default_table

_CLITIC = r"(?:s|re|ve|ll|d|m)(?![\p{L}\p{N}])"
_RULES = regex.compile(
    rf"""
      (?<![\p{{L}}\p{{N}}]) (?: (?:\p{{L}}\.){{2,}} | (?:\p{{L}}\.)+\p{{L}}(?![\p{{L}}\p{{M}}\p{{N}}]) )
    | -[LRlr][RSCrsc][Bb]-
    | \p{{N}}+ (?: [.,:/] \p{{N}}+ )* [\p{{L}}\p{{M}}]* (?: -[\p{{L}}\p{{M}}\p{{N}}]+ )*
    | (?:(?<=\p{{L}})|(?<!\S)) n['’]t (?![\p{{L}}\p{{N}}])
    | ['’] {_CLITIC}
    | [\p{{L}}\p{{M}}]+? (?= n['’]t (?![\p{{L}}\p{{N}}]) )
    | [\p{{L}}\p{{M}}][\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}]* (?: -[\p{{L}}\p{{M}}\p{{N}}]+ )*
      (?: ['’] (?!{_CLITIC}) [\p{{L}}\p{{M}}]+ )*
    | ``|''|\.{{2,}}|-{{2,}}
    | (?! [\s\p{{Cc}}\p{{Cf}}\p{{Cs}}\p{{Co}}\p{{Cn}}] ) \X
    """,
    regex.VERBOSE | regex.IGNORECASE,
)

_SIGNS = {
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "…": "...",
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "–": "--", "—": "--",
}  # fmt: skip


@dataclass(frozen=True)
class PlainToken:
    """The fields of :class:`core.reading.tokens.Token`."""

    text: str
    start: int
    end: int
    norm: str


def plainly(text: str) -> list[PlainToken]:
    """The tokens of a text by one pattern for all scripts, normalised without a cache."""
    return [PlainToken(m.group(), m.start(), m.end(), _norm(m.group())) for m in _RULES.finditer(text)]


def _norm(text: str) -> str:
    form = unicodedata.normalize("NFKC", text).lower()
    form = "".join(c for c in form if unicodedata.category(c) != "Cf") or form
    form = _SIGNS.get(form, form).replace("’", "'")
    return form + "." if regex.fullmatch(r"(?:\p{L}\.)+\p{L}", form) else form


def sentences(count: int) -> list[str]:
    """Made-up sentences, no two alike, with word frequencies, clitics and full stops as in English."""
    random = np.random.default_rng(0)
    words = default_table().words
    # Zipf's law: the n-th word is drawn in proportion to 1 / n.
    chances = 1 / np.arange(1, len(words) + 1)
    drawn = random.choice(words, size=(count, 12), p=chances / chances.sum()).tolist()
    texts = (f"{' '.join(row[:6]).capitalize()}, {' '.join(row[6:])} doesn't." for row in drawn)
    return list(dict.fromkeys(texts))


def speed_up(repeats: int) -> tuple[float, float, float]:
    """How many times faster ``tokenize`` is on distinct sentences, and the tokens a second of both: medians of
    ``repeats`` measured in turns. Raises AssertionError when the two do not give the same tokens."""
    forms: tuple[Callable[[str], list[Token] | list[PlainToken]], ...] = (tokenize, plainly)
    rates: tuple[list[float], list[float]] = ([], [])
    texts = sentences(4000 * repeats)
    for turn in range(repeats):
        counts = []
        for rate, form in zip(rates, forms, strict=True):
            started = time.perf_counter()
            counts.append(sum(len(form(text)) for text in texts[turn::repeats]))
            rate.append(counts[-1] / (time.perf_counter() - started))
        assert counts[0] == counts[1], "the two forms do not give the same tokens"
    fast, slow = (statistics.median(rate) for rate in rates)
    return fast / slow, fast, slow
