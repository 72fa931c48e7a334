"""Paragraph vectors of single texts (Le & Mikolov 2014), and a logistic regression on them.

A text's vector is learnt by guessing its words from it: the distributed bag of words of section 2.3, without labels, on
the training texts alone. All vectors that the regression sees, those of the training texts too, are inferred afterwards
with the words held (section 2.2's inference), so that both sides are alike. The paper has 400 numbers, hierarchical
softmax and, beside this model, the distributed memory; here 100 numbers, five drawn words and a hundred passes, which
did best on a tenth of SST-5's training sentences that was held out for it. Sets of more words are read fewer times.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from unittest import mock

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.errors import RunError
from core.reading.tokens import tokenize

NAME = "paragraph vectors, logistic regression"
WIDTH = 100
READ, PASSES = 20_000_000, (10, 100)
"""Words that are read in all passes together, which are at least and at most so many."""


def fitted(texts: Sequence[str], labels: np.ndarray) -> Callable[[Sequence[str]], np.ndarray]:
    """What predicts labels of texts; the same from run to run. Raises RunError where gensim is not installed."""
    try:
        from gensim.models import doc2vec
    except ImportError:
        raise RunError('paragraph vectors need gensim: pip install "gensim>=4.4,<5"') from None
    documents = [doc2vec.TaggedDocument(words, [number]) for number, words in enumerate(map(words_of, texts))]
    passes = int(np.clip(READ / max(1, sum(len(document.words) for document in documents)), *PASSES))
    # One thread: several would update the same vectors in another order each time.
    model = doc2vec.Doc2Vec(
        documents, dm=0, vector_size=WIDTH, min_count=2, negative=5, epochs=passes, workers=1, seed=1, hashfxn=_number
    )

    start = functools.partial(doc2vec.pseudorandom_weak_vector, hashfxn=_number)

    def vectors(seen: Sequence[str]) -> np.ndarray:
        model.random.seed(1)  # else a text's vector would depend on those asked for before
        # gensim starts a new text's vector by Python's hash of it, whatever hashfxn is.
        with mock.patch.object(doc2vec, "pseudorandom_weak_vector", start):
            return np.array([model.infer_vector(words_of(text)) for text in seen])

    regression = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(vectors(texts), labels)

    def predict(seen: Sequence[str]) -> np.ndarray:
        predicted: np.ndarray = regression.predict(vectors(seen))
        return predicted

    return predict


def words_of(text: str) -> list[str]:
    """The words and signs of a text, as models read them."""
    return [token.norm for token in tokenize(text)]


def _number(text: str) -> int:
    """Python's own hash of a text differs from process to process."""
    return zlib.crc32(text.encode())
