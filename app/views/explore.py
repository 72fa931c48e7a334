"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from app import components, page_style, panels
from app.components import About, PairFrame
from app.desk import back_link
from app.effects import asking, late
from app.explore import candidates, heads, pairs_tried, what_if
from app.model_choice import Listed, by_task, explains_texts, judging_alone, kinds, offered, titles, unread
from app.models import card
from app.page_state.codec import fits_a_link, short
from app.page_state.explore import (
    DRAWN,
    HEAD,
    LAYER,
    LINKS,
    METHOD,
    SHOWN,
    TEMPERATURES,
    ExploreState,
    Selection,
    TwoWords,
)
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from app.pair_form import PairForm, digest
from app.pairs import Pair
from app.panels import Drawing, DrawnPanel, belief, effects, links, verdict
from app.panels.panel import Payload
from app.panels.verdict import Verdict
from core.checkpoint import Checkpoint, CheckpointError, load_named
from core.effects import cost
from core.effects.edits import EditError
from core.effects.words import TAKEN_AWAY
from core.errors import MendableError
from core.evidence import Explanation
from core.evidence.attention_map import SIMILARITY
from core.evidence.effects import links_csv
from core.explain import explained, with_nearest
from core.reading.reader import PairError

PLACE_IN_MENU = 1

KEY = "explored pair"
"""Of the component that draws it."""

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    models = offered(explains_texts, unreadable=True)  # of the others Filter map and Compare show more
    page = PAGE.open(kinds(models))
    page_style.apply(projector=page.projector)
    components.load()
    FORM.sentences(models)
    read = FORM.answer(_read, "No model is installed: train one with `python -m trainers train`")
    # The pair first, whose verdict a person waits for, then the link, which takes a browser longer than all else; last
    # what stands below it, so that the sidebar's file holds new candidates by the time that their ranking is seen.
    drawing = None if read is None else _drawing(page, read)
    explanation = None if read is None or drawing is None else _show(page, read, drawing)
    PAGE.write_link()
    with st.sidebar:
        _sidebar(models, drawing)
    if read is not None and drawing is not None and explanation is not None:
        _below(page, read, explanation)
        _late(page, read, drawing)


def _selected() -> None:
    """The browser's selection."""
    picked = components.picked(PAGE, KEY)
    if picked.get("id") != FORM.id:
        return
    if picked.get("edit"):
        try:
            state = what_if.after(PAGE.state, picked["edit"])
            PAGE.set(replace(state, selection=_picked_words(picked)))
        except (EditError, CheckpointError, PairError) as error:
            PAGE.refuse(f"{str(error)[:1].upper()}{str(error)[1:].rstrip('.')}.")
    else:
        method = METHOD.value(picked.get("method") or "") or PAGE.state.method
        both = TwoWords.parse(picked.get("together") or "")
        head = HEAD.value(picked.get("head") or "") or ""
        drawn = DRAWN.value(picked.get("drawn") or "") or ""
        cut = LINKS.value(picked.get("links") or "") or ""
        layer = LAYER.value(str(picked.get("layer") or "")) or 1
        direction, crossings = picked.get("direction"), picked.get("crossings", True)
        PAGE.change(
            selection=_picked_words(picked),
            direction=direction,
            crossings=crossings,
            head=head,
            method=method,
            drawn=drawn,
            links=cut,
            layer=layer,
            together=both,
            turns=picked.get("turns") == "on",
            believed=picked.get("believed") == "on",
        )


def _picked_words(picked: Mapping[str, Any]) -> Selection | None:
    return Selection(picked.get("row"), picked.get("column")) if picked.get("chosen") else None


def _reopen(tried: pairs_tried.Tried) -> None:
    model = tried.name if tried.name in PAGE.models else PAGE.state.model
    PAGE.set(PAGE.state.anew(model=model, texts=(Pair(*tried.texts),)))


