"""Phrases: what k-min and k-max pooling keep of both sentences, and what the verdict makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import components
from app import page_style as look
from app.model_choice import offered, shows
from app.page_state.phrases import LARGEST_K, PhraseState, PickedPhrase
from app.page_state.session import PageSession
from app.pair_form import PairForm, digest, titles
from app.panels import phrase_selection
from core.checkpoint import Checkpoint, CheckpointError, load_named, read_card
from core.evidence import Explanation, PhraseSelection
from core.explain import explain
from core.reading.reader import PairError

KEY = "phrases of the pair"
"""Of the component that draws them."""
COMPARED = 5
"""At most this many models stand in the comparison: more would push its reading off the first screen."""

PAGE = PageSession(PhraseState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    look.apply()
    models = offered(shows(PhraseSelection), last=lambda card, _: bool(_closed(card)))
    PAGE.open(dict.fromkeys(models, ""))
    with st.sidebar:
        FORM.model(_named(models))
        FORM.example()
        FORM.files()
    FORM.sentences(models.get(PAGE.state.model or ""))
    explained = FORM.explained(
        _explained, "No phrase model is installed: train one with `python -m trainers train te-phrases-kmin`"
    )
    if explained is not None:
        _show(PAGE.state, *explained, _compared(PAGE.state, models), PAGE.problems)


def _closed(card: Mapping[str, Any]) -> str:
    """What makes its vocabulary a closed one (a word table of its own, or linguistic features), else empty."""
    words, config = card["words"], card["config"]
    if isinstance(words, Mapping) and words.get("own"):
        return "words of its data set"
    return "with linguistic features" if isinstance(config, Mapping) and config.get("extra", "none") != "none" else ""


def _named(models: Mapping[str, Path]) -> dict[str, str]:
    closed = {name: _closed(read_card(folder)) for name, folder in models.items()}
    return {name: f"{title} ({closed[name]})" if closed[name] else title for name, title in titles(models).items()}


def _picked() -> None:
    """The browser's k and phrase, unless they belong to a pair that is no longer shown."""
    PAGE.touch()
    session = st.session_state
    picked = session[KEY].get("selection") or {}
    session["phrases turn"] = picked.get("turn", 0)
    if picked.get("id") == session.get("phrases drawn"):
        k, selection = picked.get("k"), PickedPhrase.parse(picked.get("select") or "")
        PAGE.change(k=k if isinstance(k, int) and 1 <= k <= LARGEST_K else None, selection=selection)


def _explained(page: PhraseState) -> tuple[Checkpoint, Explanation]:
    """The model's explanation of the pair, computed once as long as pair and checkpoint stay the same."""
    assert page.model is not None
    session = st.session_state
    with st.spinner("Loading the model …"):
        checkpoint = load_named(page.model)
    key = (page.model, checkpoint.card["sha256"], page.pair.now)
    if session.get("phrases key") != key:
        with st.spinner("Aligning the phrases …"):
            session["phrases explained"] = explain(checkpoint, *page.pair.now)
        session["phrases key"] = key
    return checkpoint, session["phrases explained"]


def _compared(page: PhraseState, models: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Models of the open vocabulary on this pair, the shown one among them, each under its own pooling and k."""
    cards = {name: read_card(folder) for name, folder in models.items()}
    known = [name for name, told in cards.items() if not _closed(told)]
    names = known[:COMPARED]
    if page.model in known[COMPARED:]:
        names[-1] = page.model
    key = (page.pair.now, tuple((name, cards[name]["sha256"]) for name in names))
    session = st.session_state
    if session.get("phrases compared key") != key:
        rows, shown = [], titles(models)
        for name in names:
            try:
                explanation = explain(load_named(name), *page.pair.now)
                rows.append(phrase_selection.row(explanation, name, shown[name], str(cards[name]["task"])))
            except (CheckpointError, PairError) as error:
                rows.append({"name": name, "title": shown[name], "how": f"cannot be used: {error}", "classes": []})
        session["phrases compared"], session["phrases compared key"] = rows, key
    return [row | {"shown": row["name"] == page.model} for row in session["phrases compared"]]


def _show(
    page: PhraseState,
    checkpoint: Checkpoint,
    explanation: Explanation,
    compared: list[dict[str, Any]],
    problems: list[str],
) -> None:
    record = phrase_selection.selection(explanation)
    selection = page.selection
    if selection is not None and not selection.fits([len(side.phrases) for side in record.sides]):
        problems.append(f"The link selects {selection}, but this pair has no such phrase: nothing is selected.")
        selection = None
    link = replace(page, k=None, selection=None).link_parameters()
    drawn = phrase_selection.payload(explanation) | components.frame(explanation, checkpoint.card, link, problems)
    st.session_state["phrases drawn"] = digest([page.model, *page.pair.now])
    k = page.k or min(record.k, LARGEST_K)
    components.draw(
        "phrases",
        drawn | {"models": compared, "id": st.session_state["phrases drawn"]},
        key=KEY,
        on_selection_change=_picked,
        k=k,
        select=None if selection is None else str(selection),
        turn=st.session_state.get("phrases turn", 0),
    )
    _downloads(explanation, k)


def _downloads(explanation: Explanation, k: int) -> None:
    record = phrase_selection.selection(explanation)
    with st.container(horizontal=True, gap="small"):
        look.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), "pairlens.json")
        look.download(f"Phrases at k = {k} (CSV)", lambda: record.table(explanation, k), "pairlens-phrases.csv")


main()
