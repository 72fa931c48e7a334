"""Where each unit of one sentence looks in another."""

from __future__ import annotations

from dataclasses import dataclass

from core.evidence.record import Explained, Matrix, Record, csv_text, table_html, weight_cell


@dataclass(frozen=True)
class AttentionMap(Record, kind="attention_map"):
    """Where each unit of the sentence along the rows looks: [T_x, T_y], for AttConv rows t_x (judged), columns t_y.

    ``scores`` are the raw matches e_ij before the softmax, ``weights`` the softmax over j (each row adds up to 1) that
    the model used. ``overridden`` is true when they came from outside (what-if editing).

    ``units`` is "words"; or "phrases": then rows and columns are the phrases of the ``PhraseSelection`` beside it,
    ``scores`` are cosines, and ``weights`` is empty, because each phrase takes its best partner alone; or "windows":
    row i is the window of h words that begins at word i (h is the ``FilterProvenance``'s width).
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
    """Each row's weight on the null word, a learned vector among the other side's words; empty for models without one.
    With it a row adds up to 1."""

    def to_text(self, explanation: Explained) -> list[str]:
        if self.units != "words":
            return []
        rows, columns = explanation.sentence(self.rows).tokens, explanation.sentence(self.columns).tokens
        lines = ["", f"Where each word of the {self.rows} looks in the {self.columns}:"]
        for token, weights in zip(rows, self.weights, strict=True):
            strongest = sorted(range(len(weights)), key=lambda j, w=weights: -w[j])[:4]  # type: ignore[misc]
            looks = ", ".join(f"{columns[j].text} {weights[j]:.0%}" for j in strongest)
            lines.append(f"  {token.text:>16}  {looks}")
        return lines

    def to_html(self, explanation: Explained) -> str:
        if self.units != "words":
            return ""
        rows, columns = explanation.sentence(self.rows), explanation.sentence(self.columns)
        caption = (
            f"Rows: the {self.rows}; columns: the {self.columns}. "
            "Darker: more weight on that word; each row adds up to 100."
        )
        lines = zip((token.text for token in rows.tokens), self.weights, strict=True)
        return table_html(
            caption, [token.text for token in columns.tokens], ((word, map(weight_cell, row)) for word, row in lines)
        )

    @property
    def tabular(self) -> bool:
        return self.units == "words"

    def to_csv(self, explanation: Explained) -> str:
        """One line a cell: both words with their positions (from 1), raw score and weight. Of words alone."""
        if not self.tabular:
            return ""
        rows, columns = explanation.sentence(self.rows).tokens, explanation.sentence(self.columns).tokens
        head = [f"{self.rows}_position", f"{self.rows}_word", f"{self.columns}_position", f"{self.columns}_word",
                "score", "weight"]  # fmt: skip
        cells = (
            [i + 1, row.text, j + 1, column.text, self.scores[i][j], self.weights[i][j]]
            for i, row in enumerate(rows)
            for j, column in enumerate(columns)
        )
        return csv_text(head, cells)
