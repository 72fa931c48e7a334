"""Altair charts on a page."""

from __future__ import annotations

from typing import Any

import altair as alt
import streamlit as st

from app.page_style import enlarged


def draw(chart: Any, projector: bool, **options: Any) -> Any:
    """Draws the chart, with large type in projector mode. ``options`` are passed to ``st.altair_chart``; returns its
    result."""
    import pandas  # noqa: F401  Altair would take a pandas that another visitor's thread has only begun to import

    scale = enlarged(projector)
    letters = {"labelFontSize": 12 * scale, "titleFontSize": 12 * scale}
    chart = chart.configure_axis(**letters).configure_legend(**letters).configure_title(fontSize=13 * scale)
    chart = chart.configure_text(fontSize=13 * scale)
    if isinstance(chart.height, alt.Step):
        chart = chart.properties(height=alt.Step(chart.height.step * scale))
    return st.altair_chart(chart, **options)
