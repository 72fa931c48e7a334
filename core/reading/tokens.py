"""Tokens of a sentence, with their character spans.

All data sets share one tokeniser, so that text in Penn Treebank tokens (WikiQA's train, TrecQA) and raw text (WikiQA's
dev, user input) are read identically: ``do n't`` and ``don't``, ``can not`` and ``cannot``, ``gon na`` and ``gonna``,
``-LRB-`` and ``(`` yield the same tokens. So are ``5kg`` and ``5 kg``, ``1,000`` and ``1000``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate, groupby
from typing import NamedTuple

import regex

MAX_TOKENS = 200
"""Tokens read per side; the rest is truncated with a warning."""

MAX_CHARACTERS = 200_000
"""Characters read per side: longer texts are truncated before tokenisation, so that pasting a book is cheap."""

_LONG = 64
"""Characters of the longest token whose normal form is cached: caching many longer ones would fill the memory."""


AS_TYPED = str.maketrans({
    **dict.fromkeys("’´ʼ＇′ʹˊ΄ʾꞌꞋ՚׳ߴߵ❜\x92", "'"),
    **dict.fromkeys("‘‛ʻʽʿ｀ˋ‵❛\x91", "`"),
    **dict.fromkeys("‐‑−", "-"),
})  # fmt: skip
"""Characters that users type or paste for an apostrophe, a left quote or a hyphen (\x91 and \x92: Windows-1252 read as
Latin-1)."""
_APOSTROPHE = regex.compile(r"(?<=[\p{L}\p{M}\p{N}])`(?!`)")
"""A backquote used as an apostrophe, not as a treebank's left quote."""
_LEFT_QUOTE = regex.compile(r"(?<![\p{L}\p{M}\p{N}'`])'(?=[\p{L}\p{N}])")
"""A straight quote where a treebank has a left one."""

JOINED = frozenset(("cannot", "gonna", "wanna", "gotta", "gimme", "lemme"))
"""Purely alphabetic words that the Penn Treebank splits; :func:`rules` defines where."""
_UNITS = (
    "kgs?|mg|g|lbs?|oz|kms?|cm|mm|nm|m|ft|in|yds?|mi|mph|kp?mh|kph|ml|cl|l|[kmg]?hz|[kmgt]b|[kmg]?w|v|c|f|t|"
    "[ap]m|[ap]\\.m|mins?|secs?|hrs?|h|k|bn"
)
"""Units that may follow a number with or without a space."""


def rules(L: str, M: str, N: str, Cf: str, sign: str) -> str:
    """The token pattern over these character classes: letters, marks, digits, zero-width, and a single sign."""
    end = f"(?![{L}{M}{N}{Cf}]|-[{L}{N}])"
    clitic = f"(?:s|re|ve|ll|d|m)(?![{L}{N}])"
    negation = f"n't(?![{L}{N}])"
    number = rf"[{N}]+ (?: (?: [.,:] | \\?/ ) [{N}]+ )*"
    return rf"""
      (?<! [{L}{M}{N}'`-] ) (?: can(?=not{end}) | (?:gon|wan)(?=na{end}) | got(?=ta{end}) | (?:gim|lem)(?=me{end})
        | more(?='n{end}) | d'(?=y(?:e|ou|a){end}|\s|\Z) | y'(?=[{L}]|\s|\Z) )                     # can(not)  y'(all)
    | (?<![{L}]) (?: (?:[{L}]\.){{2,}} | (?:[{L}]\.)+[{L}](?![{L}{M}{N}]) )                           # U.S.  p.m
    | -[LRlr][RSCrsc][Bb]- | \\[/*]                                               # a treebank's brackets and escapes
    | {number} (?= (?:{_UNITS}){end} )                                                                # 5(kg)
    | {number} [{L}{M}]* (?: -[{L}{M}{N}]+ )*                                             # 12,381  3.6  1990s  10-year
    | (?:(?<=[{L}])|(?<!\S)) {negation}                                                               # (do)n't
    | ['`] {clitic}                                                                                   # 's  're
    | (?<![{L}{M}{N}]) ['`]t (?= (?:is|was|were|will|would)(?:n't)?(?![{L}{M}{N}]) | (?![{L}{M}{N}'`]) )    # 't(is)
    | (?: (?<=more) | (?<![{L}{M}{N}]) ) ['`]n (?![{L}{M}{N}'`])                                       # (more)'n
    | [{L}{M}]+? (?={negation})                                                                       # do(n't)
    | [{L}{M}][{L}{M}{N}{Cf}]* (?: -[{L}{M}{N}]+ )* (?: ' (?!{clitic}) [{L}{M}]+ )*                   # go-kart  o'clock
    | ``|''|\.{{2,}}|-{{2,}}
    | {sign}
    """


