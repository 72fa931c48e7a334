"""A map of the rows by the classifier's input vectors; a selection becomes a filter."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from functools import partial

import numpy as np
import plotly.graph_objects as go  # type: ignore[import-untyped]
import streamlit as st

from app import page_style
from app.desk import jobs
from app.desk.open_run import PAGE, OpenRun, checkpoint_named, show
from app.pair_form import once
from app.palette import class_colours, map_look
from core.checkpoint import load_named
from core.checkpoint.dynamics import REGIONS
from core.desk.row_map import MOST_ROWS, RowMap, around, map_job, vectors_of
from core.desk.run import column_of
from core.wording import counted

_JOB = "desk map job"
_HEIGHT = 450
"""Height in pixels."""
_GROUPS = 8
"""Number of values with separate colours; the others share one."""
_OTHERS, _LEFT_OUT = "other values", "not in the filter"


def view(opened: OpenRun) -> None:
    """The map by the chosen model, or the button that builds it."""
    jobs.finish(_JOB, "The map was stopped before it was finished.")
    known = opened.maps[opened.model]
    if known is None:
        _ask(opened)
        return
    rows, mapped = len(opened.run.keys), len(known.rows)
    sample = f"a random sample of {mapped:,} of {rows:,} rows" if mapped < rows else f"all {counted(rows, 'row')}"
    page_style.note(
        f"t-SNE of the input vectors of {opened.run.models[opened.model].title}’s classifier, {sample}: nearby "
        "points have similar vectors. Select points with the box or the lasso to see their rows."
    )
    columns = opened.table.columns
    names = [name for name, column in columns.items() if column.dimension or column.kind in ("number", "set")]
    names += [name for name in columns if name.startswith("slice.")]
    first = column_of("right", opened.model) if opened.run.labelled else column_of("predicted", opened.model)
    predicted, region, p = (column_of(name, opened.model) for name in ("predicted", "region", "p"))
    names = [name for name in dict.fromkeys([first, predicted, "gold", region, p, *names]) if name in columns]
    by = st.selectbox("Colour by", names, key=f"desk map colour {opened.model} {opened.file}")
    dark = st.context.theme.type == "dark"
    version = opened.version, opened.model, by, PAGE.state.filter, dark
    figure = once("desk map figure", version, lambda: _figure(opened, known, by, dark))
    key = f"desk map {opened.file} {opened.model} {by}"
    st.plotly_chart(
        figure,
        height=_HEIGHT,
        key=key,
        on_select=partial(_select, opened, known, key),
        selection_mode=("box", "lasso"),
        config={"modeBarButtonsToRemove": ["toImage", "autoScale2d"], "displayModeBar": True},
        alt=f"Map of {counted(mapped, 'row')}, coloured by {by}",
    )


def _ask(opened: OpenRun) -> None:
    """The running job, or the button that starts one."""
    run, model = opened.run, opened.run.models[opened.model]
    if jobs.draw_running("map", opened.file, opened.model):
        return
    page_style.hint(
        "Which rows are similar to the model? A map places rows with similar vectors close together (t-SNE)."
    )
    name = checkpoint_named(model)
    if name is None:
        page_style.note(f"The checkpoint of {model.title} is not here, so no map can be made.")
        return
    count = min(MOST_ROWS, len(run.keys))
    what = f"Map {counted(count, 'row')}" + (", drawn at random" if count < len(run.keys) else "")
    make = partial(map_job, run, opened.model, name)
    st.button(what, key="desk make map", type="primary", on_click=jobs.start, args=(_JOB, make))


def _select(opened: OpenRun, known: RowMap, key: str) -> None:
    """Filters the rows by the selected points."""
    places = [int(point["customdata"]) for point in st.session_state[key].selection.points if "customdata" in point]
    if places:
        show(filter=around(opened.run, known, opened.model, places), view="rows", row="")


def _figure(opened: OpenRun, known: RowMap, by: str, dark: bool) -> go.Figure:
    """The points, coloured by a column: numbers on a scale, other values as groups; rows excluded by the filter are
    grey rings below."""
    run, kept = opened.run, opened.rows[known.rows]
    values = opened.table.take(known.rows, [by, *run.text_columns[: 1 if run.single else 2], "gold"])
    texts = list(zip(*(column.to_pylist() for column in values.columns[1:]), strict=True))
    predicted = run.models[opened.model].predicted[known.rows]
    labels = np.array(
        [_hover(run.keys[row], *own, said) for row, own, said in zip(known.rows, texts, predicted, strict=True)]
    )
    figure, shown = go.Figure(), values.column(0).to_pylist()

    def add(name: str, places: np.ndarray, marker: Mapping[str, object]) -> None:
        x, y = known.positions[places].astype(float).round(3).T
        figure.add_scatter(
            x=x,
            y=y,
            name=html.escape(name[:40]),
            mode="markers",
            marker={"size": 6, "opacity": 0.85, **marker},
            customdata=places.tolist(),
            text=labels[places],
            hovertemplate="%{text}<extra></extra>",
        )

    if not kept.all():
        add(_LEFT_OUT, np.flatnonzero(~kept), {"color": "#9aa6b2", "symbol": "circle-open", "size": 4, "opacity": 0.5})
    if opened.table.columns[by].kind == "number":
        numbers = np.array([np.nan if value is None else value for value in shown], dtype=float)
        scale = {"color": numbers[kept], "colorscale": "Cividis", "showscale": True}
        add(by, np.flatnonzero(kept), scale)
    else:
        groups = _groups(shown)
        labels_of = run.models[opened.model].labels
        order = {name: at for at, name in enumerate((*labels_of, *REGIONS))}
        names = sorted({*groups}, key=lambda name: (name == _OTHERS, order.get(name, len(order)), name))
        classes = {name: shades[dark] for name, shades in zip(labels_of, class_colours(labels_of), strict=True)}
        for name, (colour, symbol) in zip(names, map_look(names), strict=True):
            marker = {"color": classes.get(name, colour), "symbol": symbol}
            add(name, np.flatnonzero(kept & (groups == name)), marker)
    figure.update_layout(
        xaxis={"visible": False},
        yaxis={"visible": False, "scaleanchor": "x"},
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": 0},
        showlegend=True,
        dragmode="lasso",
    )
    return figure


def _groups(values: list[object]) -> np.ndarray:
    """The name of each value, ``[M]`` of str; rare values share a name. For a set of tags, all tags joined."""
    words: dict[object, str] = {True: "yes", False: "no", None: "unknown", "": "none"}
    names = [", ".join(sorted(value)) if isinstance(value, list) else value for value in values]
    named = np.array([words[name] if name in words else str(name) for name in names], dtype=object)
    known, counts = np.unique(named.astype(str), return_counts=True)
    frequent = set(known[np.argsort(-counts, kind="stable")][:_GROUPS])
    return np.array([name if name in frequent else _OTHERS for name in named], dtype=object)


def _hover(key: str, *parts: str | None) -> str:
    lines = [line for part in (key, *parts) if part for line in textwrap.wrap(part[:200], 60)]
    return "<br>".join(map(html.escape, lines))


def draw_similar(opened: OpenRun, place: int) -> None:
    """Links to the mapped rows nearest to the open one; draws nothing without a map."""
    run = opened.run
    known = opened.maps[opened.model] if run.models else None
    if known is None:
        return
    with st.expander("Similar rows", key="desk similar", on_change="rerun") as part:
        if not part.open:
            return
        vector = known.vector_of(place)
        if vector is None:
            name = checkpoint_named(run.models[opened.model])
            if name is None:
                page_style.note("The model’s checkpoint is not here, and this row is not on the map.")
                return
            vector = vectors_of(load_named(name), [run.dataset.rows[place]])[0]
        page_style.note("The nearest rows on the map, by the cosine of the classifier’s input vectors.")
        for row, cosine in known.nearest(vector, place):
            own = run.dataset.rows[row]
            texts = " → ".join(text[:100] for text in (own.first, own.second) if text)
            st.button(
                page_style.plain(f"{cosine:.2f} · {own.shown_label or 'no label'} · {texts}"),
                key=f"desk near {run.keys[row]}",
                type="tertiary",
                on_click=PAGE.change,
                kwargs={"row": run.keys[row]},
            )
