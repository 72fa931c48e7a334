"""Changes that undo a difference between the two texts of a pair: people name a difference when they say why.

The hypothesis, or another text that is judged, is the *own* text here, and the premise the *other* one. A single text
has no other one.
"""

from __future__ import annotations

import difflib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.effects.edits import DROP, INSERT, REPLACE, SWAP, Edit
from core.linguistics.constructions import quantifier
from core.linguistics.content_words import stop_words
from core.linguistics.features import NEGATIONS
from core.linguistics.word_lists import word_groups
from core.reading.tokens import Token

UNLIKE, ONE_TEXT = "unlike", "one text"
ORDER, STRETCH, EXCHANGE, ALONE, TOGETHER, SHARED = "order", "stretch", "exchange", "alone", "together", "shared"
MATCH = "match"
LONGEST_STRETCH, LONGEST_AGAINST, LONGEST_PHRASE, LONGEST_LIST = 2, 4, 8, 5


class Rule(NamedTuple):
    """A step of the search: the most forward passes that it takes, what is tried, and why it has its place; ``least``:
    its threshold."""

    passes: int
    tried: str
    because: str
    least: float = 0.0


RULES = {
    UNLIKE: Rule(
        0,
        "a text gets a warning that its verdict is a guess",
        "the reason for a guess means little; this is said before it",
    ),
    ONE_TEXT: Rule(
        1,
        "a model that reads one text alone gives the same verdict, with at least the same probability, and this one",
        "then the comparison may not matter; two models that are unsure agree by chance",
        0.75,
    ),
    ORDER: Rule(
        2,
        "all words of the own text, but for determiners, are in the other in another order: in that order; with its "
        "determiners, where it has no other words",
        "nothing else of the own text is different, and every single word of it would be a wrong answer",
    ),
    STRETCH: Rule(
        3,
        f"the one stretch that differs, of at most {LONGEST_STRETCH} words against {LONGEST_AGAINST}: as in the other "
        f"text, or left out of either; or of at most {LONGEST_PHRASE} words that one text lacks: left out, or put in",
        "where texts differ in one place, people name that place; which of more exchanged words decides is unclear",
    ),
    EXCHANGE: Rule(
        8,
        "a word that only the own text has: the other text's word of its class instead that it attends to most, with "
        "at least this weight (without attention: cosine), or the only other quantity or colour",
        "two words that are compared say more than one, a two against a three; with less weight they are not compared",
        0.25,
    ),
    MATCH: Rule(
        4,
        "of an entailment, the strongest link, with the weight of an exchange, of each word that only the own text has "
        "to one that only the other has: cut, or where that costs less than this probability, the words exchanged; or "
        "one stretch that only the other text has: left out",
        "an entailment is explained by what its words correspond to; a link that costs less is hardly used",
        0.01,
    ),
    ALONE: Rule(
        10,
        "a word that only one text has: left out; of more words than passes those with the largest gradients",
        "it has no counterpart, like a negation or an added adjective",
    ),
    TOGETHER: Rule(
        5,
        f"the words that only the own text has, at most {LONGEST_LIST}, or the two that lower the verdict most: "
        "left out; two before all",
        "one difference hides another",
    ),
    SHARED: Rule(
        5,
        "a word of both texts: left out of one",
        "both texts have it, so it is named only where no difference decides",
    ),
}
"""The steps in their order, up to the first change that flips the verdict. With the pair's own pass and one for
gradients at most 40."""
MOST_PASSES = 2 + sum(rule.passes for rule in RULES.values())

DETERMINERS = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "some", "my", "your", "his", "her", "its", "our", "their")
)
"""Words that may differ between two texts with the same words in another order."""
ARTICLES = frozenset(("a", "an", "the"))

Texts = tuple[Sequence[Token], ...]
Word = tuple[int, int]
"""The number of a text, and of a token in it."""


