"""Batches of texts of different lengths as padded tensors with masks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Side:
    """One text for each of B rows.

    ``words`` float ``[B, T, D]``, or integer word ids ``[B, T]`` for :meth:`embedded`; ``mask`` bool ``[B, T]``, true
    on real words, which come before the padding. Values on padding are never used: models zero them.
    """

    words: Tensor
    mask: Tensor

    def __post_init__(self) -> None:
        numbers = self.words.ndim == 2 and not self.words.is_floating_point()
        if not numbers and (self.words.ndim != 3 or not self.words.is_floating_point()):
            raise ValueError(f"expected words float [B, T, D] or whole numbers [B, T], got {list(self.words.shape)}")
        if self.mask.shape != self.words.shape[:2]:
            raise ValueError(f"expected a mask {list(self.words.shape[:2])}, got {list(self.mask.shape)}")

    @classmethod
    def of(cls, texts: Sequence[Tensor]) -> Side:
        """Pad B matrices ``[T_i, D]`` (or id vectors ``[T_i]``) to the longest, with zeros at the end."""
        if not texts or min(map(len, texts)) == 0:
            raise ValueError("every text of a batch needs at least one word")
        block = torch.nn.utils.rnn.pad_sequence(list(texts), batch_first=True)
        lengths = torch.tensor([len(text) for text in texts])
        return cls(block, torch.arange(block.shape[1])[None] < lengths[:, None])

    def to(self, device: torch.device | str) -> Side:
        """A copy on another device."""
        return Side(self.words.to(device), self.mask.to(device))

    def embedded(self, vectors: Vectors) -> Side:
        """Looks up word ids in ``vectors [V, D]``; row 0 is the padding row and gets no gradient."""
        look_up = vectors if callable(vectors) else functools.partial(F.embedding, weight=vectors, padding_idx=0)
        return Side(look_up(self.words), self.mask)


Vectors = Tensor | Callable[[Tensor], Tensor]
"""Word vectors ``[V, D]`` indexed by id, or a function that computes them from ids ``[B, T]``."""
JUDGED = ("first", "second", "both")
"""Valid values of ``judged``."""


@dataclass(frozen=True)
class Batch:
    """B rows in the data set's order: premise and hypothesis, question and answer, claim and evidence.

    ``first`` is the first text, ``contexts`` the others: one for a pair, none for single texts, several if a claim has
    several evidence sentences (``[B, T_i]`` each; the mask is all false in rows with fewer). ``judged`` names the side
    whose representation reaches the classifier: the "first", the "second" (the only context), or "both". ``extra``
    float ``[B, F]``: linguistic features of the pairs (:mod:`core.linguistics`), for models that use them.
    """

    first: Side
    contexts: tuple[Side, ...] = ()
    judged: str = "second"
    extra: Tensor | None = None

    def __post_init__(self) -> None:
        if self.judged not in JUDGED:
            raise ValueError(f"judged must be one of {', '.join(JUDGED)}, got {self.judged!r}")
        rows = len(self.first.mask)
        if any(len(side.mask) != rows for side in self.contexts):
            raise ValueError(f"every context needs {rows} rows, got {[len(side.mask) for side in self.contexts]}")
        if self.extra is not None and (self.extra.ndim != 2 or len(self.extra) != rows):
            raise ValueError(f"expected extra [{rows}, F], got {list(self.extra.shape)}")

    @classmethod
    def of(
        cls, first: Sequence[Tensor], *contexts: Sequence[Tensor], judged: str = "second", extra: Tensor | None = None
    ) -> Batch:
        """Builds a batch from lists of B matrices ``[T, D]``, one list per text."""
        return cls(Side.of(first), tuple(map(Side.of, contexts)), judged, extra)

    @property
    def second(self) -> Side:
        """The only context. Raises ValueError for single texts and for rows with several contexts."""
        if len(self.contexts) != 1:
            raise ValueError(f"this model reads pairs: it needs one context, got {len(self.contexts)}")
        return self.contexts[0]

    @property
    def x(self) -> Side:
        """The judged text (t_x). Raises ValueError if both are judged."""
        if self.judged == "both":
            raise ValueError("this model judges one side: name it as judged, not both")
        return self.first if self.judged == "first" or not self.contexts else self.second

    @property
    def y(self) -> Side:
        """The judged text's context (t_y). Raises ValueError if there are none or several."""
        return self.second if self.judged == "first" or not self.contexts else self.first

    @property
    def ys(self) -> tuple[Side, ...]:
        """All contexts of the judged text."""
        return self.contexts if self.judged == "first" or not self.contexts else (self.first,)

    def to(self, device: torch.device | str) -> Batch:
        """A copy on another device."""
        return self._with(lambda side: side.to(device), None if self.extra is None else self.extra.to(device))

    def repeated(self, rows: int) -> Batch:
        """A batch of 1, repeated ``rows`` times."""
        extra = None if self.extra is None else self.extra.expand(rows, -1)
        return self._with(lambda side: Side(side.words.expand(rows, -1, -1), side.mask.expand(rows, -1)), extra)

    def rows(self, numbers: Sequence[int]) -> Batch:
        """The rows with these numbers, which may be repeated."""
        extra = None if self.extra is None else self.extra[numbers]
        return self._with(lambda side: Side(side.words[numbers], side.mask[numbers]), extra)

    def cloned(self) -> Batch:
        """A copy that can take part in autograd, which inference-mode tensors cannot."""
        return self._with(lambda side: Side(side.words.clone(), side.mask.clone()), self.extra)

    def embedded(self, vectors: Vectors) -> Batch:
        """A copy with word vectors instead of word ids (:meth:`Side.embedded`)."""
        return self._with(lambda side: side.embedded(vectors), self.extra)

    def _with(self, change: Callable[[Side], Side], extra: Tensor | None) -> Batch:
        return replace(self, first=change(self.first), contexts=tuple(map(change, self.contexts)), extra=extra)
