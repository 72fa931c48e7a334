"""Records of a model's computation on a pair, one module per kind of record, and the explanation that holds them.

The names below are the ones that other packages import; :func:`record_kinds` has all kinds.
"""

from core.evidence.attention_map import AttentionMap
from core.evidence.attentive_context import AttentiveContext, ContextWord
from core.evidence.explanation import BOTH, SCHEMA_VERSION, Explanation, Record, record_kinds
from core.evidence.filter_provenance import FilterProducts, FilterProvenance, FilterRecord
from core.evidence.generated_filters import GeneratedFilters
from core.evidence.matrix import Matrix
from core.evidence.phrase_selection import PhraseChoice, PhraseRecord, PhraseSelection, PhraseSide
from core.evidence.pooled_attention import PooledAttention
from core.reading.sentence import Sentence, TokenRecord

__all__ = [
    "BOTH", "SCHEMA_VERSION", "AttentionMap", "AttentiveContext", "ContextWord", "Explanation",
    "FilterProducts", "FilterProvenance", "FilterRecord", "GeneratedFilters", "Matrix", "PhraseChoice", "PhraseRecord",
    "PhraseSelection", "PhraseSide", "PooledAttention", "Record", "Sentence", "TokenRecord",
    "record_kinds",
]  # fmt: skip
