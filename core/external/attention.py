"""Records a transformer's attention while it runs, and knocks out parts of it.

Softmaxes over scores ``[B, heads, P, P]`` are taken as its layers' attention. A torch function mode intercepts them
within one thread's call, so nothing is left behind on a model that threads share. Which softmaxes are meant is
determined once, when a model is loaded (:func:`layers_of`), so no list of architectures is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from core.layers.attention import Knockout

SOFTMAX = (torch.nn.functional.softmax, torch.softmax, Tensor.softmax)
"""The functions that compute attention weights."""


class Attention(TorchFunctionMode):
    """A context manager that, with ``seen``, records the attention over ``pieces`` pieces (``weights``, ``[B, heads, P,
    P]`` per layer), and, with a :class:`Knockout`, knocks out parts of it. ``layers``: the number of a call's
    softmaxes, from the first, that are the layers' attention (:func:`layers_of`); None for all."""

    def __init__(
        self, pieces: int, knockout: Knockout | None = None, *, seen: bool = False, layers: int | None = None
    ) -> None:
        super().__init__()
        self.weights: list[Tensor] = []
        self._pieces, self._knockout, self._seen = pieces, knockout, seen
        self._most, self._layers = layers, 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func not in SOFTMAX or not args or args[0].ndim != 4 or args[0].shape[-2:] != (self._pieces,) * 2:
            return func(*args, **kwargs)
        layer, self._layers = self._layers, self._layers + 1
        if self._most is not None and layer >= self._most:
            return func(*args, **kwargs)
        weights = self._cut(layer, func, *args, **kwargs)
        if self._seen:
            self.weights.append(weights)
        return weights

    def _cut(self, layer: int, func: Callable[..., Any], scores: Tensor, *args: Any, **kwargs: Any) -> Any:
        """The weights of a layer, after any knockout."""
        cut = self._knockout
        if cut is not None and cut.cells is not None:
            scores = scores.masked_fill(cut.cells[:, None], torch.finfo(scores.dtype).min)
        weights = func(scores, *args, **kwargs)
        silent = [head for at, head in cut.heads if at == layer] if cut is not None else []
        return weights.index_fill(1, torch.tensor(silent, device=weights.device), 0) if silent else weights


def layers_of(body: Any, inputs: Mapping[str, Tensor]) -> int:
    """How many softmaxes over pieces are the attention of a transformer's layers, in an encoder-decoder of its encoder,
    which runs first: found by comparing them, in one pass over one pair, with the attention that the transformer itself
    returns. 0 unless every layer attends over all pieces: otherwise links could not be ablated, and a mean would not
    cover all layers."""
    pieces = inputs["input_ids"].shape[1]
    try:
        with Attention(pieces, seen=True) as attention:
            output = body(**inputs, output_attentions=True)
    except Exception:
        return 0
    finally:
        without_hooks(body)
    seen = attention.weights
    if getattr(body.config, "is_encoder_decoder", False):
        returned = output.get("encoder_attentions") or ()
        same = len(seen) > len(returned) and all(map(_same, returned, seen))
        return len(returned) if same else 0
    returned = output.get("attentions") or ()
    # Some return scores or nothing: if there is one softmax per layer, these are still the attention.
    whole = len(seen) in (len(returned), getattr(body.config, "num_hidden_layers", None))
    fits = all(one is not None and one.shape[-2:] == (pieces, pieces) for one in returned)
    return len(seen) if whole and fits and len({weights.shape for weights in seen}) == 1 else 0


def _same(returned: Tensor | None, softmax: Tensor) -> bool:
    return returned is not None and returned.shape == softmax.shape and torch.allclose(returned, softmax, atol=1e-6)


def without_hooks(body: torch.nn.Module) -> None:
    """transformers leaves behind the hooks with which it collects attention."""
    for module in body.modules():
        module._forward_hooks.clear()
        vars(module).pop("_output_capturing_hooks_installed", None)
