"""Behaviour shared by all pair pages: typing, links, and one sentence for every kind of bad input."""

import pytest

from tests.app.pages import box, chooser, open_view, query, sentences

MODELS = {"explore": "test-light", "phrases": "test-te"}
PAIR = {"first": "A man", "second": "A woman"}

both_pages = pytest.mark.parametrize("view", MODELS)


def page(view, **link):
    return open_view(view, **({"model": MODELS[view]} | link))


@both_pages
def test_a_stale_address_never_undoes_typing(view):
    app = page(view, **PAIR)
    app.query_params["first"] = "older"
    box(app, "second").input("A girl").run()
    assert query(app)["first"] == "A man"
    assert query(app)["second"] == "A girl"


@both_pages
def test_an_address_edited_by_hand_is_followed(view):
    app = page(view, **PAIR)
    app.query_params["first"] = "A boy"
    app.run()
    assert box(app, "first").value == "A boy"


@both_pages
@pytest.mark.parametrize("empty", ["", "   ", "\u200b\u200d", "?! ... —", "\x00\x07"])
@pytest.mark.parametrize(("side", "role", "other"), [("first", "premise", "second"), ("second", "hypothesis", "first")])
def test_a_side_without_a_word_gets_one_sentence(view, side, role, other, empty):
    app = page(view, **(PAIR | {side: empty}))
    assert not app.exception
    assert len(sentences(app)) == 1
    assert role in sentences(app)[0]
    assert box(app, other).value == PAIR[other]


@both_pages
def test_an_empty_page_shows_a_hint(view):
    assert "Type a sentence" in sentences(page(view, first="", second=""))[0]


@both_pages
@pytest.mark.parametrize(
    "text",
    [
        "dog",
        "🐕 dog 👨‍👩‍👧",
        "הכלב משחק בשלג",
        "d\u200bog \x01\x02 plays",
        "=1+1 dog",
        "a" * 3000,
        "'; DROP TABLE x; --",
        "<img src=x onerror=alert(1)> a dog",
        "**bold** $x$ :smile: `code`",
    ],
    ids=["one word", "emoji", "right to left", "zero width", "formula", "long word", "quote", "markup", "markdown"],
)
def test_odd_text_is_drawn_as_typed(view, text, drawn):
    app = page(view)
    box(app, "second").input(text).run()
    assert not app.exception
    data = drawn(app)
    words = "".join(data["sides"][1]["tokens"])
    assert words.replace(" ", "") == "".join(c for c in text if c.isprintable() or c in "\u200b\u200d").replace(" ", "")
    assert query(app).get("second") == (text if len(text) < 3000 else None)


@pytest.mark.parametrize(
    ("view", "wrong"),
    [
        ("explore", {"model": "gone"}),
        ("explore", {"show": "all"}),
        ("explore", {"select": "x99"}),
        ("phrases", {"model": "test-light"}),
        ("phrases", {"k": "99"}),
        ("phrases", {"select": "a999"}),
    ],
)
def test_a_wrong_value_in_the_address_gets_one_sentence(view, wrong, drawn):
    app = page(view, **wrong)
    assert not app.exception
    problems = [notice for notice in drawn(app)["notices"] if "link" in notice or "available" in notice]
    assert len(problems) == 1
    assert next(iter(wrong.values())) in problems[0] or problems[0].endswith(f"without them: {next(iter(wrong))}.")
    box(app, "first").input("A dog").run()
    assert not any("link" in notice or "available" in notice for notice in drawn(app)["notices"])


@pytest.mark.parametrize(
    ("view", "name"),
    [
        ("explore", "test-truncated"),
        ("explore", "test-foreign"),
        ("explore", "test-no-json"),
        ("phrases", "test-te-truncated"),
    ],
)
def test_a_broken_checkpoint_gets_one_sentence(view, name):
    app = page(view, model=name)
    assert not app.exception
    assert len(sentences(app)) == 1
    assert name in sentences(app)[0]
    chooser(app, "Model").set_value(MODELS[view]).run()
    assert app.get("bidi_component")
