"""A link's values, good and bad, and saved files."""

import pytest

from app.examples import DEFAULT, EXAMPLES
from app.page_state.address import LINK_LIMIT
from app.page_state.explore import PageState, Selection, from_file, from_parameters

MODELS = ["nli-attconv-light", "other"]


@pytest.mark.parametrize(
    "page",
    [
        PageState("other", "A man.", "**b** $x$ :smile: <img src=x>", Selection(5, 13), "score"),
        PageState("other", DEFAULT.first, DEFAULT.second, Selection(column=2)),
        PageState("nli-attconv-light", "שלום & co = ?", "\u200bzero\u200dwidth \x01 é", Selection(0), "column"),
        PageState("nli-attconv-light", "", ""),
    ],
)
def test_a_state_goes_through_link_and_file(page):
    assert from_parameters(page.to_parameters(), MODELS) == (page, [])
    assert from_file(page.to_file(), MODELS) == (page, [])


def test_an_examples_pair_makes_a_short_link():
    page = PageState("other", EXAMPLES[1].first, EXAMPLES[1].second)
    assert page.to_parameters() == {"model": "other", "example": "firefighters"}


def test_a_pair_too_long_for_a_link_has_none():
    assert PageState("other", "word " * LINK_LIMIT, "word").link_parameters() is None
    assert PageState("other", "word", "word").link_parameters() is not None


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"model": "gone"}, "“gone”"),
        ({"model": "x" * 500}, "xxx…"),
        ({"example": "nothing"}, "“nothing”"),
        ({"show": "everything"}, "“everything”"),
        ({"select": "x0"}, "“x0”"),
        ({"select": "<b>"}, "“<b>”"),
        ({"select": "x١"}, "“x١”"),
    ],
)
def test_each_wrong_value_gets_one_sentence_and_a_fallback(parameters, said):
    page, problems = from_parameters(parameters, MODELS)
    assert len(problems) == 1
    assert said in problems[0]
    assert problems[0].endswith((".", ")."))
    assert page == PageState("nli-attconv-light", DEFAULT.first, DEFAULT.second)


def test_without_any_model_nothing_breaks():
    page, problems = from_parameters({"model": "gone"}, [])
    assert page.model is None
    assert len(problems) == 1


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"pairlens": "explore", "version": 2}', '{"first": "a"}', "\x00\ufffd",
     "[" * 100_000 + "]" * 100_000,
     '{"pairlens": "explore", "version": 1, "first": "half a \\ud800 character", "second": "b"}'],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_a_foreign_file_gets_one_sentence(text):
    page, problems = from_file(text, MODELS)
    assert page is None
    assert len(problems) == 1


def test_a_selection_names_words_from_one():
    assert str(Selection(5, 13)) == "x6y14"
    assert Selection.parse("y14") == Selection(column=13)
    assert Selection.parse("") is None
    assert not Selection(5, 13).fits(5, 20)
