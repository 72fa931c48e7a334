"""Linguistic features of many pairs, cached in the user's cache folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from core.kept_arrays import kept
from core.linguistics import LinguisticsError
from core.linguistics.features import FEATURES, extra_features
from core.progress import bar
from core.reading.tokens import MAX_TOKENS, tokenize
from core.reading.word_table import WordTable

VERSION = 2
"""Part of every key: increase it when a change to core.linguistics, or to the tokeniser, changes a value."""
AT_ONCE = 2048
"""Pairs per file: a killed run loses at most as many."""


def features(kind: str, pairs: Sequence[tuple[str, str]], words: WordTable, progress: bool = True) -> np.ndarray:
    """The values of ``core.linguistics.features.FEATURES[kind]`` for N pairs of texts: ``float32 [N, F]``.

    Each text is read up to ``MAX_TOKENS`` tokens. Raises LinguisticsError as
    :func:`core.linguistics.features.extra_features` does.
    """
    if kind not in FEATURES:
        raise LinguisticsError(f"no features of the kind {kind!r} exist; choose one of {', '.join(FEATURES)}")
    # A table that was not read from a file has no checksum; a hash of its words in order replaces it.
    table = words.sha256 or hashlib.sha256("\n".join(words.words).encode()).hexdigest()
    out = np.empty((len(pairs), len(FEATURES[kind])), dtype=np.float32)
    with bar(len(pairs), "pair", f"{kind} features", shown=progress) as shown:
        for start in range(0, len(pairs), AT_ONCE):
            some = pairs[start : start + AT_ONCE]

            def compute(some: Sequence[tuple[str, str]] = some) -> np.ndarray:
                sides = ([tokenize(text)[:MAX_TOKENS] for text in pair] for pair in some)
                rows = [extra_features(kind, first, second, words) for first, second in sides]
                return np.array(rows, dtype=np.float32)

            key = (kind, str(VERSION), table if kind != "entailment" else "", json.dumps(some))
            out[start : start + AT_ONCE] = kept("features", key, out.shape[1], compute)
            shown.update(len(some))
    return out
