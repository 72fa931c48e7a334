"""A run's account as one HTML file: it needs no network and no script, and opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from core.desk.figures import STYLE
from core.desk.run import Run
from core.evidence import Explanation
from core.wording import counted, score_percent

MOST_EXAMPLES = 30

_PAGE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 1000px; padding: 24px 20px 60px; background: var(--paper);
  font-family: system-ui, sans-serif; color: var(--ink); }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 34px 0 8px; }
section { margin: 22px 0; } .desk button { cursor: default; text-decoration: none !important; pointer-events: none; }
article { border-top: 1px solid var(--line); padding: 10px 0 18px; overflow-wrap: anywhere; }
article .attention { overflow-x: auto; font-size: 13px; } article pre { white-space: pre-wrap; }
.meta, dt { color: var(--soft); font-size: 13px; } dd { margin: 0 0 6px; }
.tag { display: inline-block; border: 1px solid var(--soft); border-radius: 4px; padding: 0 7px;
  margin: 2px 5px 2px 0; }
@media print { body { max-width: none; } article { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class ReportedRow:
    """A chosen row, with what the models made of it and what people said."""

    key: str
    number: int
    explanations: Sequence[Explanation]
    tags: Sequence[str]
    notes: Sequence[tuple[str, str]]


def report(
    run: Run, palette: str, figures: Sequence[tuple[str, Sequence[str]]], examples: Sequence[ReportedRow], shown: str
) -> str:
    """The whole file. ``figures``: headings, each with drawings of :mod:`core.desk.figures`; ``palette``: the colours
    that they use, as CSS custom properties; ``shown``: which rows they are about, in words."""
    data, now = run.dataset, datetime.now(UTC)
    title = f"Errors on {data.name}"
    models = "".join(
        f"<dd>{escape(m.title)} ({escape(m.model)}, checksum {escape(m.sha256[:16])})"
        + (f": {score_percent(float(run.right(i)[run.judged].mean()))} right of all rows" if run.labelled else "")
        + "</dd>"
        for i, m in enumerate(run.models)
    )
    head = (
        f'<h1>{escape(title)}</h1><p class="meta">{counted(len(data.rows), "row")} ({escape(data.layout)}), file '
        f"checksum {escape(data.sha256[:16])}; {escape(shown)}; {now:%Y-%m-%d %H:%M} UTC, by PairLens</p>"
        f"<dl><dt>Models</dt>{models}</dl>"
    )
    body = "".join(
        f"<h2>{escape(name)}</h2>" + "".join(f'<section class="desk">{drawn}</section>' for drawn in drawings)
        for name, drawings in figures
        if drawings
    )
    if examples:
        body += "<h2>Examples</h2>" + "".join(_example(run, row) for row in examples)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>:root {{ {palette} }}{_PAGE}{STYLE}</style></head>"
        f"<body><main>{head}{body}</main></body></html>\n"
    )


def _example(run: Run, row: ReportedRow) -> str:
    example = run.dataset.rows[row.number]
    gold = f"gold label <b>{escape(example.label)}</b>" if example.label else "no gold label"
    tags = "".join(f'<span class="tag">{escape(tag)}</span>' for tag in row.tags)
    notes = "".join(f"<p>{escape(by)}: {escape(text)}</p>" for by, text in row.notes)
    evidence = "".join(f'<div class="attention">{explanation._repr_html_()}</div>' for explanation in row.explanations)
    return f'<article><p class="meta">row {escape(row.key)}, {gold}</p>{tags}{notes}{evidence}</article>'
