"""Two explanations on one page in a real browser, with panels that no shipped model needs."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.app.pages import downloaded
from tests.app.servers import serve

pytestmark = pytest.mark.browser

MOMENTS = ("make", "ready", "prepare", "draw", "fit", "reveal", "ribbons", "direction")
PRESSED = '.chip[aria-pressed="true"]'


@pytest.fixture(scope="module")
def server(checkpoints, tmp_path_factory):
    """Address of the page with two explanations."""
    yield from serve("tests/app/two_explanations.py", tmp_path_factory.mktemp("two"), checkpoints)


@pytest.fixture
def sides(open_page):
    """Both explanations on the page."""

    def opened(path="/", **options):
        page = open_page(path, wait=".st-key-right-pair .pairlens footer", **options)
        return [page.locator(f".st-key-{side}-pair") for side in ("left", "right")]

    return opened


def test_each_explanation_has_its_own_selection(sides):
    left, right = sides()
    left.locator('[data-cell="1,0"]').click()
    expect(left.get_by_text("left: x2y1")).to_be_visible()
    right.locator('.side[data-role="answer"] .chip', has_text="made").click()
    assert right.locator(PRESSED).all_inner_texts() == ["made"], "the sentences stand once"
    expect(right.get_by_text("right: x2")).to_be_visible()
    assert left.locator(PRESSED).all_inner_texts() == ["An", "dog"]
    expect(left.get_by_text("left: x2y1")).to_be_visible()


def test_pooled_weights_are_accessible_by_sight_keyboard_and_screen_reader(sides):
    _, right = sides()
    panel = right.locator(".pooled_attention")
    words = right.locator('.side[data-role="question"] .chip')
    assert [word.get_attribute("aria-label") for word in words.all()] == [
        "who: weight 10\u00a0%",
        "made: weight 60\u00a0%",
        "the: weight 10\u00a0%",
        "film: weight 20\u00a0%",
    ]
    heights = [bar.bounding_box()["height"] for bar in right.locator('.side[data-role="question"] .weight').all()]
    assert heights[1] == pytest.approx(6 * heights[0], rel=0.15)
    assert heights[1] > heights[3] > heights[0] == heights[2]
    words.first.focus()
    words.first.press("ArrowRight")
    expect(words.nth(1)).to_be_focused()
    expect(panel.locator(".readout")).to_have_text("made 60\u00a0% of the question")
    expect(right.get_by_text("right: y2")).to_be_visible()
    expect(panel.locator(".legend")).to_contain_text("60\u00a0% of the question, 70\u00a0% of the answer")


def test_pooled_weights_are_saved_as_a_figure(sides, tmp_path):
    _, right = sides(color_scheme="dark")
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        drawing = downloaded(right.get_by_role("button", name=f"Save the ribbons as {kind}")).path().read_bytes()
        assert drawing.startswith(begins)
        if kind == "SVG":
            assert b">film<" in drawing
            assert b"light-dark" not in drawing
            assert drawing.count(b"<rect") >= 1 + 2 * 7 + 11, "the ground, a frame and a bar a word, the scale"


@pytest.mark.parametrize("moments", [MOMENTS, ("barOf",), ("read",)], ids=" ".join)
def test_a_panel_that_fails_shows_a_sentence_in_its_place(sides, moments):
    _, right = sides(f"/?faults={'+'.join(moments)}")
    right.locator('.side[data-role="answer"] .chip', has_text="made").click()
    expect(right.get_by_text("right: x2")).to_be_visible()
    failed = right.locator(".panel", has_text="This part could not be drawn")
    expect(failed).to_have_count(len(moments))
    for panel, moment in zip(failed.all(), moments, strict=True):
        reason = f"(fails at {moment} <b>): reload the page, and if it stays, report a bug."
        expect(panel).to_have_text(f"This part could not be drawn {reason}")
        assert panel.is_visible()
    expect(right.locator(".word_length")).to_have_text("3 4 2")


def test_a_new_panel_folder_is_shown_and_its_style_stays_scoped(sides):
    left, right = sides()
    lengths = right.locator(".word_length")
    expect(lengths).to_have_text("3 4 2")
    assert lengths.evaluate("node => getComputedStyle(node).letterSpacing") == "3px"
    assert right.locator(".said").evaluate("node => getComputedStyle(node).letterSpacing") == "normal"
    expect(left.locator(".word_length")).to_have_count(0)