def _sidebar(models: Mapping[str, Listed], drawing: Drawing | None) -> None:
    page_style.projector_switch(PAGE)
    FORM.example()
    shown = titles(models)
    names = FORM.task_and_model(by_task(models), shown)
    cards = ((name, models[name].card) for name in names)
    lines = {name: card.one_line(known) for name, known in cards if known is not None}
    if PAGE.state.model in lines:
        page_style.note(lines[PAGE.state.model])
    shown_map = next((one.data for one in drawing.panels if one.data.show is not None), None) if drawing else None
    if shown_map is not None:
        _options(shown_map)
    with st.popover("All models of this task", type="tertiary"):
        page_style.terms([(shown[name], line) for name, line in lines.items()])
    pairs_tried.draw(_reopen)
    FORM.files()


def _options(shown: Payload) -> None:
    """What the first matrix can be asked to show; that of a transformer's head has no scores."""
    of_a_head, lead = bool(vars(shown).get("of")), shown.lead
    if vars(shown).get("units") == SIMILARITY:
        return
    choice(PAGE, "show", "Matrix shows", {name: SHOWN[name] for name in SHOWN if name != "score" or not of_a_head})
    if of_a_head:
        return
    st.select_slider(
        "What if: temperature of the softmax",
        TEMPERATURES,
        PAGE.state.temperature,
        format_func=lambda t: f"{t:g}",
        **PAGE.widget("temperature"),
    )
    if lead is not None:
        page_style.note(
            f"On average a word’s best score is {lead:.1f} higher than its second best, so the softmax gives it "
            f"e^{lead:.1f} times the weight. Divide the scores by more, and the weight spreads."
        )


class Read(NamedTuple):
    """The pair as it was read. ``shown``: the explanation that is drawn, at the page's temperature and with or without
    crossings; ``trained``: the model's own; ``alone``: that of a model that reads the judged sentence alone;
    ``steps``: the pair as typed and after each edit by hand."""

    checkpoint: Checkpoint
    shown: Explanation
    trained: Explanation
    alone: Explanation | None
    steps: Sequence[what_if.Tried]


def _read(page: ExploreState) -> Read:
    head = heads.shown(page, FORM.checkpoint())
    checkpoint, trained = FORM.explanation(head)
    steps, alone = what_if.tried(page, checkpoint, head), None
    name = judging_alone(checkpoint.card)
    if name is not None:
        with contextlib.suppress(CheckpointError, PairError):
            alone = explained(load_named(name), *page.pair.now)
    return Read(checkpoint, steps[len(page.made)].explanation, trained, alone, steps)


def _drawing(page: ExploreState, read: Read) -> Drawing:
    """What is drawn of the pair."""
    checkpoint, shown, trained, alone, steps = read
    unlike = _unlike(page, read)
    own = replace(
        Verdict.of(shown),
        alone=verdict.beside(alone),
        trained=verdict.shares(trained) if unlike else None,
        what_if=unlike,
        meaning=candidates.meaning(checkpoint, shown) if candidates.fits(checkpoint) else "",
        gold=page.gold(verdict.class_names(shown)),
        pinned=pairs_tried.pinned(),
    )
    drawn = heads.with_first(panels.drawing(shown, own, page.show, unread(checkpoint.card)), checkpoint.card)
    followed = late.followed(checkpoint, trained)
    about = checkpoint, page.pair.now
    asked = _questions(page, read).way
    frame = effects.EffectsFrame(followed, asking.ways(*about, asked), bool(unlike), asking.more(*about, asked))
    bars = DrawnPanel("effects", "first", frame)
    turning = asking.price(*about, cost.of_smallest_change)
    edits = DrawnPanel("what_if", "below", replace(what_if.panel(page, checkpoint, steps), cost=turning))
    cut = links.frame(shown, followed, asking.knockouts(*about, shown))
    after = [DrawnPanel("links", "main", cut)] if cut else []
    believing = asking.price(*about, cost.of_believing)
    believed = DrawnPanel("belief", "below", belief.BeliefFrame(followed, believing))
    like = DrawnPanel("like_these", "below", Payload())
    return replace(drawn, panels=(bars, edits, *drawn.panels, *after, believed, like))


