"""Compare: models side by side on one pair, or one model on two versions of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from app import components, page_style
from app.compare import disagreements, figures
from app.components import Frame
from app.desk import back_link
from app.explore import asking
from app.model_choice import SECOND_OPINION, by_task, kinds, offered, reads_pairs, titles
from app.models import card as card_lines
from app.page_state.compare import MOST, ROWS, WHAT, CompareState
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession, model_on
from app.page_state.widgets import choice, labelled
from app.pair_form import PairForm, roles_of
from app.pairs import SIDES, Pair
from app.panels import Drawing
from app.panels.verdict import Verdict
from core.alone import unread
from core.checkpoint import Checkpoint, CheckpointError, load_named
from core.checkpoint.epochs import title_of
from core.evidence import AttentionMap, Explanation, PooledAttention, Record
from core.explain import explained
from core.json_types import JsonObject
from core.reading.reader import PairError
from core.reading.shared_words import in_both

PLACE_IN_MENU = 2

KEY = "what is compared"
"""Key of the component that draws the comparison."""

PAGE = PageSession(CompareState)
FORM = PairForm(PAGE)


class Column(NamedTuple):
    """One model, or one version of the pair: the model's explanation, or why there is none."""

    title: str
    checkpoint: Checkpoint | None
    explanation: Explanation | None
    problem: str = ""


def main() -> None:
    """Draws the page."""
    models = offered(reads_pairs, unreadable=True)
    # The model last used on Explore is the first one to compare.
    explored = [name for name in [model_on(ExploreState)] if name in models]
    page = PAGE.open(kinds({name: models[name] for name in [*explored, *models]}))
    page_style.apply(PAGE)
    names = titles(models)
    roles = roles_of(page.model, models)
    with st.sidebar:
        mates = _sidebar(by_task(models), names, roles)
    FORM.sentences(models)
    versions = page.what == "versions"
    if versions:
        _other_version(roles)
    columns = FORM.answer(
        lambda page: _versions(page) if versions else _models(page, mates, names),
        "No model is installed: train one with `python -m trainers train`",
    )
    back_link.draw(page.pair.now)
    if columns is not None:
        page_style.notice([*PAGE.problems, *_warnings(columns)])
        _show(page, columns)
    PAGE.write_link()
    disagreements.draw(PAGE)


def _sidebar(groups: Mapping[str, Sequence[str]], names: Mapping[str, str], roles: Mapping[str, str]) -> Sequence[str]:
    """Draws the sidebar's widgets; returns the models for the displayed task."""
    choice(PAGE, "what", "Compare", WHAT)
    FORM.example()
    mates = FORM.task_and_model(groups, names)
    FORM.epoch()
    if PAGE.state.what == "models":
        take = lambda others: PAGE.change(others=tuple(others))  # noqa: E731
        offered = {name: names[name] for name in mates if name != PAGE.state.shown_model}
        st.multiselect(
            "Compare with",
            list(offered),
            _compared(PAGE.state, mates),
            format_func=offered.__getitem__,
            max_selections=MOST - 1,
            placeholder="Choose up to three models",
            **PAGE.widget("others", take, labelled(PAGE, offered)),
        )
    choice(PAGE, "rows", "Attention of the words of the", {side: roles[side] for side in ROWS})
    FORM.files()
    return mates


def _compared(page: CompareState, mates: Sequence[str]) -> list[str]:
    """The models compared with the first: the chosen ones for the same task; by default, with an epoch, the model that
    was kept; else the second-opinion model, a transformer showing its best head, or the next model if it is not
    installed."""
    others = [name for name in mates if name != page.shown_model]
    chosen = [name for name in page.others if name in others]
    usual = page.model if page.epoch else SECOND_OPINION
    return chosen or sorted(others, key=lambda name: name != usual)[:1]


