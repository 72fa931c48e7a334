"""Explore: one pair, one model, its verdict, and by what road it came to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import page_style as look
from app.components.pair_view import KEY, pair_view
from app.model_choice import offered, reads_pairs
from app.page_state.codec import fits_a_link
from app.page_state.explore import SHOWN, ExploreState, Selection
from app.page_state.session import PageSession
from app.pair_form import PairForm, digest, titles
from app.panels import attention, card, filters, tables, verdict
from core.checkpoint import Checkpoint, CheckpointError, available, load_named
from core.evidence import AttentionMap, Explanation, GeneratedFilters, PhraseSelection
from core.explain import explain, with_nearest
from core.reading.reader import PairError

ALONE = "nli-hypothesis-only"
"""The checkpoint that reads the judged sentence only, for the comparison beside the verdict."""

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    look.apply()
    models = offered(reads_pairs, unreadable=True)  # those of single texts belong to the page Filter map
    PAGE.open(dict.fromkeys(models, ""))
    _sidebar(models)
    FORM.sentences(models.get(PAGE.state.model or ""))
    explained = FORM.explained(_explained, "No model is installed: train one with `python -m trainers train`")
    if explained is not None:
        _show(PAGE.state, *explained, PAGE.problems)


def _selected() -> None:
    """The browser's selection, unless it belongs to a pair that is no longer shown."""
    PAGE.touch()
    session = st.session_state
    picked = session[KEY].get("selection") or {}
    session["turn"] = picked.get("turn", 0)
    if picked.get("id") == session.get("drawn"):
        PAGE.change(selection=Selection(picked.get("row"), picked.get("column")))


def _sidebar(models: Mapping[str, Path]) -> None:
    with st.sidebar:
        FORM.model(titles(models))
        FORM.example()
        shown = list(SHOWN)
        st.radio(
            "Matrix shows", shown, shown.index(PAGE.state.show), key=PAGE.key("show"), on_change=PAGE.take,
            args=("show", PAGE.key("show")), format_func=SHOWN.__getitem__,
        )  # fmt: skip
        FORM.files()


def _explained(page: ExploreState) -> tuple[Checkpoint, Explanation, Explanation | None]:
    """The model's explanation of the pair, computed once as long as pair and checkpoint stay the same."""
    assert page.model is not None
    session = st.session_state
    with st.spinner("Loading the model …"):
        checkpoint = load_named(page.model)
    key = (page.model, checkpoint.card["sha256"], page.pair.now)
    if session.get("explained_key") != key:
        with st.spinner("Reading the pair …"):
            session["explained"] = explain(checkpoint, *page.pair.now)
            session["alone"] = _alone(checkpoint, page)
        session["explained_key"] = key
    return checkpoint, session["explained"], session["alone"]


def _alone(checkpoint: Checkpoint, page: ExploreState) -> Explanation | None:
    if checkpoint.name == ALONE or ALONE not in available() or checkpoint.card["task"] != "entailment":
        return None
    try:
        return explain(load_named(ALONE), *page.pair.now)
    except (CheckpointError, PairError):
        return None


def _show(
    page: ExploreState, checkpoint: Checkpoint, explanation: Explanation, alone: Explanation | None, problems: list[str]
) -> None:
    matrix, drawn = attention.payload(explanation, page.show), filters.payload(explanation)
    sides = _sides(explanation, matrix)
    lengths = {side["axis"]: len(side["tokens"]) for side in sides if side["axis"]}
    chosen = page.selection
    problems = list(problems)
    if chosen is not None and not chosen.fits(lengths.get("row", 0), lengths.get("column", 0)):
        problems.append(f"The link selects {chosen}, but this pair has no such word: nothing is selected.")
        chosen = None
    selection = chosen or Selection(attention.default_row(explanation))
    if selection.row is not None:
        explanation = with_nearest(checkpoint, explanation, selection.row)
    parameters = replace(page, selection=None).link_parameters()
    if parameters is None:
        problems.append("This pair is too long for a link: “Save and open” in the sidebar keeps it in a file.")
    drawing = {
        "id": digest([page.model, *page.pair.now]),
        "sides": sides,
        "verdict": verdict.payload(explanation, alone),
        "attention": matrix,
        "windows": attention.windows(explanation),
        "filters": drawn,
        "instead": _instead(explanation),
        "notices": [*problems, *explanation.warnings],
        "footer": [explanation.title, *card.made_and_measured(checkpoint.card), f"{explanation.milliseconds:.0f} ms"],
        "link": parameters,
        "linkable": parameters is not None,
    }
    st.session_state["drawn"] = drawing["id"]
    data = drawing | {
        "drawing": digest(drawing),
        "nearest": attention.nearest(explanation),
        "selection": {"row": selection.row, "column": selection.column},
        "chosen": chosen is not None,
        "turn": st.session_state.get("turn", 0),
    }
    pair_view(data, _selected)
    if explanation.find(PhraseSelection) is not None:
        _elsewhere(page, "phrases", "Phrases", "Show this pair’s phrases")
    if explanation.find(GeneratedFilters) is not None:
        _elsewhere(page, "filter_map", "Filter map", "Show this pair’s filters on the map")
    _downloads(explanation)


def _sides(explanation: Explanation, matrix: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Both sentences in reading order. ``axis``: the edge of the matrix a side stands on (None without attention)."""
    first, second = explanation.first, explanation.second
    if matrix is not None and matrix["rows"] == matrix["columns"]:
        first = second = explanation.sentence(matrix["rows"])
    out = [attention.sentence(first), attention.sentence(second)]
    for place, side in enumerate(out):
        side["judged"] = side["role"] == explanation.judged
        is_row = side["judged"] if first is not second else place == 1
        side["axis"] = "row" if is_row else "column"
    return out


def _instead(explanation: Explanation) -> str:
    """What stands in the place of the matrix, for a model without attention over words."""
    if explanation.find(PhraseSelection) is not None:
        return "This model compares phrases, not words: the page Phrases shows what it keeps of this pair."
    sides = len(filters.provenances(explanation))
    if any(isinstance(record, AttentionMap) for record in explanation.evidence):
        return "This model’s attention is over windows of words: below stands what each window takes in."
    if sides > 1:
        return "This model has no attention over words to show: it compares what filters find in either text."
    if sides:
        return "This model reads the judged sentence alone, so it has no attention to show."
    return "This model has no attention over words to show: its verdict stands above."


def _elsewhere(page: ExploreState, file: str, title: str, label: str) -> None:
    """A link to the same pair and model on another page."""
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    there = st.Page(Path(__file__).with_name(f"{file}.py"), title=title, url_path=file.replace("_", "-"))
    # A pair too long for a link is there all the same: the pages of a session share it.
    st.page_link(there, label=label, icon=":material/arrow_forward:", query_params=pair if fits_a_link(pair) else model)


def _downloads(explanation: Explanation) -> None:
    with st.container(horizontal=True, gap="small"):

        def save(label: str, make: Any, name: str, kind: str) -> None:
            st.download_button(label, make, name, kind, type="tertiary", on_click="ignore", key=f"save {name}")

        save("All numbers (JSON)", lambda: explanation.to_json(indent=1), "pairlens.json", "application/json")
        if explanation.word_attention is not None:
            save("Attention (CSV)", lambda: tables.attention_csv(explanation), "pairlens-attention.csv", "text/csv")
        if filters.provenances(explanation):
            save("Filters (CSV)", lambda: tables.filters_csv(explanation), "pairlens-filters.csv", "text/csv")


main()
