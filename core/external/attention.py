"""Records a transformer's attention while it runs, and knocks out parts of it.

Softmaxes over scores ``[B, heads, P, P]`` are taken as its layers' attention. A torch function mode intercepts them
within one thread's call, so nothing is left behind on a model that threads share. The stack of each softmax is
determined once, when a model is loaded (:func:`stacks_of`), so no list of architectures is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from core.external.heads import CROSS, DECODER

_SOFTMAX = (torch.nn.functional.softmax, torch.softmax, Tensor.softmax)


@dataclass(frozen=True)
class Knockout:
    """The attention to knock out. ``cells [B, P, P]``: true where a piece (row) may not attend to another (column),
    applied before the softmax in layers from ``layer`` (from 0) on; ``heads``: (layer, head) pairs whose output is set
    to 0."""

    cells: Tensor | None = None
    layer: int = 0
    heads: tuple[tuple[int, int], ...] = ()

    def row(self, number: int) -> Knockout:
        """The knockout for one row of a batch."""
        return self if self.cells is None else Knockout(self.cells[number : number + 1], self.layer, self.heads)


@dataclass(frozen=True)
class Stacks:
    """The roles of a transformer's softmaxes over pieces (subword tokens). ``names``: the stack of each, in call order
    (empty for the encoder, or a single stack); ``shift``: by how many positions a decoder reads each piece later than
    the encoder."""

    names: tuple[str, ...] = ()
    shift: int = 0

    @property
    def others(self) -> tuple[str, ...]:
        """The stacks other than the encoder."""
        return tuple(name for name in (DECODER, CROSS) if name in self.names)


class Attention(TorchFunctionMode):
    """A context manager that, with ``seen``, records the attention over ``pieces`` pieces by stack (``seen_in``, ``[B,
    heads, P, P]`` per layer), and, with a :class:`Knockout`, knocks out parts of the encoder's. ``names``: the stack of
    each softmax (:class:`Stacks`); None if all belong to one stack."""

    def __init__(
        self,
        pieces: int,
        knockout: Knockout | None = None,
        *,
        seen: bool = False,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        self.seen_in: dict[str, list[Tensor]] = {}
        self._pieces, self._knockout, self._seen = pieces, knockout, seen
        self._names, self._softmaxes, self._layers = names, 0, 0

    @property
    def weights(self) -> list[Tensor]:
        """Attention of the encoder, or of the only stack."""
        return self.seen_in.get("", [])

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func not in _SOFTMAX or not args or args[0].ndim != 4 or args[0].shape[-2:] != (self._pieces,) * 2:
            return func(*args, **kwargs)
        number, self._softmaxes = self._softmaxes, self._softmaxes + 1
        if self._names is not None and number >= len(self._names):
            return func(*args, **kwargs)
        stack = "" if self._names is None else self._names[number]
        weights = self._cut(func, *args, **kwargs) if stack == "" else func(*args, **kwargs)
        if self._seen:
            self.seen_in.setdefault(stack, []).append(weights)
        return weights

    def _cut(self, func: Callable[..., Any], scores: Tensor, *args: Any, **kwargs: Any) -> Any:
        """The weights of the encoder's next layer, after any knockout."""
        layer, self._layers = self._layers, self._layers + 1
        cut = self._knockout
        if cut is not None and cut.cells is not None and layer >= cut.layer:
            scores = scores.masked_fill(cut.cells[:, None], torch.finfo(scores.dtype).min)
        weights = func(scores, *args, **kwargs)
        silent = [head for at, head in cut.heads if at == layer] if cut is not None else []
        return weights.index_fill(1, torch.tensor(silent, device=weights.device), 0) if silent else weights


class _Embedded(TorchFunctionMode):
    """A context manager that records the pieces looked up in this embedding table, ``[1, P]`` per call."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.rows: list[Tensor] = []
        self._table = table

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.nn.functional.embedding and args[1].data_ptr() == self._table.data_ptr():
            self.rows.append(args[0])
        return func(*args, **(kwargs or {}))


def stacks_of(body: Any, inputs: Mapping[str, Tensor]) -> Stacks:
    """The roles of a transformer's softmaxes, found by comparing them, in one pass over one pair, with the attention
    that the transformer itself returns. No names unless every layer attends over all pieces: otherwise links could not
    be ablated, and a mean would not cover all layers."""
    pieces = inputs["input_ids"].shape[1]
    try:
        table = body.get_input_embeddings().weight
        with Attention(pieces, seen=True) as attention, _Embedded(table) as embedded:
            output = body(**inputs, output_attentions=True)
    except Exception:
        return Stacks()
    finally:
        _without_hooks(body)
    if getattr(body.config, "is_encoder_decoder", False):
        names, shift = _named(attention.weights, output), _shift(embedded.rows)
        return Stacks(names, shift) if shift is not None else Stacks()
    returned = output.get("attentions") or ()
    # Some return scores or nothing: if there is one softmax per layer, these are still the attention.
    whole = len(attention.weights) in (len(returned), getattr(body.config, "num_hidden_layers", None))
    fits = all(one is not None and one.shape[-2:] == (pieces, pieces) for one in returned)
    uniform = len({weights.shape for weights in attention.weights}) == 1
    return Stacks(("",) * len(attention.weights)) if whole and fits and uniform else Stacks()


def _named(softmaxes: Sequence[Tensor], output: Mapping[str, Any]) -> tuple[str, ...]:
    """The stack of each softmax; empty if one belongs to no stack, or if a layer has none."""
    returned = [
        (stack, weights)
        for stack, key in (("", "encoder_attentions"), (DECODER, "decoder_attentions"), (CROSS, "cross_attentions"))
        for weights in output.get(key) or ()
    ]
    names = []
    for softmax in softmaxes:
        matching = [
            number
            for number, (_, weights) in enumerate(returned)
            if weights is not None and weights.shape == softmax.shape and torch.allclose(weights, softmax, atol=1e-6)
        ]
        if not matching:
            return ()
        names.append(returned.pop(matching[0])[0])
    return () if returned else tuple(names)


def _shift(rows: Sequence[Tensor]) -> int | None:
    """How many positions later than the encoder the decoder reads each piece."""
    if len(rows) != 2 or rows[0].shape != rows[1].shape:
        return None
    first, second = (row[0].tolist() for row in rows)
    return next((by for by in range(len(first) // 2) if second[by:] == first[: len(first) - by]), None)


def _without_hooks(body: torch.nn.Module) -> None:
    """transformers leaves behind the hooks with which it collects attention."""
    for module in body.modules():
        module._forward_hooks.clear()
        vars(module).pop("_output_capturing_hooks_installed", None)
