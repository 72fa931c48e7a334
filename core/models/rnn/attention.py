"""Attention from states of the hypothesis to the states of the premise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from core.layers.attention import Match, attention_weights
from core.layers.recurrent import single

SCORES = {"dot": "dot", "general": "bilinear", "concat": "additive"}
"""Luong et al.'s scores (2015, section 3.1), mapped to the names Yin & Schütze 2018 use for the same functions."""

WINDOWS = ("monotonic", "predictive")


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


def one_after_the_other(rows: Sequence[Looking]) -> Looking:
    """Concatenates the results of states that attended one after the other."""
    scores, weights, contexts = (torch.cat([row[part] for row in rows], dim=1) for part in range(3))  # type: ignore[misc]
    reach = [row.reach for row in rows if row.reach is not None]
    return Looking(scores, weights, contexts, torch.cat(reach, dim=1) if reach else None)


class LookingBack(nn.Module):
    r"""Global attention, or local attention with a ``window`` (Luong et al. 2015, sections 3.1 and 3.2).

    α̃_i = score(h_t, h_i), α = softmax(α̃), κ = Σ_i α_i h_i, or the mean as in the slides. In local attention i stays
    within ``half_width`` D of a position p_t: "monotonic" p_t = t (the last word if the premise is shorter),
    "predictive" p_t = S σ(v_p^T tanh(W_p h_t)) for S words, with -(i - p_t)² / 2 (D / 2)² added to α̃_i.

    Where we differ: Luong et al. multiply the softmax weights by that Gaussian; inside the softmax it scales words by
    the same factors, and each row still adds up to 1. Their W_a [h_t; h_i] is v_a^T tanh(W_a [h_t; h_i]) in their text,
    and the slides omit v_a and tanh; we use the full form.
    """

    def __init__(self, size: int, score: str, mean: bool, window: str = "", half_width: int = 0) -> None:
        super().__init__()
        self.mean, self.window, self.half_width = mean, window, half_width
        self.match = Match(SCORES[score], size)
        predictive = window == "predictive"
        self.place = nn.Linear(size, size, bias=False) if predictive else None
        self.place_out = nn.Linear(size, 1, bias=False) if predictive else None

    def forward(
        self,
        asking: Tensor,
        premise: Tensor,
        mask: Tensor,
        places: Tensor,
        override: Tensor | None = None,
        before: Looking | None = None,
        reach: Tensor | None = None,
    ) -> Looking:
        """``asking [B, R, d]`` at ``places [B or 1, R]`` of the hypothesis, ``premise [B, T_p, d]``. ``reach [B, R,
        T_p]``: which words lie within the windows, instead of the windows around p_t."""
        scores = single(self.match(asking, premise))  # the softmax would amplify bfloat16's rounding errors
        allowed = scores
        if self.window:
            centres = self.centres(asking, mask, places)
            apart = torch.arange(premise.shape[1], device=premise.device) - centres[..., None]
            if self.place is not None:
                scores = scores - 2 * (apart / self.half_width).square()
            if reach is None:
                reach = (apart.abs() <= self.half_width).expand_as(scores)
            allowed = scores.masked_fill(~reach, torch.finfo(scores.dtype).min)
        weights = attention_weights(allowed, mask) if override is None else override  # [Potts weights]
        contexts = weights @ premise
        if self.mean:
            contexts = contexts / mask.sum(1)[:, None, None]  # [Potts context-mean]
        return Looking(scores, weights, contexts, reach)

    def centres(self, asking: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """p_t ``[B, R]``, counted from 0."""
        words = mask.sum(1, keepdim=True)
        if self.place is None or self.place_out is None:
            return torch.minimum(places, words - 1)
        share = torch.sigmoid(single(self.place_out(torch.tanh(self.place(asking))))[..., 0])
        return words * share


class WordByWord(nn.Module):
    r"""Every state of the hypothesis attends to the premise, given the context of the state before it.

    With ``score`` "concat", as in the slides: M = tanh(Y + [h_t; κ_{t-1}] W_h, the same for every row), α_t = softmax(M
    w), κ_t = Y^T α_t + tanh(κ_{t-1} W_α); κ_0 = 0. With ``match_states`` Y W_y replaces Y (Rocktäschel et al. 2016,
    equation 9, whose W_h and W_r are the two halves of W_h here).

    The slides leave the initialisation of word-by-word attention open. With "dot" and "general" each row of Y is
    multiplied by [h_t; κ_{t-1}] W_h instead, whose half for h_t is, or starts as, the identity (Luong et al. 2015,
    section 3.1): the tanh of a sum must first learn to match equal words, and hardly does with as little data as here.

    | here | slides | space |
    |---|---|---|
    | state, context | W_h, its half for h_t and for κ | R^{d×d} |
    | match | w | R^d |
    | carry | W_α | R^{d×d}, starts orthogonal |
    | match_states | Rocktäschel's W_y | R^{d×d} |
    """

    def __init__(self, size: int, score: str, match_states: bool, mean: bool) -> None:
        super().__init__()
        self.score, self.mean = score, mean
        self.match_states = nn.Linear(size, size, bias=False) if match_states else None
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
        places: Tensor,
        override: Tensor | None = None,
        before: Looking | None = None,
        reach: Tensor | None = None,
    ) -> Looking:
        """``asking [B, R, d]``: consecutive states, the first of which follows ``before``."""
        keys = premise if self.match_states is None else self.match_states(premise)
        states = asking if self.state is None else self.state(asking)
        context = premise.new_zeros(len(premise), premise.shape[2]) if before is None else before.contexts[:, -1]
        rows: list[Looking] = []
        for t in range(asking.shape[1]):
            asked = (states[:, t] + self.context(context))[:, None]
            if self.match is None:
                scores = single(asked @ keys.mT)
            else:
                match = torch.tanh(keys + asked)  # [Potts word-match]
                scores = single(self.match(match))[..., 0][:, None]
            own = (
                attention_weights(scores, mask) if override is None else override[:, t : t + 1]
            )  # [Potts word-weights]
            seen = (own @ premise)[:, 0] / (mask.sum(1, keepdim=True) if self.mean else 1)
            context = seen + torch.tanh(self.carry(context))  # [Potts word-context]
            rows.append(Looking(scores, own, context[:, None]))
        return one_after_the_other(rows)
