"""The rows: a filter, a table, and the open row."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from app import page_style
from app.desk import drawing, measures, row_effects, row_map, row_tags
from app.desk.open_run import PAGE, OpenRun, checkpoint_named, row_title, show
from app.model_choice import explains_texts, offered
from app.page_state.codec import fits_a_link
from app.pair_form import once
from app.palette import class_colours
from core.desk import charts
from core.desk.columns import find
from core.desk.filters import LONGEST, quoted
from core.desk.run import LETTERS, column_of
from core.evaluation.people import words_of
from core.templates import render
from core.wording import class_names, counted, shown

_ROW = 76
"""Height of a row in pixels at normal size: four lines of text. Streamlit does not wrap text in rows up to 60."""
_HEIGHT = 36 + 7 * _ROW
MOST_LISTED = 20_000
"""Maximum number of rows sent to the browser."""
STYLE = """<style>
[class*="st-key-side-by-side"] .stColumn:has([data-testid="stPopover"]) { min-width: max-content; }
.pl-row { font-size: 0.93rem; line-height: 1.4; margin: -0.4rem 0 0 !important; padding: 0 !important; }
.pl-row dt { font-size: 0.83rem; font-weight: 400; opacity: 0.78; margin-top: 0.3rem; }
.pl-row dd { margin: 0 !important; padding: 0 !important; overflow-wrap: anywhere; white-space: pre-wrap;
  unicode-bidi: plaintext; max-height: 11rem; overflow-y: auto; }
@media (max-width: 760px) { .stColumn:has(.st-key-desk-row) { order: -1; } }
.pl-row .shares { display: flex; height: 10px; border-radius: 5px; overflow: hidden; gap: 1px; margin: 2px 0; }
.pl-row .shares i { display: block; min-width: 1px; }
.pl-wrong { font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.9rem; margin: 0; }
.pl-wrong mark { background: none; color: inherit; text-decoration: underline wavy var(--pl-accent) 2px;
  text-underline-offset: 4px; }
