"""The states of all pages through address and file: what is right comes back, what is wrong is left out and named."""

import json
from dataclasses import dataclass, fields
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.examples import EXAMPLES, MAP_EXAMPLES, PHRASE_EXAMPLES
from app.page_state.codec import LINK_LIMIT, PageState, one_of, parameter, whole_number
from app.page_state.compare import ROWS, WHAT, CompareState
from app.page_state.error_desk import VIEWS as DESK_VIEWS
from app.page_state.error_desk import DeskState
from app.page_state.explore import SHOWN, ExploreState
from app.page_state.filter_map import MOST_TEXTS, VIEWS, MapState
from app.page_state.lessons import LessonsState
from app.page_state.models import COLUMNS, ModelsState
from app.page_state.phrases import LARGEST_K, PhraseState
from app.page_state.texts import TextState
from app.pairs import LONGEST_TRAIL, Pair
from core.adaptation.corrections import Correction
from core.effects import METHODS
from core.effects.attention_edits import AttentionEdit
from core.effects.edits import Edit
from core.effects.links import Taken
from core.lessons import lessons

PAGES = (ExploreState, PhraseState, MapState)
ALL_PAGES = (*PAGES, CompareState, DeskState, LessonsState, ModelsState)
MODELS = {"topic-acnn": "topics", "as-adaqa": "answer selection", "{odd} model": "paraphrase"}
ODD = ["", "A man.", "**b** $x$ :smile: <img src=x>", "שלום & co = ?", "\u200bzero\u200dwidth \x01 é", "#+%20&first=x"]
TRAIL = Pair("now", "", (("first of all", ""), ("then", "")))
BROKEN = "A dog \ud800 runs"
GENERIC = "Some settings of this link can’t be used here, so the page is shown without them: {}."


def texts_of(slug, examples):
    return next(example.texts for example in examples if example.slug == slug)


TYPED = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
EDITS = (
    Edit("insert", 0, 0, "two  %\u2028 words"),
    Edit("replace", 0, 0, "x"),
    AttentionEdit("cell", 1, 2, 3, 0.125, "kept"),
    AttentionEdit("temperature", value=2.0),
)
CHECKSUMS = st.text("0123456789abcdef", min_size=16, max_size=16)
WORDS = TYPED.filter(str.strip)
VALUES = {
    "projector": st.booleans(),
    "show": st.sampled_from([*SHOWN]),
    "direction": TYPED.filter(bool),
    "believed": st.booleans(),
    "jacobians": st.booleans(),
    "links": st.sampled_from(["", "all", *Taken]),
    "method": st.sampled_from([*METHODS]),
    "head": st.sampled_from(["", "mean", "rollout", "7.4", "24.16"]),
    "drawn": st.sampled_from(["", "few", "all"]),
    "candidates": TYPED,
    "corrections": st.lists(st.builds(Correction, WORDS, TYPED, WORDS), max_size=3).map(tuple),
    "edits": st.sampled_from([EDITS[:n] for n in range(4)]),
    "turns": st.booleans(),
    "open": st.sampled_from(["", "none", "details", "what-if how-sure"]),
    "k": st.integers(1, LARGEST_K),
    "layout": TYPED.filter(bool),
    "look": st.integers(0, MOST_TEXTS - 1),
    "side": st.sampled_from(["first", "second"]),
    "filter": st.integers(0, 300),
    "others": st.lists(st.sampled_from([*MODELS]), max_size=3).map(tuple),
    "what": st.sampled_from([*WHAT]),
    "rows": st.sampled_from(ROWS),
    "file": CHECKSUMS,
    "models": st.lists(CHECKSUMS, min_size=1, max_size=4).map(tuple),
    "sort": st.sampled_from([*COLUMNS]),
    "row": TYPED,
    "columns": TYPED,
    "of": st.integers(1, 4),
    "way": st.just("taken-away"),
    "lesson": st.sampled_from([*lessons()]),
    "pairs": TYPED,
    "inputs": st.just((("h.2.1", 0.5), ("tau", -2.0))),
    "first": TYPED,
    "second": TYPED,
    "model": st.sampled_from([*MODELS]),
    "epoch": st.integers(1, 9),
    "step": st.integers(1, 3),
}
OF_PAGE = {
    MapState: {"view": st.sampled_from([*VIEWS])},
    DeskState: {"view": st.sampled_from([*DESK_VIEWS]), "filter": TYPED},
    ExploreState: {"selection": st.builds("x{}y{}".format, st.integers(1, 200), st.integers(1, 200))},
    PhraseState: {"selection": st.builds("{}{}".format, st.sampled_from("ab"), st.integers(1, 500))},
}


