"""Filters generated from one of the texts."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import Matrix
from core.wording import the


@dataclass(frozen=True)
class GeneratedFilters(Record, kind="generated_filters"):
    """The filters generated from one text (Shen et al. 2018, equations 2 and 3)."""

    name: str
    made_from: str
    """Role of the text that generates the filters."""
    applied_to: str
    """Role of the text they convolve."""
    code: tuple[float, ...]
    """z, the vector of l numbers from which the filters are generated."""
    bank: tuple[Matrix, ...]
    """[K, h, d]: each filter's weights per window position and embedding dimension."""

    def to_text(self, explanation: Explanation) -> list[str]:
        height, width = len(self.bank[0]), len(self.bank[0][0])
        return [
            "",
            f"{len(self.bank)} filters of {height} words by {width} numbers were generated from "
            f"{the(self.made_from)} and convolve {the(self.applied_to)}.",
        ]
