"""Models: the card of every checkpoint, shipped or user-supplied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from app import charts, own_models, page_style
from app.model_choice import Card, Listed, explains_texts, offered, reads_pairs, shows, titles
from app.models import card as lines
from app.models import guest, own, sizes, table
from app.page_state.models import COLUMNS, TEXTS, ModelsState
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from app.panels import lists
from core.card import CardAlignment, is_external
from core.checkpoint import available
from core.checkpoint.unlisted import is_visitors
from core.evaluation import alignment_table, faithfulness_table, people_table, sweeps
from core.evidence import GeneratedFilters, PhraseSelection
from core.models import REGISTRY

PLACE_IN_MENU = 7

_WIDTHS = (180, 130, 100, 130, 120, 90, 195)
"""Width of the table's columns in pixels at normal size."""
_SORTS = {
    sign + column: title + order
    for column, title in COLUMNS.items()
    for sign, order in (("", ""), ("-", ", descending"))
}
_ROW = 61
"""Height of a row in pixels at normal size. Streamlit does not wrap text in rows up to 60."""

PAGE = PageSession(ModelsState)


def main() -> None:
    """Draws the page: all models, or the card of one."""
    models = offered(lambda card: True, unreadable=True)
    cards = {name: model.card for name, model in models.items() if model.card is not None}
    broken = [f"Not shown: {model.problem}." for model in models.values() if model.card is None]
    PAGE.open(dict.fromkeys(cards, ""))
    page_style.apply(PAGE)
    with st.sidebar:
        names = {name: title for name, title in titles(models).items() if name in cards}
        choice(PAGE, "model", "Card of", names, opens=True)
        if PAGE.state.model is None:
            choice(PAGE, "sort", "Sort by", _SORTS, opens=True)
    PAGE.write_link()
    if not cards:
        page_style.notice(broken)
        page_style.hint(
            "No model is installed yet: train one with `python -m trainers train`, and name the folder that holds it "
            "in PAIRLENS_CHECKPOINTS."
        )
    elif PAGE.state.model is None:
        page_style.notice([*PAGE.problems, *broken])
        _table(cards, models)
    else:
        name = PAGE.state.model
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button("All models", icon=":material/arrow_back:", type="tertiary", on_click=_close)
            if not cards[name].get("asked"):
                _shown_on(name, cards[name])
        page_style.notice(PAGE.problems)
        try:
            _card(name, cards[name], models[name].folder)
        except Exception as error:  # a user's card may contain anything
            page_style.notice([f"The card of {name} cannot be read to its end ({error}): copy the checkpoint again."])


def _close() -> None:
    PAGE.set(replace(PAGE.state, model=None))


_PAGES = (
    ("explore", explains_texts),
    ("compare", reads_pairs),
    ("phrases", shows(PhraseSelection)),
    ("filter_map", shows(GeneratedFilters)),
)


def _shown_on(name: str, card: Card) -> None:
    """Links to the pages that show this model's features."""
    for page, fits in _PAGES:
        if fits(card):
            page_style.page_link(page, {"model": name})


