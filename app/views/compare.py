"""Compare: models side by side on one pair, or one model on two versions of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from app import components, page_style
from app.compare import comparison, figures
from app.compare.comparison import Looks, PredictionsError
from app.components import About, Frame
from app.desk import back_link
from app.explore import asking
from app.model_choice import by_task, kinds, offered, reads_pairs, titles
from app.models import card as card_lines
from app.page_state.compare import MOST, ROWS, WHAT, CompareState
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession, model_on
from app.page_state.widgets import choice
from app.pair_form import PairForm, digest, roles_of
from app.pairs import SIDES, Pair
from app.panels.verdict import Verdict, class_names
from core.alone import unread
from core.checkpoint import Checkpoint, CheckpointError, load_named
from core.evidence import Explanation
from core.explain import explained
from core.json_types import JsonObject
from core.reading.reader import PairError

PLACE_IN_MENU = 2

LISTED = 12
"""Pairs that two files judge differently, offered at once."""

KEY = "what is compared"
"""Key of the component that draws the comparison."""

PAGE = PageSession(CompareState)
FORM = PairForm(PAGE)


class Column(NamedTuple):
    """One model, or one version of the pair: what the model says, or why it says nothing."""

    title: str
    checkpoint: Checkpoint | None
    explanation: Explanation | None
    problem: str = ""

    def roles(self, sides: Sequence[str]) -> tuple[str, str]:
        """The roles of the sentences in this order."""
        assert self.checkpoint is not None
        rows, columns = (self.checkpoint.roles[side] for side in sides)
        return rows, columns


def main() -> None:
    """Draw the page."""
    models = offered(reads_pairs, unreadable=True)
    # The model that was explored is the first one to compare.
    explored = [name for name in [model_on(ExploreState)] if name in models]
    page = PAGE.open(kinds({name: models[name] for name in [*explored, *models]}))
    page_style.apply(PAGE)
    components.load()
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
        _show(page, columns, versions)
    PAGE.write_link()
    _disagreements()


def _sidebar(groups: Mapping[str, Sequence[str]], names: Mapping[str, str], roles: Mapping[str, str]) -> Sequence[str]:
    """Its widgets; returns the models of the task that is shown."""
    choice(PAGE, "what", "Compare", WHAT)
    FORM.example()
    mates = FORM.task_and_model(groups, names)
    if PAGE.state.what == "models":
        take = lambda others: PAGE.change(others=tuple(others))  # noqa: E731
        st.multiselect(
            "Compare with",
            [name for name in mates if name != PAGE.state.model],
            _beside(PAGE.state, mates),
            format_func=names.__getitem__,
            max_selections=MOST - 1,
            placeholder="Choose up to three models",
            **PAGE.widget("others", take, key=lambda name: f"{PAGE.key(name)} {PAGE.state.model}"),
        )
    choice(PAGE, "rows", "Attention of the words of the", {side: roles[side] for side in ROWS})
    FORM.files()
    return mates


def _beside(page: CompareState, mates: Sequence[str]) -> list[str]:
    """The models compared with the first: the chosen ones of the same task, by default the next one of the task."""
    chosen = [name for name in page.others if name in mates and name != page.model]
    return chosen or [name for name in mates if name != page.model][:1]


def _other_version(roles: Mapping[str, str]) -> None:
    """The boxes of the other version of the pair."""
    left, _, right = st.columns([1, 0.07, 1], gap="small")  # below the page's own boxes, which have a button between
    for column, side, text in zip((left, right), SIDES, PAGE.state.version.now, strict=True):
        label = f"The other version’s {page_style.plain(roles[side])}"
        column.text_input(label, text, **PAGE.widget(f"version {side}", partial(_new_version, side)))


def _new_version(side: str, text: str) -> None:
    changed: JsonObject = {side: text}
    PAGE.change(texts=(PAGE.state.pair, replace(PAGE.state.version, **changed)))


def _models(page: CompareState, mates: Sequence[str], names: Mapping[str, str]) -> list[Column]:
    return [_column(names[name], name, page.pair) for name in (page.model or "", *_beside(page, mates))]


def _versions(page: CompareState) -> list[Column]:
    pairs = (("This version", page.pair), ("The other version", page.version))
    return [_column(title, page.model or "", pair) for title, pair in pairs]


def _column(title: str, name: str, pair: Pair) -> Column:
    """The model's verdict on the pair."""
    try:
        with page_style.patience(lambda: "Loading the model …", [name]):
            checkpoint = load_named(name)
        return Column(title, checkpoint, explained(checkpoint, *pair.now))
    except (CheckpointError, PairError) as error:
        return Column(title, None, None, str(error))