def _other_version(roles: Mapping[str, str]) -> None:
    """The text boxes for the other version of the pair."""
    left, _, right = st.columns([1, 0.07, 1], gap="small")  # aligned with the page's own text boxes
    for column, side, text in zip((left, right), SIDES, PAGE.state.version.now, strict=True):
        label = f"The other version’s {page_style.plain(roles[side])}"
        column.text_input(label, text, **PAGE.widget(f"version {side}", partial(_new_version, side)))


def _new_version(side: str, text: str) -> None:
    changed: JsonObject = {side: text}
    PAGE.change(texts=(PAGE.state.pair, replace(PAGE.state.version, **changed)))


def _models(page: CompareState, mates: Sequence[str], names: Mapping[str, str]) -> list[Column]:
    model = page.model or ""
    title = title_of(names[model], page.epoch) if page.epoch else names[model]
    others = [_column(names[name], name, page.pair) for name in _compared(page, mates)]
    return [_column(title, page.shown_model, page.pair), *others]


def _versions(page: CompareState) -> list[Column]:
    pairs = (("This version", page.pair), ("The other version", page.version))
    return [_column(title, page.shown_model, pair) for title, pair in pairs]


def _column(title: str, name: str, pair: Pair) -> Column:
    """The model's verdict on the pair."""
    try:
        with page_style.patience(lambda: "Loading the model …", [name]):
            checkpoint = load_named(name)
        return Column(title, checkpoint, explained(checkpoint, *pair.now))
    except (CheckpointError, PairError) as error:
        return Column(title, None, None, str(error))


def _warnings(columns: Sequence[Column]) -> list[str]:
    """The models' warnings about the texts; a warning that only some models give names them."""
    answers = [column for column in columns if column.explanation is not None]
    out = dict[str, list[str]]()
    for column in answers:
        for warning in column.explanation.warnings if column.explanation else ():
            out.setdefault(warning, []).append(column.title)
    return [
        warning if len(titles) == len(answers) else f"{' and '.join(titles)}: {warning[:1].lower()}{warning[1:]}"
        for warning, titles in out.items()
    ]


def _show(page: CompareState, columns: Sequence[Column]) -> None:
    """Draws each column like the pair's own view, with the additions of a comparison."""
    base = next((column.explanation for column in columns if column.explanation is not None), None)
    components.draw(
        "compare",
        figures.Compared(tuple(_section(page, column, base) for column in columns), page.what == "versions"),
        Frame(projector=page.projector),
        key=KEY,
        id=FORM.id,
    )


def _section(page: CompareState, column: Column, base: Explanation | None) -> figures.Section:
    """One model or version, with attention from the words that the page selects. ``base``: the first one."""
    explanation, checkpoint = column.explanation, column.checkpoint
    if base is None or explanation is None or checkpoint is None:
        return figures.Section(column.title, f"{column.problem.rstrip('.')}.")
    size, role = card_lines.size(checkpoint.card), checkpoint.roles[page.rows]
    facts = [f"parameters: {size}"] if size else []
    return figures.Section(
        column.title,
        drawing=Drawing.of(
            replace(explanation, evidence=tuple(one for one in explanation.evidence if _shown(one, role))),
            verdict=replace(Verdict.of(explanation), gold=page.gold(explanation.class_names)),
            unread=unread(checkpoint.card),
        ),
        frame=Frame(
            (*facts, f"explained in {explanation.milliseconds:.0f} ms"),
            projector=page.projector,
            about=components.about(explanation),
        ),
        question={
            "model": checkpoint.name,
            "first": explanation.first.text,
            "second": explanation.second.text,
        },
        followed=asking.followed(checkpoint, explanation),
        same={
            theirs.role: in_both(own.lower, theirs.lower)
            for own, theirs in [(base.first, explanation.first), (base.second, explanation.second)]
        },
    )


def _shown(record: Record, role: str) -> bool:
    """Whether a column shows the record: attention from the words of this role, and shares in pooling."""
    if isinstance(record, AttentionMap):
        return record.rows == role and record.units == "words"
    return isinstance(record, PooledAttention)


main()
