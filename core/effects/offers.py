"""Suggested replacements for a word: opposites, hypernyms, similar words, numbers, colours.

They come from the word lists in core/linguistics, and from WordNet if its files are installed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.linguistics import LinguisticsError, import_nltk
from core.linguistics.content_words import stop_words
from core.linguistics.word_lists import plural, word_groups
from core.reading.word_table import default_table

if TYPE_CHECKING:
    from nltk.corpus.reader.wordnet import Synset

    from core.linguistics.wordnet import Lexicon

QUANTIFIERS = ("every", "all", "most", "some", "few", "no")
OPPOSITE, GENERAL, SAME_KIND, NUMBER, COLOUR = "opposite", "more general", "of the same kind", "number", "colour"
MOST = 6
"""Maximum number of suggestions per relation."""
RAREST = 30_000
"""Maximum rank in the word table for suggestions from WordNet: rarer words mean little to a model."""


@dataclass(frozen=True)
class Offer:
    """A suggested replacement."""

    word: str
    relation: str


@dataclass(frozen=True)
class Offers:
    """All suggestions for one word, and a note if WordNet's files are missing."""

    offers: tuple[Offer, ...]
    note: str = ""


@functools.lru_cache(maxsize=5_000)
def offers_for(norm: str) -> Offers:
    """Replacements for a normalised word, closest relations first, without duplicates."""
    note = ""
    listed = [*_listed(norm)]
    try:
        import_nltk()
        from core.linguistics.wordnet import lexicon

        known = lexicon()
        if norm not in stop_words():  # WordNet knows "a" as a unit of length
            listed += _of_wordnet(known, norm)
    except LinguisticsError:
        note = "Opposites and more general words come from WordNet: install Debian's package wordnet-base."
    counts: dict[str, int] = {}
    offers: dict[str, Offer] = {}
    for offer in listed:
        counts[offer.relation] = counts.get(offer.relation, 0) + 1
        if offer.word != norm and counts[offer.relation] <= MOST:
            offers.setdefault(offer.word, offer)
    return Offers(tuple(offers.values()), note)


def _listed(norm: str) -> Iterator[Offer]:
    lists = word_groups()
    for name, relation in (("numbers", NUMBER), ("colours", COLOUR)):
        if norm in lists[name]:
            words = lists[name]
            at = words.index(norm)
            near = sorted(words, key=lambda word: abs(words.index(word) - at))
            yield from (Offer(word, relation) for word in near)
    if norm in QUANTIFIERS:
        yield from (Offer(word, SAME_KIND) for word in QUANTIFIERS)
    for name in ("adjective antonyms", "verb antonyms", "preposition antonyms"):
        for pair in lists[name]:
            if norm in pair:
                yield Offer(pair[norm == pair[0]], OPPOSITE)
    for name in ("count", "plural", "mass"):
        for group in lists[name].values():
            for form in (str, plural) if name == "count" else (str,):
                words = [form(word) for word in group["words"]]
                if norm in words:
                    at = words.index(norm)
                    yield from (Offer(form(word), GENERAL) for word in group["above"] if " " not in word)
                    yield from (Offer(word, SAME_KIND) for word in (words[at + 1 :] + words[:at]) if " " not in word)
    for pair in lists["people"]["exclusive"]:
        for form in (str, plural):
            if norm in map(form, pair):
                yield Offer(form(pair[norm == form(pair[0])]), SAME_KIND)


def _of_wordnet(lexicon: Lexicon, norm: str) -> list[Offer]:
    """WordNet's suggestions among the frequent words of the table, most frequent first, inflected like the word:
    plurals for a plural noun, the tense of a verb. Verb forms and adjectives are not treated as nouns."""
    synsets = lexicon.synsets(norm)[:2]
    inflected = norm not in (lexicon._morphy(norm, "v")[:1] or [norm])
    noun = bool(synsets) and synsets[0].pos() == "n" and not inflected and not lexicon.synsets(norm, "a")
    form = plural if noun and norm not in lexicon._morphy(norm, "n")[:1] else str
    forms = {"n": form if noun else _none, "v": functools.partial(_verb_like, lexicon, norm)}
    opposites = [
        forms[synset.pos()](other.name()) if synset.pos() in forms else other.name()
        for synset in synsets
        for lemma in synset.lemmas()
        if synset.pos() in forms or lemma.name() == norm  # "short" is not the opposite of "taller"
        for other in sorted(lemma.antonyms())
    ]
    # WordNet's reader keeps these in a set, whose order differs between processes.
    above = sorted(synsets[0].hypernyms(), key=lambda synset: synset.name())[:1] if noun else []
    siblings = [other for upper in above for other in upper.hyponyms() if other != synsets[0]]
    offers = [Offer(name, OPPOSITE) for name in opposites if name.isalpha() and name.islower()]
    offers += [Offer(form(name), GENERAL) for name in _names(above)]
    offers += [Offer(form(name), SAME_KIND) for name in _names(siblings)]
    table = default_table()
    ranked = ((table.rank(offer.word), offer) for offer in offers)
    known = [(rank, offer) for rank, offer in ranked if rank is not None and rank <= RAREST]
    return [offer for _, offer in sorted(known, key=lambda pair: pair[0])]


def _none(name: str) -> str:
    return ""


def _verb_like(lexicon: Lexicon, norm: str, verb: str) -> str:
    """The verb inflected like this word; empty if it would be irregular."""
    lemma = (lexicon._morphy(norm, "v") or [norm])[0]
    if norm == lemma:
        return verb
    irregular = {form for form, lemmas in lexicon._exception_map["v"].items() if verb in lemmas}
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    doubled = re.fullmatch(r"[^aeiou]*u?[aeiou][^aeiouwxy]", verb)
    if norm.endswith("ing"):
        return f"{verb[:-2]}ying" if verb.endswith("ie") else f"{stem}{stem[-1] if doubled else ''}ing"
    if norm.endswith("s"):
        return plural(verb)  # verbs take the same endings: -s, -es or -ies
    if irregular or norm in lexicon._exception_map["v"]:
        return ""
    return f"{verb[:-1]}ied" if re.search("[^aeiou]y$", verb) else f"{stem}{stem[-1] if doubled else ''}ed"


def _names(synsets: Iterable[Synset]) -> list[str]:
    """The first lemma of each synset that is a single lower-case word."""
    firsts = (synset.lemmas()[0].name() for synset in synsets)
    return [name for name in firsts if name.isalpha() and name.islower()]
