"""The drawing of Explore's pair, and sentences about link settings that cannot be used."""

from __future__ import annotations

from dataclasses import replace

from app import components
from app.components import About, Frame
from app.explore import asking, candidates, corrections, what_if
from app.explore.answering import Answered
from app.page_state.codec import unusable
from app.pair_form import digest
from app.panels import Drawing, verdict
from app.panels.verdict import Verdict
from core.alone import unread


def drawing(answered: Answered) -> Drawing:
    """The drawing of a pair."""
    page, checkpoint, shown = answered.page, answered.checkpoint, answered.shown
    said = replace(
        Verdict.of(shown),
        alone=verdict.text_alone(answered.alone),
        trained=verdict.shares(answered.trained) if answered.unlike else None,
        what_if=answered.unlike,
        meaning=candidates.meaning(checkpoint, shown) if candidates.fits(checkpoint) else "",
        gold=page.gold(shown.class_names),
        correct=corrections.choices(page, checkpoint),
    )
    head = {"own": checkpoint.card["config"].get("head")}
    return Drawing.of(
        shown, verdict=said, show=page.show, unread=unread(checkpoint.card), head=head, why=asking.why(answered)
    )


def frame(answered: Answered, problems: list[str]) -> Frame:
    """The frame of the drawing. ``problems``: of the link."""
    problems = [*problems, *unusable(answered.unusable), *what_if.problems(answered.page, answered.steps)]
    frame = components.frame(answered.shown, answered.checkpoint.card, answered.page, problems)
    if not answered.unlike:
        return frame
    *texts, verdict = components.about(answered.shown).lines
    return replace(frame, about=About(stem(answered), (*texts, f"{verdict}, what if: {answered.unlike}")))


def asked(answered: Answered) -> dict[str, str]:
    """The settings for the browser's questions."""
    return answered.page.asked | {"open": answered.page.doors, "method": asking.shown_method(answered)}


def stem(answered: Answered) -> str:
    """A file name for the drawing, unique to each what-if."""
    page = answered.page
    stem = components.file_stem(answered.shown) + (f"-{page.head.replace('.', '-')}" if page.head else "")
    if answered.shown is answered.trained:
        return stem
    return f"{stem}-attention-{digest(list(map(str, page.attention)))[:6]}"
