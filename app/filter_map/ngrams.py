"""What a filter may answer to: the word table's frequent words, and the n-grams of a map's reference texts.

Both are read by a model once for all sessions; another filter then costs milliseconds.
"""

from __future__ import annotations

import streamlit as st

from app.filter_map.reference_texts import ReferenceTexts, Stamp
from core.checkpoint import Checkpoint
from core.filter_map.ngrams import ReadWords, TextNgrams, frequent_words


def vocabulary(checkpoint: Checkpoint) -> ReadWords:
    """The word table's most frequent words as the model's filters read them."""
    return _vocabulary(str(checkpoint.card["sha256"]), checkpoint.words.sha256, checkpoint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _vocabulary(weights: str, words: str, _checkpoint: Checkpoint) -> ReadWords:
    return ReadWords.of(_checkpoint, frequent_words(_checkpoint.words))


def reference_ngrams(checkpoint: Checkpoint, texts: ReferenceTexts, role: str) -> TextNgrams:
    """The n-grams of the reference texts of a role; a text's number is that of its item."""
    return _ngrams(texts.stamp, role, checkpoint, texts)


@st.cache_resource(max_entries=8, show_spinner="Collecting the n-grams of the reference texts …")
def _ngrams(stamp: Stamp, role: str, _checkpoint: Checkpoint, _texts: ReferenceTexts) -> TextNgrams:
    limit = _checkpoint.token_limits[role == _checkpoint.roles["second"]]
    return TextNgrams(_checkpoint, _texts.by_role[role], limit)