def _table(cards: Mapping[str, Card], models: Mapping[str, Listed]) -> None:
    """All models by task, the visitor's own first, and a button that times their explanations. Timing loads every model
    and evicts others from memory, so it only runs on request."""
    tasks = list(dict.fromkeys(str(card["task"]) for card in cards.values()))
    rows, shown, mine = {}, titles(models), own_models.known()
    for name in sorted(cards, key=lambda name: (name not in mine, tasks.index(str(cards[name]["task"])))):
        try:
            rows[name] = table.row(name, shown[name], cards[name], models[name].folder)
        except Exception as error:  # a user's card may contain anything
            page_style.notice([f"Not shown: the card of {name} cannot be read to its end ({error})."])
    names = table.ordered(rows, PAGE.state.sort)
    key = f"models {PAGE.state.sort} {PAGE.state.projector}"  # a different order needs a new table

    def picked() -> None:
        PAGE.touch()
        selected = st.session_state[key].selection
        for column in selected.columns:
            PAGE.set(PAGE.state.sorted_by(column))
        for place, _ in selected.cells:
            PAGE.set(replace(PAGE.state, model=names[place]))

    untimed = table.untimed(cards)
    timed = str(PAGE.state.sort).endswith("time") or any(cells["time"] != table.UNKNOWN for cells in rows.values())
    columns = [column for column in COLUMNS if column != "time" or timed]
    page_style.heading(f"All {len(names)} models")
    page_style.note("Click a row to open its card; click a column name to sort.")
    scale = page_style.enlarged(PAGE.state.projector)
    st.dataframe(
        pd.DataFrame([{column: rows[name][column].text for column in columns} for name in names]),
        key=key,
        height="content",
        row_height=round(_ROW * scale),
        hide_index=True,
        column_config=_columns(scale),
        on_select=picked,
        selection_mode=["single-cell", "single-column"],
        alt="Table of models",
    )
    page_style.note(
        "Measured on the data sets’ dev parts here; a paper’s number is on its own test set, with its training data."
        + (" “Explains in”: one example, on this machine." if timed else "")
    )
    if untimed and st.button("Time the models on this machine", icon=":material/timer:", on_click=PAGE.touch):
        _time(untimed, cards)
    points = sizes.sizes(cards, {name: model.folder for name, model in models.items()})
    if len(points) > 1:
        page_style.heading("Accuracy against size")
        page_style.note("Names mark gains of at least one point over smaller models; point at a mark for the others.")
        charts.draw(sizes.chart(points), PAGE.state.projector, key="accuracy against size")


def _time(names: Sequence[str], cards: Mapping[str, Card]) -> None:
    """Times each model's explanation of an example. Leaving the page or clicking elsewhere stops it; the times measured
    so far are kept."""
    bar = st.progress(0.0)
    for done, name in enumerate(names):
        bar.progress(done / len(names), f"Timing model {done + 1} of {len(names)} …")
        table.measure(name, cards[name])
    st.rerun()


def _columns(scale: float) -> dict[str, Any]:
    """Column names, with an arrow on the sorted column, and widths."""
    sort = PAGE.state.sort or ""
    arrows = {sort.removeprefix("-"): " ↓", sort: " ↑"}
    return {
        name: st.column_config.TextColumn(
            title + arrows.get(name, ""),
            width=round(scale * width),
            alignment="left" if name in TEXTS else "right",
        )
        for (name, title), width in zip(COLUMNS.items(), _WIDTHS, strict=True)
    }


def _card(name: str, card: Card, folder: Path) -> None:
    left, right = st.container(key="side by side, card").columns([1.25, 1], gap="large")
    missing: tuple[str, ...] = ()
    if "base" in card:
        facts, command = own.about(card), ""
    elif is_external(card):
        facts, command = guest.facts(card, folder), ""
    else:
        facts = [*lines.facts(card, folder), ("Recipe", lines.recipe(card) or "see card.json")]
        command, missing = lines.command(card), lines.missing_runs(card, available())
    with left:
        page_style.heading(str(card["title"]))
        for what, text in lines.summary(card):
            st.markdown(f"**{what}:** {page_style.plain(text)}")
        lists.table((), facts)
        if command:
            are = "is" if len(missing) == 1 else "are"
            gone = f" (not possible here: {', '.join(missing)} {are} not distributed)" if missing else ""
            page_style.note(f"Train it again{gone}:")
            st.code(command, language=None, wrap_lines=True)
        page_style.note(_with_paper(lines.description(card), card))
    with right:
        lists.table((), lines.results(card))
        _curve(lines.curve(card), str(card["title"]))
    if "base" in card or is_visitors(name, folder):
        own.manage(PAGE, name, card, folder)
    if guest.names_classes(card):
        guest.ask(name, card, folder)
    if card.get("alignment"):
        with st.expander("Attention against people’s word alignments"):
            _alignment(card["alignment"])
    if card.get("faithfulness"):
        with st.expander("Faithfulness of the explanations"):
            _faithfulness(card["faithfulness"])
    if card.get("people"):
        with st.expander("Effects against people’s own reasons"):
            _people(card["people"])
    for path in lines.tables(folder):
        try:
            sweep = sweeps.read(path)
        except sweeps.SweepError as error:
            page_style.notice([str(error)])
            continue
        heading = _heading(sweep, page_style.capital(re.sub("[_-]", " ", path.stem)))
        with st.expander(page_style.plain(heading)):
            _sweep(sweep, card)
            page_style.download(page_style.plain(path.name), sweep.data, path.name, icon=":material/download:")


