"""Attention between the words of two sentences (AttConv, section 3.1, equations 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

MATCHES = ("dot", "bilinear", "additive")

Override = Tensor | Sequence[Tensor | None]
"""Replacement for a model's attention: one tensor, or one per map in the order of the model's records if it has
several; None keeps the model's own."""


def as_override(maps: Sequence[Tensor | None]) -> Override:
    """Packs a model's maps as an override: a single map is not wrapped in a sequence."""
    (first, *others) = maps
    return maps if others or first is None else first


@dataclass(frozen=True)
class Knockout:
    """The attention to knock out. ``cells [B, P, P]``: true where a piece (row) may not attend to another (column),
    applied before the softmax of every layer; ``heads``: (layer, head) pairs whose output is set to 0."""

    cells: Tensor | None = None
    heads: tuple[tuple[int, int], ...] = ()

    def row(self, number: int) -> Knockout:
        """The knockout for one row of a batch."""
        return self if self.cells is None else Knockout(self.cells[number : number + 1], self.heads)


LARGEST_JOINT = 2**25
"""Largest number of elements of the additive match's [B, rows, T_y, d] held at once: 128 MB in float32."""


class Match(nn.Module):
    r"""Raw scores e_ij of every source state against every focus state: ``[B, T_x, d], [B, T_y, d] -> [B, T_x, T_y]``.

    - ``dot``: (h_i^x)^T h_j^y (equation 1), no weights;
    - ``bilinear``: (h_i^x)^T W_e h_j^y (equation 2), W_e ∈ R^{d×d};
    - ``additive``: v_e^T tanh(W_e h_i^x + U_e h_j^y) (equation 3), W_e, U_e ∈ R^{d×d}, v_e ∈ R^d.
    """

    def __init__(self, kind: str, size: int) -> None:
        super().__init__()
        if kind not in MATCHES:
            raise ValueError(f"unknown match function {kind!r}; known: {', '.join(MATCHES)}")
        self.kind = kind
        if kind == "bilinear":
            # Starting from the identity, the bilinear form is the dot product at first.
            self.w = nn.Parameter(torch.eye(size))
        elif kind == "additive":
            self.w = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, size)))
            self.u = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, size)))
            self.v = nn.Parameter(nn.init.normal_(torch.empty(size), std=size**-0.5))

    def forward(self, source: Tensor, focus: Tensor) -> Tensor:
        """Scores ``[B, T_x, T_y]``; padding is not masked here, see :func:`attention_weights`."""
        if self.kind == "dot":
            return source @ focus.transpose(1, 2)  # [Yin18 eq. 1] [Potts score-dot]
        if self.kind == "bilinear":
            return source @ self.w @ focus.transpose(1, 2)  # [Yin18 eq. 2] [Potts score-general]
        return self._additive(source @ self.w.T, focus @ self.u.T)

    def _additive(self, source: Tensor, focus: Tensor) -> Tensor:
        """v^T tanh(source_i + focus_j) in blocks of rows, each recomputed in the backward pass."""

        def scores(rows: Tensor) -> Tensor:
            return torch.tanh(rows[:, :, None] + focus[:, None]) @ self.v  # [Yin18 eq. 3] [Potts score-concat]

        count = max(1, LARGEST_JOINT // focus.numel())
        if count >= source.shape[1]:
            return scores(source)
        blocks = torch.split(source, count, dim=1)
        if not torch.is_grad_enabled():
            return torch.cat([scores(rows) for rows in blocks], dim=1)
        from torch.utils.checkpoint import checkpoint  # slow to import, and no page needs it

        return torch.cat([checkpoint(scores, rows, use_reentrant=False) for rows in blocks], dim=1)


def attention_weights(scores: Tensor, focus_mask: Tensor, override: Tensor | None = None) -> Tensor:
    """Softmax over the real words of the focus (the weights of equation 4): ``[B, T_x, T_y]``, exactly 0 on padding,
    and 0 everywhere in a row without this context, whose focus has no real word. The caller's ``override`` replaces it;
    raises ValueError if its shape differs."""
    pads = ~focus_mask[:, None]
    # The lowest finite number, not -inf: a softmax over nothing but -inf is NaN, and so is its gradient.
    weights = torch.softmax(scores.masked_fill(pads, torch.finfo(scores.dtype).min), dim=-1).masked_fill(pads, 0.0)
    return weights if override is None else put_in_place(override, weights, ~pads)


def put_in_place(override: Tensor, own: Tensor, mask: Tensor) -> Tensor:
    """The caller's ``override`` of the model's ``own`` attention, set to 0 where ``mask`` (broadcast to own) is false.

    A batch of 1 accepts several overrides. Raises ValueError if its shape differs from ``own``'s.
    """
    if override.shape[1:] != own.shape[1:] or len(own) not in (1, len(override)):
        raise ValueError(f"an override of this attention must be {list(own.shape)}, got {list(override.shape)}")
    return override.to(own).masked_fill(~mask, 0.0)


def refuse(override: Override | None) -> None:
    """Raises ValueError if a model without attention receives an override."""
    if override is not None:
        raise ValueError("this model has no attention to replace")


@dataclass(frozen=True)
class CrossAttention:
    """Attention in both directions between two sentences."""

    scores: Tensor
    """e_ij, [B, T_2, T_1]: rows are words of the second sentence; undefined on padding."""
    second: Tensor
    """Attention from the second sentence's words to the first's, [B, T_2, T_1]; each row adds up to 1 over real words
    (unless the caller replaced it)."""
    first: Tensor
    """Attention from the first sentence's words to the second's, [B, T_1, T_2]."""
    overridden: tuple[bool, bool]
    """Whether the caller replaced the weights of the second and of the first sentence."""

    @property
    def maps(self) -> tuple[Tensor, Tensor]:
        """Both maps, in the order of a model's records and of an override."""
        return self.second, self.first


def attend_both_ways(scores: Tensor, first: Tensor, second: Tensor, override: Override | None) -> CrossAttention:
    """Softmaxes of scores ``[B, T_2, T_1]`` over rows and over columns, with masks ``first [B, T_1]`` and ``second [B,
    T_2]``; ``override`` replaces them. Raises ValueError if its shapes differ."""
    of_second, of_first = each_map(override, 2)

    return CrossAttention(
        scores,
        attention_weights(scores, first, of_second),
        attention_weights(scores.mT, second, of_first),
        (of_second is not None, of_first is not None),
    )


def each_map(override: Override | None, maps: int) -> tuple[Tensor | None, ...]:
    """The replacement for each of several attention maps; a single tensor replaces the first."""
    if override is None or isinstance(override, Tensor):
        return override, *(None,) * (maps - 1)
    return tuple(override)
