"""The states of pages: what a change resets, the pair that pages share, and selections."""

from dataclasses import replace

from app.examples import MAP_EXAMPLES
from app.page_state.explore import ExploreState, has_words
from app.page_state.filter_map import MapState
from app.pairs import Pair
from tests.app.test_page_state import MODELS


def test_fields_that_belong_to_changed_values_are_reset():
    state = ExploreState("m", (Pair("a", "b"),), "score", "x2")
    assert state.updated(texts=(Pair("c", "b"),)) == ExploreState("m", (Pair("c", "b"),), "score")
    assert state.updated(model="n") == replace(state, model="n")
    assert replace(state, direction="premise").updated(model="n").direction is None
    on_map = MapState("m", (Pair("a"), Pair("b")), "filter 0", 1, "second", 12, "near")
    assert on_map.updated(model="n") == MapState("n", on_map.texts, look=1, view="near")
    assert on_map.updated(texts=(Pair("a"),)) == MapState("m", (Pair("a"),), "filter 0", view="near")
    assert on_map.updated(texts=on_map.texts, look=1).look == 1


def test_a_state_is_suited_to_the_models_that_are_there():
    example = MAP_EXAMPLES[0].texts
    state = MapState("as-adaqa", example).suited(MODELS)
    assert state.example.kind == "answer selection"
    own = MapState("gone", (Pair("a dog"),), "filter 0")
    assert own.suited(MODELS) == MapState("topic-acnn", (Pair("a dog"),))
    assert MapState("topic-acnn", example).suited(MODELS) == MapState("topic-acnn", example)


def test_another_pages_pair_takes_the_first_place():
    new = ("A dog", "A cat")
    own = MapState("as-adaqa", (Pair("who", "he", (("when", "he"),)), Pair("what", "it")), look=1, filter=3)
    assert own.take_pair(new, MODELS) == MapState("as-adaqa", (Pair(*new), Pair("what", "it")))
    assert own.take_pair(("who", "he"), MODELS) == own, "the pair it has already leaves its trail"
    example = MapState("topic-acnn", MAP_EXAMPLES[0].texts)
    placed = (Pair("A dog"), Pair("A cat"))
    assert example.take_pair(new, MODELS).texts == placed, "an example gives way as a whole, to both texts"
    assert example.take_pair(("A dog", ""), MODELS).texts == placed[:1]
    single = MapState("topic-acnn", (*placed, Pair("A third text")), look=1)
    assert single.take_pair(new, MODELS) == single, "the texts are the same"
    assert single.take_pair(("A man", "A cat"), MODELS).texts == (Pair("A man"), Pair("A cat"), Pair("A third text"))


def test_a_pair_that_comes_to_a_map_of_single_texts_is_two_texts():
    state, _ = MapState.from_parameters({"model": "topic-acnn", "first": "A dog", "second": "A cat"}, MODELS)
    assert state.suited(MODELS).texts == (Pair("A dog"), Pair("A cat"))
    pairs, _ = MapState.from_parameters({"model": "as-adaqa", "first": "A dog", "second": "A cat"}, MODELS)
    assert pairs.suited(MODELS) == pairs


def test_a_page_gives_its_first_pair_and_a_model_of_single_texts_the_first_text():
    pair = ExploreState("as-adaqa", (Pair("A dog", ""),))
    assert pair.give_pair(("x", "y"), MODELS) == ("A dog", "")
    single = MapState("topic-acnn", (Pair("A dog"), Pair("B")))
    assert single.give_pair(("x", "y"), MODELS) == ("A dog", "B"), "the map's first two texts"
    assert replace(single, texts=(Pair("A dog"),)).give_pair(("x", "y"), MODELS) == ("A dog", "y")
    assert replace(single, texts=(Pair("A dog"),)).give_pair(None, MODELS) == ("A dog", "")


def test_a_selection_names_words_from_one():
    for name in ("x6y14", "x6", "y14", "none"):
        state, problems = ExploreState.from_parameters({"select": name}, MODELS)
        assert (state.selection, problems) == (name, [])
        assert state.to_parameters()["select"] == name
    for name in ("x0", "y", "6", "x6y14z", "nonex6", "x10000"):
        state, (problem,) = ExploreState.from_parameters({"select": name}, MODELS)
        assert state.selection is None and problem.endswith("without them: select.")
    assert "select" not in ExploreState("m").to_parameters()
    assert has_words("x6y14", 6, 14) and has_words("none", 0, 0)
    assert not has_words("x6y14", 5, 20) and not has_words("x6y14", 6, 13)
