"""Analyses premises for make-pairs: words, nouns, and the shorter sentences they contain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.linguistics.word_lists import PLURAL, SINGULAR, Noun, WordLists, article

ARTICLES = {"a", "an", "the", "his", "her", "their", "its", "one", "another", "this", "that"}
NUMBERS = {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several", "some", "many"}
PREPOSITIONS = {
    "in", "on", "at", "near", "with", "by", "behind", "under", "outside", "inside", "next", "during", "through",
    "along", "across", "down", "up", "around", "beside", "above", "over", "against", "from", "onto", "into",
    "towards", "toward", "past", "off", "between", "among", "below", "underneath", "beneath", "atop", "for",
}  # fmt: skip
CLAUSES = {
    "while", "as", "when", "because", "after", "before", "and", "but", "who", "that", "which", "so", "then", "to", "or",
}  # fmt: skip
OTHERS = {
    "is", "are", "was", "were", "be", "of", "it", "he", "she", "they", "there", "him", "them", "while", "out", "has",
    "have", "all", "each", "other", "both", "very", "about", "like", "together", "outdoors", "indoors", "away",
}  # fmt: skip
CLOSED = ARTICLES | NUMBERS | PREPOSITIONS | CLAUSES | OTHERS
NOT_UPWARD = {
    "no", "not", "n't", "nobody", "none", "never", "nothing", "without", "few", "every", "each", "only", "all", "any",
    "everyone", "everybody", "neither", "nor", "isn't", "aren't", "less", "fewer", "most", "almost", "except", "if",
    "hardly", "don't", "doesn't", "can't", "cannot", "nowhere", "than", "anyone", "anything", "least", "exactly",
    "both", "fake", "pretend", "pretending", "trying", "attempting", "toy", "statue", "painting", "picture", "would",
    "mannequin", "doll", "cartoon", "cardboard", "stuffed", "unless", "refusing", "wants", "about", "appears", "seems",
    "looks", "like", "another", "other", "different", "same", "first", "last", "sculpture", "poster",
    "drawing", "photo",
}  # fmt: skip
"""Words that block entailment of a shorter sentence, or of one with wider words."""
MASKED = {
    "about", "appearing", "attempting", "becoming", "beginning", "being", "causing", "coming", "doing", "facing",
    "getting", "giving", "going", "having", "helping", "hoping", "letting", "living", "looking", "making", "missing",
    "preparing", "pretending", "putting", "seeing", "starting", "taking", "thinking", "trying", "using", "waiting",
    "wanting",
}  # fmt: skip
"""Not read as the verb of a clause: either no verbs, or verbs whose object or infinitive is obligatory."""
FEMALE = {"she", "her", "hers", "herself", "pregnant", "bra", "bikini", "skirt", "dress", "lipstick"}
MALE = {"he", "his", "him", "himself", "beard", "bearded", "mustache", "goatee", "moustache"}


@dataclass(frozen=True)
class ProgressiveClause:
    """A clause whose verb group is "is" or "are" and a form in -ing. Positions of the subject's last word and of the
    auxiliary, and the possible ends of the clause, shortest first; the last one is its actual end."""

    head: int
    auxiliary: int
    cuts: tuple[int, ...]


Order = tuple[int | str, ...]
"""A sentence built from another's words: positions, and inserted words."""


@dataclass(frozen=True)
class Premise:
    """A premise as words and punctuation, without its final full stop."""

    words: tuple[str, ...]

    def lower(self, at: int) -> str:
        """The word at a position in lower case; empty outside the sentence."""
        return self.words[at].lower() if 0 <= at < len(self.words) else ""


def read(text: str) -> Premise | None:
    """Parses a premise; None if it has punctuation that plain sentences lack."""
    text = text.strip().rstrip(". ")
    if not re.fullmatch(r"[A-Za-z0-9 ,'-]+", text) or "--" in text or " '" in text:
        return None
    words = tuple(re.findall(r"[A-Za-z0-9'-]+|,", text))
    return Premise(words) if 3 <= len(words) <= 22 else None


def write(sentence: Premise, order: Order, changes: Mapping[int, str] | None = None) -> str:
    """The text of an order, with words at some positions exchanged, "a" and "an" corrected, and a full stop."""
    words = [(changes or {}).get(x, sentence.words[x]) if isinstance(x, int) else x for x in order]
    words = " ".join(word for word in words if word).split(" ")
    for i in range(len(words) - 1):
        if words[i].lower() in ("a", "an") and words[i + 1][:1].isalpha():
            right = article(words[i + 1])
            words[i] = right.capitalize() if words[i][0].isupper() else right
    while words and words[-1] == ",":
        words.pop()
    text = " ".join(words).replace(" ,", ",")
    return f"{text[:1].upper()}{text[1:]}."


def nouns(sentence: Premise, lists: WordLists) -> list[tuple[int, Noun]]:
    """The nouns in a sentence that head their phrases and occur only once, with their positions."""
    out = []
    for at in range(len(sentence.words)):
        fitting = [noun for noun in lists.forms.get(sentence.lower(at), []) if _is_head(sentence, at, noun, lists)]
        if fitting and [w.lower() for w in sentence.words].count(sentence.lower(at)) == 1:
            out.append((at, fitting[0]))
    return out


