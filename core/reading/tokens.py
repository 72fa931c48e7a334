"""Tokens of a sentence, with their spans of characters.

One tokeniser serves every data set, so that text that was split already (WikiQA's train, TrecQA's Penn Treebank files)
and raw text (WikiQA's dev, a person's typing) come out alike: ``do n't`` and ``don't`` are the same two tokens.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple

import regex

MAX_TOKENS = 200
"""Tokens read of one side; the rest is cut, with a warning."""

MAX_CHARACTERS = 200_000
"""Characters read of one side: a text longer than this is cut before it is split, so that pasting a book is cheap."""

_LONG = 64
"""Characters of the longest token whose normal form is remembered: many longer ones would fill the memory."""


def _rules(L: str, M: str, N: str, Cf: str, apostrophe: str, sign: str) -> str:
    """The pattern over these classes of characters: letters, marks, digits, zero-width, apostrophes, and one sign.

    It is one group, so that ``split`` gives gaps and tokens in turn without making a match object for each.
    """
    clitic = f"(?:s|re|ve|ll|d|m)(?![{L}{N}])"
    negation = f"n[{apostrophe}]t(?![{L}{N}])"
    return rf"""(
      (?-i: [{L}] (?!\.) [{L}]*+ (?! [{L}{M}{N}{Cf}{apostrophe}-] ) )  # most words; the rules below would give the same
    | (?<![{L}{N}]) (?: (?:[{L}]\.){{2,}} | (?:[{L}]\.)+[{L}](?![{L}{M}{N}]) )                        # U.S.  p.m
    | -[LRlr][RSCrsc][Bb]-                                                                # Penn Treebank brackets
    | [{N}]+ (?: [.,:/] [{N}]+ )* [{L}{M}]* (?: -[{L}{M}{N}]+ )*                          # 12,381  3.6  1990s  10-year
    | (?:(?<=[{L}])|(?<!\S)) {negation}                                                   # (do)n't
    | [{apostrophe}] {clitic}                                                             # 's  're
    | [{L}{M}]+? (?={negation})                                                           # do(n't)
    | [{L}{M}][{L}{M}{N}{Cf}]* (?: -[{L}{M}{N}]+ )* (?: [{apostrophe}] (?!{clitic}) [{L}{M}]+ )*      # go-kart  o'clock
    | ``|''|\.{{2,}}|-{{2,}}
    | {sign}
    )"""


_ASCII = re.compile(_rules("A-Za-z", "", "0-9", "", "'", "[!-~]"), re.VERBOSE | re.IGNORECASE | re.ASCII)

# Pairs of regional indicators have a rule of their own because \X recounts those before it at each of them.
_FLAG = r"(?-i: \p{RI}{2} [\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+ )"
_SIGN = rf"(?! [\s\p{{Cc}}\p{{Cf}}\p{{Cs}}\p{{Co}}\p{{Cn}}] ) (?: {_FLAG} | \X )"
_UNICODE = regex.compile(_rules(r"\p{L}", r"\p{M}", r"\p{N}", r"\p{Cf}", "'’", _SIGN), regex.VERBOSE | regex.IGNORECASE)
_ABBREVIATION = regex.compile(r"(?:\p{L}\.)++\p{L}")

_SAME = {
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "…": "...",
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "–": "--", "—": "--",
}  # fmt: skip


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Token(NamedTuple):
    """One word or sign: ``text == source[start:end]`` (characters of the original), ``norm`` is what is looked up."""

    text: str
    start: int
    end: int
    norm: str

    @property
    def is_word(self) -> bool:
        """True when it holds a letter or a digit, false for a sign such as a comma or an emoji."""
        return any(c.isalnum() for c in self.text)


def well_formed(text: str) -> str:
    """The text with U+FFFD for each half of a character, which no file or screen can hold; spans stay as they are."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def normalise(text: str) -> str:
    """The form a token is looked up by: NFKC, lower case, straight quotes, no zero-width characters."""
    if text.isascii():
        form = text.lower()
    else:
        form = unicodedata.normalize("NFKC", text if len(text) <= _LONG else _marks_in_order(text)).lower()
        form = "".join(c for c in form if unicodedata.category(c) != "Cf") or form
    form = _SAME.get(form, form).replace("’", "'")
    return form + "." if form[1:2] == "." and _ABBREVIATION.fullmatch(form) else form


def _marks_in_order(text: str) -> str:
    """The NFKD form of a text, in linear time: unicodedata sorts a run of marks by insertion, in quadratic time."""
    decomposed = "".join(unicodedata.normalize("NFKD", c) for c in text)
    runs = groupby(decomposed, key=lambda c: unicodedata.combining(c) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if marks else run) for marks, run in runs)


_remembered = lru_cache(maxsize=1 << 14)(normalise)


def tokenize(text: str) -> list[Token]:
    """Split a sentence into tokens in reading order, each with its span of characters in ``text``.

    Spaces, control and zero-width characters belong to no token (a zero-width character inside a word stays inside its
    span and is left out of ``norm``). Nothing is cut here except beyond ``MAX_CHARACTERS``.
    """
    text = text[:MAX_CHARACTERS]
    pieces = (_ASCII if text.isascii() else _UNICODE).split(text)
    words = pieces[1::2]
    ends = list(accumulate(map(len, pieces)))
    norms = map(_remembered if max(map(len, words), default=0) <= _LONG else normalise, words)
    return list(map(Token._make, zip(words, ends[::2], ends[1::2], norms, strict=False)))


def norms(text: str) -> list[str]:
    """What the tokens of a text are looked up by, without their spans: for many texts, in a fifth of the time.

    No token holds a space, and no rule looks beyond one or at the case of letters, so that what stands between spaces
    is split on its own: most of it is one word, and most of the rest was met before.
    """
    if not text.isascii() or len(text) > MAX_CHARACTERS:
        return [token.norm for token in tokenize(well_formed(text))]
    out: list[str] = []
    for piece in text.lower().split(" "):
        if piece.isalpha():
            out.append(piece)
        else:
            out += _split_before(piece) if len(piece) <= _LONG else _split(piece)
    return out


def _split(piece: str) -> tuple[str, ...]:
    return tuple(token.norm for token in tokenize(piece))


_split_before = lru_cache(maxsize=1 << 13)(_split)
