"""The tokeniser's rules written plainly: one pattern for all scripts, without a cache."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

from core.reading.tokens import AS_TYPED, CLASSES, RAISED, as_typed, looked_up, read_together, rules

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
