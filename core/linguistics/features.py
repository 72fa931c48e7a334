"""Features of a sentence pair that need no training: the "extra" features of Yin & Schütze (2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.linguistics import LinguisticsError, answer_types, import_nltk
from core.linguistics.content_words import norms, stop_words, weight
from core.reading.tokens import Token

if TYPE_CHECKING:
    from core.reading.word_table import WordTable

FEATURES: dict[str, tuple[str, ...]] = {
    "entailment": (
        "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "NIST", "METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L", "TER", "WER", "chrF",
        "GLEU", "RIBES", "token F1",
        "negation in the premise", "negation in the hypothesis", "synonym", "hypernym", "antonym",
        "log length of the premise", "log length of the hypothesis",
    ),
    "answer": ("log length of the question", "log length of the answer", "WordCnt", "WgtWordCnt"),
    "answer-type": (
        "log length of the question", "log length of the answer", "WordCnt", "WgtWordCnt", *answer_types.NAMES,
    ),
}  # fmt: skip
"""Feature names by kind of task, in the order of :func:`extra_features`."""

NEGATIONS = frozenset((
    "no", "not", "n't", "never", "nobody", "nothing", "none", "neither", "nor", "nowhere", "without", "cannot", "cant",
    "dont", "no-one", "noone",
))  # fmt: skip
"""Negating words, normalised; "can't" is split into "ca" and "n't"."""


def extra_features(kind: str, first: Sequence[Token], second: Sequence[Token], words: WordTable) -> list[float]:
    """The values of ``FEATURES[kind]`` for one pair of token lists, finite for every input (even empty lists).

    ``first`` is the premise or the question, ``second`` the hypothesis or the answer; ``words`` provides the frequency
    ranks for WgtWordCnt. Only words count, by their ``norm``; punctuation is ignored, unless a sentence has nothing
    else, in which case the translation scores compare it. Raises LinguisticsError for an unknown kind, and for
    "entailment" if WordNet is missing.

    - "entailment": 15 machine-translation scores (``translation.scores``), negation in each sentence (0 or 1), synonym,
      hypernym and antonym (0 or 1, :func:`relations`), two lengths.
    - "answer": two lengths, and WordCnt and WgtWordCnt from :func:`word_count`.
    - "answer-type": these, and the features of the expected answer (:func:`answer_types.expected_answer`).

    A length is log(1 + words): in a linear classifier two of them give the ratio of the lengths, and no value is many
    times larger than the others, unlike the paper's plain counts.
    """
    if kind not in FEATURES:
        raise LinguisticsError(f"no features of the kind {kind!r} exist; choose one of {', '.join(FEATURES)}")
    one, other = norms(first), norms(second)
    lengths = [math.log1p(len(one)), math.log1p(len(other))]
    if kind == "answer":
        return [*lengths, *word_count(one, other, words)]
    if kind == "answer-type":
        counts = word_count(one, other, words)
        return [*lengths, *counts, *answer_types.expected_answer(first, second, words)]
    # Imported here because nltk takes more than a second, which an app without these features should not spend.
    import_nltk()
    from core.linguistics.translation import scores

    translated = scores(one or [token.norm for token in first], other or [token.norm for token in second])
    negated = [float(not NEGATIONS.isdisjoint(side)) for side in (one, other)]
    return [*translated, *negated, *relations(one, other), *lengths]


def relations(first: Sequence[str], second: Sequence[str]) -> list[float]:
    """Whether a word in one sentence has a synonym, a hypernym or an antonym in the other: three values, 0 or 1.

    Only words missing from the other sentence count, compared by the base forms from WordNet's morphy ("runs",
    "running"). All senses count. Synonym: a shared synset. Hypernym: a synset of one word lies at most
    ``HYPERNYM_LEVELS`` (3) steps above one of the other's, in either direction. Antonym: WordNet's direct antonyms.

    Stop words (scikit-learn's list) have no synonyms and hypernyms here, since WordNet knows "a" as the ampere and "in"
    as indium; they do have antonyms, since "full", "empty", "top" and "bottom" are on that list. The paper only says
    "synonym, hypernym, antonym"; levels, senses and stop words are our choices. Raises LinguisticsError if WordNet is
    missing.
    """
    import_nltk()
    from core.linguistics.wordnet import lexicon

    wordnet = lexicon()
    sides = [{word: wordnet.entry(word) for word in side} for side in (first, second)]
    forms = [frozenset[str]().union(*(entry.forms for entry in side.values())) for side in sides]
    alone = [
        {word: entry for word, entry in side.items() if entry.forms.isdisjoint(forms[1 - i])}
        for i, side in enumerate(sides)
    ]
    content = [[entry for word, entry in side.items() if word not in stop_words()] for side in alone]
    one, other = (frozenset[str]().union(*(entry.synsets for entry in side)) for side in content)
    above_one, above_other = (frozenset[str]().union(*(entry.above for entry in side)) for side in content)
    opposites = frozenset[str]().union(*(entry.opposites for entry in alone[0].values()))
    return [
        float(not one.isdisjoint(other)),
        float(not above_one.isdisjoint(other) or not above_other.isdisjoint(one)),
        float(any(not entry.forms.isdisjoint(opposites) for entry in alone[1].values())),
    ]


def word_count(question: Sequence[str], answer: Sequence[str], words: WordTable) -> list[float]:
    """WordCnt and WgtWordCnt (Yang et al. 2015): how many of the question's content words the answer contains.

    Content words are the distinct words of the question that are not on scikit-learn's stop word list. WgtWordCnt
    weights each by its rarity (:func:`core.linguistics.content_words.weight`). Neither is divided by the question's
    length: answers to the same question are ranked against each other, so it makes no difference, and the paper counts.
    """
    shared = (set(question) & set(answer)) - stop_words()
    return [float(len(shared)), math.fsum(weight(word, words) for word in shared)]
