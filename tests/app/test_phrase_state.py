"""A link's values on the page Phrases, good and bad, and files that the pages exchange."""

import pytest

from app.examples import PHRASE_EXAMPLES
from app.page_state import explore as state
from app.page_state import phrases as phrase_state
from app.page_state.phrases import PhrasePage, PickedPhrase, from_file, from_parameters

MODELS = ["other", "te-phrases-kmin"]
FIRST = PHRASE_EXAMPLES[0]


@pytest.mark.parametrize(
    "page",
    [
        PhrasePage("other", "A man.", "**b** $x$ :smile: <img src=x>", 3, PickedPhrase(0, 11)),
        PhrasePage("other", FIRST.first, FIRST.second, None, PickedPhrase(1, 2)),
        PhrasePage("te-phrases-kmin", "שלום & co = ?", "\u200bzero\u200dwidth \x01 é", 10),
        PhrasePage("te-phrases-kmin", "", ""),
    ],
)
def test_a_state_goes_through_link_and_file(page):
    assert from_parameters(page.to_parameters(), MODELS) == (page, [])
    assert from_file(page.to_file(), MODELS) == (page, [])


def test_an_examples_pair_makes_a_short_link():
    page = PhrasePage("other", FIRST.first, FIRST.second)
    assert page.to_parameters() == {"model": "other", "example": "entailed"}
    assert PhrasePage("other", "word " * 2000, "word").link_parameters() is None


def test_every_example_has_its_own_name():
    assert len({example.slug for example in PHRASE_EXAMPLES}) == len(PHRASE_EXAMPLES)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"model": "gone"}, "“gone”"),
        ({"model": "nli-attconv-light"}, "phrase model “nli-attconv-light”"),
        ({"example": "nothing"}, "“nothing”"),
        ({"k": "0"}, "k = “0”"),
        ({"k": "11"}, "k = “11”"),
        ({"k": "٣"}, "k = “٣”"),
        ({"k": "five"}, "k = “five”"),
        ({"select": "a0"}, "“a0”"),
        ({"select": "c3"}, "“c3”"),
        ({"select": "<b>" * 30}, "<b>…”"),
    ],
)
def test_each_wrong_value_gets_one_sentence_and_a_fallback(parameters, said):
    page, problems = from_parameters(parameters, MODELS)
    assert len(problems) == 1
    assert said in problems[0]
    assert problems[0].endswith(".")
    assert page == PhrasePage("te-phrases-kmin", FIRST.first, FIRST.second)


def test_several_wrong_values_get_one_sentence_each():
    assert len(from_parameters({"model": "x", "example": "x", "k": "x", "select": "x"}, MODELS)[1]) == 4


def test_without_any_model_nothing_breaks():
    page, problems = from_parameters({"model": "gone"}, [])
    assert page.model is None
    assert problems == ["The link asks for the phrase model “gone”, which is not here: no phrase model is installed."]


def test_the_pages_open_the_pair_of_each_others_files():
    saved = state.PageState("nli", "A dog", "A cat", state.Selection(1), "score").to_file()
    assert from_file(saved, MODELS) == (PhrasePage("te-phrases-kmin", "A dog", "A cat"), [])
    saved = PhrasePage("other", FIRST.first, "A cat", 3, PickedPhrase(0, 0)).to_file()
    assert state.from_file(saved, ["nli"]) == (state.PageState("nli", FIRST.first, "A cat"), [])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pairlens": "phrases", "version": 2}', '{"pairlens": ["x"]}'])
def test_a_foreign_file_gets_one_sentence(text):
    page, problems = from_file(text, MODELS)
    assert page is None
    assert len(problems) == 1


def test_a_selection_names_phrases_from_one():
    assert str(PickedPhrase(0, 11)) == "a12"
    assert PickedPhrase.parse("b3") == PickedPhrase(1, 2)
    assert PickedPhrase.parse("") is None
    assert not PickedPhrase(1, 3).fits([9, 3])
    assert phrase_state.default_model([]) is None
