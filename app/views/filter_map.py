"""Filter map: places the filters generated for the user's texts among a reference collection's filters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from app import components, page_style
from app.components import About, Frame
from app.filter_map import drawing
from app.filter_map.drawing import Star, TextSide
from app.filter_map.figure import MAP_POINTS, FilterWeights, MapText, map_points, own_texts
from app.filter_map.ngrams import reference_ngrams, vocabulary
from app.filter_map.placement import Opened, explain_text, open_map, place_texts
from app.model_choice import by_task, kinds, offered, shows, titles
from app.models import card
from app.page_state.codec import short, unusable
from app.page_state.filter_map import MOST_TEXTS, VIEWS, MapState
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from app.pair_form import ModelForm, digest
from app.pairs import SIDES, Pair
from app.panels import lists, verdict
from app.panels.generated_filters import one_filter
from core.checkpoint import Checkpoint
from core.evidence import Explanation, GeneratedFilters, Matrix
from core.filter_map.map import FilterMap, Layout, Neighbour
from core.filter_map.ngrams import window_values
from core.wording import counted, the

PLACE_IN_MENU = 4

PAGE = PageSession(MapState)
FORM = ModelForm(PAGE, "set of texts", "Texts of your own")
NEAREST, NEAREST_WITH_TEXTS = 8, 6
"""Reference texts listed next to the map; fewer if their beginnings are shown, to fit on the first screen."""
WINDOWS = 6
"""n-grams listed next to a filter, from the text and from the reference texts."""
PLACE_WORDS = 4
"""Words listed for each position of a filter's window."""
PROPORTION = (1.8, 1)

_STYLE = """<style>
@media (max-width: 760px) {
  [class*="st-key-map-text"] > .stElementContainer:has(.stTextArea) { flex-basis: 15rem; }
}
/* A box of one line grows with its text; its number stands before it. */
.stMain { counter-reset: text; }
[class*="st-key-map-text"] { counter-increment: text; }
[class*="st-key-map-text"] [data-testid="stTextAreaRootElement"] { position: relative; height: auto; min-height: 0; }
[class*="st-key-map-text"] textarea { field-sizing: content; height: auto !important; min-height: 0; max-height: 9rem;
  padding: 0.5rem 0.75rem 0.5rem 2.1rem; resize: none; }
[class*="st-key-map-text"] [data-testid="stTextAreaRootElement"]::before { content: counter(text); position: absolute;
  left: 0.75rem; top: 0.5rem; font-size: 0.875rem; line-height: 1.4; opacity: 0.78;
  font-variant-numeric: tabular-nums; }
</style>"""


def main() -> None:
    """Draws the page."""
    models = offered(shows(GeneratedFilters), last=lambda _, folder: not (folder / "map" / "map.json").is_file())
    PAGE.open(kinds(models))
    page_style.apply(PAGE)
    st.html(_STYLE)
    with st.sidebar:
        FORM.task_and_model(by_task(models), titles(models))
        below = st.container()
    PAGE.write_link()
    opened = FORM.answer(
        lambda page: open_map(page.model),
        "No model that makes filters is installed: train one with `python -m trainers train topic-acnn`",
    )
    with below:
        layout = None if opened is None else _layout(opened)
        if layout is not None:
            choice(PAGE, "view", "Show", VIEWS)
        FORM.example()
        FORM.files()
    if opened is not None:
        _texts(opened.checkpoint)
        _show(opened, layout)


# --- inputs ----------------------------------------------------------------------------------------------------------


def _layout(opened: Opened) -> Layout | None:
    """The select box for the layout. Returns the displayed layout."""
    if opened.map is None:
        return None
    layouts, name = opened.map.layouts, PAGE.state.layout
    names = list(layouts)
    shown = name if name is not None and name in layouts else names[0]

    def title(name: str) -> str:
        one = layouts[name].filter
        return "all filters of a text" if one is None else f"one filter across texts: filter {one}"

    st.radio("Map of", names, names.index(shown), format_func=title, **PAGE.widget("layout"))
    return layouts[shown]


