"""Changes that undo a difference between the two texts of a pair: people name such a difference when asked why.

The *own* text is the judged one (such as the hypothesis), the *other* one is the premise. A single text has no other
text.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.effects.edits import DROP, INSERT, REPLACE, SWAP, Edit
from core.linguistics.constructions import quantifier
from core.linguistics.content_words import stop_words
from core.linguistics.features import NEGATIONS
from core.linguistics.word_lists import word_groups
from core.reading import shared_words
from core.reading.tokens import Token

UNLIKE, ONE_TEXT = "unlike", "one text"
ORDER, STRETCH, EXCHANGE, ALONE, TOGETHER, SHARED = "order", "stretch", "exchange", "alone", "together", "shared"
MATCH = "match"
LONGEST_STRETCH, LONGEST_AGAINST, LONGEST_PHRASE, LONGEST_LIST = 2, 4, 8, 5


class Rule(NamedTuple):
    """A step of the search: the maximum number of forward passes, the changes tried, and the reason for its position;
    ``least``: its threshold."""

    passes: int
    tried: str
    because: str
    least: float = 0.0


RULES = {
    UNLIKE: Rule(
        0,
        "the explanation warns that the input is unlike the training data",
        "the reason for a guess means little, so the warning comes first",
    ),
    ONE_TEXT: Rule(
        1,
        "a model that reads only one text gives the same verdict with at least this model's probability and this one",
        "the comparison may then be irrelevant; two uncertain models can agree by chance",
        0.75,
    ),
    ORDER: Rule(
        2,
        "if the other text has all words of the own one, except determiners, in another order: use that order, and the "
        "other's determiners if it has no further words",
        "nothing but the order differs, so naming any single word would be wrong",
    ),
    STRETCH: Rule(
        3,
        f"if the texts differ in one stretch of at most {LONGEST_STRETCH} words against {LONGEST_AGAINST}: replace it "
        f"by the other text's, or drop it; if one text lacks at most {LONGEST_PHRASE} words: drop or insert them",
        "people name the only place where two texts differ; within a longer stretch it is unclear which word decides",
    ),
    EXCHANGE: Rule(
        8,
        "replace a word that only the own text has by the word of its class in the other text that it attends to most, "
        "with at least this weight (cosine without attention), or with the only other quantity or colour",
        "two compared words explain more than one (two against three); with less weight they are not compared",
        0.25,
    ),
    MATCH: Rule(
        4,
        "for an entailment, ablate each strongest link (at least an exchange's weight) between words unique to a text; "
        "if that costs less than this probability, exchange the words; or drop the one stretch that only the other "
        "text has",
        "matching words explain an entailment; a link that costs less decides little",
        0.1,
    ),
    ALONE: Rule(
        10,
        "drop a word that only one text has; if there are more words than passes, those with the largest gradients",
        "it has no counterpart, like a negation or an added adjective",
    ),
    TOGETHER: Rule(
        5,
        f"drop the words that only the own text has, at most {LONGEST_LIST}, or the two that lower the verdict most; "
        "two come before all",
        "one difference may hide another",
    ),
    SHARED: Rule(
        5,
        "drop a word that both texts have from one of them",
        "both texts have it, so it is named only if no difference decides",
    ),
}
"""The steps in order, up to the first change that flips the verdict. At most 40 passes including the pair itself and
one for gradients."""
MOST_PASSES = 2 + sum(rule.passes for rule in RULES.values())

DETERMINERS = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "some", "my", "your", "his", "her", "its", "our", "their")
)
"""Words that may differ when two texts have the same words in another order."""
ARTICLES = frozenset(("a", "an", "the"))

Texts = tuple[Sequence[Token], ...]
Word = tuple[int, int]
"""(text index, token index)."""


@dataclass(frozen=True)
class Candidate:
    """A change that might flip the verdict. ``named``: the words the reason names, all in one text; ``instead``: the
    words that replace them, empty if they are dropped, found at ``against`` in the other text; ``added``: whether the
    named words are inserted into the own text; ``parts``: the changes combined in :data:`TOGETHER`."""

    kind: str
    edits: tuple[Edit, ...]
    named: tuple[Word, ...]
    instead: str = ""
    added: bool = False
    against: tuple[Word, ...] = ()
    parts: tuple[Candidate, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """All words involved."""
        return (*self.named, *self.against)


def _content(tokens: Sequence[Token]) -> list[int]:
    return [i for i, token in enumerate(tokens) if token.is_word and word_class(token.norm) != FUNCTION]


@functools.cache
def word_class(norm: str) -> str:
    """The class within which words are exchanged: quantities, colours or other content words; none for function words
    and negations. scikit-learn's stop words include numbers, quantifiers and words like "full" (Nothman et al.
    2018)."""
    if norm[:1].isdigit() or norm in word_groups()["numbers"] or quantifier([norm]):
        return QUANTITY
    if norm in word_groups()["colours"]:
        return COLOUR
    return NEGATION if norm in NEGATIONS else FUNCTION if norm in stop_words() - MEANINGFUL else CONTENT


NEGATION, QUANTITY, COLOUR, CONTENT, FUNCTION = "negation", "quantity", "colour", "content", "function"
MEANINGFUL = frozenset((
    "alone", "always", "anybody", "anyone", "anything", "bottom", "call", "cry", "describe", "down", "empty", "fill",
    "find", "fire", "first", "front", "full", "give", "go", "interest", "last", "move", "name", "next", "only", "part",
    "put", "see", "serious", "show", "side", "sincere", "somebody", "someone", "something", "system", "take", "thick",
    "thin", "third", "together", "top", "up",
))  # fmt: skip
"""Stop words that people do name as a difference."""


def only_in(tokens: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """The words of a text that are missing from the other one, without function words."""
    content = {*_content(tokens)}
    alone = shared_words.only_in([token.norm for token in tokens], [token.norm for token in other])
    return [place for place in alone if place in content]


def ordered(texts: Texts, own: int) -> Iterator[Candidate]:
    """The own text in the other's order, if that contains all its words except determiners."""
    other, tokens = texts[1 - own], texts[own]
    before, after = (
        [i for i, token in enumerate(text) if token.is_word and token.norm not in DETERMINERS]
        for text in (other, tokens)
    )
    words, wanted = [tokens[i].norm for i in after], list[str]()
    for norm in (other[i].norm for i in before):
        if wanted.count(norm) < words.count(norm):
            wanted.append(norm)
    if wanted == words or sorted(wanted) != sorted(words):
        return
    edits, moved = [], []
    for place, norm in enumerate(wanted):
        if words[place] != norm:
            source = words.index(norm, place + 1)
            edits.append(Edit(SWAP, own, after[place], other=after[source]))
            words[place], words[source] = words[source], words[place]
            moved += [(own, after[place]), (own, after[source])]
    named = tuple(dict.fromkeys(moved))
    yield Candidate(ORDER, tuple(edits), named)
    theirs, ours = ([i for i, token in enumerate(text) if token.is_word] for text in (other, tokens))
    if len(theirs) == len(ours) and len(before) == len(after):
        exact = (Edit(REPLACE, own, i, inner(other, n)) for i, n in zip(ours, theirs, strict=True))
        changed = (edit for edit in exact if edit.word.lower() != tokens[edit.index].norm)
        yield Candidate(ORDER, tuple(changed), named, instead="determiners")


