"""The values that a forward pass may replace, and the form in which an attention map is offered for replacement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from torch import Tensor

from core.layers.attention import Knockout, Override
from core.models.routes import Patching


@dataclass(frozen=True)
class Intervention:
    """The parts of the computation that one call replaces, passed as an argument because threads share the model.

    ``attention``: replaces the model's attention. ``crossings``: False sets q, the share of words whose attention
    crosses a word's, to 0 (:attr:`core.models.base.Reads.crossings`). For a transformer, ``head``: the head whose
    attention the evidence shows, empty for the default one, None without evidence; ``knockout``: the links to ablate.
    ``patching``: the routes taken from the other one of two versions."""

    attention: Override | None = None
    crossings: bool = True
    head: str | None = None
    knockout: Knockout | None = None
    patching: Patching | None = None

    @property
    def overrides(self) -> int:
        """Number of overrides in its attention, 0 without attention."""
        maps = (self.attention,) if isinstance(self.attention, Tensor) else self.attention or ()
        return next((len(one) for one in maps if one is not None), 0)

    def rows(self, rows: Tensor) -> Intervention:
        """The intervention for some rows of a batch, given by index."""
        if self.attention is None:
            return self
        if isinstance(self.attention, Tensor):
            return replace(self, attention=self.attention[rows])
        return replace(self, attention=tuple(None if own is None else own[rows] for own in self.attention))


@dataclass(frozen=True)
class AttentionLinks:
    """One attention map in the form of an override, and the meaning of its rows and columns."""

    rows: str
    """Role of the sentence along the rows."""
    columns: str
    values: Tensor
    """Indexed as in the model's records: ``[R, C]``, or ``[C]`` for a single row; the null word is last."""
    units: str = "words"
    """The unit of a row, as in :class:`~core.evidence.attention_map.AttentionMap`."""
    null: bool = False
    """Whether the last column is the null word."""
    least: float | None = None
    """The lowest possible match score; None for a map of weights."""
    blocks: tuple[int, ...] = (0,)
    """The first column of each block within which a row of weights adds up to 1."""
    reach: tuple[tuple[int, int], ...] = ()
    """For each row, the first column it can attend to and the one after its last; empty if rows attend to all
    columns."""
    knocked_out: bool = False
    """Whether links can only be ablated before the softmax of every layer (:class:`core.models.base.Knockouts`)."""
    scores: Tensor | None = None
    """For a map of weights, the scores before the softmax, shaped as ``values``; None if unknown."""

    def softmaxes(self, row: int) -> list[slice]:
        """The column ranges over which a row's softmax runs, including the null word."""
        if self.reach:
            return [slice(*self.reach[row])]
        return [slice(start, end) for start, end in itertools.pairwise([*self.blocks, self.values.shape[-1]])]