def _texts(checkpoint: Checkpoint) -> None:
    """One line per text or pair, and buttons that add and remove texts."""
    page, roles = PAGE.state, checkpoint.roles
    for place, text in enumerate(page.texts):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"map text {place}"):
            for side in SIDES:
                if not roles[side]:
                    continue
                name = drawing.numbered(str(roles[side]), place)
                st.text_area(
                    page_style.plain(page_style.capital(name)),
                    getattr(text, side),
                    height="content",
                    label_visibility="collapsed" if place else "visible",
                    placeholder=f"Type here: {name}",
                    **PAGE.widget(f"{side} {place}", partial(_typed, place, side)),
                )
            if len(page.texts) > 1:
                key = PAGE.key(f"remove {place}")
                st.button(
                    f"Remove text {place + 1}",
                    icon=":material/close:",
                    key=key,
                    help=f"Remove text {place + 1}",
                    on_click=_remove,
                    args=(place, key),
                )
    with st.container(horizontal=True):
        if len(page.texts) < MOST_TEXTS:
            st.button("Add a text", icon=":material/add:", key="add a text", type="tertiary", on_click=_add)


def _typed(place: int, side: str, words: str) -> None:
    """Takes a text's new words, and inspects that text."""
    texts = PAGE.state.texts
    text = texts[place].typed(side, words)
    PAGE.change(texts=(*texts[:place], text, *texts[place + 1 :]), look=place, side=side)


def _add() -> None:
    # A change, not a new state: existing text boxes keep their keys, and so do texts still on their way to the server.
    PAGE.change(texts=(*PAGE.state.texts, Pair())[:MOST_TEXTS])


def _remove(place: int, key: str) -> None:
    if key == PAGE.key(f"remove {place}"):
        page = PAGE.state
        texts = (*page.texts[:place], *page.texts[place + 1 :])
        PAGE.set(replace(page, texts=texts, look=max(0, page.look - (page.look >= place))))


@dataclass(frozen=True)
class Shown:
    """The model with its map, the displayed layout, the texts as stars in it, and the inspected one."""

    opened: Opened
    layout: Layout | None
    stars: Sequence[Star]
    present: Sequence[TextSide]
    looked_into: TextSide | None

    def stem(self, *more: object, layout: bool = False) -> str:
        """A file name unique to this model, these texts and, if relevant, this ``layout``."""
        state = PAGE.state
        texts = digest([[text.versions for text in state.texts], state.view, *more])[:6]
        place = [self.layout.name] if layout and self.layout is not None else []
        return re.sub(r"[^\w.-]+", "-", "-".join([self.opened.checkpoint.name, *place, texts]))

    def quoted(self, place: int | None = None) -> list[str]:
        """Caption lines of a saved figure: the current texts (or the one at ``place``) with the model's verdicts."""
        now = [star for star in self.stars if not star.age and place in (None, star.of.place)]
        names = [drawing.numbered(star.of.side or "text", star.of.place) for star in now]
        texts = [
            f"{page_style.capital(name)}: {short(star.words, components.LONGEST_QUOTED)}"
            for name, star in zip(names, now, strict=True)
        ]
        title = str(self.opened.checkpoint.card["title"])
        said = {star.of.place: star.verdict for star in now if star.verdict}
        verdicts = [f"{title}{f', {at + 1}' if len(said) > 1 else ''}: {verdict}" for at, verdict in said.items()]
        return [*texts, *(verdicts or [title])]


# --- what is shown ----------------------------------------------------------------------------------------------------


def _show(opened: Opened, layout: Layout | None) -> None:
    page, reference_map = PAGE.state, opened.map
    with st.spinner("Placing the texts …"):
        explanations = [explain_text(opened.checkpoint, text) for text in page.texts]
        stars, present, wordless = place_texts(opened, layout, page.texts, explanations)
    looked_into = _looked_into(opened, list(present))
    shown = Shown(opened, layout, stars, list(present), looked_into)
    explanation = None if looked_into is None else explanations[looked_into.place]
    cautions = explanation.warnings if isinstance(explanation, Explanation) else ()
    untold = [] if layout is None or reference_map is None else [drawing.caution(reference_map, layout)]
    page_style.notice([*filter(None, untold), *PAGE.problems, *_problems(opened), *wordless, *cautions])
    if looked_into is None:
        page_style.hint("Type a text above and press Enter, or choose an example in the sidebar.")
    right = st.container()
    if reference_map is not None and layout is not None:
        left, right = st.container(key="side by side, map").columns(PROPORTION, gap="large")
        count = NEAREST if opened.texts is None else NEAREST_WITH_TEXTS
        nearest = () if looked_into is None else reference_map.neighbours(present[looked_into].code, layout.name, count)
        with left:
            _map(shown, reference_map, layout, nearest)
    if looked_into is None:
        return
    with right:
        _look_into(shown)
        _verdict(explanation)
        if reference_map is not None:
            texts = opened.texts.own if opened.texts else ()
            distance, rows = drawing.nearest_rows(reference_map, nearest, opened.names, texts)
            lists.table(["nearest filters", "class", distance], rows)
            if opened.texts is None:
                data = drawing.data_name(reference_map, opened.checkpoint.card)
                st.caption(page_style.plain(drawing.without_texts(reference_map, data)))
    shown_filter = None
    if isinstance(explanation, Explanation):
        shown_filter = _filter(shown, looked_into, explanation)
    _downloads(shown, explanation, shown_filter)