@st.composite
def states(draw):
    """A state of any page, with a value in some of its fields, that suits the models."""
    page = draw(st.sampled_from(ALL_PAGES))
    known = VALUES | OF_PAGE.get(page, {})
    missing = {field.name for field in fields(page)} - known.keys() - {"texts"}
    assert not missing, f"this test draws no value for {missing}"
    names = draw(st.sets(st.sampled_from([field.name for field in fields(page) if field.name != "texts"])))
    values = {name: draw(known[name]) for name in sorted(names)}
    if issubclass(page, TextState):
        pair = st.tuples(TYPED, TYPED)
        earlier = st.lists(pair.filter(any), max_size=page.trail).map(tuple)
        typed = st.lists(st.builds(lambda now, then: Pair(*now, then), pair, earlier), min_size=1, max_size=page.most)
        examples = [example.texts for example in page._offered("topic-acnn", MODELS)]
        values["texts"] = draw(st.one_of(typed.map(tuple), st.sampled_from(examples)))
    return page(**values).suited(MODELS)


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(states())
def test_any_state_goes_through_address_link_and_file(state):
    page = type(state)
    assert page.from_parameters(state.to_parameters(), MODELS) == (state, [])
    assert state.to_parameters().keys() <= page.names()
    assert page.from_file(state.to_file(), MODELS) == (state, [])
    link = state.link_parameters()
    assert link is None or page.from_parameters(link, MODELS)[0] in (state, state.shortened())


@pytest.mark.parametrize(
    "state",
    [
        ExploreState("as-adaqa", (Pair("A man.", "A dog"),), "score", "x6y14"),
        ExploreState("topic-acnn", EXAMPLES[0].texts, selection="y3"),
        ExploreState("as-adaqa", (Pair("", ""),)),
        PhraseState("as-adaqa", PHRASE_EXAMPLES[0].texts, selection="b3"),
        MapState("topic-acnn", (TRAIL, Pair("**b** $x$ <img src=x>")), "filter 0", 1, filter=12, view="near"),
        MapState("as-adaqa", (Pair("who", "he", (("when", "he"),)), Pair("", "an answer alone")), side="second"),
        MapState("topic-acnn", (Pair(""),)),
        MapState("topic-acnn", (Pair("a dog"), Pair("", "", (("a cat", ""),)))),
        MapState("topic-acnn", (Pair("", "", (("a cat", ""),)), Pair("a dog"))),
        MapState("as-adaqa", (Pair("who", "he"), Pair("", "", (("when", "he"), ("", "he"))), Pair("what"))),
        MapState("topic-acnn", (Pair("a dog"), Pair(), Pair("cold weather")), look=2),
        MapState("topic-acnn", (Pair("a dog"), Pair(), Pair(), Pair()), look=3),
    ],
)
def test_odd_places_and_trails_go_through_address_and_file(state):
    assert type(state).from_parameters(state.to_parameters(), MODELS) == (state, [])
    assert type(state).from_file(state.to_file(), MODELS) == (state, [])


@pytest.mark.parametrize(
    ("page", "address", "values"),
    [
        (
            ExploreState,
            "model=topic-acnn&example=negation&show=score&select=x2y1",
            {"texts": texts_of("negation", EXAMPLES), "show": "score", "selection": "x2y1"},
        ),
        (ExploreState, "model=topic-acnn&first=A+dog&second=", {"texts": (Pair("A dog"),)}),
        (
            PhraseState,
            "model=topic-acnn&example=no-answer&k=7&select=b3",
            {"texts": texts_of("no-answer", PHRASE_EXAMPLES), "k": 7, "selection": "b3"},
        ),
        (
            MapState,
            "model=topic-acnn&first=a+dog&first2=a+cat&first.1=a+man&layout=filter+0&look=2&filter=12&view=near",
            {
                "texts": (Pair("a dog", "", (("a man", ""),)), Pair("a cat")),
                "layout": "filter 0",
                "look": 1,
                "filter": 12,
                "view": "near",
            },
        ),
        (
            MapState,
            "model=as-adaqa&example=where-when&side=second",
            {"texts": texts_of("where-when", MAP_EXAMPLES), "side": "second"},
        ),
    ],
)
def test_addresses_that_were_shared_before_open_as_they_did(page, address, values):
    state, problems = page.from_parameters(dict(parse_qsl(address, keep_blank_values=True)), MODELS)
    assert problems == []
    assert {name: getattr(state, name) for name in values} == values


