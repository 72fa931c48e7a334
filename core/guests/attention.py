"""Recording the attention of any transformer, and knocking parts of it out, while it runs.

Each softmax over scores ``[B, heads, P, P]`` is a layer's attention. A mode of torch's own hands them over in one
thread's call, so that nothing stays behind on a model that threads share, and no list of architectures is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_SOFTMAX = (torch.nn.functional.softmax, torch.softmax, Tensor.softmax)


@dataclass(frozen=True)
class Knockout:
    """Attention that is knocked out. ``cells [B, P, P]``: true where a piece (row) may not look at another (column),
    before the softmax, in the layers from ``layer`` on (from 0); ``heads``: layer and number of heads whose output is
    zeroed."""

    cells: Tensor | None = None
    layer: int = 0
    heads: tuple[tuple[int, int], ...] = ()


class Attention(TorchFunctionMode):
    """As a context: with ``seen`` the attention over ``pieces`` pieces is recorded (``weights``, ``[B, heads, P, P]`` a
    layer), and with a :class:`Knockout` parts of it are knocked out."""

    def __init__(self, pieces: int, knockout: Knockout | None = None, *, seen: bool = False) -> None:
        super().__init__()
        self.weights: list[Tensor] = []
        self.layers = 0
        self._pieces, self._knockout, self._seen = pieces, knockout, seen

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func not in _SOFTMAX or not args or args[0].ndim != 4 or args[0].shape[-2:] != (self._pieces,) * 2:
            return func(*args, **kwargs)
        scores = args[0]
        layer, self.layers = self.layers, self.layers + 1
        cut = self._knockout
        if cut is not None and cut.cells is not None and layer >= cut.layer:
            scores = scores.masked_fill(cut.cells[:, None], torch.finfo(scores.dtype).min)
        weights = func(scores, *args[1:], **kwargs)
        silent = [head for at, head in cut.heads if at == layer] if cut is not None else []
        if silent:
            weights = weights.index_fill(1, torch.tensor(silent, device=weights.device), 0)
        if self._seen:
            self.weights.append(weights)
        return weights