</style>"""


def filter_box(opened: OpenRun) -> None:
    """The filter, with its error marked, and the sort order."""
    st.html(STYLE)
    ordered = PAGE.state.view == "rows"
    shares = [5, 1, 2 if ordered else 0.01]
    judged = quoted(opened.run.text_columns[0 if opened.run.single else 1])
    left, right, middle = st.container(key="side by side, filter").columns(
        shares, vertical_alignment="bottom", gap="small"
    )
    left.text_input(
        "Filter",
        PAGE.state.filter,
        max_chars=LONGEST,
        placeholder=f'not A.right and A.p > 90 and {judged} contains "not"',
        **PAGE.widget("filter"),
    )
    if ordered:
        names = [name for name, column in opened.table.columns.items() if column.kind != "set"]
        orders = ["", *(f"{sign}{name}" for name in names for sign in ("-", ""))]
        name, sign = _sorted_by(opened)
        middle.selectbox(
            "Order",
            orders,
            orders.index(f"{sign}{name}") if f"{sign}{name}" in orders else 0,
            format_func=_order,
            **PAGE.widget("sort"),
        )
    with right.popover("Columns"):
        page_style.note(
            "Compare with = != < <= > >=, in (…), not in (…), contains, has word, has lemma, matches /…/; compute with "
            "+ - * /, len(…) and abs(…); join with and, or, not and brackets; put texts in quotes. Boolean columns "
            "need no comparison."
        )
        first, second = map(quoted, opened.run.text_columns)
        st.text_area(
            "Your own columns, one per line",
            PAGE.state.columns,
            height=96,
            max_chars=LONGEST,
            placeholder=f"length = len({first})" if opened.run.single else f"gap = len({second}) - len({first})",
            help="They are in the link, in filters, orders and slices, and in the exported CSV.",
            **PAGE.widget("columns"),
        )
        page_style.terms([(name, column.about) for name, column in opened.table.columns.items()])
    if opened.error is not None:
        text, start, end = PAGE.state.filter, opened.error.start, opened.error.end
        parts = (text[:start], text[start:end] or " ", text[end:])
        before, wrong, after = map(html.escape, parts)
        st.html(f'<p class="pl-wrong" role="status">{before}<mark>{wrong}</mark>{after}</p>')
        page_style.notice([f"{opened.error} All rows are shown."])
    page_style.notice(opened.notes)


def _order(name: str) -> str:
    if not name:
        return "as in the file"
    return f"{name[1:]}, largest first" if name.startswith("-") else f"{name}, smallest first"


def view(opened: OpenRun) -> None:
    """The table on the left, the open row or the confusion matrix on the right."""
    shown = opened.version, PAGE.state.filter, PAGE.state.sort
    order = once("desk order", opened.order, lambda: ordered(opened))
    table = once("desk listed", shown, lambda: _arrow(opened, order))
    left, right = st.container(key="side by side, rows").columns([1.75, 1], gap="medium")
    with left:
        listed = f", the first {MOST_LISTED:,} listed" if len(order) > MOST_LISTED else ""
        page_style.note(
            f"{len(order):,} of {counted(len(opened.run.keys), 'row')}{listed}. Click a row to open it; click a column "
            "name to sort."
        )
        _table(opened, order, table)
    with right:
        place = opened.run.place(PAGE.state.row)
        if PAGE.state.row and place is None:
            page_style.notice([f"This file has no row “{PAGE.state.row[:40]}”."])
        if place is not None:
            with st.container(key="desk-row"):
                _open_row(opened, place, order)
        elif not opened.run.models:
            page_style.hint("No model has predicted this file: label its rows under Labels.")
        elif opened.run.grades(opened.model):
            measures.model_choice(opened)
            scores = measures.score_figures(opened.run, opened.model, opened.rows)
            drawing.figures(scores, "desk correlation", opened.filter)
        elif opened.run.labelled:
            measures.model_choice(opened)
            names = measures.label_names(opened.run.models[opened.model])
            confusion = charts.confusion(opened.run, opened.model, opened.rows, names)
            drawing.figures([confusion], "desk confusion", opened.filter)
        else:
            measures.unscored(opened.run)


def ordered(opened: OpenRun) -> np.ndarray:
    """The indices of the filtered rows, in the chosen order."""
    name, sign = _sorted_by(opened) if PAGE.state.sort else ("", "")
    return opened.table.ordered(opened.rows, name, largest_first=bool(sign)) if name else np.flatnonzero(opened.rows)


def _sorted_by(opened: OpenRun) -> tuple[str, str]:
    """The column by which rows are sorted, and - for descending."""
    sort = PAGE.state.sort
    return find(sort.removeprefix("-"), opened.table.columns) or "", sort[:1] if sort.startswith("-") else ""


def _table(opened: OpenRun, order: np.ndarray, table: pa.Table) -> None:
    """The table with all rows, which the browser searches and sorts without the server."""
    scale = page_style.enlarged(PAGE.state.projector)

    def text(width: int, about: str | None = None) -> Any:
        return st.column_config.TextColumn(width=round(scale * width), help=about)

    # Tags have no width, so that the last column fills the remaining space.
    config = {"id": text(66), **dict.fromkeys(opened.run.text_columns, text(126)), "gold": text(96)}
    for i, model in enumerate(opened.run.models):
        config[column_of("predicted", i)] = text(112, page_style.plain(f"Prediction of {model.title}"))
        config[column_of("p", i)] = text(66, "Its probability")
    # The browser measures text once per table, so “Projector” needs a new key.
    key = f"desk table {hash((PAGE.state.filter, PAGE.state.sort, PAGE.state.models, PAGE.state.projector))}"

    def picked() -> None:
        PAGE.touch()
        cells, heads = st.session_state[key].selection.cells, st.session_state[key].selection.columns
        if heads:
            sort_by(heads[0])
        elif cells and cells[0][0] < len(order):
            PAGE.change(row=opened.run.keys[order[cells[0][0]]])

    st.dataframe(
        table,
        key=key,
        height=round(scale * _HEIGHT),
        row_height=round(scale * _ROW),
        hide_index=True,
        column_config=config,
        on_select=picked,
        selection_mode=["single-cell", "single-column"],
        alt="Rows with the models’ predictions",
    )


def sort_by(column: str) -> None:
    """Sorts the rows by a column of the table: ascending, then descending, then in the file's order."""
    now = PAGE.state.sort
    if column != "tags":
        show(sort=f"-{column}" if now == column else "" if now == f"-{column}" else column)


