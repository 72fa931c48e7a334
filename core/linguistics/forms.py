"""Inflected forms of a lemma, and a regular expression that finds words in a text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_NOT_IN_WORDS = r"[^\pL\pM\pN-]"
"""RE2 character class between words; as in the models' tokens, a hyphen is part of its word."""
_NEGATION = r"n['’]t"


@functools.cache
def forms_of(word: str) -> tuple[str, ...]:
    """The lower-case forms of a lemma, or of all lemmas of an inflected form, from LemmInflect's dictionary (be: am,
    are, been, …); just the word if the dictionary lacks it. A form of several lemmas belongs to each: searching for
    "see" finds "saw". Contractions such as 's are ambiguous and left out."""
    # Loading its tables takes 0.4 s, and only filters by lemma need them.
    from lemminflect import getAllInflections, getAllLemmas

    word = word.casefold()
    own = getAllInflections(word)
    lemmas = {word} if own else {lemma for some in getAllLemmas(word).values() for lemma in some}
    inflected = {form.casefold() for lemma in lemmas for some in getAllInflections(lemma).values() for form in some}
    return tuple(sorted({word} | lemmas | inflected))


def pattern_of(words: Iterable[str]) -> str:
    """A case-insensitive RE2 regular expression that finds these words and phrases as whole words. "isn't" has the
    words "is" and "not"."""
    known = {word.casefold() for word in words}
    if negated := known & {"not", "n't", "n’t"}:
        known = known - negated | {"not", "cannot"}
    either = "|".join(r"\s+".join(map(re.escape, word.split())) for word in sorted(known))
    end = rf"(?:$|{_NOT_IN_WORDS})"
    pattern = rf"(?:^|{_NOT_IN_WORDS})(?:{either})(?:{end}|{_NEGATION})"
    return rf"{pattern}|{_NEGATION}{end}" if negated else pattern