@dataclass(frozen=True)
class Candidate:
    """A change that may flip the verdict. ``named``: the words that are named for it, all of one text; ``instead``: the
    words that come into their place, empty where they are left out, which are ``against`` them in the other text;
    ``added``: whether the named words are put into the own text too; ``parts``: the changes of :data:`TOGETHER`."""

    kind: str
    edits: tuple[Edit, ...]
    named: tuple[Word, ...]
    instead: str = ""
    added: bool = False
    against: tuple[Word, ...] = ()
    parts: tuple[Candidate, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """All words that it is about."""
        return (*self.named, *self.against)


def _content(tokens: Sequence[Token]) -> list[int]:
    return [i for i, token in enumerate(tokens) if token.is_word and word_class(token.norm) != FUNCTION]


@functools.cache
def word_class(norm: str) -> str:
    """Quantities are exchanged for quantities, colours for colours and other content words for content words; function
    words and negations for none. scikit-learn's stop words hold numbers and quantifiers, too, and words like "full"
    (Nothman et al. 2018)."""
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
"""Stop words that people name as a difference."""


def only_in(tokens: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """The words of a text that the other one lacks, but for function words."""
    known = {token.norm for token in other}
    return [i for i in _content(tokens) if tokens[i].norm not in known]


def ordered(texts: Texts, own: int) -> Iterator[Candidate]:
    """The own text in the other's order, where that has all its words but for determiners."""
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
    """The one stretch of words that differs: the other text's words instead, put in, or the words left out."""
    first, second = ([i for i, token in enumerate(tokens) if token.is_word] for tokens in (texts[1 - own], texts[own]))
    alike = ["the" if texts[1 - own][i].norm in ARTICLES else texts[1 - own][i].norm for i in first]
    to = ["the" if texts[own][i].norm in ARTICLES else texts[own][i].norm for i in second]
    codes = difflib.SequenceMatcher(a=alike, b=to, autojunk=False).get_opcodes()
    differing = [code for code in codes if code[0] != "equal"]
    if len(differing) != 1:
        return
    ((_, i, j, k, m),) = differing
    shorter, longer = sorted((j - i, m - k))
    if longer > LONGEST_PHRASE or (shorter and (shorter > LONGEST_STRETCH or longer > LONGEST_AGAINST)):
        return
    theirs, ours = first[i:j], second[k:m]
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


def inner(tokens: Sequence[Token], index: int) -> str:
    """A word as it stands within a sentence: the first one without its capital letter."""
    first = not any(token.is_word for token in tokens[:index])
    text = tokens[index].text
    return text[:1].lower() + text[1:] if first and text != "I" and not text.isupper() else text


def exchanges(texts: Texts, own: int, nearest: Callable[[int, Sequence[int]], int | None]) -> Iterator[Candidate]:
    """Each word that only the own text has, with the ``nearest`` of the other text's words instead that the own text
    lacks and that are of its class; the only other quantity or colour is compared with it in any case."""
    others = only_in(texts[1 - own], texts[own])
    for index in only_in(texts[own], texts[1 - own]):
        kind = word_class(texts[own][index].norm)
        alike = [other for other in others if word_class(texts[1 - own][other].norm) == kind != NEGATION]
        only = len(alike) == 1 and kind in (QUANTITY, COLOUR)
        partner = alike[0] if only else nearest(index, alike) if alike else None
        if partner is not None:
            word = inner(texts[1 - own], partner)
            edit = Edit(REPLACE, own, index, word)
            yield Candidate(EXCHANGE, (edit,), ((own, index),), word, against=((1 - own, partner),))


def omissions(texts: Texts, own: int, *, shared: bool) -> Iterator[Candidate]:
    """Each word that only one text has, or each content word of both, left out; those of the own text first."""
    for side in (own, 1 - own) if len(texts) > 1 else (own,):
        tokens, other = texts[side], texts[1 - side] if len(texts) > 1 else ()
        alone = only_in(tokens, other)
        both = [i for i in _content(tokens) if i not in alone]
        for index in both if shared else alone:
            yield Candidate(SHARED if shared else ALONE, (Edit(DROP, side, index),), ((side, index),))


def together(texts: Texts, own: int, ranked: Sequence[Candidate]) -> Iterator[Candidate]:
    """All words that only the own text has, if they are few, left out; then two of the ``ranked`` ones, the first ones
    first. Words side by side are left out as one phrase."""
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