def _unlike(page: ExploreState, read: Read) -> str:
    """What is unlike the model as it was trained; empty where nothing is."""
    if read.shown is read.trained:
        return ""
    changes = [f"softmax at temperature {page.temperature:g}"] if page.temperature != 1 else []
    changes += ["without crossings (q = 0)"] if _without_crossings(page, read) else []
    changes += ["attention changed by hand"] if _attention_changed(page, read) else []
    return " and ".join(changes)


def _attention_changed(page: ExploreState, read: Read) -> bool:
    made = len(page.attention)
    return made > 0 and not all(one.problem for one in read.steps[: len(page.made) + 1][-made:])


def _without_crossings(page: ExploreState, read: Read) -> bool:
    return not page.crossings and read.checkpoint.model.counts_crossings


def _show(page: ExploreState, read: Read, drawing: Drawing) -> Explanation:
    """Draw the pair. Returns its explanation with what was looked up for the selected words."""
    selection, problems = page.selection, PAGE.problems
    if selection is not None and not selection.fits(drawing.length("row"), drawing.length("column")):
        problems.append(f"The link selects {selection}, but this pair has no such word: nothing is selected.")
        selection = None
    looking = drawing.directions
    if page.direction not in (None, *looking):
        known = f"it can ask for {' and '.join(looking)}: the first is shown" if looking else "this model has none"
        problems.append(f"The link asks for the direction “{short(page.direction or '')}”; {known}.")
    if not page.crossings and not read.checkpoint.model.counts_crossings:
        problems.append(
            "The link asks for the verdict without crossings, but this model counts none: it is as trained."
        )
    problems += heads.problems(page, read.checkpoint)
    questions = _questions(page, read)
    if page.together is not None and questions.together is None:
        problems.append(f"The link asks for the words {page.together} together, which this pair does not have.")
    selected = selection or late.strongest(questions, drawing) or Selection()
    explanation = _looked_up(read, drawing, selected)
    problems += what_if.problems(page, read.steps)
    pairs_tried.remember(read.trained, what_if.change_of_words(read.steps, len(page.made)))
    components.draw(
        "pair",
        drawing,
        _frame(page, read, drawing.verdict.what_if, problems),
        key=KEY,
        on_selection_change=_selected,
        late=panels.late(explanation),
        selection=vars(selected),
        explicit=selection is not None,
        direction=page.direction,
        crossings=page.crossings,
        asked={
            "head": heads.shown(page, read.checkpoint),
            "method": questions.way.method,
            "drawn": page.drawn,
            "links": page.links,
            "layer": "" if heads.layer(page, read.checkpoint) == 1 else str(page.layer),
            "together": str(questions.together or ""),
            "turns": "on" if page.turns else "",
            "believed": "on" if page.believed else "",
        },
        editable=True,
        tour=True,
        id=FORM.id,
    )
    return explanation


def _looked_up(read: Read, drawing: Drawing, selected: Selection) -> Explanation:
    """The explanation with what is looked up for the selected words."""
    explanation = read.shown
    for side in drawing.sides:
        word = selected.row if side.axis == "row" else selected.column
        if word is not None:
            explanation = with_nearest(read.checkpoint, explanation, word, side.role)
    return explanation


def _questions(page: ExploreState, read: Read) -> late.Questions:
    sides = (read.shown.first, *read.shown.contexts)
    fits = page.together is not None and page.together.fits([len(side.tokens) for side in sides])
    together = page.together if fits else None
    return late.Questions(
        read.checkpoint,
        page.pair.now,
        page.method,
        page.links,
        together,
        offers=True,
        turns=page.turns,
        believed=page.believed,
        like=True,
        crossings=not _without_crossings(page, read),
        drawn=page.drawn,
        layer=heads.layer(page, read.checkpoint),
    )


