"""The one contract between models and screens: frozen, JSON-serialisable records of what a model did with a pair.

``core.explain.explain`` builds an :class:`Explanation` from a model's trace; the page, the command line and a notebook
draw it and know no model. T_x is the length of the sentence that is judged (first index of every matrix), T_y that of
its context.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

SCHEMA_VERSION = 1
"""Raised whenever a record's meaning changes; :meth:`Explanation.from_dict` refuses another version."""

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class TokenRecord:
    """A word as it stands in the person's text: ``text`` is characters [start, end) of the original."""

    text: str
    start: int
    end: int
    unknown: bool
    """True when the word table has no row for it and its vector was made from its character n-grams."""


@dataclass(frozen=True)
class Sentence:
    """One side of the pair. ``role`` names it in the data set's words (premise, hypothesis; question, answer)."""

    role: str
    text: str
    tokens: tuple[TokenRecord, ...]
    truncated: int = 0
    """Number of tokens cut off at the end (a side keeps 200)."""


@dataclass(frozen=True)
class AttentionMap:
    """Where each unit of the judged sentence looks. Rows: t_x (judged), columns: t_y (context).

    ``scores`` are the raw matches e_ij before the softmax, ``weights`` the softmax over j (each row adds up to 1) that
    the model used. ``overridden`` is true when they came from outside (what-if editing).

    ``units`` is "words"; or "phrases": then rows and columns are the phrases of the :class:`PhraseSelection` beside it,
    ``scores`` are cosines, and ``weights`` is empty, because each phrase takes its best partner alone; or "windows":
    row i is the window of h words that begins at word i (h is the :class:`FilterProvenance`'s width).
    """

    kind: ClassVar[str] = "attention_map"
    name: str
    rows: str
    """Role of the sentence along the rows."""
    columns: str
    scores: Matrix
    weights: Matrix
    overridden: bool = False
    units: str = "words"


@dataclass(frozen=True)
class ContextWord:
    """A word's attentive context in words: the table's nearest words to the weights' mix of input word vectors."""

    nearest: tuple[str, ...]
    similarity: tuple[float, ...]
    """Cosine of each nearest word to the mix."""


@dataclass(frozen=True)
class AttentiveContext:
    """Per word of the judged sentence, what its context vector is mixed from: ``weights[i]`` over the context's words.

    ``nearest`` holds the table's nearest words for the rows that were asked for (None elsewhere: they cost a search of
    the word table and are computed when a word is selected, see :func:`core.explain.nearest_to_context`).
    """

    kind: ClassVar[str] = "attentive_context"
    name: str
    rows: str
    columns: str
    weights: Matrix
    nearest: tuple[ContextWord | None, ...]


@dataclass(frozen=True)
class FilterRecord:
    """One filter after max-pooling: where it won, and its pre-activation split into parts that add up.

    ``sum(offsets) + context + bias == preactivation`` (within 1e-5 in float32), and ``left + self_ + right`` is the sum
    of ``offsets`` too. ``logit_shares[c]`` is the classifier's weight times the activation: over all filters they add
    up to logit c less its bias and what :class:`FilterProducts` tells beside them. It is empty where the classifier
    reads more than the pooled activations (multi-perspective matching).
    """

    index: int
    position: int
    """Index of the winning window's central word in the sentence's tokens."""
    window: tuple[int, int]
    """Tokens [first, last) that the window covers inside the sentence."""
    left: float
    self_: float
    right: float
    context: float
    bias: float
    preactivation: float
    activation: float
    logit_shares: tuple[float, ...]
    offsets: tuple[float, ...] = ()
    """One part for each word of the window, from left to right."""


@dataclass(frozen=True)
class FilterProvenance:
    """What won each of the K filters of a convolution (AttConv, figure 6a)."""

    kind: ClassVar[str] = "filter_provenance"
    name: str
    rows: str
    width: int
    filters: tuple[FilterRecord, ...]
    logit_bias: tuple[float, ...]
    activation: str = "tanh"
    """What makes the activation of a pre-activation: tanh, or ReLU."""
    made_from: str = ""
    """Role of the text that the filters were generated from; empty for filters that are the same for every text."""


@dataclass(frozen=True)
class FilterProducts:
    """What the logits of a pair model hold beside the filters' own shares (Shen et al. 2018, equation 6).

    ``products[k][c]`` is the share of h_q,k · h_a,k in logit c; ``linguistic`` that of all linguistic features. With
    the shares of both sides' filters and the bias they add up to the logits.
    """

    kind: ClassVar[str] = "filter_products"
    name: str
    products: Matrix
    linguistic: tuple[float, ...]


@dataclass(frozen=True)
class GeneratedFilters:
    """The filters made from one text (Shen et al. 2018, equations 2 and 3)."""

    kind: ClassVar[str] = "generated_filters"
    name: str
    made_from: str
    """Role of the text that brought them forth."""
    applied_to: str
    """Role of the text that they convolve."""
    code: tuple[float, ...]
    """z, the l numbers that the filters are made from."""
    bank: tuple[Matrix, ...]
    """[K, h, d]: each filter's weights by word of the window and dimension of a word."""


@dataclass(frozen=True)
class PhraseRecord:
    """A phrase and its best partner in the other sentence."""

    span: tuple[int, int]
    """Tokens [first, last) of its sentence."""
    partner: int
    """Index of the phrase of the other sentence with the largest cosine (of equal ones the earliest)."""
    score: float
    """That cosine: a_i of Yin & Schütze 2017, equation 5."""


