"""Attention from states of the hypothesis to the states of the premise."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from core.layers.attention import Match, attention_weights
from core.layers.recurrent import single
from core.models.routes import ATTENDED, UNPATCHED, WEIGHTS, Patching

SCORES = {"dot": "dot", "general": "bilinear", "concat": "additive"}
"""Luong et al.'s scores (2015, section 3.1), mapped to the names Yin & Schütze 2018 use for the same functions."""


class Looking(NamedTuple):
    """Attention of R states to the T_p states of the premise."""

    scores: Tensor
    """``[B, R, T_p]``; undefined on padding."""
    weights: Tensor
    """``[B, R, T_p]``, 0 on padding."""
    contexts: Tensor
    """κ, ``[B, R, d]``."""
    reach: Tensor | None = None
    """For local attention, whether a position is within the window, ``[B, R, T_p]``; undefined on padding."""


class LookingBack(nn.Module):
    r"""Global attention, or local attention with a predicted window (Luong et al. 2015, sections 3.1 and 3.2, local-p).

    α̃_i = score(h_t, h_i), α = softmax(α̃), κ = Σ_i α_i h_i, or the mean as in the slides. In local attention i stays
    within ``half_width`` D (0: global attention) of a position p_t = S σ(v_p^T tanh(W_p h_t)) for S words, and
    -(i - p_t)² / 2 (D / 2)² is added to α̃_i.

    Where we differ: Luong et al. multiply the softmax weights by that Gaussian; inside the softmax it scales words by
    the same factors, and each row still adds up to 1. Their W_a [h_t; h_i] is v_a^T tanh(W_a [h_t; h_i]) in their text,
    and the slides omit v_a and tanh; we use the full form.
    """

    def __init__(self, size: int, score: str, mean: bool, half_width: int = 0) -> None:
        super().__init__()
        self.mean, self.half_width = mean, half_width
        self.match = Match(SCORES[score], size)
        self.place = nn.Linear(size, size, bias=False) if half_width else None
        self.place_out = nn.Linear(size, 1, bias=False) if half_width else None

    def forward(
        self,
        asking: Tensor,
        premise: Tensor,
        mask: Tensor,
        override: Tensor | None = None,
        reach: Tensor | None = None,
        patching: Patching = UNPATCHED,
    ) -> Looking:
        """``asking [B, R, d]``, ``premise [B, T_p, d]``. ``reach [B, R, T_p]``: which words lie within the windows,
        instead of the windows around p_t."""
        scores = single(self.match(asking, premise))  # the softmax would amplify bfloat16's rounding errors
        allowed = scores
        if self.half_width:
            apart = torch.arange(premise.shape[1], device=premise.device) - self.centres(asking, mask)[..., None]
            scores = scores - 2 * (apart / self.half_width).square()
            if reach is None:
                reach = (apart.abs() <= self.half_width).expand_as(scores)
            allowed = scores.masked_fill(~reach, torch.finfo(scores.dtype).min)
        weights = attention_weights(allowed, mask) if override is None else override  # [Potts weights]
        weights = patching(WEIGHTS, weights)
        contexts = weights @ patching(ATTENDED, premise)
        if self.mean:
            contexts = contexts / mask.sum(1)[:, None, None]  # [Potts context-mean]
        return Looking(scores, weights, contexts, reach)

    def centres(self, asking: Tensor, mask: Tensor) -> Tensor:
        """p_t ``[B, R]``, counted from 0."""
        assert self.place is not None and self.place_out is not None, "global attention has no window"
        share = torch.sigmoid(single(self.place_out(torch.tanh(self.place(asking))))[..., 0])
        return mask.sum(1, keepdim=True) * share


class WordByWord(nn.Module):
    r"""Every state of the hypothesis attends to the premise, given the context of the state before it.

    With ``score`` "concat", as in the slides: M = tanh(Y + [h_t; κ_{t-1}] W_h, the same for every row), α_t = softmax(M
    w), κ_t = Y^T α_t + tanh(κ_{t-1} W_α); κ_0 = 0.

    The slides leave the initialisation of word-by-word attention open. With "dot" and "general" each row of Y is
    multiplied by [h_t; κ_{t-1}] W_h instead, whose half for h_t is, or starts as, the identity (Luong et al. 2015,
    section 3.1): the tanh of a sum must first learn to match equal words, and hardly does with as little data as here.

    | here | slides | space |
    |---|---|---|
    | state, context | W_h, its half for h_t and for κ | R^{d×d} |
    | match | w | R^d |
    | carry | W_α | R^{d×d}, starts orthogonal |
    """

    def __init__(self, size: int, score: str, mean: bool) -> None:
        super().__init__()
        self.mean = mean
        self.state = None if score == "dot" else nn.Linear(size, size, bias=False)
        self.context = nn.Linear(size, size, bias=False)
        self.match = nn.Linear(size, 1, bias=False) if score == "concat" else None
        if self.state is not None and score == "general":
            nn.init.eye_(self.state.weight)
        self.carry = nn.Linear(size, size, bias=False)
        nn.init.orthogonal_(self.carry.weight)

    def forward(
        self,
        asking: Tensor,
        premise: Tensor,
        mask: Tensor,
        override: Tensor | None = None,
        reach: Tensor | None = None,
        patching: Patching = UNPATCHED,
    ) -> Looking:
        """``asking [B, R, d]``: the states of the hypothesis. ``reach`` is ignored, since this model has no window."""
        states = asking if self.state is None else self.state(asking)
        context = premise.new_zeros(len(premise), premise.shape[2])
        looked_at = patching(ATTENDED, premise)
        rows: list[Looking] = []
        for t in range(asking.shape[1]):
            asked = (states[:, t] + self.context(context))[:, None]
            if self.match is None:
                scores = single(asked @ premise.mT)
            else:
                match = torch.tanh(premise + asked)  # [Potts word-match]
                scores = single(self.match(match))[..., 0][:, None]
            own = (
                attention_weights(scores, mask) if override is None else override[:, t : t + 1]
            )  # [Potts word-weights]
            own = patching(WEIGHTS, own)
            seen = (own @ looked_at)[:, 0] / (mask.sum(1, keepdim=True) if self.mean else 1)
            context = seen + torch.tanh(self.carry(context))  # [Potts word-context]
            rows.append(Looking(scores, own, context[:, None]))
        scores, weights, contexts = (torch.cat([row[part] for row in rows], dim=1) for part in range(3))  # type: ignore[misc]
        return Looking(scores, weights, contexts)
