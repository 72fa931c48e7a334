"""Records of a model's computation on a pair, one module per kind of record, and the explanation that holds them.

Each module in this package registers its own record; the names below are the ones other packages import.
"""

import importlib
import pkgutil

from core.evidence.attention_map import AttentionMap
from core.evidence.attentive_context import AttentiveContext, ContextWord
from core.evidence.explanation import BOTH, SCHEMA_VERSION, Explanation
from core.evidence.filter_provenance import FilterProducts, FilterProvenance, FilterRecord
from core.evidence.generated_filters import GeneratedFilters
from core.evidence.phrase_selection import PhraseChoice, PhraseRecord, PhraseSelection, PhraseSide
from core.evidence.pooled_attention import PooledAttention
from core.evidence.record import RECORDS, Matrix, Record, Sentence, TokenRecord

__all__ = [
    "BOTH", "RECORDS", "SCHEMA_VERSION", "AttentionMap", "AttentiveContext", "ContextWord", "Explanation",
    "FilterProducts", "FilterProvenance", "FilterRecord", "GeneratedFilters", "Matrix", "PhraseChoice", "PhraseRecord",
    "PhraseSelection", "PhraseSide", "PooledAttention", "Record", "Sentence", "TokenRecord",
]  # fmt: skip

__path__: list[str]
for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
