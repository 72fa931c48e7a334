"""Ranks candidate answers to one question, the purpose of answer selection models. A single answer's probability of
"answer" says little, because few of a question's candidates are right."""

from __future__ import annotations

import math

import streamlit as st

from app import page_style
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.page_state.widgets import folded
from app.panels import lists
from core.card import ranked_by, right_class
from core.checkpoint import Checkpoint
from core.evaluation.calibration import calibrated
from core.evidence import Explanation
from core.explain import explained
from core.reading.reader import PairError
from core.wording import percent

MOST = 30
"""Maximum number of candidates."""


def fits(checkpoint: Checkpoint) -> bool:
    """Whether the model ranks answers."""
    ranks = ranked_by(checkpoint.card) is not None and len(checkpoint.labels) == 2
    return ranks and checkpoint.card["task"] == "answer selection"


def meaning(checkpoint: Checkpoint, explanation: Explanation) -> str:
    """The meaning of a single answer's score, in a few words."""
    stored = checkpoint.card.get("calibration")
    if not stored:
        return "Ranked among other candidates below."
    p, base = calibrated(_odds(checkpoint, explanation), stored), stored["right"] / stored["pairs"]
    return (
        f"Calibrated: {percent(p)} likely to be right; of all candidates in {stored['fixed_on']}, {percent(base)} are."
    )


def _odds(checkpoint: Checkpoint, explanation: Explanation) -> float:
    right = right_class(checkpoint.card)
    assert right is not None, "fits() was not asked"
    return explanation.logits[right] - explanation.logits[1 - right]


def draw(page: PageSession[ExploreState], checkpoint: Checkpoint) -> None:
    """A text box for candidates, one per line, and their ranking, which includes the page's own answer."""
    state = page.state
    (question, answer), typed = state.pair.now, state.candidates
    label = "Rank candidate answers to this question"
    with folded(label, "rank candidates", expanded=bool(typed)) as is_open:
        if not is_open:
            return
        st.text_area(
            "Other candidate answers, one per line (Ctrl + Enter or a click elsewhere ranks them)",
            typed,
            height="content",
            placeholder="Type or paste answers, one per line",
            **page.widget("candidates"),
        )
        answers = list(dict.fromkeys(line for line in (answer, *map(str.strip, typed.splitlines())) if line))
        problems = [f"{len(answers)} candidates are too many: the first {MOST} are ranked."][: len(answers) > MOST]
        link = state.link_parameters()
        if typed and link is not None and "candidates" not in link:
            problems.append("These candidates are too long for a link: “Save and open” in the sidebar keeps all.")
        page_style.notice(problems)
        _ranking(checkpoint, question, answers[:MOST])


def _ranking(checkpoint: Checkpoint, question: str, answers: list[str]) -> None:
    stored = checkpoint.card.get("calibration")
    scored = []
    for text in answers:
        try:
            scored.append((_odds(checkpoint, explained(checkpoint, question, text)), text))
        except PairError as error:
            page_style.notice([f"“{text}”: {error}"])
    scored.sort(key=lambda one: -one[0])
    if not scored:
        return
    shares = [math.exp(odds - scored[0][0]) for odds, _ in scored]
    numbers = [percent(calibrated(odds, stored)) if stored else f"{odds:+.2f}".replace("-", "−") for odds, _ in scored]
    rows = [
        (str(rank), text, percent(share / sum(shares)), last)
        for rank, ((_, text), share, last) in enumerate(zip(scored, shares, numbers, strict=True), 1)
    ]
    name = "likely to be right" if stored else "log-odds"
    lists.table(["rank", "candidate", "share, if exactly one is right", name], rows)
    if stored:
        base = percent(stored["right"] / stored["pairs"])
        how = f"The last column is calibrated on {stored['fixed_on']}, where {base} of all candidates are right."
    else:
        how = f"Not calibrated: “python -m trainers calibrate {checkpoint.name} FILE --card NAME” fits a probability."
    st.caption(page_style.plain(f"{how} Compare candidates with each other, not with 50 %."))
