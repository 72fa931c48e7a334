"""Words of a sentence, with the characters they stand on.

One tokeniser serves every data set, so that text that was split already (WikiQA's train, TrecQA's Penn Treebank files)
and raw text (WikiQA's dev, a person's typing) come out alike: ``do n't`` and ``don't`` are the same two tokens.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

MAX_TOKENS = 200
"""Tokens kept of one side; what follows is cut, and said."""

MAX_CHARACTERS = 200_000
"""Characters read of one side: a text longer than this is cut before it is split, to keep a paste of a book cheap."""

_PATTERN = regex.compile(
    r"""
      (?<![\p{L}\p{N}]) (?: (?:\p{L}\.){2,} | (?:\p{L}\.)+\p{L}(?![\p{L}\p{M}\p{N}]) )   # U.S.  p.m
    | -[LRlr][RSCrsc][Bb]-                                                               # Penn Treebank brackets
    | \p{N}+ (?: [.,:/] \p{N}+ )* [\p{L}\p{M}]* (?: -[\p{L}\p{M}\p{N}]+ )*               # 12,381  3.6  1990s  10-year
    | (?:(?<=\p{L})|(?<!\S)) n['’]t (?![\p{L}\p{N}])                                     # (do)n't
    | ['’] (?:s|re|ve|ll|d|m) (?![\p{L}\p{N}])                                           # 's  're
    | [\p{L}\p{M}]+? (?= n['’]t (?![\p{L}\p{N}]) )                                       # do(n't)
    | [\p{L}\p{M}][\p{L}\p{M}\p{N}\p{Cf}]* (?: -[\p{L}\p{M}\p{N}]+ )*
      (?: ['’] (?!(?:s|re|ve|ll|d|m)(?![\p{L}\p{N}])) [\p{L}\p{M}]+ )*                   # go-kart  o'clock
    | ``|''|\.{2,}|-{2,}
    | (?! [\s\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}] ) \X                                        # one sign, one emoji
    """,
    regex.VERBOSE | regex.IGNORECASE,
)

_SAME = {
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "…": "...",
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "–": "--", "—": "--",
}  # fmt: skip


@dataclass(frozen=True)
class Token:
    """One word or sign: ``text == source[start:end]`` (characters of the original), ``norm`` is what is looked up."""

    text: str
    start: int
    end: int
    norm: str

    @property
    def is_word(self) -> bool:
        """True when it holds a letter or a digit, false for a sign such as a comma or an emoji."""
        return any(c.isalnum() for c in self.text)


def normalise(text: str) -> str:
    """The form a token is looked up by: NFKC, lower case, straight quotes, no zero-width characters."""
    form = unicodedata.normalize("NFKC", text).lower()
    form = "".join(c for c in form if unicodedata.category(c) != "Cf") or form
    form = _SAME.get(form, form).replace("’", "'")
    if regex.fullmatch(r"(?:\p{L}\.)+\p{L}", form):
        form += "."
    return form


def tokenize(text: str) -> list[Token]:
    """Split a sentence into tokens in reading order, each with its span of characters in ``text``.

    Spaces, control and zero-width characters belong to no token (a zero-width character inside a word stays inside its
    span and is left out of ``norm``). Nothing is cut here except beyond ``MAX_CHARACTERS``.
    """
    text = text[:MAX_CHARACTERS]
    return [Token(m.group(), m.start(), m.end(), normalise(m.group())) for m in _PATTERN.finditer(text)]