def _looked_into(opened: Opened, present: Sequence[TextSide]) -> TextSide | None:
    """The side named by the state; if it has no filters, the other one of its pair, else the first with filters."""
    page = PAGE.state
    side = TextSide(page.look, opened.makers.get(page.side, ""))
    same_text = [one for one in present if one.place == page.look]
    return side if side in present else next(iter([*same_text, *present]), None)


def _problems(opened: Opened) -> list[str]:
    """Problems with the map and the link."""
    page, out = PAGE.state, [opened.problem] if opened.problem else []
    maker = opened.checkpoint.model.filter_maker
    assert maker is not None, "the page offers only models that make filters"
    without = {
        "layout": opened.map is not None and page.layout not in (None, *opened.map.layouts),
        "side": page.side != "first" and opened.checkpoint.single,
        "filter": page.filter is not None and page.filter >= maker.bank_shape[0],
    }
    out += unusable(name for name in without if without[name])
    link = page.link_parameters()
    if link != page.to_parameters():
        what = "These texts are" if link is None else "The trails are"
        out.append(f"{what} too long for a link: “Save and open” in the sidebar keeps all in a file.")
    return out


def _map(shown: Shown, reference_map: FilterMap, layout: Layout, nearest: Sequence[Neighbour]) -> None:
    opened = shown.opened
    texts = () if opened.texts is None else opened.texts.own
    data = drawing.data_name(reference_map, opened.checkpoint.card)
    stamp = None if opened.texts is None else opened.texts.stamp
    key = (reference_map.card["sha256"], layout.name, stamp, tuple(opened.names.items()))
    reading = drawing.reading(reference_map, layout, data)
    quality, meaning = drawing.quality(reference_map, layout)
    components.draw(
        "filterMap",
        MapText(reading, meaning),
        MAP_POINTS(key, lambda: map_points(reference_map, layout, opened.names, texts)),
        Frame(projector=PAGE.state.projector),
        key="filter map drawing",
        **vars(own_texts(layout, shown.stars, shown.looked_into, nearest, PAGE.state.view == "near")),
        about=About(shown.stem(shown.looked_into, layout=True), (reading, *shown.quoted())),
    )
    page_style.note(quality)


def _look_into(shown: Shown) -> None:
    """The select box for a text belongs to the displayed texts: typing others creates a new select box."""
    sides = {role: side for side, role in shown.opened.makers.items()}

    def take(text: TextSide) -> None:
        PAGE.change(look=text.place, side=sides[text.side])

    st.radio(
        "Inspect text",
        shown.present,
        shown.present.index(shown.looked_into) if shown.looked_into else None,
        horizontal=True,
        format_func=lambda one: page_style.plain(one.name),
        **PAGE.widget("look", take, FORM.key_of_texts),
    )


def _verdict(explanation: Explanation | str | None) -> None:
    if isinstance(explanation, Explanation):
        page_style.heading(page_style.capital(verdict.summary(explanation)))
        page_style.note(explanation.title)
    else:
        page_style.note(explanation or "Type the other text of the pair too, to see the model’s verdict on both.")


