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
    FilterProducts,
    FilterProvenance,
    FilterRecord,
    GeneratedFilters,
    Matrix,
    PhraseChoice,
    PhraseRecord,
    PhraseSelection,
    PhraseSide,
)
from core.models.acnn.model import ACNN, AdaQA, FilterTrace, TextTrace
from core.models.attconv import AttConv, AttConvTrace
from core.models.phrases.alignment import keep, span
from core.models.phrases.model import PhraseMatcher, PhraseTrace

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
    if isinstance(trace, FilterTrace):
        return _filters(model, trace, roles, overridden)
    return ()


def _filters(
    model: ACNN | AdaQA, trace: FilterTrace, roles: Mapping[str, str], overridden: bool
) -> tuple[Evidence, ...]:
    """Both texts' filters and what won them; the judged text comes first."""
    judged = roles["judged"]
    bias = tuple(model.classifier.bias.tolist())
    weight = model.classifier.weight
    if trace.y is None:
        made_from = judged if trace.x.applied is not None else ""
        filters = _won(model, trace.x, None, weight * trace.x.pooled[0])
        evidence: list[Evidence] = [
            FilterProvenance("filters", judged, model.config.width, filters, bias, "ReLU", made_from)
        ]
        return (*evidence, *_generated(trace.x, judged, judged))
    assert isinstance(model, AdaQA), "only a model of pairs has a second text"
    other = roles["first"] if judged == roles["second"] else roles["second"]
    size = model.config.filters
    of_q, of_a, of_difference, of_product = weight[:, : 4 * size].chunk(4, dim=1)
    h_q, h_a = trace.y.pooled[0], trace.x.pooled[0]
    matched = model.matching is not None
    sources = {"none": ("", ""), "self": (judged, other), "one-way": (other, ""), "two-way": (other, judged)}
    from_a, from_q = sources[model.config.adaptivity]
    evidence = [
        FilterProvenance(
            name, role, model.config.width, _won(model, side, psi, None if matched else shares), bias, "ReLU", made_from
        )
        for name, role, side, psi, shares, made_from in (
            (f"{judged} filters", judged, trace.x, model.bias_a, (of_a - of_difference) * h_a, from_a),
            (f"{other} filters", other, trace.y, model.bias_q, (of_q + of_difference) * h_q, from_q),
        )
    ]
    if not matched:
        linguistic = (weight[:, 4 * size :] * trace.features[0, 4 * size :]).sum(1)
        products = (of_product * h_q * h_a).T
        evidence.append(FilterProducts("products", _matrix(products), tuple(linguistic.tolist())))
    two_way = model.config.adaptivity != "self"
    evidence += _generated(trace.y, other, judged if two_way else other)
    evidence += _generated(trace.x, judged, other if two_way else judged)
    if trace.scores is not None and trace.weights is not None:
        rows, columns = trace.x.windows.mask[0], trace.y.windows.mask[0]
        scores, weights = (_matrix(values[0][rows][:, columns]) for values in (trace.scores, trace.weights))
        evidence.append(AttentionMap("attentive matching", judged, other, scores, weights, overridden, "windows"))
    return tuple(evidence)


def _generated(side: TextTrace, made_from: str, applied_to: str) -> tuple[Evidence, ...]:
    if side.code is None or side.filters is None:
        return ()
    bank = tuple(map(_matrix, side.filters[0]))
    return (GeneratedFilters("generated filters", made_from, applied_to, tuple(side.code[0].tolist()), bank),)


def _won(model: ACNN | AdaQA, side: TextTrace, psi: Tensor | None, shares: Tensor | None) -> tuple[FilterRecord, ...]:
    """Each filter's winning window with its exact parts; ``shares [C, K]`` in the logits, None where they have none."""
    width, size = model.config.width, model.config.words
    winners, length = side.winners[0], int(side.words)
    if side.applied is not None:
        filters, bias = side.applied[0], torch.zeros(len(winners)) if psi is None else psi
    else:
        assert model.static is not None, "a text without generated filters has fixed ones"
        filters, bias = model.static.filters, model.static.bias
    window = side.windows.values[0, winners].view(-1, width, size)
    offsets = (window * filters).sum(2)
    half = width // 2
    pre = side.preactivations[0].gather(0, winners[None])[0].tolist()
    told = [[] for _ in winners] if shares is None else shares.T.tolist()
    return tuple(
        FilterRecord(
            k, min(p + half, length - 1), (p, min(p + width, length)), sum(parts[:half]), parts[half],
            sum(parts[half + 1 :]), 0.0, b, pre[k], ac, tuple(told[k]), tuple(parts),
        )
        for k, (p, parts, b, ac) in enumerate(
            zip(winners.tolist(), offsets.tolist(), bias.tolist(), side.pooled[0].tolist(), strict=True)
        )
    )  # fmt: skip


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
    columns = [
        t.tolist() for t in (winners, left, self_, right, parts["context"], parts["bias"], trace.pooled[0], offsets)
    ]
    shares = (model.classifier.weight * trace.pooled[0]).T.tolist()
    filters = tuple(
        FilterRecord(
            k, p, (max(0, p - half), min(length, p + half + 1)), le, se, ri, co, bi, pre[k], ac, tuple(shares[k]),
            tuple(of),
        )
        for k, (p, le, se, ri, co, bi, ac, of) in enumerate(zip(*columns, strict=True))
    )  # fmt: skip
    return FilterProvenance("filters", judged, model.config.width, filters, tuple(model.classifier.bias.tolist()))


def _matrix(values: Tensor) -> Matrix:
    return tuple(map(tuple, values.tolist()))
