"""Numbers about a pair of sentences that need no training: the "extra" features of Yin & Schütze (2017)."""

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
"""Names of the features by kind of task, in the order of :func:`extra_features`."""

NEGATIONS = frozenset((
    "no", "not", "n't", "never", "nobody", "nothing", "none", "neither", "nor", "nowhere", "without", "cannot", "cant",
    "dont", "no-one", "noone",
))  # fmt: skip
"""Negating words, normalised; "can't" was split into "ca" and "n't"."""


def extra_features(kind: str, first: Sequence[Token], second: Sequence[Token], words: WordTable) -> list[float]:
    """The values of ``FEATURES[kind]``, finite for every input, for one pair of token lists (empty ones included).

    ``first`` is the premise or the question, ``second`` the hypothesis or the answer; ``words`` gives the order of
    frequency for WgtWordCnt. Only words count, by their ``norm``; signs such as commas are left out, unless a sentence
    has nothing else, when the translation scores compare the signs. Raises LinguisticsError for another kind, and for
    "entailment" when WordNet is missing.

    - "entailment": 15 scores of machine translation (``translation.scores``), negation in each sentence (0 or
      1), synonym, hypernym and antonym (0 or 1, :func:`relations`), two lengths.
    - "answer": two lengths, :func:`word_count`'s WordCnt and WgtWordCnt.
    - "answer-type": these, and what the question expects of its answer (:func:`answer_types.expected_answer`).

    A length is log(1 + words): in a linear classifier two of them give the ratio of the lengths, and no number is
    many times larger than the others, as plain counts would be (which the paper has).
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
    # Imported here because nltk takes more than a second, which an app without these features need not wait.
    import_nltk()
    from core.linguistics.translation import scores

    translated = scores(one or [token.norm for token in first], other or [token.norm for token in second])
    negated = [float(not NEGATIONS.isdisjoint(side)) for side in (one, other)]
    return [*translated, *negated, *relations(one, other), *lengths]


def relations(first: Sequence[str], second: Sequence[str]) -> list[float]:
    """Whether a word of one sentence has a synonym, a hypernym, an antonym in the other: three numbers 0 or 1.

    Only words count that the other sentence does not have, in any form that WordNet's morphy traces to a common base
    ("runs", "running"). All senses count. Synonym: a shared synset. Hypernym: a synset of one word lies at most
    ``HYPERNYM_LEVELS`` (3) steps above one of the other's, in either direction. Antonym: WordNet's direct antonyms.

    Stop words (scikit-learn's list) have no synonyms and hypernyms here, since WordNet knows "a" as the ampere and
    "in" as indium; antonyms they have, since "full", "empty", "top" and "bottom" are on that list. The paper says no
    more than "synonym, hypernym, antonym"; levels, senses and stop words are choices. Raises LinguisticsError when
    WordNet is missing.
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
    """WordCnt and WgtWordCnt (Yang et al. 2015): how many of the question's content words the answer has.

    Content words are the question's different words that are not on scikit-learn's list of stop words. WgtWordCnt
    weighs each by its rarity (:func:`core.linguistics.content_words.weight`). Neither is divided by the question's
    length: answers to one question are ranked against each other, where that changes nothing, and the paper counts.
    """
    shared = (set(question) & set(answer)) - stop_words()
    return [float(len(shared)), math.fsum(weight(word, words) for word in shared)]