def _with_paper(text: str, card: Card) -> str:
    """The text with the paper's name after each section number."""
    spec = REGISTRY.get(str(card["architecture"]))
    return re.sub(r"\((?=sections? )", f"({spec.paper}, ", text) if spec else text


def _heading(sweep: sweeps.Sweep | sweeps.Comparisons, name: str) -> str:
    """A study's heading; ``name``: the file name, used if the columns do not tell."""
    return "Cross-validation" if isinstance(sweep, sweeps.Sweep) and sweep.folds and not sweep.varied else name


def _alignment(stored: CardAlignment) -> None:
    """Agreement of attention with human word alignments."""
    caption = alignment_table.CAPTION.format(fixed_on=stored["fixed_on"])
    results = stored["results"]
    _study(caption, [measured["command"] for measured in results.values()], alignment_table.table(results))


def _faithfulness(stored: faithfulness_table.Stored) -> None:
    """How well each explanation method finds the decisive words, and the effect of moved attention."""
    moved = f"{faithfulness_table.MOVED} {faithfulness_table.in_words(stored)}"
    commands = [measured["command"] for measured in stored.values()]
    _study(faithfulness_table.CAPTION.format(moved=moved), commands, faithfulness_table.table(stored))


def _people(stored: people_table.Stored) -> None:
    """How often each explanation method names the words that people give as reasons."""
    _study(people_table.CAPTION, [one["command"] for one in stored.values()], people_table.table(stored))


def _study(caption: str, commands: Sequence[str] = (), table: Sequence[Mapping[str, str]] = ()) -> None:
    """A table with its caption."""
    if table:
        lists.table(list(table[0]), [list(row.values()) for row in table])
    page_style.note(caption)
    for command in commands:
        st.code(command, language=None, wrap_lines=True)


def _sweep(sweep: sweeps.Sweep | sweeps.Comparisons, card: Card) -> None:
    """A sweep's table with its caption."""
    if isinstance(sweep, sweeps.Comparisons):
        _study(sweeps.COMPARED, table=sweep.rows)
        return
    commands = [sweep.command] if sweep.command else []
    _study(sweeps.caption(sweep, lines.dev_set(card)), commands, sweep.averages())


def _curve(rows: list[dict[str, Any]], title: str) -> None:
    if len({row["epoch"] for row in rows}) < 2:
        return
    import altair as alt  # imported here, so that Explore starts without it

    measure = " and ".join(dict.fromkeys(row["measure"] for row in rows))
    axis, exact = ("f", ".4f") if measure == "MAP" else ("%", ".2%")  # an axis needs only the digits of its ticks
    chart = (
        alt.Chart({"values": rows})
        .mark_line(point=True)
        .encode(
            alt.X("epoch:Q").axis(tickMinStep=1, format="d", grid=False),
            alt.Y("score:Q").title(None).axis(format=axis, tickCount=4).scale(zero=False),
            alt.Color("set:N").title(None).legend(orient="bottom"),
            tooltip=["set:N", "epoch:Q", alt.Tooltip("score:Q", title=measure, format=exact)],
        )
        .properties(height=190, description=f"{page_style.capital(measure)} after each epoch of {title}")
    )
    charts.draw(chart, PAGE.state.projector)
    sets = " and ".join(dict.fromkeys(row["set"] for row in rows))
    _study(f"{page_style.capital(measure)} on {sets} after each epoch.")


main()
