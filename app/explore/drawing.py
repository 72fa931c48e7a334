"""The drawing of Explore's pair, and sentences about link settings that cannot be used."""

from __future__ import annotations

from dataclasses import replace

from app import components
from app.components import About, Frame
from app.explore import asking, candidates, what_if
from app.explore.reading import Read
from app.page_state.codec import unusable
from app.pair_form import digest
from app.panels import Drawing, verdict
from app.panels.verdict import Verdict
from core.alone import unread


def drawing(read: Read) -> Drawing:
    """The drawing of a pair."""
    page, checkpoint, shown = read.page, read.checkpoint, read.shown
    said = replace(
        Verdict.of(shown),
        alone=verdict.beside(read.alone),
        trained=verdict.shares(read.trained) if read.unlike else None,
        what_if=read.unlike,
        meaning=candidates.meaning(checkpoint, shown) if candidates.fits(checkpoint) else "",
        gold=page.gold(shown.class_names),
    )
    head = {"own": checkpoint.card["config"].get("head")}
    return Drawing.of(
        shown, verdict=said, show=page.show, unread=unread(checkpoint.card), head=head, why=asking.why(read)
    )


def frame(read: Read, problems: list[str]) -> Frame:
    """The frame of the drawing. ``problems``: of the link."""
    problems = [*problems, *unusable(read.unusable), *what_if.problems(read.page, read.steps)]
    frame = components.frame(read.shown, read.checkpoint.card, read.page, problems)
    if not read.unlike:
        return frame
    *texts, verdict = components.about(read.shown).lines
    return replace(frame, about=About(stem(read), (*texts, f"{verdict}, what if: {read.unlike}")))


def asked(read: Read) -> dict[str, str]:
    """The settings for the browser's questions."""
    return read.page.asked | {"open": read.page.doors, "method": asking.shown_method(read)}


def stem(read: Read) -> str:
    """A file name for the drawing, unique to each what-if."""
    page = read.page
    stem = components.file_stem(read.shown) + (f"-{page.head.replace('.', '-')}" if page.head else "")
    if read.shown is read.trained:
        return stem
    return f"{stem}-attention-{digest(list(map(str, page.attention)))[:6]}"
