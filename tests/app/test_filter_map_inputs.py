"""The page Filter map's models, examples and bad input, each with one sentence."""

import html
import json
import shutil

import pytest

from app.examples import MAP_EXAMPLES, suiting
from tests.app.map_page import badges, map_text, notices, page, stars, texts
from tests.app.pages import choose_model, chooser, query


def test_another_models_example_is_replaced_but_the_users_texts_stay():
    app = page()
    choose_model(app, "answer selection", "test-qa")
    assert query(app) == {"model": "test-qa", "example": suiting("answer selection", MAP_EXAMPLES)[0].slug}
    app.text_area[0].input("my own question").run()
    choose_model(app, "text classification", "test-topics")
    pair, *others = suiting("answer selection", MAP_EXAMPLES)[0].texts
    assert texts(app) == ["my own question", pair.second, *(text.first for text in others)], "both texts of the pair"
    assert not app.exception


def test_examples_can_be_chosen():
    app = page()
    for example in suiting("topics", MAP_EXAMPLES):
        chooser(app, "Example").select(example.slug).run()
        assert query(app) == {"model": "test-topics", "example": example.slug}
        assert texts(app) == [text.first for text in example.texts]


def test_only_models_that_make_filters_are_offered(checkpoints):
    tasks = {"test-topics": "text classification", "test-qa": "answer selection"}
    options = [option for name in tasks for option in chooser(page(model=name), "Model").options]
    for title in ("Test topics", "Test questions and answers", "Test without a map"):
        assert any(title in option for option in options)
    assert not any("Test fixed" in option or "Test light" in option for option in options)
    assert any(option.startswith("Test without a map") for option in options[-1:]), "those without a map come last"


def test_a_model_without_a_map_shows_how_to_make_one_and_its_filters():
    app = page(model="test-qa-bare", first="is a dog outside", second="the dog is playing in the snow")
    assert notices(app) == [
        "test-qa-bare has no map yet: make one of a data file with `python -m trainers map test-qa-bare FILE`."
    ]
    assert any("what it finds in the question" in table.value.columns for table in app.table)
    assert not app.exception


def test_a_paraphrase_model_shows_why_it_has_no_map():
    app = page(model="para-adaqa", first="is a dog outside", second="is the dog outside")
    assert notices(app)[0].startswith("No map is available: both texts of a pair are of the same kind")
    assert not any("python -m trainers map" in said for said in notices(app))


def test_a_broken_map_gets_one_sentence():
    app = page(model="test-map-truncated")
    assert "This map cannot be used" in notices(app)[0]
    assert app.text_area
    assert not app.exception


def test_a_model_without_a_generator_gets_one_sentence():
    app = page(model="test-qa-fixed")
    assert len(notices(app)) == 1
    assert "“test-qa-fixed” isn’t available on this page; showing" in notices(app)[0]
    assert map_text(app) is not None


@pytest.mark.parametrize("empty", ["", "   "])
def test_an_empty_page_shows_a_hint_and_the_map(empty):
    app = page(first=empty)
    assert any("Type a text above" in h.proto.body for h in app.get("html"))
    assert stars(app) == []
    assert not app.exception


@pytest.mark.parametrize("wordless", ["?! ... —", "\u200b\u200d", "\x00\x07"])
def test_a_text_without_a_word_gets_one_sentence_and_the_others_stay(wordless):
    app = page(first=wordless, first2="a dog")
    assert notices(app) == ["Text 1 has no word in it: type one."]
    assert badges(app) == ["2"]


@pytest.mark.parametrize(
    "text",
    [
        "🐕 dog 👨‍👩‍👧",
        "הכלב משחק בשלג",
        "d\u200bog \x01\x02 plays",
        "=1+1 dog",
        "a" * 3000,
        "<img src=x onerror=alert(1)> a dog",
        "**bold** $x$ :smile: `code`",
        "dog",
    ],
    ids=["emoji", "right to left", "zero width", "formula", "long word", "markup", "markdown", "one word"],
)
def test_odd_text_is_placed_and_never_markup(text):
    app = page(example="album-film-river")
    app.text_area[0].input(text).run()
    assert not app.exception
    assert badges(app) == ["2", "1"]
    drawn = "".join(h.proto.body for h in app.get("html"))
    assert "<img" not in drawn


def test_ten_thousand_words_are_cut_with_a_notice_and_too_long_for_a_link():
    app = page(first="a dog")
    app.text_area[0].input("dog and cat " * 3334).run()
    assert any("cut after 200 words" in notice for notice in notices(app))
    assert any(notice.startswith("These texts are too long for a link") for notice in notices(app))
    assert query(app) == {"model": "test-topics"}
    app.run()
    assert texts(app)[0].startswith("dog and cat")


def test_a_trail_too_long_for_a_link_gets_a_notice():
    app = page(first="dog " * 300)
    app.text_area[0].input("cat " * 150 + "dog " * 150).run()
    assert any(notice.startswith("The trails are too long for a link") for notice in notices(app))
    assert query(app)["first"].startswith("cat")
    assert "first.1" not in query(app)


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "gone"},
        {"layout": "filter 99"},
        {"look": "9"},
        {"side": "second"},
        {"filter": "7"},
    ],
)
def test_a_wrong_value_in_the_address_gets_one_sentence(wrong):
    app = page(**wrong)
    assert not app.exception
    problems = [notice for notice in notices(app) if "link" in notice or "available" in notice]
    assert len(problems) == 1
    assert next(iter(wrong.values())) in problems[0] or problems[0].endswith(f"without them: {next(iter(wrong))}.")


def test_another_model_has_its_own_side_and_filter():
    app = page(model="test-qa", first="is a dog outside", second="a toy", side="second", filter="6")
    assert not any("link" in notice for notice in notices(app))
    choose_model(app, "text classification", "test-topics")
    assert not any("link" in notice for notice in notices(app))


@pytest.fixture
def own(checkpoints, tmp_path, monkeypatch):
    """A folder of checkpoints with a good one, and what copies another into it with a changed card."""
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    shutil.copytree(checkpoints / "test-topics", tmp_path / "test-topics")

    def change(of, name, **changes):
        shutil.copytree(checkpoints / of, tmp_path / name)
        card = json.loads((tmp_path / name / "card.json").read_text())
        (tmp_path / name / "card.json").write_text(json.dumps(card | changes))

    return change


def test_a_card_without_labels_or_roles_takes_no_other_model_down(own):
    own("test-topics", "no-labels", labels=None, title="No labels")
    own("test-topics", "half-roles", roles={"first": "text"}, title="Half the roles")
    app = page(example="album-film-river")
    assert not app.exception
    assert badges(app) == ["2", "1"]
    assert not {"No labels", "Half the roles"} & set(chooser(app, "Model").options)
    app = page(model="half-roles")
    assert not app.exception
    assert "“half-roles” isn’t available on this page; showing" in notices(app)[0]


def test_a_roles_name_is_never_markup(own):
    role = "<b>q</b>"
    own("test-qa-bare", "odd-role", roles={"first": role, "second": "answer", "judged": "answer"})
    app = page(model="odd-role", first="is a dog outside", second="the dog is playing")
    assert not app.exception
    drawn = "".join(h.proto.body for h in app.get("html"))
    assert role not in drawn
    assert f"made from {html.escape(role)} 1" in drawn


def test_without_any_model_the_page_shows_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path)
    app = page()
    assert not app.exception
    assert any("No model that makes filters is installed" in notice for notice in notices(app))
