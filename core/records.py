"""From a model's trace of one pair (batch of 1) to evidence records: one function a family of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from core.evidence import (
    AttentionMap,
    AttentiveContext,
    Evidence,
    FilterProvenance,
    FilterRecord,
    Matrix,
    PhraseChoice,
    PhraseRecord,
    PhraseSelection,
    PhraseSide,
)
from core.models.attconv import AttConv, AttConvTrace
from core.models.phrases import PhraseMatcher, PhraseTrace
from core.phrases import keep, span

KS = tuple(range(1, 11))
"""Values of k that are told (the paper's figure 6)."""

MAP_WORDS = 60
"""Longest sentence whose map over phrases is told: at 60 words a side it has 420 x 420 numbers."""


def evidence_of(
    model: Any, trace: Any, roles: Mapping[str, str], extra: Tensor | None, *, overridden: bool
) -> tuple[Evidence, ...]:
    """All records that this model's trace gives; none for a model that shows nothing but its verdict."""
    if isinstance(trace, AttConvTrace):
        return _attconv(model, trace, roles, overridden)
    if isinstance(trace, PhraseTrace):
        return _phrases(model, trace, roles, extra, overridden)
    return ()


def _phrases(
    model: PhraseMatcher, trace: PhraseTrace, roles: Mapping[str, str], extra: Tensor | None, overridden: bool
) -> tuple[Evidence, ...]:
    config = model.config
    trained = (config.pooling, 0 if config.pooling == "full" else config.k)
    wanted = [(pooling, k) for pooling in ("kmin", "kmax") for k in KS] + [("full", 0)]
    wanted += [trained] if trained not in wanted else []
    verdicts = torch.softmax(torch.stack(model.decide(trace, wanted, extra)).double(), 1).tolist()
    masks = (trace.first_mask[0], trace.second_mask[0])
    # Records number phrases without the empty slots.
    numbers = [(mask.cumsum(0) - 1).tolist() for mask in masks]
    choices = []
    for (pooling, k), chances in zip(wanted, verdicts, strict=True):
        kept = []
        for score, mask, number in zip((trace.first_score, trace.second_score), masks, numbers, strict=True):
            found = keep(score, mask[None], pooling, k)
            kept.append(tuple(number[slot] for slot in found.slots[0][found.mask[0]].tolist()))
        choices.append(PhraseChoice(pooling, k, (kept[0], kept[1]), tuple(chances), (pooling, k) == trained))
    sides = tuple(
        PhraseSide(
            roles[side],
            tuple(
                PhraseRecord(span(slot, config.longest), other[partner], value)
                for slot, real, partner, value in zip(
                    range(len(mask)), mask.tolist(), partners[0].tolist(), scores[0].tolist(), strict=True
                )
                if real
            ),
        )
        for side, mask, other, partners, scores in (
            ("first", masks[0], numbers[1], trace.first_partner, trace.first_score),
            ("second", masks[1], numbers[0], trace.second_partner, trace.second_score),
        )
    )
    evidence: list[Evidence] = [
        PhraseSelection("phrases", (sides[0], sides[1]), tuple(choices), config.pooling, config.k)
    ]
    if max(map(len, masks)) <= MAP_WORDS * config.longest:
        scores = trace.scores[0][masks[1]][:, masks[0]]
        evidence.append(
            AttentionMap("alignment", roles["second"], roles["first"], _matrix(scores), (), overridden, "phrases")
        )
    return tuple(evidence)


def _attconv(model: AttConv, trace: AttConvTrace, roles: Mapping[str, str], overridden: bool) -> tuple[Evidence, ...]:
    judged = roles["judged"]
    other = roles["second"] if judged == roles["first"] else roles["first"]
    evidence: list[Evidence] = []
    if trace.weights is not None and trace.scores is not None:
        columns = judged if model.config.context == "intra" else other
        weights = _matrix(trace.weights[0])
        evidence.append(AttentionMap("attention", judged, columns, _matrix(trace.scores[0]), weights, overridden))
        evidence.append(AttentiveContext("attentive context", judged, columns, weights, (None,) * len(weights)))
    evidence.append(_provenance(model, trace, judged))
    return tuple(evidence)


def _provenance(model: AttConv, trace: AttConvTrace, judged: str) -> FilterProvenance:
    """The winning n-gram of each filter with its exact parts, from a trace of one pair (batch of 1)."""
    context = None if trace.context is None else trace.context[0]
    winners = trace.winners[0]
    parts = model.convolution.parts(trace.beneficiary[0], context, winners)
    pre = trace.preactivations[0].gather(0, winners[None])[0].tolist()
    half, length = model.config.width // 2, trace.preactivations.shape[1]
    offsets = parts["offsets"]
    left, self_, right = offsets[:, :half].sum(1), offsets[:, half], offsets[:, half + 1 :].sum(1)
    columns = [t.tolist() for t in (winners, left, self_, right, parts["context"], parts["bias"], trace.pooled[0])]
    shares = (model.classifier.weight * trace.pooled[0]).T.tolist()
    filters = tuple(
        FilterRecord(
            k, p, (max(0, p - half), min(length, p + half + 1)), le, se, ri, co, bi, pre[k], ac, tuple(shares[k])
        )
        for k, (p, le, se, ri, co, bi, ac) in enumerate(zip(*columns, strict=True))
    )
    return FilterProvenance("filters", judged, model.config.width, filters, tuple(model.classifier.bias.tolist()))


def _matrix(values: Tensor) -> Matrix:
    return tuple(map(tuple, values.tolist()))
