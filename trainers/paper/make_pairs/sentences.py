"""What make-pairs sees in a premise: words, places whose word can be exchanged, and shorter sentences in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.linguistics.word_lists import MASS, PLURAL, SINGULAR, Noun, WordLists, article

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
"""A word dropped, or exchanged for a wider one, need not hold in a sentence with one of these."""
MASKED = {
    "about", "anything", "appearing", "attempting", "bathing", "becoming", "beginning", "being", "boxing", "bring",
    "building", "causing", "ceiling", "clothing", "coming", "doing", "dressing", "during", "evening", "facing",
    "getting", "giving", "going", "hanging", "having", "helping", "hoping", "including", "ing", "keeping", "king",
    "leading", "learning", "letting", "living", "looking", "making", "missing", "morning", "nothing", "parking",
    "placing", "planning", "preparing", "pretending", "putting", "railing", "reaching", "ring", "seeing", "setting",
    "showing", "sing", "something", "spring", "starting", "sticking", "string", "swing", "taking", "thing",
    "thinking", "trying", "using", "waiting", "wanting", "wearing", "wedding", "wing",
}  # fmt: skip
"""Not read as the verb of a clause: no verbs, or verbs whose object or infinitive cannot be left out."""
FEMALE = {"she", "her", "hers", "herself", "pregnant", "bra", "bikini", "skirt", "dress", "lipstick"}
MALE = {"he", "his", "him", "himself", "beard", "bearded", "mustache", "goatee", "moustache"}


@dataclass(frozen=True)
class Clause:
    """Subject, verb and the rest of a premise, as half-open ranges of positions.

    ``head``: last word of the subject's noun phrase; ``auxiliary``: position of "is" or "are", or -1; ``cuts``: ends
    that the clause may also have, shortest first; the last one is its own.
    """

    head: int
    plural: bool
    auxiliary: int
    verb: int
    cuts: tuple[int, ...]


Order = tuple[int | str, ...]
"""A sentence made of another's words: positions, and words put in."""


@dataclass(frozen=True)
class Sentence:
    """A premise as words and signs, without its final full stop."""

    words: tuple[str, ...]

    def order(self) -> Order:
        """All positions."""
        return tuple(range(len(self.words)))

    def lower(self, at: int) -> str:
        """The word at a position in lower case; empty beside the sentence."""
        return self.words[at].lower() if 0 <= at < len(self.words) else ""

    def upward(self) -> bool:
        """Whether what holds of all of it holds of less, and of wider words."""
        return not NOT_UPWARD & {word.lower() for word in self.words}


COMPOUNDS = {
    "suit", "suits", "pool", "machine", "cart", "carts", "bag", "trunks", "outfit", "board", "pole", "poles", "dress",
    "shoes", "boots", "gear", "rod", "mat", "costume", "gown", "uniform", "jacket", "hat", "cap", "area", "line",
    "game", "mall", "center", "lot", "team", "class", "room", "man", "woman", "boy", "girl", "stick", "sticks",
}  # fmt: skip
"""After these words a form in -ing was no verb: swimming pool, fishing pole."""


def read(text: str) -> Sentence | None:
    """A premise as a sentence, or None for one with signs that no plain sentence has."""
    text = text.strip().rstrip(". ")
    if not re.fullmatch(r"[A-Za-z0-9 ,'-]+", text) or "--" in text or " '" in text:
        return None
    words = tuple(re.findall(r"[A-Za-z0-9'-]+|,", text))
    return Sentence(words) if 3 <= len(words) <= 22 else None


def write(sentence: Sentence, order: Order, changes: Mapping[int, str] | None = None) -> str:
    """The text of an order, with some positions' words exchanged, "a" and "an" mended, and a full stop."""
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


