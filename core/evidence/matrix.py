"""Matrices of numbers in records, and their HTML tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Matrix = tuple[tuple[float, ...], ...]


def matrix(values: Any) -> Matrix:
    """Converts a tensor ``[n, m]`` to nested tuples."""
    return tuple(map(tuple, values.tolist()))


def table_html(caption: str, head: Sequence[str], rows: Iterable[tuple[str, Iterable[str]]]) -> str:
    """An HTML table whose cells are ready-made ``<td>`` elements; caption and headings are escaped."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row" style="text-align:right">{escape(name)}</th>{"".join(cells)}</tr>' for name, cells in rows
    )
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{escape(caption)}</caption>'
        f"<tr><td></td>{top}</tr>{body}</table>"
    )


CELL_STYLE = "padding:3px 6px;text-align:center;font-variant-numeric:tabular-nums"

# Eleven steps of cividis (Nuñez et al. 2018), light to dark: perceptually uniform, so it also prints in grey.
_CIVIDIS = (
    "#fee838",
    "#e6d54a",
    "#cfc157",
    "#b7ae62",
    "#a09c69",
    "#8b8a70",
    "#757874",
    "#606870",
    "#47586c",
    "#264672",
    "#00224e",
)


def weight_cell(weight: float) -> str:
    """A ``<td>`` with a weight in per cent, coloured by cividis."""
    step = min(10, max(0, round(weight * 10)))
    ink = "#ffffff" if step >= 6 else "#000000"
    return f'<td style="{CELL_STYLE};background:{_CIVIDIS[step]};color:{ink}">{weight * 100:.0f}</td>'