def _fast(L: str, M: str, N: str, Cf: str, sign: str) -> str:
    """:func:`rules`, preceded by a fast rule that gives the same tokens for most words. It is one group, so that
    ``split`` returns gaps and tokens in turn without creating a match object for each."""
    joined = "|".join(word[1:] for word in sorted(JOINED))
    word = f"(?-i: (?! [cCgGlLwW] (?i:{joined}) (?![{L}]) ) [{L}] (?!\\.) [{L}]*+ (?! [{L}{M}{N}{Cf}'-] ) )"
    return f"( {word} | {rules(L, M, N, Cf, sign)} )"


_ASCII = re.compile(_fast("A-Za-z", "", "0-9", "", "[!-~]"), re.VERBOSE | re.IGNORECASE | re.ASCII)

# Pairs of regional indicators have a separate rule because \X recounts the preceding ones at each of them.
_FLAG = r"(?-i: \p{RI}{2} [\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+ )"
_SIGN = rf"(?! [\s\p{{Cc}}\p{{Cf}}\p{{Cs}}\p{{Co}}\p{{Cn}}] ) (?: {_FLAG} | \X )"
CLASSES = (r"\p{L}", r"\p{M}", r"\p{N}", r"\p{Cf}", _SIGN)
_UNICODE = regex.compile(_fast(*CLASSES), regex.VERBOSE | regex.IGNORECASE)
_ABBREVIATION = regex.compile(r"(?:\p{L}\.)++\p{L}")

RAISED = regex.compile(r"(?<=\d)\p{No}")
"""The half of 1½ or the square of 10²: NFKC would turn them into another number."""
_THOUSANDS = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3}){1,4}|[1-9]\d{4,14})(?![\d,])", re.ASCII)

_SAME = {
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "‟": '"', "…": "...", "\\/": "/", "\\*": "*",
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "–": "--", "—": "--", "‒": "--", "―": "--",
}  # fmt: skip
"""Signs that are normalised to another one."""
AUXILIARIES = frozenset((
    "ai", "are", "ca", "could", "dare", "did", "do", "does", "had", "has", "have", "is", "may", "might", "must",
    "need", "ought", "sha", "should", "was", "were", "wo", "would",
))  # fmt: skip
"""Stems that can precede ``n't``."""
_READ_AS = {
    ("gon", "na"): ("going", "to"), ("wan", "na"): ("want", "to"), ("got", "ta"): ("got", "to"),
    ("gim", "me"): ("give", "me"), ("lem", "me"): ("let", "me"), ("more", "'n"): ("more", "than"),
    ("d'", "you"): ("do", "you"), ("d'", "ye"): ("do", "you"), ("d'", "ya"): ("do", "you"),
    ("y'", "all"): ("you", "all"), ("can", "n't"): ("ca", "n't"),
    **{("'t", verb): ("it", verb) for verb in ("is", "was", "were", "will", "would")},
    **{(f"{auxiliary}n", "'t"): (auxiliary, "n't") for auxiliary in AUXILIARIES},
}  # fmt: skip
"""Token pairs that are looked up as other words: halves of a contraction, and ``don 't``."""
_HALVES = frozenset(("na", "ta", "gim", "lem", "'n", "d'", "y'", "'t", "n't"))
"""A text with none of these tokens has none of the pairs."""


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Token(NamedTuple):
    """One word or sign: ``text == source[start:end]`` (characters of the original); ``norm`` is the form for
    lookups."""

    text: str
    start: int
    end: int
    norm: str

    @property
    def is_word(self) -> bool:
        """True if it contains a letter or a digit, false for a sign such as a comma or an emoji."""
        return any(c.isalnum() for c in self.norm)


