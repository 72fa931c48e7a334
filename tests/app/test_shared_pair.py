"""All pages share one pair: whatever the user types, chooses or opens on one page is on the others too."""

import pytest

from app.examples import EXAMPLES, MAP_EXAMPLES, PHRASE_EXAMPLES, suiting
from tests.app.pages import choose_model, components, open_file, open_view, query

OWN = ("A man with a toy", "A dog is outside")


def visit(**link):
    app = open_view("streamlit_app.py", **({"model": "test-light"} | link))
    assert not app.exception
    return app


def go(app, page, **link):
    """To a page by the navigation in the sidebar, whose address says nothing, or by a link."""
    app.switch_page(f"app/views/{page}.py")
    app.query_params.clear()
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def boxes(app):
    """The text inputs; on the map they are text areas that grow with their texts."""
    return app.text_input or app.text_area


def type_into(app, box, text):
    boxes(app)[box].input(text).run()
    assert not app.exception


def choose(app, label, value):
    next(widget for widget in app.selectbox if widget.label == label).select(value).run()
    assert not app.exception


def texts(app):
    return tuple(box.value for box in boxes(app))


def shown_sentences(app):
    """All that the page says in its own words: notices of the page, and those drawn by its component."""
    drawn = [data.get("notices", []) for data in components(app)]
    return [html.proto.body for html in app.get("html")] + [sentence for notices in drawn for sentence in notices]


def test_the_model_that_was_explored_is_the_first_to_compare():
    app = go(visit(model="test-two-sided"), "compare")
    assert query(app)["model"] == "test-two-sided"


def test_back_leads_from_a_card_to_the_table_of_all_models():
    app = visit()
    go(app, "models")
    app.query_params["model"] = "test-light"
    app.run()
    assert "Test light</h2>" in " ".join(html.proto.body for html in app.get("html"))
    app.query_params.clear()
    app.run()
    assert len(app.dataframe) == 1


def test_a_typed_pair_is_there_on_every_page_and_back():
    app = visit()
    type_into(app, 0, OWN[0])
    type_into(app, 1, OWN[1])
    for page in ("phrases", "filter_map", "phrases", "explore"):
        link = {"model": "test-qa"} if page == "filter_map" else {}
        assert texts(go(app, page, **link)) == OWN
        assert (query(app)["first"], query(app)["second"]) == OWN, "each page's address holds its own complete state"
    type_into(go(app, "phrases"), 1, "A cat")
    assert texts(go(app, "explore")) == (OWN[0], "A cat")
    type_into(go(app, "filter_map"), 0, "A woman with a toy")
    assert query(app)["first.1"] == OWN[0], "on the map an edit leaves its trail"
    app.button(key="add a text").click().run()
    type_into(app, 2, "is a dog outside")
    for page in ("phrases", "explore"):
        assert texts(go(app, page)) == ("A woman with a toy", "A cat")
    app.button(key="swap").click().run()
    assert texts(go(app, "phrases")) == ("A cat", "A woman with a toy")
    assert texts(go(app, "filter_map")) == ("A cat", "A woman with a toy", "is a dog outside", ""), "further texts stay"


def test_a_chosen_example_is_shared_but_a_default_example_is_not():
    app = visit()
    assert texts(go(app, "phrases")) == PHRASE_EXAMPLES[0].texts[0].now
    assert texts(go(app, "explore")) == EXAMPLES[0].texts[0].now
    choose(app, "Example", "passive")
    assert texts(go(app, "phrases")) == ("A dog is chasing a cat", "A cat is being chased by a dog")
    choose(app, "Example", "negated")
    assert query(go(app, "explore"))["example"] == "negation", "the same pair is an example of this page, too"
    choose(go(app, "filter_map", model="test-qa"), "Example", "one-question")
    chosen = next(example for example in suiting("answer selection", MAP_EXAMPLES) if example.slug == "one-question")
    assert texts(go(app, "explore")) == chosen.texts[0].now
    assert query(app)["example"] == "answer"


def test_a_link_to_a_model_of_another_task_opens_with_that_tasks_example():
    app = visit(example="playing-outdoors")
    go(app, "models")
    for page in ("explore", "compare"):
        app = go(app, page, model="test-with-evidence")
        assert query(app)["example"] == "claim", "an entailment pair has no evidence sentences"
    choose(app, "Example", "negation")
    assert query(go(app, "explore", model="test-light"))["example"] == "negation", "within a task an example stays"


def test_another_pages_pair_takes_the_place_of_an_example_on_the_map():
    app = visit()
    assert query(go(app, "filter_map", model="test-topics"))["example"] == "four-topics"
    assert query(go(app, "phrases"))["example"] == "entailed", "the user did not select the map's example"
    assert texts(go(app, "filter_map")) == PHRASE_EXAMPLES[0].texts[0].now, "the map has no earlier pair to keep"
    type_into(go(app, "phrases"), 0, OWN[0])
    assert texts(go(app, "filter_map")) == (OWN[0], PHRASE_EXAMPLES[0].texts[0].second)


