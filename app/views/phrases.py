"""Phrases: what k-min and k-max pooling keep of both sentences, and what the verdict makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import components, page_style
from app.model_choice import by_task, kinds, offered, shows
from app.page_state.phrases import LARGEST_K, PhraseState, PickedPhrase
from app.page_state.session import PageSession
from app.pair_form import PairForm, once, titles
from app.panels import phrase_selection
from app.panels.verdict import class_names
from core.checkpoint import Checkpoint, CheckpointError, load_named, read_card
from core.evidence import Explanation, PhraseSelection
from core.explain import explained
from core.reading.reader import PairError

KEY = "phrases of the pair"
"""Of the component that draws them."""
COMPARED = 5
"""The comparison has at most this many models: more would push its reading off the first screen."""

PAGE = PageSession(PhraseState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    models = offered(shows(PhraseSelection), last=lambda card, _: bool(_closed(card)))
    PAGE.open(kinds(models))
    page_style.apply(projector=PAGE.state.projector)
    components.load()
    with st.sidebar:
        page_style.projector_switch(PAGE)
        FORM.task_and_model(by_task(models), _named(models))
        FORM.example()
        FORM.files()
    FORM.sentences(models.get(PAGE.state.model or ""))
    explained = FORM.explained(
        lambda page: FORM.explanation("Aligning the phrases …"),
        "No phrase model is installed: train one with `python -m trainers train te-phrases-kmin`",
    )
    if explained is not None:
        page, (checkpoint, explanation) = PAGE.state, explained
        names = _task_mates(page, models)
        if page.model in names:
            _row(page, page.model, models, explanation)
        missing = [name for name in names if _of(name, models) not in _rows(page)]
        if missing:
            # To draw the page first and run it again would swallow a press on another page's link meanwhile.
            with st.spinner("Reading the pair with the other models …"):
                for name in missing:
                    _row(page, name, models)
        compared = [_rows(page)[_of(name, models)] | {"shown": name == page.model} for name in names]
        _show(page, checkpoint, explanation, compared, PAGE.problems)


def _closed(card: Mapping[str, Any]) -> str:
    """What makes its vocabulary a closed one (a word table of its own, or linguistic features), else empty."""
    words, config = card["words"], card["config"]
    if isinstance(words, Mapping) and words.get("own") and not words.get("over"):
        return "words of its data set"
    return "with linguistic features" if isinstance(config, Mapping) and config.get("extra", "none") != "none" else ""


def _named(models: Mapping[str, Path]) -> dict[str, str]:
    closed = {name: _closed(read_card(folder)) for name, folder in models.items()}
    return {name: f"{title} ({closed[name]})" if closed[name] else title for name, title in titles(models).items()}


def _picked() -> None:
    """The browser's k and phrase."""
    picked = FORM.picked(KEY)
    if picked is not None:
        k, selection = picked.get("k"), PickedPhrase.parse(picked.get("select") or "")
        PAGE.change(k=k if isinstance(k, int) and 1 <= k <= LARGEST_K else None, selection=selection)


def _task_mates(page: PhraseState, models: Mapping[str, Path]) -> list[str]:
    """Models of the shown one's task and of the open vocabulary, and the shown one: a pair says nothing to a model of
    another task."""
    cards = {name: read_card(folder) for name, folder in models.items()}
    task = cards[page.model or ""]["task"]
    known = [name for name, card in cards.items() if not _closed(card) and card["task"] == task]
    names = known[:COMPARED]
    if page.model is not None and page.model not in names:
        names[COMPARED - 1 :] = [page.model]
    return names


def _row(page: PhraseState, name: str, models: Mapping[str, Path], explanation: Explanation | None = None) -> None:
    """Read the pair with this model, unless its ``explanation`` is there."""
    title, task = titles(models)[name], str(read_card(models[name])["task"])
    try:
        explanation = explanation or explained(load_named(name), *page.pair.now)
        row = phrase_selection.row(explanation, name, title, task)
    except (CheckpointError, PairError) as error:
        row = {"name": name, "title": title, "how": f"cannot be used: {error}", "classes": []}
    _rows(page)[_of(name, models)] = row


def _rows(page: PhraseState) -> dict[tuple[str, str], dict[str, Any]]:
    """What this session knows of the pair by model and checksum; another pair begins anew."""
    rows: dict[tuple[str, str], dict[str, Any]] = once("verdicts of the phrase models", page.pair.now, dict)
    return rows


def _of(name: str, models: Mapping[str, Path]) -> tuple[str, str]:
    return name, str(read_card(models[name]).get("sha256"))


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
    drawn |= {"projector": page.projector, "gold": page.gold(class_names(explanation))}
    k = page.k or min(record.k, LARGEST_K)
    components.draw(
        "phrases",
        drawn,
        key=KEY,
        models=compared,
        on_selection_change=_picked,
        k=k,
        select=None if selection is None else str(selection),
        **FORM.moving(KEY),
    )
    _downloads(explanation, k)


def _downloads(explanation: Explanation, k: int) -> None:
    record, stem = phrase_selection.selection(explanation), components.file_stem(explanation)
    with st.container(horizontal=True, gap="small"):
        page_style.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), f"pairlens-{stem}.json")
        page_style.download(
            f"Phrases at k = {k} (CSV)", lambda: record.table(explanation, k), f"pairlens-phrases-k{k}-{stem}.csv"
        )


main()