def well_formed(text: str) -> str:
    """The text with U+FFFD for each unpaired surrogate, which no file or screen can hold; spans stay valid."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def normalise(text: str) -> str:
    """The form used to look up a token: NFKC, lower case, straight quotes, no zero-width characters, numbers without
    commas."""
    form = text if text.isascii() else text.translate(AS_TYPED)
    if form.isascii():
        form = form.lower()
    else:
        form = RAISED.sub(r" \g<0>", form)
        form = unicodedata.normalize("NFKC", form if len(form) <= _LONG else _marks_in_order(form)).lower()
        form = "".join(c for c in form if unicodedata.category(c) != "Cf") or form
    return looked_up(form)


def looked_up(form: str) -> str:
    """A case-folded form with one spelling for signs, numbers and abbreviations."""
    form = _SAME.get(form, form)
    if len(form) > 1:
        form = form.replace("`", "'")
    if form[:1].isdigit():
        form = _THOUSANDS.sub(_grouped, form)
        form = form.replace("\\/", "/").replace("⁄", "/")
    return form + "." if form[1:2] == "." and _ABBREVIATION.fullmatch(form) else form


def _grouped(number: re.Match[str]) -> str:
    """1000, which may be a year, but 10,000 (most word tables write five-digit numbers this way)."""
    digits = number.group().replace(",", "")
    return digits if len(digits) < 5 else f"{int(digits):,}"


def as_typed(text: str) -> str:
    """The text with every variant of an apostrophe, left quote or hyphen replaced by the ASCII one; spans stay
    valid."""
    text = text if text.isascii() else text.translate(AS_TYPED)
    text = _APOSTROPHE.sub("'", text) if "`" in text else text
    return _LEFT_QUOTE.sub("`", text) if "'" in text else text


def read_together(norms: list[str]) -> list[str]:
    """The words with split contractions expanded: ``gon na`` is ``going to``."""
    if _HALVES.isdisjoint(norms):
        return norms
    out = list(norms)
    for i in range(len(out) - 1):
        pair = out[i], out[i + 1]
        out[i : i + 2] = _READ_AS.get(pair, pair)
    return out


def _marks_in_order(text: str) -> str:
    """The NFKD form of a text, in linear time: unicodedata sorts a run of marks by insertion, in quadratic time."""
    decomposed = "".join(unicodedata.normalize("NFKD", c) for c in text)
    runs = groupby(decomposed, key=lambda c: unicodedata.combining(c) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if marks else run) for marks, run in runs)


_remembered = lru_cache(maxsize=1 << 14)(normalise)


def tokenize(text: str) -> list[Token]:
    """Split a sentence into tokens in reading order, each with its character span in ``text``.

    Spaces, control and zero-width characters belong to no token (a zero-width character inside a word is inside its
    span but not in ``norm``). Nothing is truncated here except beyond ``MAX_CHARACTERS``.
    """
    text = text[:MAX_CHARACTERS]
    typed = as_typed(text)
    pieces = (_ASCII if typed.isascii() else _UNICODE).split(typed)
    words = pieces[1::2]
    ends = list(accumulate(map(len, pieces)))
    norms = list(map(_remembered if max(map(len, words), default=0) <= _LONG else normalise, words))
    starts, ends = ends[::2], ends[1::2]
    if typed is not text:
        words = [text[start:end] for start, end in zip(starts, ends, strict=False)]
    return list(map(Token._make, zip(words, starts, ends, read_together(norms), strict=False)))


def norms(text: str) -> list[str]:
    """The normalised tokens of a text without their spans: five times as fast, for many texts.

    No token contains a space, and no rule looks across one or depends on case, so each part between spaces is split
    separately: most parts are a single word, and most others are in the cache.
    """
    text = as_typed(text)
    if not text.isascii() or len(text) > MAX_CHARACTERS:
        return [token.norm for token in tokenize(well_formed(text))]
    out: list[str] = []
    for piece in text.lower().split(" "):
        if piece.isalpha() and piece not in JOINED:
            out.append(piece)
        else:
            out += _split_before(piece) if len(piece) <= _LONG else _split(piece)
    return read_together(out)


def _split(piece: str) -> tuple[str, ...]:
    return tuple(token.norm for token in tokenize(piece))


_split_before = lru_cache(maxsize=1 << 13)(_split)