def _filter(shown: Shown, looked_into: TextSide, explanation: Explanation) -> tuple[int, Matrix] | None:
    """Details of one filter: its weights and the windows it responds to. Returns its index and weights."""
    role = looked_into.side or explanation.first.role
    made = one_filter.made(explanation, role)
    if made is None:
        return None
    order = [record.index for record in made.strongest()]
    # The user's choice is kept while they type; by default the first filter is shown, which fires if any does.
    number, layout = PAGE.state.filter, shown.layout
    if number is None and layout is not None and layout.filter is not None and made.fires(layout.filter):
        number = layout.filter
    index = order[0] if number not in order else number
    of = drawing.numbered(role, looked_into.place)
    page_style.heading(f"One of the {len(order)} filters made from {of}")
    left, right = st.container(key="side by side, filter").columns(PROPORTION, gap="large")
    with left:
        st.selectbox(
            "Filter to look at, strongest first",
            order,
            order.index(index),
            format_func=lambda k: made.title(explanation, k),
            **PAGE.widget("filter", key=lambda name: FORM.key_of_texts(name, looked_into, layout and layout.name)),
        )
        caption = f"Weights of filter {index} of the {len(order)} made from {of}"
        _weights(shown, looked_into, index, made.bank.bank[index], caption)
    with right:
        _answers(shown, made, explanation, index)
    return index, made.bank.bank[index]


def _weights(shown: Shown, looked_into: TextSide, index: int, weights: Matrix, caption: str) -> None:
    """A filter's weights, saved with this ``caption``, and the words each position of its window responds to."""
    size = f"{counted(len(weights), 'window position')} × {len(weights[0])} embedding dimensions"
    places = [one_filter.place(i) for i in range(1, len(weights) + 1)]
    components.draw(
        "filterWeights",
        FilterWeights(caption, size, places, weights),
        Frame(projector=PAGE.state.projector),
        key="filter weights",
        about=About(f"{index}-{shown.stem()}", tuple(shown.quoted(looked_into.place))),
    )
    words = vocabulary(shown.opened.checkpoint)
    lists.table(("place", "words it responds to most"), one_filter.by_place(words, weights, PLACE_WORDS))
    st.caption(
        f"Among the {len(words.words):,} most frequent words, those that add most to a window’s value at each "
        "position; the first ones together maximise it."
    )


def _answers(shown: Shown, made: one_filter.Made, explanation: Explanation, index: int) -> None:
    """The n-grams that a filter responds to most: in the text it reads, and in the reference texts."""
    opened, read = shown.opened, made.won.rows
    listed = one_filter.windows(explanation, made, window_values(opened.checkpoint, explanation, made.bank, index))
    rows = [(words, one_filter.signed(value)) for words, value in listed[:WINDOWS]]
    lists.table([f"what it finds in {the(read)}", "value"], rows)
    page_style.download(
        "All windows (CSV)",
        lambda: one_filter.windows_csv(index, listed),
        f"pairlens-windows-{index}-{shown.stem(read)}.csv",
    )
    st.caption("The windows with the largest values before the ReLU; max-pooling keeps the first.")
    if opened.map is None or opened.texts is None:
        return
    known = reference_ngrams(opened.checkpoint, opened.texts, read)
    strongest = known.strongest(made.bank.bank[index], made.won.filters[index].bias, WINDOWS)
    others = [
        (" ".join(ngram.words), drawing.title(opened.map.items[ngram.text]), one_filter.signed(ngram.value))
        for ngram in strongest
    ]
    lists.table(["in the reference texts", "first in", "value"], others)
    st.caption(f"The same for all {len(known):,} n-grams of the map’s texts.")


def _downloads(shown: Shown, explanation: Explanation | str | None, shown_filter: tuple[int, Matrix] | None) -> None:
    opened, layout, reference_map, stem = shown.opened, shown.layout, shown.opened.map, shown.stem()
    with st.container(horizontal=True, gap="small"):
        if reference_map is not None and layout is not None:
            make = lambda: drawing.to_csv(reference_map, layout, opened.names, shown.stars)  # noqa: E731
            page_style.download("Map (CSV)", make, f"pairlens-filter-map-{shown.stem(layout=True)}.csv")
        if shown_filter is not None:
            page_style.download(
                f"Filter {shown_filter[0]} (CSV)",
                lambda: one_filter.to_csv(*shown_filter),
                f"pairlens-filter-{shown_filter[0]}-{stem}.csv",
            )
        if isinstance(explanation, Explanation):
            page_style.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), f"pairlens-{stem}.json")
    facts = [str(opened.checkpoint.card["title"]), *card.made_and_measured(opened.checkpoint.card)]
    page_style.note("\u2003".join(facts))


main()