def _warnings(columns: Sequence[Column]) -> list[str]:
    """The models' warnings about the texts; a warning that not all models give names its model."""
    answers = [column for column in columns if column.explanation is not None]
    out = dict[str, list[str]]()
    for column in answers:
        for warning in column.explanation.warnings if column.explanation else ():
            out.setdefault(warning, []).append(column.title)
    return [
        warning if len(titles) == len(answers) else f"{' and '.join(titles)}: {warning[:1].lower()}{warning[1:]}"
        for warning, titles in out.items()
    ]


def _show(page: CompareState, columns: Sequence[Column], versions: bool) -> None:
    """Verdicts with attention on one scale, the differences, and how much words disagree."""
    sides = ("second", "first") if page.rows == "second" else ("first", "second")
    seen = [None if c.explanation is None else comparison.looks(c.explanation, c.roles(sides)[0]) for c in columns]
    marked = _marked(columns) if versions else [{}] * len(columns)
    high = max((_scale_end(_all_weights(looks)) for looks in seen if looks is not None), default=1.0)
    sections = (_section(*one, sides=sides) for one in zip(columns, seen, marked, strict=True))
    components.draw(
        "compare",
        figures.ComparedSections(tuple(sections), high),
        _differences(columns, seen, sides),
        Frame(link=page.link_parameters(), projector=page.projector),
        key=KEY,
        id=_id(columns),
    )


def _scale_end(weights: Iterator[float]) -> float:
    """Where the colour scale of these weights ends, as scaleEnd of app/components/colours.js."""
    known = tuple(weights)
    return max(*known, min(1.0, 2 * sum(known) / len(known)))


def _id(columns: Sequence[Column]) -> str:
    """Identifies the drawing: all compared models and pairs."""
    shown = [(one.title, one.explanation) for one in columns]
    return digest([[title, *([] if e is None else [e.model, e.first.text, e.second.text])] for title, e in shown])


def _all_weights(looks: Looks) -> Iterator[float]:
    """All weights, including the column that is not a word."""
    return (weight for row in (*looks.weights, looks.none or ()) for weight in row)


def _marked(columns: Sequence[Column]) -> list[dict[str, set[int]]]:
    """The changed words of each version, by role."""
    first, other = (column.explanation for column in columns)
    if first is None or other is None:
        return [{}, {}]
    roles = first.first.role, first.second.role
    changed = [comparison.changed(comparison.words(first, role), comparison.words(other, role)) for role in roles]
    return [dict(zip(roles, marks, strict=True)) for marks in zip(*changed, strict=True)]


def _section(
    column: Column, looks: Looks | None, marked: Mapping[str, set[int]], sides: Sequence[str]
) -> figures.Section:
    """The drawn section of one model, or version."""
    explanation, checkpoint = column.explanation, column.checkpoint
    if explanation is None or checkpoint is None:
        return figures.Section(column.title, problem=f"{column.problem.rstrip('.')}.")
    size, gold = card_lines.size(checkpoint.card), PAGE.state.gold(class_names(explanation))
    facts = [f"parameters: {size}"] if size else []
    facts.append(f"explained in {explanation.milliseconds:.0f} ms")
    facts += list(comparison.stays(explanation, column.roles(sides)[0]))
    facts += [] if gold is None else [f"gold label: {gold.label}"]
    pooled = {role: comparison.pooled(explanation, role) for role in (explanation.first.role, explanation.second.role)}
    return figures.Section(
        column.title,
        verdict=Verdict.of(explanation),
        facts=tuple(facts),
        sentences=tuple(
            figures.MarkedWords(comparison.words(explanation, role), tuple(sorted(marks)))
            for role, marks in marked.items()
        ),
        pooled=tuple(
            figures.PooledWords(role, comparison.words(explanation, role), shares)
            for role, shares in pooled.items()
            if shares is not None
        ),
        matrix=None if looks is None else figures.matrix(looks, column.roles(sides)),
        read=tuple(
            figures.SideWords(side.role, comparison.words(explanation, side.role))
            for side in (explanation.first, *explanation.contexts)
            if side.role != unread(checkpoint.card)
        ),
        followed=asking.followed(checkpoint, explanation),
        question={
            "model": checkpoint.name,
            "first": explanation.first.text,
            "second": explanation.second.text,
        },
        about=components.about(explanation),
    )


