"""An explanation's numbers as CSV text, for the download links."""

from __future__ import annotations

import csv
import io

from app.panels import filter_provenance as filters
from core.evidence import AttentionMap, Explanation, FilterProvenance, PhraseSelection


def csv_of(record: object, explanation: Explanation) -> str:
    """The record's numbers, or "" where it has no table of its own; one table holds the filters of both sides."""
    if isinstance(record, PhraseSelection):
        return phrases_csv(explanation, record.k)
    if isinstance(record, FilterProvenance) and record is explanation.find(FilterProvenance):
        return filters_csv(explanation)
    return attention_csv(explanation) if isinstance(record, AttentionMap) and record.units == "words" else ""


def attention_csv(explanation: Explanation) -> str:
    """One line a cell: both words with their positions (from 1), raw score and weight. Empty without attention."""
    record = explanation.word_attention
    if record is None:
        return ""
    rows, columns = explanation.sentence(record.rows).tokens, explanation.sentence(record.columns).tokens
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([f"{record.rows}_position", f"{record.rows}_word", f"{record.columns}_position",
                     f"{record.columns}_word", "score", "weight"])  # fmt: skip
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            writer.writerow([i + 1, cell(row.text), j + 1, cell(column.text), record.scores[i][j],
                             record.weights[i][j]])  # fmt: skip
    return out.getvalue()


def filters_csv(explanation: Explanation) -> str:
    """One line a filter and text: winning n-gram, parts that add up to the pre-activation, shares in the logits. Lines
    with a name in place of a number are what the logits hold beside the filters: with them the shares add up."""
    records = filters.provenances(explanation)
    if not records:
        return ""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [name.replace(" ", "_") for name in filters.part_names(records[0].width)]
    told = all(f.logit_shares for record in records for f in record.filters)
    shares = [f"share_{label}" for label in explanation.labels] if told else []
    writer.writerow(["text", "filter", "position", "ngram", *names, "preactivation", "activation", *shares])
    for record in records:
        tokens = explanation.sentence(record.rows).tokens
        for f in record.filters:
            ngram = " ".join(token.text for token in tokens[slice(*f.window)])
            writer.writerow([record.rows, f.index, f.position + 1, cell(ngram), *f.offsets, f.context, f.bias,
                             f.preactivation, f.activation, *f.logit_shares])  # fmt: skip
    if told:
        beside = [*filters.rest(explanation), ("the classifier’s bias", records[0].logit_bias)]
        writer.writerows(["", name, *[""] * (len(names) + 4), *values] for name, values in beside)
    return out.getvalue()


def phrases_csv(explanation: Explanation, k: int) -> str:
    """One line a phrase, in the paper's order: its sentence, text, first and last word (from 1), best alignment score,
    best partner in the other sentence, and whether k-min and k-max keep it at this k."""
    record: PhraseSelection | None = explanation.find(PhraseSelection)
    if record is None:
        return ""
    kept = [choice.kept if choice else ((), ()) for choice in (record.choice("kmin", k), record.choice("kmax", k))]
    tokens = (explanation.first.tokens, explanation.second.tokens)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["side", "phrase", "first_word", "last_word", "score", "partner", f"kept_by_kmin_{k}",
                     f"kept_by_kmax_{k}"])  # fmt: skip
    for side, place in zip(record.sides, (0, 1), strict=True):
        other = record.sides[1 - place].phrases
        chosen = [set(kept[0][place]), set(kept[1][place])]
        for index, phrase in enumerate(side.phrases):
            texts = (" ".join(token.text for token in tokens[at][slice(*span)])
                     for at, span in ((place, phrase.span), (1 - place, other[phrase.partner].span)))  # fmt: skip
            text, partner = (cell(text) for text in texts)
            writer.writerow([side.role, text, phrase.span[0] + 1, phrase.span[1], phrase.score, partner,
                             *(int(index in found) for found in chosen)])  # fmt: skip
    return out.getvalue()


def cell(text: str) -> str:
    """A person's text for a table: a spreadsheet runs a cell that begins with one of these signs as a formula, and a
    leading apostrophe makes it text."""
    return "'" + text if text[:1] in ("=", "+", "-", "@") and len(text) > 1 else text