@pytest.mark.parametrize(
    ("page", "saved", "values"),
    [
        (
            ExploreState,
            {"pairlens": "explore", "first": "A dog", "second": "", "model": "as-adaqa", "show": "score"},
            {"texts": (Pair("A dog"),), "model": "as-adaqa", "show": "score"},
        ),
        (
            PhraseState,
            {"pairlens": "phrases", "first": "A dog", "second": "A cat", "k": "3", "select": "a1"},
            {"texts": (Pair("A dog", "A cat"),), "k": 3, "selection": "a1"},
        ),
        (
            MapState,
            {"pairlens": "filter map", "first": "now", "first.1": "then", "first2": "b", "look": "2"},
            {"texts": (Pair("now", "", (("then", ""),)), Pair("b")), "look": 1},
        ),
    ],
)
def test_files_that_were_saved_before_open_as_they_did(page, saved, values):
    state, problems = page.from_file(json.dumps(saved | {"version": 1}), MODELS)
    assert problems == []
    assert {name: getattr(state, name) for name in values} == values


WRONG = [
    (ExploreState, "show", ["everything", "<b>" * 30, "{}"]),
    (ExploreState, "select", ["x0", "<b>", "x١", "x", "x99999"]),
    (ExploreState, "edits", ["replace", "replace 1 99 x"]),
    (ExploreState, "step", ["1", "-1"]),
    (ExploreState, "edits", ["column 0 1 0 kept", "diagonal 0", "from 0 1 nli-esim"]),
    (ExploreState, "method", ["partner", "nudged"]),
    (ExploreState, "together", ["1.1-2.2"]),
    (ExploreState, "temperature", ["warm"]),
    (PhraseState, "k", ["0", "11", "٣", "five", "-1", "3.5", "9" * 5000]),
    (PhraseState, "select", ["a0", "c3", "<b>" * 30]),
    (MapState, "look", ["0", "x", "١", "5", "9" * 5000]),
    (MapState, "side", ["third", "{side}"]),
    (MapState, "filter", ["-1", "<b>", "99999"]),
    (MapState, "view", ["all"]),
    (MapState, "example", ["where-when"]),  # for models of another kind
    (CompareState, "with", ["gone,as-adaqa", "gone"]),
    (DeskState, "file", ["x"]),
    (DeskState, "models", ["x", ".".join(["0" * 16] * 5)]),
    (LessonsState, "inputs", ["h.2.1=x", "h.2.1=inf", "h 2=1"]),
    (ModelsState, "sort", ["--title"]),
    *((page, name, ["gone"]) for page in ALL_PAGES for name in ("tour", "<b>")),  # as of a parameter that was removed
]


@pytest.mark.parametrize(("page", "name", "values"), WRONG)
def test_a_setting_that_cannot_be_used_is_named_and_left_out(page, name, values):
    for value in values:
        state, problems = page.from_parameters({name: value}, MODELS)
        assert problems == [GENERIC.format(name)], value
        assert state == page.from_parameters({}, MODELS)[0] or state.others == ("as-adaqa",)


def test_one_sentence_names_all_settings_that_cannot_be_used_and_another_one_the_model():
    wrong = {"model": "x" * 500, "example": "x", "k": "x", "select": "x", "unknown": "x"}
    gone = f"Model “{'x' * 39}…” isn’t available on this page; showing topic-acnn."
    state, problems = PhraseState.from_parameters(wrong, MODELS)
    assert problems == [gone, GENERIC.format("unknown, k, select, example")]
    assert state == PhraseState.from_parameters({}, MODELS)[0]
    many, (problem,) = PhraseState.from_parameters({"x" * k: "" for k in range(1, 100)}, MODELS)
    assert problem.endswith("xxxxxxxx ….") and many == state


