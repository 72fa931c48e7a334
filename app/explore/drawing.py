"""The drawing of Explore's pair, and sentences about link settings that cannot be used."""

from __future__ import annotations

from dataclasses import replace

from app import components
from app.components import About, PairFrame
from app.explore import asking, candidates, heads, what_if
from app.explore.reading import Read
from app.model_choice import is_external
from app.page_state.codec import unusable
from app.page_state.explore import HEADS, has_words
from app.pair_form import digest
from app.panels import Drawing, length, verdict, word_maps
from app.panels.verdict import Verdict
from core.alone import unread
from core.effects.links import Taken


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


def selection(read: Read, drawn: Drawing) -> str | None:
    """The selected words; None for the page's own choice, and if the pair does not have them."""
    chosen = read.page.selection
    row, column = (length(read.shown, role) for role in drawn.axes)
    return chosen if chosen is not None and has_words(chosen, row, column) else None


def problems(read: Read, drawn: Drawing) -> list[str]:
    """Sentences about settings that this pair or model does not support."""
    page, checkpoint, looking = read.page, read.checkpoint, [record.rows for record in word_maps(read.shown)]
    without = {
        "select": page.selection != selection(read, drawn),
        "direction": page.direction not in (None, *looking),
        "head": page.head != heads.shown(page, checkpoint),
        "show": page.show == "score" and is_external(checkpoint.card),
    }
    return unusable(name for name in without if without[name]) + what_if.problems(page, read.steps)


def frame(read: Read, problems: list[str]) -> PairFrame:
    """The frame of the drawing."""
    frame = components.frame(read.shown, read.checkpoint.card, read.page, problems)
    if not read.unlike:
        return frame
    *texts, verdict = components.about(read.shown).lines
    return replace(frame, about=About(stem(read), (*texts, f"{verdict}, what if: {read.unlike}")))


def asked(read: Read) -> dict[str, str]:
    """The settings for the browser's questions, without those that this pair or model does not support."""
    page = read.page
    heads_alone = page.links == HEADS and read.checkpoint.model.knockouts is None
    links = Taken.KEPT.value if heads_alone else page.links
    return replace(page, links=links).asked | {
        "open": page.doors,
        "head": heads.shown(page, read.checkpoint),
        "method": asking.shown_method(read),
    }


def stem(read: Read) -> str:
    """A file name for the drawing, unique to each what-if."""
    page, head = read.page, heads.shown(read.page, read.checkpoint)
    stem = components.file_stem(read.shown) + (f"-{head.replace('.', '-')}" if head else "")
    if read.shown is read.trained:
        return stem
    return f"{stem}-attention-{digest(list(map(str, page.attention)))[:6]}"
