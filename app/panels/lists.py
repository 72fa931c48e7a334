"""Small tables of words and numbers as HTML; every cell is shown as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """<style>
.pl-list { border-collapse: collapse; width: 100%; font-size: 0.93rem; font-variant-numeric: tabular-nums; }
.pl-list th, .pl-list td { border: 0; border-bottom: 1px solid rgba(128, 140, 152, 0.28); text-align: left;
  padding: 0.22rem 0.7rem 0.22rem 0; vertical-align: top; overflow-wrap: break-word; font-weight: 400; }
.pl-list td:first-child { overflow-wrap: anywhere; }
.pl-list thead th, .pl-list tbody th { font-size: 0.83rem; opacity: 0.78; }
.pl-list thead th { vertical-align: bottom; }
.pl-list tbody th { width: 4.2rem; line-height: 1.8; white-space: nowrap; }
.pl-list .pl-number { text-align: right; padding-right: 0; }
.pl-list td.pl-number { white-space: nowrap; }
.pl-list .pl-above td { border-bottom: 0; padding-bottom: 0; }
.pl-list .pl-below td { padding: 0 0 0.22rem; }
.pl-list .pl-soft { font-size: 0.83rem; opacity: 0.78; }
.pl-words { display: grid; grid-template-columns: repeat(auto-fill, minmax(7.2rem, 1fr)); gap: 0 0.6rem; }
.pl-words > span { overflow-wrap: anywhere; }
</style>"""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str] = ()) -> str:
    """A table whose last column is a number. ``below``: the text under each row, across all columns."""
    *names, number = head
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    top += f'<th scope="col" class="pl-number">{escape(number)}</th>'
    body = ""
    for (*cells, value), text in zip(rows, below or [""] * len(rows), strict=True):
        line = "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in cells)
        line += f'<td class="pl-number">{escape(value)}</td>'
        body += f'<tr class="pl-above">{line}</tr>{_below(text, len(head))}' if text else f"<tr>{line}</tr>"
    return _table(top, body)


def _below(text: str, columns: int) -> str:
    return f'<tr class="pl-below"><td class="pl-soft" dir="auto" colspan="{columns}">{escape(text)}</td></tr>'


def by_place(head: tuple[str, str], rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """A table with a line of words for each place, every word with its number."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = ""
    for place, words in rows:
        line = "".join(
            f'<span><bdi>{escape(word)}</bdi> <span class="pl-soft">{escape(number)}</span></span>'
            for word, number in words
        )
        body += f'<tr><th scope="row">{escape(place)}</th><td><div class="pl-words">{line}</div></td></tr>'
    return _table(top, body)


def _table(top: str, body: str) -> str:
    return f'<table class="pl-list"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
