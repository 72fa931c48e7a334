"""What Explore draws of a pair that was read, and what is wrong with what its address asks for."""

from __future__ import annotations

from dataclasses import replace

from app import components, panels
from app.components import About, PairFrame
from app.effects import asking, late
from app.explore import candidates, heads, pairs_tried, what_if
from app.explore.reading import Read
from app.model_choice import unread
from app.page_state.codec import short
from app.page_state.explore import Selection
from app.pair_form import digest
from app.panels import Below, Drawing, DrawnPanel, belief, effects, links, verdict
from app.panels.panel import Payload
from app.panels.verdict import Verdict
from core.effects import cost
from core.evidence import Explanation
from core.explain import with_nearest


def drawing(read: Read) -> Drawing:
    """What is drawn of the pair, but for the panels below."""
    page, checkpoint, shown = read.page, read.checkpoint, read.shown
    own = replace(
        Verdict.of(shown),
        alone=verdict.beside(read.alone),
        trained=verdict.shares(read.trained) if read.unlike else None,
        what_if=read.unlike,
        meaning=candidates.meaning(checkpoint, shown) if candidates.fits(checkpoint) else "",
        gold=page.gold(verdict.class_names(shown)),
        pinned=pairs_tried.pinned(),
    )
    drawn = panels.drawing(shown, own, page.show, unread(checkpoint.card), panels.ABOVE)
    drawn = heads.with_first(drawn, checkpoint.card)
    followed, about, asked = late.followed(checkpoint, read.trained), (checkpoint, page.pair.now), read.questions.way
    frame = effects.EffectsFrame(followed, asking.ways(*about, asked), bool(read.unlike), asking.more(*about, asked))
    bars = DrawnPanel("effects", "first", frame)
    turning = asking.price(*about, cost.of_smallest_change)
    edits = DrawnPanel("what_if", "changes", replace(what_if.panel(page, checkpoint, read.steps), cost=turning))
    cut = links.frame(shown, followed, asking.knockouts(*about, shown))
    after = [DrawnPanel("links", "main", cut)] if cut else []
    return replace(drawn, panels=(bars, edits, *drawn.panels, *after))


def below(read: Read, of: int) -> Below:
    """The panels below the drawing with this number."""
    followed, about = late.followed(read.checkpoint, read.trained), (read.checkpoint, read.page.pair.now)
    believed = belief.BeliefFrame(followed, asking.price(*about, cost.of_believing))
    drawn = panels.drawn(read.shown, read.page.show, panels.BELOW)
    more = DrawnPanel("belief", "below", believed), DrawnPanel("like_these", "below", Payload())
    return Below(of, (*drawn, *more))


def selection(read: Read, drawn: Drawing) -> Selection | None:
    """The selected words, where the pair has them."""
    chosen = read.page.selection
    fits = chosen is not None and chosen.fits(drawn.length("row"), drawn.length("column"))
    return chosen if fits else None


def looked_up(read: Read, drawn: Drawing, selected: Selection) -> Explanation:
    """The explanation with what is looked up for the selected words."""
    explanation = read.shown
    for side in drawn.sides:
        word = selected.row if side.axis == "row" else selected.column
        if word is not None:
            explanation = with_nearest(read.checkpoint, explanation, word, side.role)
    return explanation


def problems(read: Read, drawn: Drawing) -> list[str]:
    """One sentence for each choice of the page that this pair, or this model, does not have."""
    page, looking = read.page, drawn.directions
    out = []
    if page.selection is not None and selection(read, drawn) is None:
        out.append(f"The link selects {page.selection}, but this pair has no such word: nothing is selected.")
    if page.direction not in (None, *looking):
        known = f"it can ask for {' and '.join(looking)}: the first is shown" if looking else "this model has none"
        out.append(f"The link asks for the direction “{short(page.direction or '')}”; {known}.")
    out += heads.problems(page, read.checkpoint)
    return out + what_if.problems(page, read.steps)


def frame(read: Read, problems: list[str]) -> PairFrame:
    """The frame of the drawing. Agreement with people was measured on the attention that the model was trained with."""
    page = read.page
    # The browser adds to the link by itself what changes without a new drawing.
    unselected = replace(page, selection=None, direction=None, **page.heard({}))
    frame = components.frame(read.shown, read.checkpoint.card, unselected, problems)
    if not heads.measured(page, read.checkpoint):
        frame = replace(frame, agreement=None)
    if not read.unlike:
        return frame
    *texts, verdict = components.about(read.shown).lines
    return replace(frame, agreement=None, about=About(stem(read), (*texts, f"{verdict}, what if: {read.unlike}")))


def asked(read: Read) -> dict[str, str]:
    """What the browser asks for, as far as this pair and this model have it."""
    page, questions = read.page, read.questions
    has = replace(page, layer=heads.layer(page, read.checkpoint))
    return has.asked | {"head": heads.shown(page, read.checkpoint), "method": questions.way.method}


def stem(read: Read) -> str:
    """A name for files of what is drawn, unlike that of another what if."""
    page, head = read.page, heads.shown(read.page, read.checkpoint)
    stem = components.file_stem(read.shown) + (f"-{head.replace('.', '-')}" if head else "")
    if read.shown is read.trained:
        return stem
    return f"{stem}-attention-{digest(list(map(str, page.attention)))[:6]}"