def _arrow(opened: OpenRun, order: np.ndarray) -> pa.Table:
    """The table's texts, by the columns' names in filters."""
    order = order[:MOST_LISTED]
    names = [name for name in ("id", *opened.run.text_columns, "gold", "tags") if name in opened.table.columns]
    found = opened.table.take(order, names)
    texts: dict[str, Iterable[str]] = {name: found.column(name).to_pylist() for name in names[:-1]}
    for i, model in enumerate(opened.run.models):
        classes = np.array(class_names(model.labels, model.roles.judged), dtype=object)
        texts[column_of("predicted", i)] = classes[model.best[order]]
        texts[column_of("p", i)] = [
            shown(p, len(model.labels)) for p in model.probabilities[order, model.best[order]].tolist()
        ]
    texts["tags"] = [", ".join(sorted(tags)) for tags in found.column("tags").to_pylist()]
    return pa.table({name: pa.array([text or "" for text in values], pa.string()) for name, values in texts.items()})


def _open_row(opened: OpenRun, place: int, order: np.ndarray) -> None:
    """The texts, predictions, links, tags and notes of one row."""
    run, key = opened.run, opened.run.keys[place]
    row = run.dataset.rows[place]
    at = np.flatnonzero(order == place)

    def neighbour(step: int) -> str | None:
        """The key of the row ``step`` rows below in the table."""
        exists = at.size and 0 <= at[0] + step < len(order)
        return run.keys[order[at[0] + step]] if exists else None

    head = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with head:
        page_style.heading(row_title(key))
    for label, icon, target in (
        ("Previous row", "chevron_left", neighbour(-1)),
        ("Next row", "chevron_right", neighbour(1)),
        ("Close the row", "close", ""),
    ):
        head.button(
            label,
            key=f"desk-step-{icon}",
            icon=f":material/{icon}:",
            disabled=target is None,
            type="tertiary",
            on_click=PAGE.change,
            kwargs={"row": target},
        )
    roles = run.roles
    texts = [(roles.first, row.first), (roles.second, row.second), ("label of the file", row.shown_label)]
    models = [
        {
            "letter": LETTERS[i],
            "title": model.title,
            "predicted": class_names(model.labels, model.roles.judged)[model.best[place]],
            "right": bool(run.right(i)[place]) if run.gold_answers[i][place] >= 0 else None,
            "probabilities": model.probabilities[place].tolist(),
            "colours": class_colours(model.labels),
        }
        for i, model in enumerate(run.models)
    ]
    present = [(role, text) for role, text in texts if text]
    st.html(render("desk/row.html", texts=present, models=models))
    _links(opened, place)
    row_effects.draw(opened, place)
    said = zip((roles.first, roles.second), words_of(row), strict=True)
    named = [(f"People name in the {role}", [word for word, told in words.items() if told]) for role, words in said]
    if present := [(about, ", ".join(words)) for about, words in named if words]:
        st.html(render("desk/row.html", texts=present, models=()))
    row_tags.draw(opened, key)
    row_map.draw_similar(opened, place)
    others = {name: text for name, text in row.columns.items() if text}
    if others:
        with st.expander("Other columns of the file"):
            page_style.terms(others.items())


def _links(opened: OpenRun, place: int) -> None:
    """Links to the row's pair on Explore and Compare."""
    row = opened.run.dataset.rows[place]
    texts = {"first": row.first, "second": row.second}
    if not row.second or not fits_a_link(texts):
        return
    st.session_state["desk place"] = (PAGE.state.address(), (row.first, row.second))
    names = [checkpoint_named(model) for model in opened.run.models]
    explained = offered(explains_texts)
    with st.container(horizontal=True, gap="small"):
        for number, name in enumerate(names):
            if name in explained:
                label = f"Explore, {LETTERS[number]}" if len(names) > 1 else "Explore"
                page_style.page_link("explore", {"model": name, **texts}, label)
        first, *others = [name for name in names if name] or [""]
        if others or (first and first not in explained):
            models = {"model": first, "with": ",".join(others)}
            page_style.page_link("compare", models | texts)