def nouns(sentence: Sentence, lists: WordLists) -> list[tuple[int, Noun]]:
    """The nouns of a sentence that are heads of their phrases and stand once in it: position and what stands there."""
    out = []
    for at in range(len(sentence.words)):
        fitting = [noun for noun in lists.forms.get(sentence.lower(at), []) if _is_head(sentence, at, noun, lists)]
        if fitting and [w.lower() for w in sentence.words].count(sentence.lower(at)) == 1:
            out.append((at, fitting[0]))
    return out


def _is_head(sentence: Sentence, at: int, noun: Noun, lists: WordLists) -> bool:
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


def clause(sentence: Sentence, lists: WordLists) -> Clause | None:
    """Subject, verb and rest, where the sentence is plain enough to be sure of them."""
    head, many = _subject(sentence, lists)
    if head < 0:
        return None
    auxiliary, verb = _verb(sentence, head, many, lists)
    if verb < 0 or sentence.lower(verb) in MASKED:
        return None
    end = len(sentence.words)
    if auxiliary < 0 and lists.finite & {sentence.lower(at) for at in range(verb + 1, end)}:
        return None
    # Behind "while" another clause begins, whose end is not this one's.
    marks = [at for at in range(verb, end) if sentence.lower(at) in CLAUSES | {","}]
    first = marks[0] if marks else end - 1
    cuts = [cut for cut in range(verb + 1, min(first, end - 1) + 1) if _may_end(sentence, verb, cut, lists)]
    return Clause(head, many, auxiliary, verb, (*cuts, end))


def _subject(sentence: Sentence, lists: WordLists) -> tuple[int, bool]:
    """Position of the subject's last word (-1: unsure) and whether it takes "are"."""
    at = 1 if sentence.lower(0) in ARTICLES | NUMBERS else 0
    if (
        sentence.lower(0) in ("a", "the")
        and sentence.lower(1) in ("group", "crowd", "couple")
        and sentence.lower(2) == "of"
    ):
        at = 3
        while sentence.lower(at) in lists.adjectives:
            at += 1
        return (
            (at, True)
            if sentence.lower(at) in ("people", "men", "women", "children", "kids", "boys", "girls")
            else (-1, False)
        )
    while sentence.lower(at) in lists.adjectives:
        at += 1
    word = sentence.lower(at)
    if word in ("people", "kids"):
        return at, True
    nouns = [noun for noun in lists.forms.get(word, []) if noun.number != MASS]
    if not nouns or (nouns[0].number == SINGULAR and sentence.lower(0) not in ARTICLES):
        return -1, False
    return at, nouns[0].number == PLURAL


def _verb(sentence: Sentence, head: int, many: bool, lists: WordLists) -> tuple[int, int]:
    """Positions of the auxiliary (-1: none) and of the main verb's participle (-1: unsure)."""
    lower = [word.lower() for word in sentence.words]
    beings = [i for i, word in enumerate(lower) if word in ("is", "are", "was", "were")]
    if beings:
        at = beings[0]
        between = lower[head + 1 : at]
        fits = lower[at] == ("are" if many else "is") and at + 1 < len(lower) and _participle(lower[at + 1])
        clean = not (set(between) & (CLAUSES | {","} | lists.finite)) and len(between) < 8
        starts = not between or between[0] in PREPOSITIONS or _participle(between[0])
        return (at, at + 1) if fits and clean and starts else (-1, -1)
    if _participle(sentence.lower(head + 1)):
        return (-1, head + 1) if sentence.lower(head + 2) not in COMPOUNDS else (-1, -1)
    if sentence.lower(head + 1) == "in":
        verbs = [i for i in range(head + 3, len(lower)) if _participle(lower[i]) and lower[i - 1] not in CLOSED]
        passed = set(lower[head + 1 : verbs[0]]) if verbs else {","}
        if not passed & (CLAUSES | {","} | lists.finite) and sentence.lower(verbs[0] + 1) not in COMPOUNDS:
            return -1, verbs[0]
    return -1, -1


