"""AdaQA: each text of a pair is convolved with filters generated from itself or from the other text (Shen et al. 2018,
section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap, FilterProducts, FilterProvenance, GeneratedFilters, Record
from core.evidence.matrix import matrix
from core.layers.attention import refuse
from core.models.acnn.adaptive import ACNNConfig, AdaptiveModel, TextTrace, generated
from core.models.acnn.multi_perspective import Matched, MultiPerspective
from core.models.base import Evidence, Output, Settings, Wanted, register, setting
from core.models.features import EXTRA_SIZES, extra_route
from core.models.routes import FILTERS, MATCHING, TEXT_BY_TEXT, TEXTS, UNPATCHED, Patching, Route
from core.reading.batch import Batch
from core.reading.reader import Reading

MAKERS = {
    "none": (None, None),
    "self": ("first", "second"),
    "one-way": (None, "first"),
    "two-way": ("second", "first"),
}
"""The sides that generate the filters for the question and for the answer, by adaptivity."""
MATCHINGS = ("none", "multi-perspective")


@dataclass(frozen=True)
class AdaQAConfig(ACNNConfig):
    """Settings for pairs. ``matching``: multi-perspective attention (+ att) or none, with l = ``perspectives`` for each
    of its four kinds. ``extra``: a set of linguistic features, or none."""

    filters: int = setting(300, least=1)
    adaptivity: str = setting("two-way", one_of=tuple(MAKERS))
    matching: str = setting("none", one_of=MATCHINGS)
    perspectives: int = setting(10, least=1)
    extra: str = setting("none", one_of=tuple(EXTRA_SIZES))
    embedding_dropout: float = setting(0.5, least=0, below=1)


@dataclass(frozen=True)
class PairTrace:
    """Trace of a forward pass on question and answer."""

    q: TextTrace
    a: TextTrace
    matched: Matched | None
    """In models with attention: how a's windows (rows) match q's windows (columns)."""


@register("adaqa", title="AdaQA", paper="Shen et al. 2018", section="3.3")
class AdaQA(AdaptiveModel):
    """Each text of a pair is convolved with filters generated from itself or from the other text, or with fixed ones
    (section 3.3).

    | here | paper | space |
    |---|---|---|
    | bias_q, bias_a | ψ_q, ψ_a | [K] |
    | classifier | the MLP's one layer, η' | [C, F] |
    """

    config: AdaQAConfig

    def __init__(self, config: AdaQAConfig) -> None:
        matched = 16 * config.perspectives if config.matching != "none" else 0
        super().__init__(config, 4 * config.filters + matched)
        adaptive = config.adaptivity != "none"
        self.bias_a = nn.Parameter(torch.zeros(config.filters)) if adaptive else None
        both = config.adaptivity in ("self", "two-way")
        self.bias_q = nn.Parameter(torch.zeros(config.filters)) if both else None
        self.matching = MultiPerspective(config.filters, config.perspectives) if matched else None

    @property
    def made_from(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(side for side in ("first", "second") if side in MAKERS[self.config.adaptivity])

    def forward(
        self,
        batch: Batch,
        override: Tensor | None = None,
        nearest: Tensor | None = None,
        patching: Patching = UNPATCHED,
    ) -> Output:
        """``override [B, T'_a, T'_q]`` replaces the weights with which the answer's windows average the question's;
        ``nearest`` is passed to :class:`MultiPerspective`.

        Raises ValueError if its shape differs or the model has no attention.
        """
        q_windows, a_windows = self.windows(batch.first), self.windows(batch.second)
        windows = {"first": q_windows, "second": a_windows}
        made = {side: self.generate(windows[side]) for side in self.made_from}  # [Shen18 eq. 4] [Shen18 eq. 5]
        made = {side: (code, patching(FILTERS, filters)) for side, (code, filters) in made.items()}
        q_windows, a_windows = (
            read._replace(values=patching(text, patching(TEXTS, read.values)))
            for text, read in zip(TEXT_BY_TEXT, windows.values(), strict=True)
        )
        q_applied, a_applied = (None if maker is None else made[maker][1] for maker in MAKERS[self.config.adaptivity])
        q = self.convolve(q_windows, batch.first, made.get("first"), q_applied, self.bias_q)
        a = self.convolve(a_windows, batch.second, made.get("second"), a_applied, self.bias_a)
        own = [q.pooled, a.pooled, q.pooled - a.pooled, q.pooled * a.pooled]  # [Shen18 eq. 6]
        matched = None
        if self.matching is not None:
            a_states, q_states = torch.relu(a.preactivations), torch.relu(q.preactivations)
            matched = self.matching(a_states, a_windows.mask, q_states, q_windows.mask, override, nearest, patching)
            own.append(matched.vectors)
        else:
            refuse(override)
        trace = PairTrace(q, a, matched)
        vector = torch.cat(own, dim=1)
        return self.classify(vector, vector.shape[1] + len(self.extra_mean), batch, trace, patching)  # [Shen18 eq. 7]

    def choices(self, output: Output) -> dict[str, Tensor]:
        """In models with matching, the one state matched with each state (max-attentive)."""
        matched: Matched | None = output.trace.matched
        return {} if matched is None else {"nearest": torch.cat([matched.nearest_to_x, matched.nearest_to_y], dim=1)}

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        """Of fixed filters, each text is a route."""
        texts = TEXT_BY_TEXT if config.get("adaptivity") == "none" else (FILTERS, TEXTS)
        matching = () if config.get("matching", "none") == "none" else (MATCHING,)
        return *texts, *matching, *extra_route(config)

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """With matching the classifier reads more than the filters, so filters have no logit shares; without it the
        model has no attention. Fixed filters are not generated."""
        generated_ = () if config.get("adaptivity") == "none" else (GeneratedFilters,)
        if config.get("matching", "none") == "none":
            return FilterProvenance, FilterProducts, *generated_
        return FilterProvenance, *generated_, AttentionMap

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        trace: PairTrace = output.trace
        q, a, matched = trace.q, trace.a, trace.matched
        roles = {"first": reading.first.role, "second": reading.second.role, None: ""}
        q_role, a_role, size = roles["first"], roles["second"], self.config.filters
        weight = self.classifier.weight
        of_q, of_a, of_difference, of_product = weight[:, : 4 * size].chunk(4, dim=1)
        h_q, h_a = q.pooled[0], a.pooled[0]
        if FilterProvenance in wanted:
            from_a, from_q = (roles[maker] for maker in reversed(MAKERS[self.config.adaptivity]))
            a_shares, q_shares = (of_a - of_difference) * h_a, (of_q + of_difference) * h_q
            alone = matched is None
            yield self.provenance(f"{a_role} filters", a_role, a, a_shares if alone else None, from_a)
            yield self.provenance(f"{q_role} filters", q_role, q, q_shares if alone else None, from_q)
        if FilterProducts in wanted and matched is None:
            linguistic = (weight[:, 4 * size :] * output.features[0, 4 * size :]).sum(1)
            yield FilterProducts("products", matrix((of_product * h_q * h_a).T), tuple(linguistic.tolist()))
        if GeneratedFilters in wanted:
            own = self.config.adaptivity == "self"
            yield from generated(q, q_role, q_role if own else a_role)
            yield from generated(a, a_role, a_role if own else q_role)
        if AttentionMap in wanted and matched is not None:
            rows, columns = a.windows.mask[0], q.windows.mask[0]
            scores, weights = (matrix(values[0][rows][:, columns]) for values in (matched.scores, matched.weights))
            yield AttentionMap("attentive matching", a_role, q_role, scores, weights, overridden, "windows")
