"""Inputs for testing filters: the most frequent words, and the n-grams of a map's reference texts.

A model reads both once for all sessions; each further filter then takes milliseconds.
"""

from __future__ import annotations

import streamlit as st

from app.filter_map.reference_texts import ReferenceTexts
from core.checkpoint import Checkpoint
from core.filter_map.ngrams import ReadWords, TextNgrams, frequent_words


def _checksums(checkpoint: Checkpoint) -> tuple[str, str]:
    return str(checkpoint.card["sha256"]), checkpoint.words.sha256


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs={Checkpoint: _checksums})
def vocabulary(checkpoint: Checkpoint) -> ReadWords:
    """The word table's most frequent words as the model's filters see them."""
    return ReadWords.of(checkpoint, frequent_words(checkpoint.words))


@st.cache_resource(
    max_entries=8,
    show_spinner="Collecting the n-grams of the reference texts …",
    hash_funcs={Checkpoint: _checksums, ReferenceTexts: lambda texts: texts.stamp},
)
def reference_ngrams(checkpoint: Checkpoint, texts: ReferenceTexts, role: str) -> TextNgrams:
    """The n-grams of the reference texts with a role, indexed like their items."""
    limit = checkpoint.token_limits[role == checkpoint.roles["second"]]
    return TextNgrams(checkpoint, texts.by_role[role], limit)
