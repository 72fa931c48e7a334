"""Phrases, their alignments, and the phrases kept by k-min, k-max and full pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from core.evidence.explanation import Explanation, Record, shares_text
from core.evidence.matrix import CELL_STYLE, table_html
from core.spreadsheet import csv_text


@dataclass(frozen=True)
class PhraseRecord:
    """A phrase and its best partner in the other sentence."""

    span: tuple[int, int]
    """Tokens [first, last) of its sentence."""
    partner: int
    """Index of the phrase in the other sentence with the largest cosine (the earliest if tied)."""
    score: float
    """Cosine with that partner: aᵢ of Yin & Schütze 2017, equation 5."""


@dataclass(frozen=True)
class PhraseSide:
    """All phrases of one sentence in the order (A)(B)(AB)(C)(BC)(ABC)…: by last word, then shortest first."""

    role: str
    phrases: tuple[PhraseRecord, ...]


@dataclass(frozen=True)
class PhraseChoice:
    """The phrases of both sentences that one pooling keeps, in text order, and the resulting verdict."""

    pooling: str
    """kmin (the k worst aligned phrases), kmax (the k best aligned) or full (all)."""
    k: int
    """0 for full."""
    kept: tuple[tuple[int, ...], tuple[int, ...]]
    """Indices of the kept phrases of the first and of the second sentence."""
    probabilities: tuple[float, ...]
    trained: bool
    """Whether the model was trained with this pooling and k; every other choice is a what-if."""


@dataclass(frozen=True)
class PhraseSelection(Record, kind="phrase_selection"):
    """Phrases, their alignments and the phrases kept by k-min, k-max and full pooling (Yin & Schütze 2017, section
    3.3).

    ``choices`` holds both poolings for k = 1…10, full pooling, and the trained k if it is larger.
    """

    name: str
    sides: tuple[PhraseSide, PhraseSide]
    """The first and the second sentence of the pair."""
    choices: tuple[PhraseChoice, ...]
    pooling: str
    """The trained pooling."""
    k: int
    """The trained k."""

    def choice(self, pooling: str, k: int = 0) -> PhraseChoice | None:
        """The choice with this pooling and k (ignored for full), or None if it was not computed."""
        method = (pooling, 0 if pooling == "full" else k)
        return next((c for c in self.choices if (c.pooling, c.k) == method), None)

    def _at_trained_k(self) -> list[PhraseChoice]:
        choices = (self.choice(pooling, self.k) for pooling in ("kmin", "kmax"))
        return [choice for choice in choices if choice is not None]

    def to_text(self, explanation: Explanation) -> list[str]:
        """The phrases that each pooling keeps at the trained k, with their best alignments."""
        lines = []
        for choice in self._at_trained_k():
            shares = shares_text(explanation.labels, choice.probabilities)
            trained = ", as trained" if choice.trained else ""
            lines += ["", f"{choice.pooling} with k = {choice.k}{trained}: {shares}"]
            for side, indices in zip(self.sides, choice.kept, strict=True):
                sentence, phrases = explanation.sentence(side.role), [side.phrases[i] for i in indices]
                quoted = " | ".join(f"{sentence.words(phrase.span)} {phrase.score:.2f}" for phrase in phrases)
                lines.append(f"  {side.role:>12}  {quoted}")
        return lines

    def to_html(self, explanation: Explanation) -> str:
        """Both sentences as rows; the columns show the phrases kept by k-min and by k-max."""
        choices = self._at_trained_k()
        head = [f"{c.pooling}, k = {c.k}{', as trained' if c.trained else ''}" for c in choices]

        def cells(place: int, side: PhraseSide) -> Sequence[str]:
            sentence = explanation.sentence(side.role)
            quoted = [
                " | ".join(escape(sentence.words(side.phrases[i].span)) for i in choice.kept[place])
                for choice in choices
            ]
            return [f'<td style="{CELL_STYLE};text-align:left">{text}</td>' for text in quoted]

        caption = "The phrases that pooling keeps: the worst aligned with the other sentence (kmin), the best (kmax)."
        return table_html(caption, head, ((side.role, cells(place, side)) for place, side in enumerate(self.sides)))

    def to_csv(self, explanation: Explanation) -> str:
        """:meth:`table` at the trained k."""
        return self.table(explanation, self.k)

    def table(self, explanation: Explanation, k: int) -> str:
        """CSV with one line per phrase, in the paper's order: its sentence, text, first and last word (from 1), best
        alignment score, best partner in the other sentence, and whether k-min and k-max keep it at this k."""
        choices = [self.choice(pooling, k) for pooling in ("kmin", "kmax")]
        head = [
            "side",
            "phrase",
            "first_word",
            "last_word",
            "score",
            "partner",
            f"kept_by_kmin_{k}",
            f"kept_by_kmax_{k}",
        ]
        rows: list[list[object]] = []
        for place, side in enumerate(self.sides):
            other = self.sides[1 - place]
            own_words, other_words = explanation.sentence(side.role), explanation.sentence(other.role)
            for index, phrase in enumerate(side.phrases):
                partner = other_words.words(other.phrases[phrase.partner].span)
                marks = [int(choice is not None and index in choice.kept[place]) for choice in choices]
                rows.append(
                    [
                        side.role,
                        own_words.words(phrase.span),
                        phrase.span[0] + 1,
                        phrase.span[1],
                        phrase.score,
                        partner,
                        *marks,
                    ]
                )
        return csv_text(head, rows)