def _differences(columns: Sequence[Column], seen: Sequence[Looks | None], sides: Sequence[str]) -> figures.Differences:
    """The first attention that there is against each of the others, or why there is nothing to compare."""
    shown = [(column, looks) for column, looks in zip(columns, seen, strict=True) if looks is not None]
    if len(shown) < 2:
        return figures.Differences("Differences are drawn where at least two of them show attention for these words.")
    (base, first), *others = shown
    compared = ((column, comparison.difference(first, looks)) for column, looks in others)
    drawn = [(column, difference) for column, difference in compared if difference is not None]
    if not drawn:
        return figures.Differences("The two have no word in common whose attention could be compared.")
    furthest = max(0.01, *(abs(weight) for _, one in drawn for weight in _all_weights(one)))
    roles = base.roles(sides)
    each = (
        figures.DrawnDifference(
            (base.title, column.title), one.mean, _about([base, column]), figures.matrix(one, roles)
        )
        for column, one in drawn
    )
    about = _about([base, *(column for column, _ in drawn)])
    agreement = figures.agreement([(column.title, one) for column, one in drawn], about)
    return figures.Differences("", tuple(each), furthest, agreement)


def _about(columns: Sequence[Column]) -> About:
    """The caption of a saved figure of several models: sentences that they share appear once, then all verdicts."""
    each = [components.about(column.explanation) for column in columns if column.explanation is not None]
    names = [column.checkpoint.name for column in columns[1:] if column.checkpoint is not None]
    files = [one.file for one in each]
    name = "-".join([files[0], "and", *names, digest(files)[:6]])
    return About(name, tuple(dict.fromkeys(line for one in each for line in one.lines)))


def _disagreements() -> None:
    """Pairs that two files of predictions judge differently, each a button that shows it."""
    with st.expander("Find a pair where two models disagree"):
        files = st.file_uploader(
            "Two files that `python -m trainers predict` wrote for the same data, one per model",
            type=["csv", "jsonl"],
            accept_multiple_files=True,
            key="predictions",
            on_change=PAGE.touch,
        )
        if len(files) < 2:
            return
        try:
            texts = [(file.getvalue().decode("utf-8-sig", "replace"), file.name) for file in files[:2]]
            read = [comparison.predictions(*text) for text in texts]
        except PredictionsError as error:
            page_style.notice([f"{error}."])
            return
        pairs = comparison.disagreements(*read)
        if not pairs:
            page_style.hint("They agree on every pair that both files have.")
            return
        count = f"{len(pairs):,} pairs" if len(pairs) > 1 else "1 pair"
        page_style.note(f"{count}; those that both models are most sure of come first.")
        for place, (one, other) in enumerate(pairs[:LISTED]):
            gold = f" (gold: {one.label})" if one.label else ""
            label = f"{one.first} / {one.second}: {one.predicted} or {other.predicted}{gold}"
            st.button(
                page_style.plain(label),
                key=f"tried-disagreement-{place}",
                type="tertiary",
                on_click=_open,
                args=(Pair(one.first, one.second),),
            )


def _open(pair: Pair) -> None:
    PAGE.set(PAGE.state.updated(texts=(pair,)))


main()