def _is_head(sentence: Premise, at: int, noun: Noun, lists: WordLists) -> bool:
    after = sentence.lower(at + 1)
    if after == "of" or not (after in CLOSED or after in ("", ",") or _participle(after)):
        return False
    if after == "and" and sentence.lower(at + 2) in lists.forms and sentence.lower(at + 2) not in ARTICLES:
        return False
    before = at - 1
    while before >= 0 and sentence.lower(before) in lists.adjectives:
        before -= 1
    word = sentence.lower(before)
    if _participle(word) and sentence.lower(before - 1) in PREPOSITIONS | ARTICLES | NUMBERS:
        return False
    if noun.number == SINGULAR:
        return word in ARTICLES
    if noun.number == PLURAL:
        return word in NUMBERS | {"the", "his", "her", "their", ""} | PREPOSITIONS or _participle(word)
    return before == at - 1 and (word in ("with", "on", "of", "in", "the", "some") or _participle(word))


def _participle(word: str) -> bool:
    return word.endswith("ing") and len(word) > 5 and word not in ("something", "evening", "morning", "clothing")


def clause(sentence: Premise, lists: WordLists) -> ProgressiveClause | None:
    """Subject, verb and rest, if the sentence is simple enough to be certain: a determiner, adjectives, a noun, then
    "is" or "are" with a form in -ing. Also None if a shortened sentence would not follow."""
    head = 1
    while sentence.lower(head) in lists.adjectives:
        head += 1
    word, end = sentence.lower(head), len(sentence.words)
    numbers = {noun.number for noun in lists.forms.get(word, [])} | ({PLURAL} if word in ("people", "kids") else set())
    verb = {"is": SINGULAR, "are": PLURAL}.get(sentence.lower(head + 1))
    doing = sentence.lower(head + 2)
    determined = sentence.lower(0) in ARTICLES | NUMBERS and not NOT_UPWARD & {*map(str.lower, sentence.words)}
    if not determined or verb not in numbers or not _participle(doing) or doing in MASKED:
        return None
    # "while" starts another clause, whose end is not this one's.
    marks = [at for at in range(head + 2, end) if sentence.lower(at) in CLAUSES | {","}]
    last = min([*marks, end - 1])
    cuts = [cut for cut in range(head + 3, last + 1) if _may_end(sentence, head + 2, cut, lists)]
    return ProgressiveClause(head, head + 1, (*cuts, end))


def _may_end(sentence: Premise, verb: int, cut: int, lists: WordLists) -> bool:
    """Whether the sentence may end before position ``cut``."""
    after, last = sentence.lower(cut), sentence.lower(cut - 1)
    astray = (
        after in ("down", "up", "off") and sentence.lower(cut + 1) not in ARTICLES
    )  # "upside down", "run down alley"
    if after not in PREPOSITIONS | {"while", "as", ","} or astray:
        return False
    if cut == verb + 1:
        return last in lists["intransitive"]
    dangling = last in CLOSED or last in lists.adjectives or last == "," or _participle(last)
    return not dangling and (not last.endswith(("ed", "ly")) or last in ("bed", "sled"))


def shortened(sentence: Premise, parts: ProgressiveClause, end: int, plain: bool, lists: WordLists) -> Order:
    """The sentence up to ``end``; ``plain``: also without the subject's adjectives."""
    adjectives = range(parts.head) if plain else ()
    return tuple(at for at in range(end) if at not in adjectives or sentence.lower(at) not in lists.adjectives)


MEN = {"man", "boy", "gentleman", "guy", "father", "brother", "groom", "grandfather", "son", "uncle", "husband", "king"}
WOMEN = {"woman", "girl", "lady", "mother", "sister", "bride", "grandmother", "daughter", "aunt", "wife", "queen"}
ANIMALS = {"dog", "cat"}
YOUNG = {"boy", "girl", "child", "kid", "baby", "toddler", "son", "daughter"} | ANIMALS
OLD = {"old", "elderly", "older", "middle-aged", "retired", "bald", "balding", "bearded", "beard", "mustache"}


def negated(order: Order, parts: ProgressiveClause, nobody: bool = False) -> Order:
    """An order with "not" after its auxiliary, or with "nobody" as its subject."""
    at = order.index(parts.auxiliary)
    return ("Nobody", "is", *order[at + 1 :]) if nobody else (*order[: at + 1], "not", *order[at + 1 :])


def clashes(text: str, word: str) -> bool:
    """Whether a noun for people conflicts with the pronouns, ages, clothes and activities of a text."""
    words = set(re.findall(r"[a-z-]+", text.lower()))
    if word in ANIMALS and words & (FEMALE | MALE | {"wearing", "shirt", "hat", "clothes", "playing", "holding"}):
        return True
    if word in YOUNG and words & OLD:
        return True
    return bool(
        (word in MEN and words & FEMALE) or (word in WOMEN and words & (MALE | {"bald", "balding", "shirtless"}))
    )
