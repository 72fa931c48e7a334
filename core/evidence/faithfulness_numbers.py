"""The numbers of a faithfulness record: curves of erased words, moved attention, and the adversary's attention."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from core.evidence.matrix import Matrix
from core.json_types import told


@dataclass(frozen=True)
class Curves:
    """One method's values at each of :data:`~core.evidence.faithfulness.STEPS`, for the verdict's class: sufficiency
    p(full) - p(kept words only), small for a good method, and comprehensiveness p(full) - p(remaining words), large for
    one."""

    sufficiency: tuple[float, ...]
    comprehensiveness: tuple[float, ...]

    @told
    def aopc(self) -> tuple[float, float]:
        """The mean of each: the area over the perturbation curve (Nguyen 2018)."""
        return fmean(self.sufficiency), fmean(self.comprehensiveness)


@dataclass(frozen=True)
class Moved:
    """How the verdict changes when attention is permuted or made uniform; undefined for match scores that a hard
    selection follows."""

    permutations: int
    changed: int
    """Number of permutations that change the verdict."""
    total_variation: float
    """Total variation of the class probabilities, averaged over the permutations."""
    uniform: tuple[float, ...]
    """Class probabilities under uniform attention."""
    mean: tuple[float, ...] = ()
    """Class probabilities averaged over the permutations."""


@dataclass(frozen=True)
class ShownMap:
    """One attention map as the model used it; rows and columns follow the word order of the sentences."""

    rows: str
    """Role of the sentence along the rows."""
    columns: str
    units: str
    """The unit of a row, as in :class:`~core.evidence.attention_map.AttentionMap`."""
    null: bool
    """Whether the last column is the null word."""
    weights: Matrix
    """``[R, C]``."""


@dataclass(frozen=True)
class Adversary:
    """The result of an adversarial search: attention far from the model's that leads to the same answer. ``maps`` is
    empty if none was found."""

    maps: tuple[Matrix, ...]
    """The replaced attention maps, in the order of the model's records."""
    divergence: float
    """Mean Jensen-Shannon divergence between its rows and the model's, in nats (at most log 2 = 0.693)."""
    total_variation: float
    probabilities: tuple[float, ...]
    """Class probabilities under this attention."""
    seconds: float