def test_an_address_with_texts_wins_over_the_shared_pair():
    app = visit(first=OWN[0], second=OWN[1])
    assert texts(go(app, "phrases", first="A woman", second="A cat")) == ("A woman", "A cat")
    assert texts(go(app, "explore")) == ("A woman", "A cat"), "and becomes it"
    assert texts(go(app, "phrases", example="one-word")) == ("dog", "puppy")
    assert texts(go(app, "explore", model="test-light", first=OWN[0], second=OWN[1])) == OWN
    assert texts(go(app, "phrases", k="3")) == OWN, "one that says none shows the shared pair"
    assert query(app) == {"model": query(app)["model"], "first": OWN[0], "second": OWN[1], "k": "3"}


def test_going_back_shows_the_pair_of_the_older_address():
    app = visit(first=OWN[0], second=OWN[1])
    older = query(app)
    type_into(go(app, "phrases"), 0, "A woman")
    assert texts(go(app, "explore", **older)) == OWN
    assert texts(go(app, "phrases")) == OWN


def test_the_map_of_single_texts_places_both_texts_of_the_pair():
    app = visit(first=OWN[0], second=OWN[1])
    assert texts(go(app, "filter_map")) == OWN
    assert query(app)["first2"] == OWN[1], "a separate text"
    type_into(app, 1, "A dog is in the snow")
    assert texts(go(app, "explore")) == (OWN[0], "A dog is in the snow")
    choose_model(go(app, "filter_map"), "answer selection", "test-qa")
    assert texts(app) == (OWN[0], "A dog is in the snow"), "one pair where the model reads pairs"
    assert texts(go(app, "phrases")) == (OWN[0], "A dog is in the snow")
    choose_model(go(app, "filter_map"), "text classification", "test-topics")
    assert query(app)["first2"] == "A dog is in the snow"


def test_the_map_places_the_example_that_explore_has_opened_with():
    app = visit()
    opened = texts(app)
    assert texts(go(app, "filter_map")) == opened
    type_into(app, 0, OWN[0])
    assert texts(go(app, "explore")) == (OWN[0], opened[1])


def test_a_model_of_single_texts_shares_the_first_text():
    app = visit(first=OWN[0], second=OWN[1])
    assert texts(go(app, "filter_map", model="test-topics")) == OWN
    type_into(app, 0, "A man with a cat")
    assert texts(go(app, "explore")) == ("A man with a cat", OWN[1])
    choose(go(app, "filter_map"), "Example", "beetles")
    beetles = tuple(text.first for text in suiting("topics", MAP_EXAMPLES)[2].texts[:2])
    assert texts(go(app, "phrases")) == beetles
    assert query(go(app, "filter_map"))["example"] == "beetles", "the texts it shows are the same"
    type_into(go(app, "phrases"), 1, "A cat")
    assert texts(go(app, "filter_map")) == (beetles[0], "A cat"), "an example gives way as a whole"


def test_another_pair_resets_the_selection():
    app = visit(first=OWN[0], second=OWN[1], select="x1y1", show="score")
    assert query(app)["select"] == "x1y1"
    go(app, "phrases")
    assert query(go(app, "explore"))["select"] == "x1y1", "the pair is the same"
    type_into(go(app, "phrases"), 0, "A woman")
    assert query(go(app, "explore")) == {"model": "test-light", "first": "A woman", "second": OWN[1], "show": "score"}


def test_the_projector_is_one_for_all_pages():
    app = visit(projector="on")
    for page in ("phrases", "filter_map", "models", "explore"):
        go(app, page)
        assert app.toggle[0].value
        assert query(app)["projector"] == "on"
    app.toggle[0].set_value(False).run()
    for page in ("models", "filter_map", "phrases"):
        assert not go(app, page).toggle[0].value
        assert "projector" not in query(app)
    app.toggle[0].set_value(True).run()
    choose_card = go(app, "models", model="nli-two-sided", projector="on")
    choose_card.button[0].click().run()
    assert query(app) == {"projector": "on"}, "the table of all models keeps it"
    app = visit()
    assert go(app, "phrases", projector="on").toggle[0].value, "a link that names it decides"


def test_a_pair_too_long_for_a_link_is_shared_all_the_same():
    app = visit()
    type_into(app, 0, "dog and cat " * 400)
    assert query(app) == {"model": "test-light"}
    assert texts(go(app, "phrases", model="test-te"))[0] == "dog and cat " * 400
    assert texts(go(app, "explore"))[0] == "dog and cat " * 400
    assert texts(go(app, "explore", model="test-light"))[0] == "dog and cat " * 400


@pytest.mark.parametrize("page", ["explore", "phrases", "filter_map"])
@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("[" * 100_000 + "]" * 100_000, "was not saved by this page"),
        ("\x00" * 100, "was not saved by this page"),
    ],
    ids=["deep", "NULs"],
)
def test_a_broken_file_gets_one_sentence_and_the_page_stays(page, file, sentence):
    app = visit(first=OWN[0], second=OWN[1])
    go(app, page)
    open_file(app, file.encode())
    assert not app.exception
    assert [sentence in shown for shown in shown_sentences(app)].count(True) == 1
    assert texts(app)[0] == OWN[0]


def test_a_file_that_is_opened_is_shared():
    app = visit()
    saved = b'{"pairlens": "phrases", "version": 1, "first": "A woman", "second": "A cat", "k": "3"}'
    open_file(app, saved)
    assert texts(app) == ("A woman", "A cat")
    assert texts(go(app, "phrases")) == ("A woman", "A cat")