@dataclass(frozen=True)
class PhraseSide:
    """All phrases of one sentence in the order (A)(B)(AB)(C)(BC)(ABC)…: by last word, then shortest first."""

    role: str
    phrases: tuple[PhraseRecord, ...]


@dataclass(frozen=True)
class PhraseChoice:
    """What one pooling keeps of both sentences, in the order of the text, and the verdict that follows."""

    pooling: str
    """kmin (the k worst aligned phrases), kmax (the k best aligned) or full (all)."""
    k: int
    """0 for full."""
    kept: tuple[tuple[int, ...], tuple[int, ...]]
    """Indices of the kept phrases of the first and of the second sentence."""
    probabilities: tuple[float, ...]
    trained: bool
    """Whether the model was trained with this pooling and this k; any other is a question of "what if"."""


@dataclass(frozen=True)
class PhraseSelection:
    """Phrases, their alignments and what k-min, k-max and full pooling keep (Yin & Schütze 2017, section 3.3).

    ``choices`` hold both poolings for k = 1…10 and full, and the trained k where it is larger.
    """

    kind: ClassVar[str] = "phrase_selection"
    name: str
    sides: tuple[PhraseSide, PhraseSide]
    """The first and the second sentence of the pair."""
    choices: tuple[PhraseChoice, ...]
    pooling: str
    """The trained pooling."""
    k: int
    """The trained k."""

    def choice(self, pooling: str, k: int = 0) -> PhraseChoice | None:
        """The choice of this pooling and k (k does not matter for full), or None when it was not computed."""
        wanted = (pooling, 0 if pooling == "full" else k)
        return next((c for c in self.choices if (c.pooling, c.k) == wanted), None)


Evidence = AttentionMap | AttentiveContext | FilterProvenance | FilterProducts | GeneratedFilters | PhraseSelection
_KINDS: dict[str, type] = {
    cls.kind: cls
    for cls in (AttentionMap, AttentiveContext, FilterProvenance, FilterProducts, GeneratedFilters, PhraseSelection)
}


@dataclass(frozen=True)
class Explanation:
    """All that one model says of one pair; the same numbers on the page, in the command line and in a notebook."""

    model: str
    title: str
    """The model's name for people."""
    first: Sentence
    second: Sentence
    judged: str
    """Role of the sentence whose representation reaches the classifier."""
    labels: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]
    evidence: tuple[Evidence, ...]
    warnings: tuple[str, ...] = ()
    """One sentence each, when the input is unlike the training data or was cut."""
    milliseconds: float = 0.0
    """Time that the model and this record took."""
    schema_version: int = field(default=SCHEMA_VERSION)

    @property
    def verdict(self) -> str:
        """The most probable class."""
        return self.labels[max(range(len(self.labels)), key=self.probabilities.__getitem__)]

    @property
    def judged_sentence(self) -> Sentence:
        """The sentence along the rows of every matrix, or the only one."""
        return self.first if self.judged == self.first.role else self.second

    @property
    def context_sentence(self) -> Sentence:
        """The other sentence (for intra-context models, the columns are the judged one: see the record's roles)."""
        return self.second if self.judged == self.first.role else self.first

    def sentence(self, role: str) -> Sentence:
        """The sentence with this role. Raises KeyError for another name."""
        for side in (self.first, self.second):
            if side.role == role:
                return side
        raise KeyError(role)

    def find(self, kind: type[Any]) -> Any | None:
        """The first record of this type, or None when the model returns none."""
        return next((record for record in self.evidence if isinstance(record, kind)), None)

    @property
    def word_attention(self) -> AttentionMap | None:
        """The first attention map over words, or None for a model without."""
        return next((r for r in self.evidence if isinstance(r, AttentionMap) and r.units == "words"), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers; each evidence record carries its ``kind``."""
        out = dataclasses.asdict(self)
        out["evidence"] = [{"kind": record.kind, **dataclasses.asdict(record)} for record in self.evidence]
        return out

    def to_json(self, indent: int | None = None) -> str:
        """JSON text of :meth:`to_dict`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Explanation:
        """The inverse of :meth:`to_dict`. Raises ValueError for another schema version or an unknown kind."""
        if data.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(
                f"this explanation has schema version {data.get('schema_version')!r}, "
                f"this program reads version {SCHEMA_VERSION}"
            )
        built: Explanation = _build(cls, data)
        return built

    def _repr_html_(self) -> str:
        from core.notebook import html

        return html(self)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list | tuple) else value


def _build(cls: type, data: dict[str, Any]) -> Any:
    nested: dict[str, Any] = {
        "first": Sentence, "second": Sentence, "tokens": TokenRecord, "nearest": ContextWord, "filters": FilterRecord,
        "sides": PhraseSide, "phrases": PhraseRecord, "choices": PhraseChoice,
    }  # fmt: skip
    values: dict[str, Any] = {}
    for f in dataclasses.fields(cls):
        if f.name not in data:
            continue
        value = data[f.name]
        if f.name == "evidence":
            unknown = [record.get("kind") for record in value if record.get("kind") not in _KINDS]
            if unknown:
                raise ValueError(f"unknown kind of evidence {unknown[0]!r}; known: {', '.join(_KINDS)}")
            value = tuple(_build(_KINDS[record["kind"]], record) for record in value)
        elif f.name in nested and cls is not ContextWord:
            inner = nested[f.name]
            if isinstance(value, dict):
                value = _build(inner, value)
            else:
                value = tuple(None if item is None else _build(inner, item) for item in value)
        else:
            value = _tuples(value)
        values[f.name] = value
    return cls(**values)
