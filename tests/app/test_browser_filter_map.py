"""The filter map in a real browser: texts become stars, edits leave trails, links open the same map; and Explore's
filters of a pair."""

from __future__ import annotations

import html
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.app.pages import ROLLED, come_to_rest, downloaded, type_into, wait_until

pytestmark = pytest.mark.browser

MAP = ".map > svg"
SEEN = "[data-testid=stTable]"
QUESTION = {"first": "is a dog outside", "second": "the dog is playing in the snow"}
POINTS = f"{MAP} .points path"
STARS = "stars => stars.map(({ dataset }) => [dataset.name, dataset.label])"
"""The numbers of the present stars, and their hover labels."""


def link(**parameters):
    return "/filter-map?" + urlencode({"model": "test-topics"} | parameters)


def stars(page):
    """The stars of present texts: number and hover label."""
    return sorted(page.locator(f"{MAP} [data-name]").evaluate_all(STARS))


def drawn(page):
    """The stars, and how many earlier versions and steps of trails are drawn."""
    return stars(page), [page.locator(f"{MAP} {name}").count() for name in (".star", ".trail", ".pair")]


def wait_for_star(page, words):
    wait_until(page, stars, lambda found: any(words in label for _, label in found))
    come_to_rest(page)


def point(page):
    """Window coordinates of the first class's first reference text: the first corner of its mark."""
    corner = """path => {
      const { left, top } = path.ownerSVGElement.getBoundingClientRect();
      const [x, y] = path.getAttribute("d").match(/[\\d.]+/g).map(Number);
      return [left + x, top + y];
    }"""
    return page.locator(POINTS).first.evaluate(corner)


def width_of_points(page):
    """The width of the first class's points in pixels."""
    return page.locator(POINTS).first.evaluate("points => points.getBoundingClientRect().width")


def shown_points(page):
    """The names of the classes whose points are drawn."""
    drawn = page.locator(POINTS).evaluate_all("shapes => shapes.map((one) => one.getAttribute('d').length > 0)")
    return [name for name, on in zip(page.locator(".map .entries span").all_inner_texts(), drawn, strict=False) if on]


def test_a_box_grows_with_its_text_which_is_kept_when_another_is_added(open_page):
    page = open_page(link(first="a dog"), wait=SEEN)
    box = page.get_by_label("Text 1", exact=True)
    low = box.bounding_box()["height"]
    assert low < 50
    type_into(page, "Text 1", "a dog is playing with a toy in the snow and " * 8)
    wait_for_star(page, "in the snow and a dog")
    assert box.bounding_box()["height"] > 1.8 * low
    assert "\n" not in box.input_value()
    # Typed without Enter.
    box.fill("a cat")
    page.get_by_role("button", name="Add a text").click()
    expect(page.get_by_label("Text 2", exact=True)).to_be_visible()
    wait_for_star(page, "a cat")
    page.get_by_role("button", name="Remove text 2").click()
    expect(page.get_by_label("Text 2", exact=True)).to_have_count(0)
    expect(page.get_by_label("Text 1", exact=True)).to_have_value("a cat")


