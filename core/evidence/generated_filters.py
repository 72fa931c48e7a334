"""The filters made from one text."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.explanation import Explanation
from core.evidence.record import Matrix, Record, the


@dataclass(frozen=True)
class GeneratedFilters(Record, kind="generated_filters"):
    """The filters made from one text (Shen et al. 2018, equations 2 and 3)."""

    name: str
    made_from: str
    """Role of the text that they were generated from."""
    applied_to: str
    """Role of the text that they convolve."""
    code: tuple[float, ...]
    """z, the l numbers that the filters are made from."""
    bank: tuple[Matrix, ...]
    """[K, h, d]: each filter's weights by word of the window and dimension of a word."""

    def to_text(self, explanation: Explanation) -> list[str]:
        height, width = len(self.bank[0]), len(self.bank[0][0])
        return [
            "",
            f"{len(self.bank)} filters of {height} words by {width} numbers were generated from "
            f"{the(self.made_from)} and convolve {the(self.applied_to)}.",
        ]
