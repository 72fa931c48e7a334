"""AdaQA: a pair, each text convolved with filters made from itself or the other (Shen et al. 2018, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evidence import AttentionMap, FilterProducts, FilterProvenance, GeneratedFilters, Record
from core.evidence.record import matrix
from core.models.acnn.adaptive import ACNNConfig, AdaptiveModel, TextTrace
from core.models.acnn.multi_perspective import Matched, MultiPerspective
from core.models.base import Evidence, Output, register, setting
from core.models.features import EXTRA_SIZES
from core.reading.batch import Batch
from core.reading.reader import Reading

ADAPTIVITIES = ("none", "self", "one-way", "two-way")
MATCHINGS = ("none", "multi-perspective")


@dataclass(frozen=True)
class AdaQAConfig(ACNNConfig):
    """The same for a pair. ``matching``: multi-perspective attention (+ att) or none, with ``perspectives`` l of each
    of its four kinds. ``extra``: a set of linguistic features, or none."""

    filters: int = setting(300, least=1)
    adaptivity: str = setting("two-way", one_of=ADAPTIVITIES)
    matching: str = setting("none", one_of=MATCHINGS)
    perspectives: int = setting(10, least=1)
    extra: str = setting("none", one_of=tuple(EXTRA_SIZES))
    embedding_dropout: float = setting(0.5, least=0, below=1)

    @property
    def linguistic(self) -> str:
        return self.extra


@dataclass(frozen=True)
class PairTrace:
    """What a forward pass computed on question and answer."""

    q: TextTrace
    a: TextTrace
    matched: Matched | None
    """Of models with attention: how the windows of a (rows) match those of q (columns)."""


@register(
    "adaqa",
    config=AdaQAConfig,
    title="AdaQA",
    paper="Shen et al. 2018",
    section="3.3",
    tasks=("answer selection", "paraphrase"),
    shows=(FilterProvenance, FilterProducts, GeneratedFilters, AttentionMap),
)
class AdaQA(AdaptiveModel):
    """A pair, each text convolved with filters made from itself or from the other one, or with fixed ones (section
    3.3).

    | here | paper | space |
    |---|---|---|
    | bias_q, bias_a | ψ_q, ψ_a | [K] |
    | classifier | the MLP's one layer, η' | [C, F] |
    """

    config: AdaQAConfig

    def __init__(self, config: AdaQAConfig) -> None:
        matched = 16 * config.perspectives if config.matching != "none" else 0
        super().__init__(config, 4 * config.filters + matched, config.extra)
        adaptive = config.adaptivity != "none"
        self.bias_a = nn.Parameter(torch.zeros(config.filters)) if adaptive else None
        both = config.adaptivity in ("self", "two-way")
        self.bias_q = nn.Parameter(torch.zeros(config.filters)) if both else None
        self.matching = MultiPerspective(config.filters, config.perspectives) if matched else None

    @property
    def made_from(self) -> tuple[str, ...]:  # type: ignore[override]
        return {"none": (), "one-way": ("first",)}.get(self.config.adaptivity, ("first", "second"))

    def forward(self, batch: Batch, override: Tensor | None = None) -> Output:
        """``override [B, T'_a, T'_q]`` takes the place of the weights by which the answer's windows mix the question's.

        Raises ValueError when it has another shape or the model has no attention.
        """
        q_windows, a_windows = self.windows(batch.first), self.windows(batch.second)
        q_own = self.generate(q_windows) if "first" in self.made_from else None  # [Shen18 eq. 4] [Shen18 eq. 5]
        a_own = self.generate(a_windows) if "second" in self.made_from else None
        q_made, a_made = (None if own is None else own[1] for own in (q_own, a_own))
        q_applied, a_applied = {
            "none": (None, None),
            "self": (q_made, a_made),
            "one-way": (None, q_made),
            "two-way": (a_made, q_made),
        }[self.config.adaptivity]
        q = self.convolve(q_windows, batch.first, q_own, q_applied, self.bias_q)
        a = self.convolve(a_windows, batch.second, a_own, a_applied, self.bias_a)
        own = [q.pooled, a.pooled, q.pooled - a.pooled, q.pooled * a.pooled]  # [Shen18 eq. 6]
        matched = None
        if self.matching is not None:
            matched = self.matching(
                torch.relu(a.preactivations), a_windows.mask, torch.relu(q.preactivations), q_windows.mask, override
            )
            own.append(matched.vectors)
        elif override is not None:
            raise ValueError("this model compares pooled vectors: it has no attention to replace")
        features = self.feature_vector(torch.cat(own, dim=1), batch.extra)
        logits = self.classifier(F.dropout(features, self.config.dropout, self.training))  # [Shen18 eq. 7]
        return Output(logits, features, PairTrace(q, a, matched))

    @classmethod
    def shows(cls, config: Mapping[str, Any]) -> tuple[type[Record], ...]:
        """With matching the classifier reads more than the filters, so that these have no shares; without it there is
        no attention."""
        absent = AttentionMap if config.get("matching", "none") == "none" else FilterProducts
        return tuple(kind for kind in super().shows(config) if kind is not absent)

    def evidence(self, reading: Reading, output: Output, overridden: bool = False) -> Evidence:
        trace: PairTrace = output.trace
        q, a, matched = trace.q, trace.a, trace.matched
        q_role, a_role, size = reading.first.role, reading.second.role, self.config.filters
        weight = self.classifier.weight
        of_q, of_a, of_difference, of_product = weight[:, : 4 * size].chunk(4, dim=1)
        h_q, h_a = q.pooled[0], a.pooled[0]
        from_a, from_q = {
            "none": ("", ""),
            "self": (a_role, q_role),
            "one-way": (q_role, ""),
            "two-way": (q_role, a_role),
        }[self.config.adaptivity]
        a_shares, q_shares = (
            ((of_a - of_difference) * h_a, (of_q + of_difference) * h_q) if not matched else (None,) * 2
        )
        yield FilterProvenance, lambda: self.provenance(f"{a_role} filters", a_role, a, a_shares, from_a)
        yield FilterProvenance, lambda: self.provenance(f"{q_role} filters", q_role, q, q_shares, from_q)
        if matched is None:
            linguistic = (weight[:, 4 * size :] * output.features[0, 4 * size :]).sum(1)
            products = matrix((of_product * h_q * h_a).T)
            yield FilterProducts, lambda: FilterProducts("products", products, tuple(linguistic.tolist()))
        own = self.config.adaptivity == "self"
        yield from self.generated(q, q_role, q_role if own else a_role)
        yield from self.generated(a, a_role, a_role if own else q_role)
        if matched is not None:
            rows, columns = a.windows.mask[0], q.windows.mask[0]
            scores, weights = (matrix(values[0][rows][:, columns]) for values in (matched.scores, matched.weights))
            name = "attentive matching"
            yield AttentionMap, lambda: AttentionMap(name, a_role, q_role, scores, weights, overridden, "windows")