def test_edits_up_to_one_that_cannot_be_made_are_kept():
    given = {"model": "as-adaqa", "first": "A dog", "second": "A cat", "step": "2"}
    lines = [str(Edit("replace", 0, 1, "fox")), str(Edit("replace", 0, 9, "x")), str(Edit("drop", 0, 0))]
    state, problems = ExploreState.from_parameters(given | {"edits": "\n".join(lines)}, MODELS)
    assert (state.edits, state.step) == ((Edit("replace", 0, 1, "fox"),), None)
    assert problems == [GENERIC.format("edits, step")]


@pytest.mark.parametrize("page", ALL_PAGES)
def test_an_empty_parameter_asks_for_nothing(page):
    nothing = dict.fromkeys(page.names() - {name for name in page.names() if name[:5] in ("first", "secon")}, "")
    assert page.from_parameters(nothing, MODELS) == page.from_parameters({}, MODELS)


@pytest.mark.parametrize("page", PAGES)
def test_a_broken_character_is_replaced(page):
    replaced = BROKEN.replace("\ud800", "\ufffd")
    for state, problems in (
        page.from_parameters({"first": BROKEN, "second": "b"}, MODELS),
        page.from_file(json.dumps({"pairlens": page.page, "version": 1, "first": BROKEN, "second": "b"}), MODELS),
    ):
        assert state.texts[0].first == replaced and not problems


