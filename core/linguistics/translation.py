"""Machine-translation scores between two sentences, with the premise as reference and the hypothesis as candidate.

Importing this module imports nltk and sacrebleu, which takes more than a second: import it lazily.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace

from nltk.metrics.distance import edit_distance
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.gleu_score import sentence_gleu
from nltk.translate.meteor_score import single_meteor_score
from nltk.translate.nist_score import sentence_nist
from nltk.translate.ribes_score import sentence_ribes
from nltk.util import ngrams
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from core.linguistics.content_words import stem
from core.linguistics.wordnet import lexicon

SCORES = (
    "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "NIST", "METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L", "TER", "WER", "chrF",
    "GLEU", "RIBES", "token F1",
)  # fmt: skip


_TER, _CHRF = TER(case_sensitive=True), CHRF()

LONGEST = 60
"""Maximum number of words read per sentence: TER and RIBES try shifts and windows, which takes seconds for 200
words."""


def scores(reference: Sequence[str], candidate: Sequence[str]) -> list[float]:
    """The values of ``SCORES``, each in 0..1, for two lists of normalised words.

    All increase with similarity except the error rates TER and WER (edits per reference word), which are capped at 1
    here. Two equal sentences get the best value of every score: 1 (TER, WER 0), except METEOR, whose penalty leaves 1 -
    .5/T³ for T words, and RIBES, which is 0 if fewer than two words can be aligned, since a single word has no order. A
    sentence without words is similar to none: 0 for all scores, 1 for TER and WER.

    Only the first ``LONGEST`` words of each are read. n-grams longer than a sentence are left out of the averages, so
    that a sentence of two words can reach 1 in BLEU-4 and one of a single word in ROUGE-2.

    - BLEU-n (Papineni et al. 2002): nltk; counts of n-grams longer than one are increased by one (Lin & Och 2004).
    - NIST (Doddington 2002): nltk, divided by the reference's score against itself; :func:`_nist`.
    - METEOR (Lavie & Agarwal 2007): nltk; words match literally, by Porter stem or by a shared WordNet synset; a
      repeated word matches at its last position (METEOR itself minimises the number of chunks).
    - ROUGE-1 and -2 (Lin 2004): the share of the reference's n-grams that the candidate contains. ROUGE-L: F1 of the
      longest common subsequence. Token F1: F1 of the words, ignoring order.
    - TER (Snover et al. 2006), chrF (Popović 2015): sacrebleu. WER: nltk's edit distance. GLEU (Wu et al. 2016), RIBES
      (Isozaki et al. 2010): nltk.

    Raises LinguisticsError if WordNet is missing.
    """
    synonyms = lexicon()
    if not reference or not candidate:
        return [float(name in ("TER", "WER")) for name in SCORES]
    first, second = list(reference[:LONGEST]), list(candidate[:LONGEST])
    joined = " ".join(second), [" ".join(first)]
    common = _common_subsequence(first, second)
    return [
        *_bleu(first, second),
        _nist(first, second),
        single_meteor_score(first, second, stemmer=SimpleNamespace(stem=stem), wordnet=synonyms),
        _recall(first, second, 1),
        _recall(first, second, 2),
        2 * common / (len(first) + len(second)),
        min(1.0, _TER.sentence_score(*joined).score / 100),
        min(1.0, edit_distance(first, second) / len(first)),
        _CHRF.sentence_score(*joined).score / 100,
        float(sentence_gleu([first], second)),
        sentence_ribes([first], second),
        2 * _overlap(first, second, 1) / (len(first) + len(second)),
    ]


def _bleu(reference: list[str], candidate: list[str]) -> list[float]:
    orders = [min(n, len(candidate)) for n in (1, 2, 3, 4)]
    weights = [(1 / order,) * order for order in orders]
    values: list[float] = sentence_bleu([reference], candidate, weights, SmoothingFunction().method2)
    return [float(value) for value in values]


def _nist(reference: list[str], candidate: list[str]) -> float:
    """NIST divided by the reference's NIST against itself, at most 1.

    An n-gram's weight is its information given the preceding words, counted in the reference alone; a reference of one
    word, or of one repeated word, has none, so that only an equal candidate scores 1 and all others 0.
    """
    longest = min(5, len(reference), len(candidate))
    best: float = sentence_nist([reference], reference, longest)
    if best <= 0:
        return float(reference == candidate)
    value: float = sentence_nist([reference], candidate, longest)
    return min(1.0, value / best)


def _overlap(reference: list[str], candidate: list[str], n: int) -> int:
    return (Counter(ngrams(reference, n)) & Counter(ngrams(candidate, n))).total()


def _recall(reference: list[str], candidate: list[str], n: int) -> float:
    order = min(n, len(reference))
    return _overlap(reference, candidate, order) / (len(reference) - order + 1)


def _common_subsequence(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence."""
    return (len(first) + len(second) - int(edit_distance(first, second, substitution_cost=2))) // 2
