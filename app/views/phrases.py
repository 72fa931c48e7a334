"""Phrases: the phrases that k-min and k-max pooling keep of both sentences, and the resulting verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import components, page_style
from app.model_choice import Card, Listed, by_task, kinds, offered, shows, titles
from app.page_state.codec import unusable
from app.page_state.phrases import LARGEST_K, PhraseState
from app.page_state.session import PageSession
from app.pair_form import PairForm
from app.panels import phrase_selection
from app.panels.phrase_selection import ModelVerdict, Phrases
from app.panels.verdict import ClassShare
from app.panels.verdict import shares as shares_of
from core.checkpoint import Checkpoint, CheckpointError, load_named
from core.evidence import Explanation, PhraseSelection
from core.explain import explained
from core.reading.reader import PairError

PLACE_IN_MENU = 3

KEY = "phrases of the pair"
"""Key of the component that draws the phrases."""

PAGE = PageSession(PhraseState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draws the page."""
    models = offered(shows(PhraseSelection), last=lambda card, _: bool(_closed(card)))
    page = PAGE.open(kinds(models))
    page_style.apply(PAGE)
    with st.sidebar:
        FORM.task_and_model(by_task(models), _named(models))
        FORM.example()
        FORM.files()
    FORM.sentences(models)
    read = FORM.answer(
        _explained,
        "No phrase model is installed: train one with `python -m trainers train te-phrases-kmin`",
    )
    if read is not None:
        mates = _task_mates(page, models)
        with page_style.patience(lambda: "Reading the pair with the other models …", mates):
            compared = [_verdict(page, name, models) for name in mates]
        _show(page, *read, compared)
    PAGE.write_link()


def _explained(page: PhraseState) -> tuple[Checkpoint, Explanation]:
    checkpoint = load_named(page.model or "")
    return checkpoint, explained(checkpoint, *page.pair.now)


def _closed(card: Card) -> str:
    """The reason its vocabulary is closed (its own word vectors, or linguistic features), else empty."""
    words, config = card["words"], card["config"]
    if isinstance(words, Mapping) and words.get("own") and not words.get("over"):
        return "words of its data set"
    return "with linguistic features" if isinstance(config, Mapping) and config.get("extra", "none") != "none" else ""


def _named(models: Mapping[str, Listed]) -> dict[str, str]:
    closed = {name: _closed(model.card) for name, model in models.items() if model.card}
    return {name: f"{title} ({closed[name]})" if closed[name] else title for name, title in titles(models).items()}


def _picked() -> None:
    """Takes over the browser's k and phrase."""
    picked = components.picked(PAGE, KEY)
    if picked.get("id") == FORM.id:
        PAGE.change(k=picked.get("k"), selection=picked.get("select"))


def _task_mates(page: PhraseState, models: Mapping[str, Listed]) -> list[str]:
    """Models for the same task: models for other tasks cannot judge the pair."""
    cards = {name: model.card for name, model in models.items() if model.card}
    task = cards[page.model or ""]["task"]
    return [name for name, card in cards.items() if card["task"] == task]


def _verdict(page: PhraseState, name: str, models: Mapping[str, Listed]) -> ModelVerdict:
    """The model's verdict on the pair."""
    shares: tuple[ClassShare, ...] = ()
    try:
        checkpoint = load_named(name)
        explanation = explained(checkpoint, *page.pair.now)
        how = phrase_selection.how(explanation, checkpoint.card["task"])
        shares = shares_of(explanation)
    except (CheckpointError, PairError) as error:
        how = f"cannot be used: {error}"
    return ModelVerdict(name, titles(models)[name], how, shares, name == page.model)


def _show(
    page: PhraseState, checkpoint: Checkpoint, explanation: Explanation, compared: Sequence[ModelVerdict]
) -> None:
    record = phrase_selection.selection(explanation)
    selection, problems = page.selection, PAGE.problems
    if selection is not None and int(selection[1:]) > len(record.sides["ab".index(selection[0])].phrases):
        problems += unusable(["select"])
        selection = None
    k = page.k or min(record.k, LARGEST_K)
    components.draw(
        "phrases",
        Phrases.of(explanation, page.gold(explanation.class_names), compared),
        components.frame(explanation, checkpoint.card, page, problems),
        key=KEY,
        on_selection_change=_picked,
        k=k,
        select=selection,
        id=FORM.id,
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
