"""The tokeniser's rules written plainly: one pattern for all scripts, without a cache."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

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