def stretches(texts: Texts, own: int) -> Iterator[Candidate]:
    """The one stretch of words that differs: replaced with the other text's words, inserted, or dropped."""
    first, second = ([i for i, token in enumerate(tokens) if token.is_word] for tokens in (texts[1 - own], texts[own]))
    before = ["the" if texts[1 - own][i].norm in ARTICLES else texts[1 - own][i].norm for i in first]
    to = ["the" if texts[own][i].norm in ARTICLES else texts[own][i].norm for i in second]
    differing = [*shared_words.differing(before, to)]
    if len(differing) != 1:
        return
    ((in_first, in_second),) = differing
    i, j, k, m = in_first.start, in_first.stop, in_second.start, in_second.stop
    shorter, longer = sorted((j - i, m - k))
    if longer > LONGEST_PHRASE or (shorter and (shorter > LONGEST_STRETCH or longer > LONGEST_AGAINST)):
        return
    theirs, ours = _stretch(texts[1 - own], first[i:j]), _stretch(texts[own], second[k:m])
    words = [inner(texts[1 - own], n) for n in theirs]
    named, against = tuple((own, n) for n in ours), tuple((1 - own, n) for n in theirs)
    ours_out = tuple(Edit(DROP, own, n) for n in reversed(ours))
    theirs_out = tuple(Edit(DROP, 1 - own, n) for n in reversed(theirs))
    put = tuple(Edit(REPLACE, own, n, word) for n, word in zip(ours, words, strict=False))
    at = second[m - 1] + 1 if m else second[0]
    missing = tuple(Edit(INSERT, own, at, word) for word in reversed(words[len(ours) :]))
    if ours and theirs:
        edits = (*put, *ours_out[: max(0, len(ours) - len(theirs))], *missing)
        yield Candidate(STRETCH, edits, named, " ".join(words), against=against)
    if ours:
        yield Candidate(STRETCH, ours_out, named)
    if theirs:
        yield Candidate(STRETCH, theirs_out, against)
        if not ours:
            yield Candidate(STRETCH, missing, against, added=True)