FOREIGN = [
    "",
    "{",
    "[]",
    "null",
    '{"pairlens": "explore", "version": 2}',
    '{"first": "a"}',
    "\x00\ufffd",
    "9" * 5000,
    '{"pairlens": ["x"], "version": 1, "first": "a"}',
    '{"pairlens": "x", "version": 1}',
    '{"a":' * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"pairlens": "explore", "version": 1, "first": ' + "[" * 100_000 + "]" * 100_000 + "}",
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("text", FOREIGN, ids=range(len(FOREIGN)))
def test_a_foreign_file_gets_one_sentence(page, text):
    state, problems = page.from_file(text, MODELS)
    assert state is None
    assert len(problems) == 1


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("other", PAGES)
def test_the_pages_open_the_pair_of_each_others_files(page, other):
    earlier = (("A man", "A cat"),) if other is MapState else ()
    for texts in ((Pair("A dog", "A cat", earlier),), PHRASE_EXAMPLES[0].texts):
        saved = other("as-adaqa", texts, projector=True)
        state, problems = page.from_file(saved.to_file(), {"as-adaqa": "answer selection"})
        assert problems == []
        if page is not other:
            assert state == page("as-adaqa", (Pair(*texts[0].now),))


def test_an_example_without_a_model_is_shown_with_the_model_it_names():
    models = {"nli-two-sided": "entailment", "nli-esim": "entailment", "as-adaqa": "answer selection"}
    state, problems = ExploreState.from_parameters({"example": "answer"}, models)
    assert (state.model, state.example.slug, problems) == ("as-adaqa", "answer", [])
    assert (
        ExploreState.from_parameters({"example": "answer"}, {"nli-two-sided": "entailment"})[0].model == "nli-two-sided"
    )
    named = {"example": "answer", "model": "nli-two-sided"}
    assert ExploreState.from_parameters(named, models)[0].model == "nli-two-sided"
    assert ExploreState.from_parameters({"example": "swap"}, models)[0].model == "nli-two-sided"


def test_a_model_of_single_texts_gives_and_takes_the_first_text_alone():
    shared, models = ("a dog", "a cat"), {"pairs": "entailment", "texts": "topics"}
    pairs, texts = (ExploreState(model, (Pair("now", "then"),)) for model in models)
    assert pairs.give_pair(shared, models) == texts.give_pair(None, models) == ("now", "then")
    assert texts.give_pair(shared, models) == ("now", "a cat")
    assert pairs.take_pair(shared, models).texts == texts.take_pair(shared, models).texts == (Pair(*shared),)
    assert texts.take_pair(("now", "a cat"), models) is texts
    assert pairs.take_pair(("now", "a cat"), models).texts == (Pair("now", "a cat"),)
    several = MapState("texts", (Pair("now", "then"), Pair("more")))
    assert several.give_pair(shared, models) == ("now", "more")
    assert several.updated(texts=(Pair("now"),)).give_pair(shared, models) == ("now", "a cat")


def test_an_examples_texts_make_a_short_link():
    assert ExploreState("m", EXAMPLES[1].texts).to_parameters() == {"model": "m", "example": "firefighters"}
    assert PhraseState("m", PHRASE_EXAMPLES[0].texts).to_parameters() == {"model": "m", "example": "entailed"}
    assert MapState("m", MAP_EXAMPLES[0].texts).to_parameters() == {"model": "m", "example": "four-topics"}
    opening = {example.kind: example for example in reversed(MAP_EXAMPLES)}.values()
    assert not [text for example in opening for text in example.texts if text.earlier], "arrows are for one's own edits"


@pytest.mark.parametrize("page", PAGES)
def test_a_link_leaves_out_trails_before_texts(page):
    assert page("m", (Pair("word " * LINK_LIMIT, "word"),)).link_parameters() is None
    assert page("m", (Pair("word", "word"),)).link_parameters() is not None
    if page is MapState:
        trail = page("m", (Pair("now", "", (("word " * LINK_LIMIT, ""),)),))
        assert trail.link_parameters() == {"model": "m", "first": "now"}
    if page is ExploreState:
        many = page("m", (Pair("what", "this"),), candidates="that\n" * LINK_LIMIT)
        assert many.link_parameters() == {"model": "m", "first": "what", "second": "this"}


def test_a_deleted_text_and_an_empty_box_keep_their_places():
    deleted = {"model": "topic-acnn", "first": "a dog", "first2.1": "a cat"}
    assert MapState.from_parameters(deleted, MODELS)[0].texts == (Pair("a dog"), Pair("", "", (("a cat", ""),)))
    between = {"model": "topic-acnn", "first": "a dog", "first3": "cold weather", "look": "3"}
    state, problems = MapState.from_parameters(between, MODELS)
    assert (state.texts[state.look], problems) == (Pair("cold weather"), [])
    assert state.texts[:2] == (Pair("a dog"), Pair())
    assert state.to_parameters() == between
    assert f"first{MOST_TEXTS}.{LONGEST_TRAIL}" in MapState.names()


@pytest.mark.parametrize("page", PAGES)
def test_without_any_model_nothing_breaks(page):
    assert page.from_parameters({}, {})[1] == []
    state, problems = page.from_parameters({"model": "gone"}, {})
    assert state.model is None and problems == ["Model “gone” isn’t available on this page."]
    assert state.suited({}) == state


def test_a_map_opens_the_first_example_for_its_model():
    for model, kind in MODELS.items():
        expected = next(example.texts for example in MAP_EXAMPLES if example.kind == kind)
        assert MapState.from_parameters({"model": model}, MODELS)[0].texts == expected


@dataclass(frozen=True)
class MadeUpDesk(PageState):
    """A page without texts."""

    page = "made-up desk"
    row: int = parameter(0, whole_number(1, 99))
    labels: str = parameter("all", one_of(("all", "wrong")))
    note: str = parameter("", belongs_to=("row",))


def test_a_page_is_its_dataclass():
    desk = MadeUpDesk(7, "wrong", "odd: {} ü")
    assert MadeUpDesk.from_parameters(desk.to_parameters(), {}) == (desk, [])
    assert MadeUpDesk.from_file(desk.to_file(), {}) == (desk, [])
    assert MadeUpDesk.from_parameters({"row": "0", "labels": "x"}, {}) == (
        MadeUpDesk(),
        [GENERIC.format("row, labels")],
    )
    assert desk.updated(row=8) == MadeUpDesk(8, "wrong")
    assert desk.take_pair(("a", "b"), {}).suited({}) == desk
    assert desk.give_pair(("a", "b"), {}) == ("a", "b")


@pytest.mark.parametrize("page", ALL_PAGES)
def test_no_parameter_of_a_page_stands_for_two_fields(page):
    names = [name for _, name, _ in page._codecs()]
    assert len(names) == len(set(names))
