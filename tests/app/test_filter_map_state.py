"""The page Filter map's values in a link, good and bad, and saved files."""

import pytest

from app.map_examples import LONGEST_TRAIL, MapText, examples_of, kind_of
from app.page_state.address import LINK_LIMIT
from app.page_state.filter_map import MapPage, default_texts, from_file, from_parameters

KINDS = {"topic-acnn": "topics", "as-adaqa": "answers"}
TRAIL = MapText("now", "", (("first of all", ""), ("then", "")))


@pytest.mark.parametrize(
    "page",
    [
        MapPage("topic-acnn", (TRAIL, MapText("**b** $x$ <img src=x>")), "filter 0", 1, filter=12, view="near"),
        MapPage("as-adaqa", (MapText("who", "he", (("when", "he"),)), MapText("", "an answer alone")), side="second"),
        MapPage("topic-acnn", examples_of("topics")[1].texts),
        MapPage("topic-acnn", (MapText("שלום & co = ?"), MapText("\u200bzero\u200dwidth \x01 é"))),
        MapPage("topic-acnn", (MapText(""),)),
        MapPage("topic-acnn", (MapText("a dog"), MapText("", "", (("a cat", ""),)))),
        MapPage("topic-acnn", (MapText("", "", (("a cat", ""),)), MapText("a dog"))),
        MapPage("as-adaqa", (MapText("who", "he"), MapText("", "", (("when", "he"), ("", "he"))), MapText("what"))),
        MapPage("topic-acnn", (MapText("a dog"), MapText(), MapText("cold weather")), look=2),
        MapPage("topic-acnn", (MapText("a dog"), MapText(), MapText(), MapText()), look=3),
    ],
)
def test_a_state_goes_through_link_and_file(page):
    assert from_parameters(page.to_parameters(), KINDS) == (page, [])
    assert from_file(page.to_file(), KINDS) == (page, [])


def test_a_deleted_text_and_an_empty_box_keep_their_places():
    deleted = {"model": "topic-acnn", "first": "a dog", "first2.1": "a cat"}
    assert from_parameters(deleted, KINDS)[0].texts == (MapText("a dog"), MapText("", "", (("a cat", ""),)))
    between = {"model": "topic-acnn", "first": "a dog", "first3": "cold weather", "look": "3"}
    page, problems = from_parameters(between, KINDS)
    assert (page.texts[page.look], problems) == (MapText("cold weather"), [])
    assert page.texts[:2] == (MapText("a dog"), MapText())
    assert page.to_parameters() == between


def test_an_examples_texts_make_a_short_link():
    page = MapPage("as-adaqa", examples_of("answers")[0].texts)
    assert page.to_parameters() == {"model": "as-adaqa", "example": "who-when"}


def test_a_pair_of_another_page_is_opened():
    found, problems = from_parameters({"model": "as-adaqa", "first": "who", "second": "he"}, KINDS)
    assert found.texts == (MapText("who", "he"),)
    assert problems == []
    explore = '{"pairlens": "explore", "version": 1, "first": "who", "second": "he", "show": "score"}'
    assert from_file(explore, KINDS)[0].texts == (MapText("who", "he"),)


def test_an_address_without_texts_opens_the_models_first_example():
    for model, kind in KINDS.items():
        assert from_parameters({"model": model}, KINDS)[0].texts == examples_of(kind)[0].texts


def test_an_edited_text_keeps_what_it_was_and_the_oldest_gives_way():
    text = MapText("")
    assert text.typed("first", "one").earlier == ()
    for i in range(LONGEST_TRAIL + 3):
        text = text.typed("first", f"version {i}")
    assert len(text.earlier) == LONGEST_TRAIL
    assert text.earlier[-1] == (f"version {LONGEST_TRAIL + 1}", "")
    assert text.typed("first", text.first) is text


@pytest.mark.parametrize(
    ("before", "after", "goes_on"),
    [
        ("a dog plays", "a dog sleeps", True),
        ("A DOG plays", "the dog’s toy", False),
        ("one two three", "THREE four five", True),  # a third
        ("one two three four", "four five six seven", False),
        ("no no no yes", "no", False),  # each word counts as often as both have it
        ("no no no yes", "no no", True),
        ("one, two; three!", "one four five", True),  # signs are no words
        (
            "Blue River is a village in the west of Colorado",
            "It is a species of flowering plant in the daisy family.",
            False,
        ),  # short words alone are kept
        ("Blue River is a village in the west of Colorado", "Blue River is a film in the park of dreams", True),
        ("one two", "", True),
        ("one two", "?!", True),
        ("הכלב משחק", "הכלב ישן", True),
    ],
)
def test_a_wholly_new_text_begins_a_new_trail(before, after, goes_on):
    text = MapText(before, "", ((f"{before} once", ""),)).typed("first", after)
    assert text.earlier == (((f"{before} once", ""), (before, "")) if goes_on else ())
    assert text.first == after
    pair = MapText("who", before, (("when", before),))
    assert bool(pair.typed("second", after).earlier) is goes_on, "the side that was typed decides"
    assert pair.typed("second", after).first == "who"


def test_an_emptied_box_keeps_the_trail_until_another_text_is_typed():
    emptied = MapText("a dog plays", "", (("a dog", ""),)).typed("first", "")
    assert emptied.earlier == (("a dog", ""), ("a dog plays", ""))
    assert emptied.typed("first", "a dog sleeps").earlier == emptied.earlier
    assert emptied.typed("first", "cold weather").earlier == ()


def test_the_first_words_of_a_side_drop_no_trail():
    pair = MapText("who is it", "", (("when is it", ""),)).typed("second", "a dog")
    assert pair.earlier == (("when is it", ""), ("who is it", ""))


def test_a_link_leaves_out_trails_before_texts():
    trail = MapPage("topic-acnn", (MapText("now", "", (("word " * LINK_LIMIT, ""),)),))
    assert trail.link_parameters() == {"model": "topic-acnn", "first": "now"}
    assert MapPage("topic-acnn", (MapText("word " * LINK_LIMIT),)).link_parameters() is None


@pytest.mark.parametrize(
    "parameters", [{"model": "gone"}, {"example": "who-when"}, {"look": "0"}, {"look": "x"}, {"look": "١"},
                   {"side": "third"}, {"filter": "-1"}, {"filter": "<b>"}, {"view": "all"}]
)  # fmt: skip
def test_each_wrong_value_gets_one_sentence_and_a_fallback(parameters):
    page, problems = from_parameters(parameters, KINDS)
    assert len(problems) == 1
    assert f"“{next(iter(parameters.values()))}”" in problems[0]
    assert problems[0].endswith(".")
    assert page == MapPage("topic-acnn", default_texts("topics"))


def test_without_any_model_nothing_breaks():
    page, problems = from_parameters({}, {})
    assert (page.model, page.texts, problems) == (None, (MapText(),), [])


def test_a_models_kind_follows_from_its_card():
    pair = {"first": "question", "second": "answer", "judged": "answer"}
    single = {"first": "text", "second": "", "judged": "text"}
    assert kind_of({"roles": pair, "labels": ["0", "1"]}) == "answers"
    assert kind_of({"roles": pair | {"judged": "question"}, "labels": ["0", "1"]}) == "paraphrases"
    assert kind_of({"roles": single, "labels": ["neg", "pos"]}) == "reviews"
    assert kind_of({"roles": single, "labels": ["film", "village"]}) == "topics"