def _stretch(tokens: Sequence[Token], words: Sequence[int]) -> list[int]:
    """The words of a stretch and the symbols between them, such as emoji; punctuation stays where it is."""
    between = range(words[0], words[-1] + 1) if words else ()
    return [i for i in between if tokens[i].is_word or unicodedata.category(tokens[i].text[0]).startswith("S")]


def inner(tokens: Sequence[Token], index: int) -> str:
    """A word as written inside a sentence: the first word loses its capital letter."""
    first = not any(token.is_word for token in tokens[:index])
    text = tokens[index].text
    return text[:1].lower() + text[1:] if first and text != "I" and not text.isupper() else text


def exchanges(texts: Texts, own: int, nearest: Callable[[int, Sequence[int]], int | None]) -> Iterator[Candidate]:
    """Replaces each word that only the own text has with the ``nearest`` word of the same class that only the other
    text has; the only other quantity or colour is always tried."""
    others = only_in(texts[1 - own], texts[own])
    for index in only_in(texts[own], texts[1 - own]):
        kind = word_class(texts[own][index].norm)
        same = [other for other in others if word_class(texts[1 - own][other].norm) == kind != NEGATION]
        only = len(same) == 1 and kind in (QUANTITY, COLOUR)
        partner = same[0] if only else nearest(index, same) if same else None
        if partner is not None:
            word = inner(texts[1 - own], partner)
            edit = Edit(REPLACE, own, index, word)
            yield Candidate(EXCHANGE, (edit,), ((own, index),), word, against=((1 - own, partner),))


def omissions(texts: Texts, own: int, *, shared: bool) -> Iterator[Candidate]:
    """Drops each word that only one text has, or (``shared``) each content word of both; the own text's words first."""
    for side in (own, 1 - own) if len(texts) > 1 else (own,):
        tokens, other = texts[side], texts[1 - side] if len(texts) > 1 else ()
        alone = only_in(tokens, other)
        both = [i for i in _content(tokens) if i not in alone]
        for index in both if shared else alone:
            yield Candidate(SHARED if shared else ALONE, (Edit(DROP, side, index),), ((side, index),))


def together(texts: Texts, own: int, ranked: Sequence[Candidate]) -> Iterator[Candidate]:
    """Drops all words that only this text contains, if they are few; then two of the ``ranked`` words at a time, best
    first. Adjacent words are dropped as one phrase."""
    alone = [one for one in omissions(texts, own, shared=False) if one.named[0][0] == own]
    if 2 < len(alone) <= LONGEST_LIST and len(texts) > 1:
        yield _together(alone)
    for pair in itertools.combinations(ranked[:4], 2):
        yield _together(sorted(pair, key=lambda part: part.named))


def _together(parts: Sequence[Candidate]) -> Candidate:
    named = tuple(word for part in parts for word in part.named)
    side, index = named[0]
    phrase = named == tuple((side, index + more) for more in range(len(named)))
    edits = tuple(edit for part in reversed(parts) for edit in part.edits)
    return Candidate(TOGETHER, edits, named, parts=() if phrase else tuple(parts))
