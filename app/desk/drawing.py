"""Figures of a run on the page: clicking a mark, or a table line, sets the filter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import charts, page_style
from app.desk.open_run import PAGE, show
from core.desk.charts import PICKED, Figure
from core.desk.filters import narrowed


def figures(drawn: Sequence[Figure], key: str, within: str = "") -> None:
    """Draws figures one below the other, each with its numbers as a collapsible table. ``within``: the filter for the
    rows that they count, which stays when a mark is clicked."""
    for number, figure in enumerate(drawn):
        page_style.heading(figure.title)
        page_style.note(f"{figure.how} {figure.click if figure.lines else ''}".strip())
        name = f"{key} {number}"
        if figure.chart is None:
            _table(figure, name, within)
            continue
        chart = f"{name} chart"
        picking = {"on_select": partial(_mark, chart, within), "selection_mode": PICKED} if figure.filters else {}
        charts.draw(figure.chart, PAGE.state.projector, key=chart, **picking)
        with st.expander("The numbers as a table"):
            _table(figure, name, within)


def _table(figure: Figure, key: str, within: str) -> None:
    if not figure.lines:
        return
    columns = dict(zip(figure.head, zip(*figure.lines, strict=True), strict=True))
    if figure.filters:
        take = partial(_line, key, within, figure.filters)
        st.dataframe(columns, hide_index=True, key=key, on_select=take, selection_mode="single-row")
    else:
        st.dataframe(columns, hide_index=True)


def _mark(key: str, within: str) -> None:
    for mark in st.session_state[key]["selection"][PICKED]:
        if mark["filter"]:
            show(filter=narrowed(within, str(mark["filter"])), view="rows", row="")


def _line(key: str, within: str, filters: Sequence[str]) -> None:
    for line in st.session_state[key]["selection"]["rows"]:
        show(filter=narrowed(within, filters[line]), view="rows", row="")