def _may_end(sentence: Sentence, verb: int, cut: int, lists: WordLists) -> bool:
    """Whether the sentence may end before position ``cut``."""
    after, last = sentence.lower(cut), sentence.lower(cut - 1)
    if after not in PREPOSITIONS | {"while", "as", ","}:
        return False
    if cut == verb + 1:
        return last in lists["intransitive"]
    dangling = last in CLOSED or last in lists.adjectives or last == "," or _participle(last)
    return not dangling and (not last.endswith(("ed", "ly")) or last in ("bed", "sled"))


def shortened(sentence: Sentence, parts: Clause, end: int, plain: bool, lists: WordLists) -> Order:
    """Subject without what follows its noun, "is" or "are", verb, and the rest up to ``end``; ``plain``: without the
    subject's adjectives too."""
    subject = [at for at in range(parts.head + 1) if not (plain and sentence.lower(at) in lists.adjectives)]
    being = "are" if parts.plural else "is"
    return (*subject, being, *range(parts.verb, end))


def being(sentence: Sentence, parts: Clause) -> Order:
    """The whole sentence with its "is" or "are", put in where the premise leaves it out."""
    if parts.auxiliary >= 0:
        return sentence.order()
    return (*range(parts.verb), "are" if parts.plural else "is", *range(parts.verb, len(sentence.words)))


MEN = {"man", "boy", "gentleman", "guy", "father", "brother", "groom", "grandfather", "son", "uncle", "husband", "king"}
WOMEN = {"woman", "girl", "lady", "mother", "sister", "bride", "grandmother", "daughter", "aunt", "wife", "queen"}
ANIMALS = {"dog", "cat"}
YOUNG = {"boy", "girl", "child", "kid", "baby", "toddler", "son", "daughter"} | ANIMALS
GRAY = {"bald", "balding", "bearded", "beard", "mustache", "gray-haired"}
OLD = {"old", "elderly", "older", "middle-aged", "retired"} | GRAY
DONE_BY_ANIMALS = {
    "running", "walking", "sleeping", "sitting", "jumping", "swimming", "eating", "standing", "laying", "lying",
    "looking", "chasing", "resting", "drinking", "runs", "walks", "sleeps", "sits", "jumps", "swims", "stands",
}  # fmt: skip


def cut_short(sentence: Sentence, parts: Clause, end: int) -> Order:
    """The whole sentence with its "is" or "are", up to ``end``: of the same subject, whatever is said of it."""
    order = being(sentence, parts)
    return order[: len(order) - (len(sentence.words) - end)]


def negated(order: Order, parts: Clause, nobody: bool = False) -> Order:
    """An order with "not" after its "is" or "are", or with "nobody" for its subject; unchanged without either."""
    at = next((i for i, x in enumerate(order) if x in ("is", "are") or x == parts.auxiliary), -1)
    if at < 0:
        # The premise left its "is" out: it stands before the verb.
        at = order.index(parts.verb)
        order = (*order[:at], "are" if parts.plural else "is", *order[at:])
    return ("Nobody", "is", *order[at + 1 :]) if nobody else (*order[: at + 1], "not", *order[at + 1 :])


def clashes(text: str, word: str) -> bool:
    """Whether a person's word does not go with the pronouns, ages, clothes and doings of a text."""
    words = set(re.findall(r"[a-z-]+", text.lower()))
    if word in ANIMALS and (
        words & (FEMALE | MALE | {"wearing", "shirt", "hat", "clothes"}) or not words & DONE_BY_ANIMALS
    ):
        return True
    if word in YOUNG and words & OLD:
        return True
    return bool(
        (word in MEN and words & FEMALE) or (word in WOMEN and words & (MALE | {"bald", "balding", "shirtless"}))
    )


def positions(order: Sequence[int | str]) -> set[int]:
    """The positions that an order holds."""
    return {x for x in order if isinstance(x, int)}