def test_the_view_around_a_text_follows_it(open_page):
    page = open_page(link(first="a dog with a toy", view="near"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    type_into(page, "Text 1", "cold weather outside with snow")
    wait_for_star(page, "cold weather outside")
    expect(page.get_by_role("radio", name="around the inspected text")).to_be_checked()

    def places(page):
        return [page.locator(name).last.bounding_box() for name in (MAP, f"{MAP} .star text")]

    def inside(places):
        plane, star = places
        across = plane["x"] < star["x"] < plane["x"] + plane["width"]
        return across and plane["y"] < star["y"] + star["height"] < plane["y"] + plane["height"]

    wait_until(page, places, inside)
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_text("the whole map", exact=True).click()
    page.wait_for_url(lambda url: "view=" not in url)
    other = page.context.new_page()
    other.goto(page.url)
    wait_for_star(other, "cold weather outside")
    whole = width_of_points(other)
    wait_until(page, width_of_points, lambda width: width == pytest.approx(whole, abs=1))


def test_zoom_and_hidden_classes_stay_when_a_text_changes_and_a_reload_draws_the_same_map(open_page):
    page = open_page(link(first="a dog with a toy"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    page.mouse.move(*point(page))
    expect(page.get_by_role("tooltip")).to_contain_text(re.compile(r"\*\*Row\*\* <b>\d+</b>film"))
    whole, all_classes = width_of_points(page), shown_points(page)
    assert all_classes == ["film", "animal", "place"]
    page.locator(MAP).evaluate("map => { map.stays = true; }")
    page.get_by_role("button", name="Zoom out").click()
    wait_until(page, width_of_points, lambda width: width < 0.85 * whole)
    zoomed = width_of_points(page)
    entry = page.get_by_role("button", name="Hide or show: animal")
    entry.focus()
    page.keyboard.press("Enter")
    wait_until(page, shown_points, lambda shown: shown == ["film", "place"])
    type_into(page, "Text 1", "a man with a toy")
    wait_for_star(page, "a man with a toy")
    wait_until(page, width_of_points, lambda width: width == pytest.approx(zoomed, abs=1))
    hidden = page.locator(".map .entries [aria-pressed=false]")
    assert hidden.all_inner_texts() == ["animal"]
    assert page.locator(MAP).evaluate("map => map.stays"), "the reference points were not drawn from nothing"
    page.get_by_role("button", name="Reset the view").click()
    wait_until(page, width_of_points, lambda width: width == pytest.approx(whole, rel=0.08))
    entry.press("Enter")
    wait_until(page, shown_points, lambda shown: shown == all_classes)
    entry.dblclick()
    wait_until(page, shown_points, lambda shown: shown == ["animal"])
    entry.dblclick()
    wait_until(page, shown_points, lambda shown: shown == all_classes)
    x, y = point(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=3)
    page.mouse.up()
    assert point(page) == pytest.approx([x + 40, y + 30], abs=0.3)
    page.locator(MAP).press("ArrowLeft")
    assert point(page) == pytest.approx([x + 100, y + 30], abs=0.3)
    page.locator(MAP).dblclick()
    assert point(page) == pytest.approx([x, y], abs=0.3)
    an_edit_leaves_a_trail_and_a_reload_gives_the_same(page)
    the_first_screen_holds_texts_map_and_nearest_filters_and_the_keyboard_chooses_the_text(page)


def an_edit_leaves_a_trail_and_a_reload_gives_the_same(page):
    type_into(page, "Text 1", "a man in the snow")
    wait_for_star(page, "a man in the snow")
    page.get_by_role("button", name="Add a text").click()
    type_into(page, "Text 2", "cold weather outside")
    wait_for_star(page, "cold weather outside")
    assert [number for number, _ in stars(page)] == ["1", "2"]
    before = drawn(page)
    page.wait_for_url(re.compile("first2=cold"))
    page.reload()
    wait_for_star(page, "cold weather outside")
    wait_until(page, drawn, lambda seen: seen == before)
    expect(page.get_by_label("Text 1", exact=True)).to_have_value("a man in the snow")


def the_first_screen_holds_texts_map_and_nearest_filters_and_the_keyboard_chooses_the_text(page):
    for name in ("[aria-label='Text 1']", MAP, "[data-testid=stTable] >> nth=0"):
        box = page.locator(name).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    page.get_by_role("radio", name="1", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("One of the 7 filters made from text 2")).to_be_visible()
    page.wait_for_url(re.compile("look=2"))
    expect(page.get_by_role("radio", name="2", exact=True)).to_be_focused()


def test_the_map_is_saved_light_with_a_caption_and_without_a_raster(open_page):
    page = open_page(link(model="test-qa", **QUESTION), wait=SEEN, color_scheme="dark")
    wait_for_star(page, "the dog is playing")
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        file = downloaded(page.get_by_role("button", name=f"Save the filter map as {kind}", exact=True))
        drawing = file.path().read_bytes()
        assert drawing.startswith(begins)
        assert file.suggested_filename.startswith("pairlens-filter-map-test-qa")
        if kind == "SVG":
            words = " ".join(html.unescape(re.sub("<[^>]*>", " ", drawing.decode())).split())
            for text in ("texts of pairs.csv", f"Question 1: {QUESTION['first']}", "Test questions and answers: "):
                assert text in words
            assert b"<image" not in drawing
            assert b"17, 22, 28" not in drawing and b"232, 237, 242" not in drawing, "light in either theme"
    weights = downloaded(page.get_by_role("button", name="Save the filter as SVG"))
    assert weights.suggested_filename.startswith("pairlens-filter-")
    assert "Weights of filter" in weights.path().read_text(encoding="utf-8")


def test_explore_lists_the_words_of_each_window(open_page):
    page = open_page("/?" + urlencode({"model": "test-qa-bare", **QUESTION, "open": "details"}))
    panel = page.get_by_label("How the windows match")
    expect(panel.locator("tbody tr")).to_have_count(3)
    expect(panel.locator("tbody .ngram").nth(1)).to_have_text(re.compile("^(is a dog outside|no similar window)$"))
    page.get_by_label("Save a figure").select_option(label="Windows")
    figure = downloaded(page.get_by_role("button", name="Save the figure as SVG")).path().read_text()
    assert "How the windows match: 3 of 3" in figure and QUESTION["first"] in figure
    expect(page.locator(".filters thead")).not_to_contain_text("answer")
    expect(page.locator(".filters .choices")).to_contain_text("Strongest")


def test_explore_shows_the_filters_of_either_text_and_leads_to_both_on_the_map(open_page):
    page = open_page("/?" + urlencode({"model": "test-qa", **QUESTION, "open": "details"}))
    panel = page.locator(".filters")
    strongest = panel.get_by_role("button", name=re.compile("^Strongest")).first  # the selected word's follow
    expect(page.locator("section.effects li").first).to_be_visible()
    panel.get_by_role("button", name="answer", exact=True).click()
    strongest.click()
    expect(panel.locator("thead")).to_contain_text("ReLU")
    expect(panel.locator(".whose")).to_contain_text("They are made from the question.")
    words = panel.locator("tbody .ngram").all_inner_texts()
    assert all(len(ngram.split()) == 5 for ngram in words)
    expect(panel.locator("tfoot")).to_contain_text("all 7 filters over the question")
    expect(panel.locator("tfoot")).to_contain_text("products of both texts’ filters")
    panel.get_by_role("button", name="question", exact=True).click()
    strongest.click()
    expect(panel.locator(".whose")).to_contain_text("They are made from the answer.")
    expect(panel.locator("tbody .ngram").first).to_have_text("is a dog outside")
    page.keyboard.press("Escape")  # the sentence's first word is selected at first
    page.locator('.side[data-role="answer"] .chip', has_text="playing").click()
    expect(panel.get_by_role("button", name="answer", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(panel.locator(".choices [aria-pressed=true]")).to_contain_text("Won by playing")
    page.wait_for_url(re.compile("select=x4"))
    page.locator('.side[data-role="question"] .chip', has_text="dog").click()
    expect(panel.get_by_role("button", name="question", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(panel.locator(".choices [aria-pressed=true]")).to_contain_text("Won by dog (7)")
    page.get_by_role("link", name="Show this pair’s filters on the map").click()
    wait_for_star(page, "the dog is playing")
    assert [number for number, _ in stars(page)] == ["1 answer", "1 question"]
    assert "/filter-map?model=test-qa" in page.url


def test_on_a_phone_the_parts_stack_in_order_a_swipe_scrolls_the_page_and_a_tap_names_a_point(open_page):
    page = open_page(
        link(model="test-qa", **QUESTION), wait=SEEN, viewport={"width": 390, "height": 844}, has_touch=True
    )
    names = (
        "[aria-label='Question 1']",
        "[aria-label='Answer 1']",
        MAP,
        "[data-testid=stTable] >> nth=0",
        ".st-key-filter-weights",
    )
    tops = [page.locator(name).bounding_box()["y"] for name in names]
    assert tops == sorted(tops)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    wait_for_star(page, "the dog is playing")
    page.locator(MAP).evaluate("map => map.scrollIntoView({block: 'center'})")
    box = page.locator(MAP).bounding_box()
    session = page.context.new_cdp_session(page)
    before = page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.7
    for step in range(13):
        kind = "touchMove" if step else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - 20 * step}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("y => document.querySelector('[data-testid=stMain]').scrollTop > y + 100", arg=before)
    page.evaluate(ROLLED)
    page.locator(MAP).evaluate("map => map.scrollIntoView({block: 'center'})")
    page.evaluate(ROLLED)
    page.touchscreen.tap(*point(page))
    expect(page.get_by_role("tooltip")).to_be_visible()


def test_names_of_classes_do_not_overlap(open_page):
    page = open_page(link(model="topic-acnn", first="Ann Lee (born 1975) is a retired footballer"), wait=SEEN)
    wait_for_star(page, "footballer")
    boxes = page.locator(f"{MAP} .name").evaluate_all(
        """names => names.map((name) => {
            const { left, right, top, bottom } = name.getBoundingClientRect();
            const spare = (bottom - top) / 5; // a line's box is higher than its letters
            return [name.textContent, left, right, top + spare, bottom - spare];
        })"""
    )
    assert len(boxes) > 10
    for i, (name, left, right, top, bottom) in enumerate(boxes):
        for other, left2, right2, top2, bottom2 in boxes[:i]:
            assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top, f"{name} overlaps {other}"
