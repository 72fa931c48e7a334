"""Texts that are edited leave a trail, another text begins a new one; and the examples."""

import pytest

from app.examples import EXAMPLES, MAP_EXAMPLES, PHRASE_EXAMPLES, SINGLE_KINDS, kind_of
from app.pairs import LONGEST_TRAIL, Pair


def test_an_edited_text_keeps_its_history_up_to_a_limit():
    text = Pair("")
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
        ("one, two; three!", "one four five", True),  # punctuation is not counted as words
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
def test_an_unrelated_text_starts_a_new_trail(before, after, goes_on):
    text = Pair(before, "", ((f"{before} once", ""),)).typed("first", after)
    assert text.earlier == (((f"{before} once", ""), (before, "")) if goes_on else ())
    assert text.first == after
    pair = Pair("who", before, (("when", before),))
    assert bool(pair.typed("second", after).earlier) is goes_on, "the side that was typed decides"
    assert pair.typed("second", after).first == "who"


def test_an_emptied_box_keeps_the_trail_until_another_text_is_typed():
    emptied = Pair("a dog plays", "", (("a dog", ""),)).typed("first", "")
    assert emptied.earlier == (("a dog", ""), ("a dog plays", ""))
    assert emptied.typed("first", "a dog sleeps").earlier == emptied.earlier
    assert emptied.typed("first", "cold weather").earlier == ()


def test_the_first_words_of_a_side_drop_no_trail():
    pair = Pair("who is it", "", (("when is it", ""),)).typed("second", "a dog")
    assert pair.earlier == (("when is it", ""), ("who is it", ""))


@pytest.mark.parametrize("examples", [EXAMPLES, PHRASE_EXAMPLES, MAP_EXAMPLES])
def test_every_example_has_a_unique_name_and_fits_its_kind(examples):
    assert len({example.slug for example in examples}) == len(examples)
    for example in examples:
        for text in example.texts:
            assert bool(text.second) == (example.kind not in SINGLE_KINDS)


def test_a_models_kind_follows_from_its_card():
    pair = {"first": "question", "second": "answer", "judged": "answer"}
    single = {"first": "text", "second": "", "judged": "text"}
    for judged in ("question", "answer", "both"):
        card = {"roles": pair | {"judged": judged}, "labels": ["0", "1"]}
        assert kind_of(card | {"task": "answer selection"}) == "answer selection"
        assert kind_of(card | {"task": "paraphrase"}) == "paraphrase"
    assert kind_of({"roles": single, "labels": ["neg", "pos"]}) == "reviews"
    assert kind_of({"roles": single, "labels": ["film", "village"]}) == "topics"