@st.fragment
def _late(page: ExploreState, read: Read, drawing: Drawing) -> None:
    """What the verdict did not wait for: what words do to it. Only this part runs again until it is computed."""
    questions = _questions(page, read)
    heard = late.hear(questions, read.shown, FORM.id)
    first = None if page.selection is not None else late.strongest(questions, drawing)
    if first is not None:
        heard = replace(heard, selection=first, late=panels.late(_looked_up(read, drawing, first)))
    late.draw(heard)


def _frame(page: ExploreState, read: Read, unlike: str, problems: Sequence[str]) -> PairFrame:
    """The frame of the drawing. Agreement with people was measured on the attention that the model was trained with."""
    # What the browser adds to the link by itself, which changes without a new drawing.
    unselected = replace(
        page,
        selection=None,
        direction=None,
        head="",
        method=TAKEN_AWAY,
        drawn="",
        links="",
        layer=1,
        together=None,
        believed=False,
    )
    frame = components.frame(read.shown, read.checkpoint.card, unselected, problems)
    if not heads.measured(page, read.checkpoint):
        frame = replace(frame, agreement=None)
    if not unlike:
        return frame
    *texts, verdict = components.about(read.shown).lines
    return replace(frame, agreement=None, about=About(_stem(page, read), (*texts, f"{verdict}, what if: {unlike}")))


def _stem(page: ExploreState, read: Read) -> str:
    """A name for files of what is drawn, unlike that of another what if."""
    head = heads.shown(page, read.checkpoint)
    stem = components.file_stem(read.shown) + (f"-{head.replace('.', '-')}" if head else "")
    if read.shown is read.trained:
        return stem
    stem += f"-temperature-{page.temperature:g}" if page.temperature != 1 else ""
    stem += f"-attention-{digest(list(map(str, page.attention)))[:6]}" if _attention_changed(page, read) else ""
    return f"{stem}-without-crossings" if _without_crossings(page, read) else stem


def _below(page: ExploreState, read: Read, explanation: Explanation) -> None:
    """Where else the pair can be looked at, its numbers as files, and candidates for its place."""
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    for more in panels.pages(explanation):
        # A pair too long for a link is there all the same: the pages of a session share it.
        page_style.page_link(more.name, pair if fits_a_link(pair) else model, more.label)
    back_link.draw(page.pair.now)
    _downloads(read, explanation, _stem(page, read), _questions(page, read))
    if candidates.fits(read.checkpoint):
        candidates.draw(PAGE, read.checkpoint)


def _downloads(read: Read, explanation: Explanation, stem: str, questions: late.Questions) -> None:
    """Files, each made when a person asks for it: effects may take longer than the page."""

    def everything() -> str:
        try:
            evidence = (*explanation.evidence, questions.effects())
            evidence += (questions.faithfulness(),) if questions.believed else ()
        except MendableError:  # the page says what is wrong
            evidence = explanation.evidence
        return replace(explanation, evidence=evidence).to_json(indent=1)

    def cut_links() -> str:
        cut = questions.effects().links
        return links_csv(cut, [links.link_map(one, explanation).words for one in cut])

    with st.container(horizontal=True, gap="small"):
        page_style.download("All numbers (JSON)", everything, f"pairlens-{stem}.json")
        effects_of_words = f"pairlens-effects-{questions.computed}-{stem}.csv"
        page_style.download("Effects of words (CSV)", lambda: questions.effects().to_csv(), effects_of_words)
        if questions.links:
            page_style.download("Effects of links (CSV)", cut_links, f"pairlens-links-{questions.links}-{stem}.csv")
        if questions.believed:
            measured = f"pairlens-faithfulness-{stem}.csv"
            page_style.download("Faithfulness (CSV)", lambda: questions.faithfulness().to_csv(), measured)
        for record in (record for record in explanation.evidence if record.tabular):
            make = functools.partial(record.to_csv, explanation)
            file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + f"-{stem}.csv"
            page_style.download(f"{record.title[:1].upper()}{record.title[1:]} (CSV)", make, file)
        if len(read.steps) > 1:
            make_list = functools.partial(what_if.to_csv, read.checkpoint, read.steps)
            page_style.download("What if (CSV)", make_list, f"pairlens-what-if-{stem}.csv")


main()
