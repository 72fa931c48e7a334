"""One generated filter: its weights as a heatmap, and the words and windows of its text that it responds to most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.evidence import Explanation, FilterProvenance, FilterRecord, GeneratedFilters, Matrix
from core.filter_map.ngrams import ReadWords
from core.spreadsheet import csv_text


@dataclass(frozen=True)
class Made:
    """The filters generated from one text, and their winning windows in the text they read."""

    bank: GeneratedFilters
    won: FilterProvenance

    def strongest(self) -> list[FilterRecord]:
        """All filters, the largest value first."""
        return sorted(self.won.filters, key=lambda f: -f.preactivation)

    def fires(self, index: int) -> bool:
        """Whether the filter's largest value passes the ReLU; False if the filter does not exist."""
        return any(f.index == index and f.preactivation > 0 for f in self.won.filters)

    def title(self, explanation: Explanation, index: int) -> str:
        """A filter with its value and its winning window: filter 12: +3.41 at “a film directed by Ann”."""
        record = self.won.filters[index]
        words = " ".join(t.text for t in explanation.sentence(self.won.rows).tokens[slice(*record.window)])
        return f"filter {index}: {signed(record.preactivation)} at “{words}”"


def made(explanation: Explanation, role: str) -> Made | None:
    """The filters generated from the text with this role, or None if it generated none."""
    bank = next((r for r in explanation.evidence if isinstance(r, GeneratedFilters) and r.made_from == role), None)
    if bank is None:
        return None
    won = next(r for r in explanation.evidence if isinstance(r, FilterProvenance) and r.rows == bank.applied_to)
    return Made(bank, won)


def signed(value: float) -> str:
    """A number with its sign, using a true minus."""
    return f"{value:+.2f}".replace("-", "−")


def place(number: int) -> str:
    """The name of a window position, from 1."""
    return f"word {number}"


def windows(explanation: Explanation, side: Made, values: Sequence[float]) -> list[tuple[str, float]]:
    """The windows of the text that the filter reads, with the largest value before the ReLU first; ``values``: one per
    window."""
    tokens = [t.text for t in explanation.sentence(side.won.rows).tokens]
    listed = [(" ".join(tokens[i : i + side.won.width]), value) for i, value in enumerate(values)]
    return sorted(listed, key=lambda line: -line[1])


def by_place(words: ReadWords, weights: Matrix, k: int) -> list[tuple[str, str]]:
    """The k words that add most to a window's value at each position, named like the heatmap's rows, with their
    values."""
    return [
        (place(i), ", ".join(f"{word} {signed(value)}" for word, value in row))
        for i, row in enumerate(words.strongest(weights, k), start=1)
    ]


def to_csv(index: int, weights: Matrix) -> str:
    """One line per word of the window, one column per dimension."""
    head = ["filter", "word", *(f"dimension_{i}" for i in range(1, len(weights[0]) + 1))]
    return csv_text(head, ([index, i, *row] for i, row in enumerate(weights, start=1)))


def windows_csv(index: int, listed: Sequence[tuple[str, float]]) -> str:
    """One line per window of the text that filter ``index`` reads, largest value first."""
    return csv_text(["filter", "window", "value"], ([index, *line] for line in listed))
