"""Takes parts of a transformer's computation from another version of a pair, while it runs (activation patching).

As for attention (:mod:`core.external.attention`), a torch function mode intercepts the calls of one thread's forward
pass, and nothing is left on the model. Which calls return the states after each layer is determined once, when a model
is loaded (:func:`states_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from core.external.attention import SOFTMAX, without_hooks

_PRODUCT = (torch.matmul, Tensor.matmul, Tensor.__matmul__)


class Recorded(TorchFunctionMode):
    """A context manager that records every result ``[B, pieces, D]`` of a call, in order."""

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self._pieces = pieces
        self.results: list[Tensor] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **kwargs or {})
        if _are_states(result, self._pieces):
            self.results.append(result)
        return result


def _are_states(result: object, pieces: int) -> bool:
    return isinstance(result, Tensor) and result.ndim == 3 and result.shape[1] == pieces and result.is_floating_point()


def states_of(body: Any, inputs: Mapping[str, Tensor]) -> tuple[int, ...]:
    """For each layer of a transformer, which of a call's results over pieces are the states after it: found by
    comparing them, over one pair, with the hidden states that the transformer itself returns. Empty if a layer's states
    are not found, or are others in a call that returns no hidden states."""
    pieces = inputs["input_ids"].shape[1]
    try:
        hidden = body(**inputs, output_hidden_states=True).hidden_states or ()
        with Recorded(pieces) as recorded:
            body(**inputs)
    except Exception:
        return ()
    finally:
        without_hooks(body)
    places: list[int] = []
    for layer in hidden[1:]:
        start = places[-1] + 1 if places else 0
        found = (at for at in range(start, len(recorded.results)) if _same(recorded.results[at], layer))
        place = next(found, None)
        if place is None:
            return ()
        places.append(place)
    return tuple(places)


def _same(result: Tensor, layer: Tensor) -> bool:
    return result.shape == layer.shape and torch.equal(result, layer)


@dataclass(frozen=True)
class LayerPatch:
    """The parts of a layer that some of the rows take from the other version. The last two rows of a batch are the one
    version and the other."""

    layer: int
    states: Tensor
    """[W, P]: the pieces whose states after the layer rows 0 to W take."""
    heads: int
    """H: the next H rows take the attention weights of one head each, and H further rows its values."""


class Patched(TorchFunctionMode):
    """A context manager that applies a :class:`LayerPatch` to one call. ``place``: which result over pieces is the
    state after the layer (:func:`states_of`)."""

    def __init__(self, patch: LayerPatch, place: int) -> None:
        super().__init__()
        self._patch, self._place = patch, place
        self._words, self._pieces = patch.states.shape
        self._results, self._softmaxes = 0, 0
        self._read = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._read and func in _PRODUCT and args[0].ndim == 4 and args[0].shape[-1] == self._pieces:
            self._read = False
            return func(args[0], self._of_heads(args[1], self._words + self._patch.heads), **kwargs)
        result = func(*args, **kwargs)
        if func in SOFTMAX and args and args[0].ndim == 4 and args[0].shape[-2:] == (self._pieces,) * 2:
            layer, self._softmaxes = self._softmaxes, self._softmaxes + 1
            if layer != self._patch.layer:
                return result
            self._read = True
            return self._of_heads(result, self._words)
        if _are_states(result, self._pieces):
            place, self._results = self._results, self._results + 1
            if place == self._place:
                rows = torch.where(self._patch.states[..., None], result[-1], result[: self._words])
                return torch.cat([rows, result[self._words :]])
        return result

    def _of_heads(self, values: Tensor, first: int) -> Tensor:
        """``values [B, H, P, …]`` in which each of H rows from ``first`` has one head from the other version."""
        out = values.clone()
        for head in range(self._patch.heads):
            out[first + head, head] = values[-1, head]
        return out
