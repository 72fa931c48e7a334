"""An explanation's numbers as CSV text, for the download links."""

from __future__ import annotations

import csv
import io

from core.evidence import AttentionMap, Explanation, FilterProvenance


def attention_csv(explanation: Explanation) -> str:
    """One line a cell: both words with their positions (from 1), raw score and weight. Empty without attention."""
    record: AttentionMap | None = explanation.find(AttentionMap)
    if record is None:
        return ""
    rows, columns = explanation.sentence(record.rows).tokens, explanation.sentence(record.columns).tokens
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([f"{record.rows}_position", f"{record.rows}_word", f"{record.columns}_position",
                     f"{record.columns}_word", "score", "weight"])  # fmt: skip
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            writer.writerow([i + 1, _cell(row.text), j + 1, _cell(column.text), record.scores[i][j],
                             record.weights[i][j]])  # fmt: skip
    return out.getvalue()


def filters_csv(explanation: Explanation) -> str:
    """One line a filter: winning n-gram, parts that add up to the pre-activation, shares that add up to the logits."""
    record: FilterProvenance | None = explanation.find(FilterProvenance)
    if record is None:
        return ""
    tokens = explanation.sentence(record.rows).tokens
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["filter", "position", "ngram", "left", "self", "right", "context", "bias", "preactivation",
                     "activation", *(f"share_{label}" for label in explanation.labels)])  # fmt: skip
    for f in record.filters:
        ngram = " ".join(token.text for token in tokens[slice(*f.window)])
        writer.writerow([f.index, f.position + 1, _cell(ngram), f.left, f.self_, f.right, f.context, f.bias,
                         f.preactivation, f.activation, *f.logit_shares])  # fmt: skip
    return out.getvalue()


def _cell(text: str) -> str:
    # A spreadsheet runs a cell that begins with one of these as a formula; a leading apostrophe makes it text.
    return "'" + text if text[:1] in ("=", "+", "-", "@") and len(text) > 1 else text
