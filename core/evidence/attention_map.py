"""Attention from the units of one sentence to the units of another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from core.evidence.as_json import LATER
from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import Matrix, table_html, weight_cell
from core.json_types import told
from core.spreadsheet import csv_text
from core.wording import percent, the

NO_WORD, SPECIAL = "(no word)", "special tokens"
"""Name of the last column in tables and lists: the null word, or a transformer's special tokens."""

FINAL_STATE = "final state"
"""Unit of a map with a single row that is not a word: the state after the last word of the row sentence."""

CROSSES = 0.5
"""Smallest crossing weight (of at most 1) at which a word is listed as crossing another."""

SIMILARITY = "similarity"
"""Unit of a map whose weights are cosines of word states, not attention: rows do not add up to 1."""


@dataclass(frozen=True)
class AttentionMap(Record, kind="attention_map"):
    """Attention of each unit of the row sentence, [T_x, T_y]; in AttConv the rows are t_x (judged) and the columns t_y.

    ``scores`` are the raw matches e_ij before the softmax; ``weights`` are the softmax over j that the model used (each
    row adds up to 1). ``overridden`` is true when the caller supplied the weights (what-if editing). ``null`` holds
    each row's weight on the null word, a learned vector that stands among the column words as the counterpart of words
    that have none; a row's weights and its null weight add up to 1. It is empty for models without a null word;
    ``null_score`` is its raw score, the same in every row. ``temperature`` divided the scores before the softmax; 1 is
    the model's own.

    ``units`` is "words"; "phrases": rows and columns are the phrases of the accompanying ``PhraseSelection``,
    ``scores`` are cosines, and ``weights`` is empty because each phrase takes only its best partner; "windows": row i
    is the window of h words that begins at word i (h is the ``FilterProvenance``'s width); "final state": the only row
    is the state after the last word of the row sentence, which attends once for all of them; or "similarity":
    ``weights`` are cosines of word states in a model that encodes each sentence separately, negative ones clipped to 0.

    ``apart``: each line of the column text is a separate context, and each row adds up to 1 within every context.
    ``reach``: for each row, the first column it can attend to and the one after its last (local attention); empty if
    rows attend to all columns.

    ``crossings``: q, for each row the share of the other rows' words whose attention crosses its own, as the model used
    it (0 in a call without crossings); None for models that do not compute it. ``crossed_by`` [T_x, T_x] holds its
    terms, computed from the weights: how far word k's attention crosses word i's, from 0 to 1; in a call with crossings
    q_i = Σ_k crossed_by_ik / (T_x - 1).

    ``own``: for a transformer that reads both sentences at once, each row's weight on words of the row sentence;
    weights, null (here the special tokens) and own then add up to 1, and ``scores`` is empty because a word's weights
    are sums over its subword tokens and means over heads or layers.
    """

    name: str
    rows: str
    """Role of the sentence along the rows."""
    columns: str
    scores: Matrix
    weights: Matrix
    overridden: bool = False
    units: str = "words"
    null: tuple[float, ...] = ()
    temperature: float = 1.0
    apart: bool = False
    reach: tuple[tuple[int, int], ...] = field(default=(), metadata=LATER)
    null_score: float | None = field(default=None, metadata=LATER)
    crossings: tuple[float, ...] | None = field(default=None, metadata=LATER)
    crossed_by: Matrix | None = field(default=None, metadata=LATER)
    own: tuple[float, ...] = field(default=(), metadata=LATER)

    def blocks(self, explanation: Explanation) -> list[int]:
        """The first column of each block of columns within which a row adds up to 1."""
        return list(explanation.sentence(self.columns).line_starts) if self.apart else [0]

    @told
    def of_words(self) -> bool:
        """Whether its columns are words."""
        return self.units in ("words", FINAL_STATE, SIMILARITY)

    @told
    def crossing(self) -> tuple[Sequence[int], ...] | None:
        """For each row, the rows whose attention crosses it by at least CROSSES, strongest first."""
        return None if self.crossed_by is None else tuple(map(_crossing, self.crossed_by))

    @told
    def nothing(self) -> str:
        """The name of the last column, after the words: of the null word or of special tokens; empty without either."""
        return (SPECIAL if self.own else NO_WORD) if self.null else ""

    @told
    def stays(self) -> str:
        """How a transformer's words distribute their attention on average; empty for other models."""
        if not self.own:
            return ""
        own, apart = fmean(self.own), fmean(self.null or [0.0])
        return (
            f"On average a word of {the(self.rows)} gives {percent(own)} to its own sentence, {percent(apart)} to "
            f"special tokens, and {percent(max(0.0, 1 - own - apart))} to {the(self.columns)}."
        )

    @property
    def override(self) -> Matrix:
        """The weights in the form :func:`core.explain.explain` accepts as an override: the null word is the last
        column."""
        return (
            tuple((*row, null) for row, null in zip(self.weights, self.null, strict=True))
            if self.null
            else self.weights
        )

    def to_text(self, explanation: Explanation) -> list[str]:
        if not self.tabular:
            return []
        who = "the final state" if self.units == FINAL_STATE else "each word"
        blocks = self.blocks(explanation)
        each = ", separately in each of its lines" if self.apart else ""
        lines = ["", f"Where {who} of {the(self.rows)} looks in {the(self.columns)}{each}:"]
        if self.units == SIMILARITY:
            lines = [
                "",
                f"What each word of {the(self.rows)} is similar to in {the(self.columns)} (cosines, no attention):",
            ]
        names = self._column_names(explanation)
        for row, weights in zip(self._row_names(explanation), self.override, strict=True):
            looks = []
            for start, end in itertools.pairwise([*blocks, len(weights)]):
                strongest = sorted(range(start, end), key=lambda j, w=weights: -w[j])[:4]  # type: ignore[misc]
                looks.append(", ".join(f"{names[j]} {weights[j]:.0%}" for j in strongest))
            lines.append(f"  {row:>16}  {' | '.join(looks)}")
        return lines + self._crossed(explanation)

    def _crossed(self, explanation: Explanation) -> list[str]:
        """Lines for the words that other words' attention crosses."""
        names, shares, crossing = self._row_names(explanation), self.crossings, self.crossing
        if shares is None or crossing is None:
            return []
        lines = [
            f"  {name:>16}  q {share:.2f}: " + ", ".join(names[k] for k in across[:4])
            for name, share, across in zip(names, shares, crossing, strict=True)
            if across
        ]
        head = ["", f"Words of {the(self.rows)} that others look across, q as the model used it, and by which:"]
        return head + lines if lines else []

    def to_html(self, explanation: Explanation) -> str:
        if not self.tabular:
            return ""
        caption = (
            f"Rows: {the(self.rows)}; columns: {the(self.columns)}. Darker: more similar (cosine, not attention)."
            if self.units == SIMILARITY
            else f"Rows: {the(self.rows)}; columns: {the(self.columns)}. "
            f"Darker: more weight on that word; each row adds up to 100{' over each line' if self.apart else ''}."
        )
        lines = zip(self._row_names(explanation), self.override, strict=True)
        return table_html(
            caption, self._column_names(explanation), ((word, map(weight_cell, row)) for word, row in lines)
        )

    @property
    def tabular(self) -> bool:
        return self.of_words

    @property
    def title(self) -> str:
        return f"{self.name} {self.rows} to {self.columns}" if self.null else self.name

    def to_csv(self, explanation: Explanation) -> str:
        """One line per cell: both words with their positions (from 1), raw score and weight (only if units are words);
        after each row's words a line for the null word, which has no position and no raw score. A final state has the
        position of the last word."""
        if not self.tabular:
            return ""
        head = [
            f"{self.rows}_position",
            f"{self.rows}_word",
            f"{self.columns}_position",
            f"{self.columns}_word",
            "score",
            "weight",
        ]
        names = self._column_names(explanation)
        cells: list[list[object]] = []
        first = len(explanation.sentence(self.rows).tokens) if self.units == FINAL_STATE else 1
        scored = self.scores or ((),) * len(self.weights)
        for i, (row, scores, weights) in enumerate(
            zip(self._row_names(explanation), scored, self.override, strict=True), start=first
        ):
            columns = len(weights) - len(self.null[:1])
            places: list[object] = [*range(1, columns + 1), *[""] * len(self.null[:1])]
            shown: list[object] = [*scores] if scores else [""] * columns
            for place, name, score, weight in zip(places, names, [*shown, ""], weights, strict=False):
                cells.append([i, row, place, name, score, weight])
        return csv_text(head, cells)

    def _row_names(self, explanation: Explanation) -> list[str]:
        words = [token.text for token in explanation.sentence(self.rows).tokens]
        return [FINAL_STATE] if self.units == FINAL_STATE else words

    def _column_names(self, explanation: Explanation) -> list[str]:
        words = [token.text for token in explanation.sentence(self.columns).tokens]
        return [*words, self.nothing] if self.null else words


def _crossing(across: Sequence[float]) -> tuple[int, ...]:
    return tuple(sorted((k for k, far in enumerate(across) if far >= CROSSES), key=lambda k: -across[k]))
