"""The filter map in a real browser: texts become stars, edits leave trails, links open the same map; and Explore's
filters of a pair."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

MAP = ".filter-map .plane"
SEEN = ".pl-list"
QUESTION = {"first": "is a dog outside", "second": "the dog is playing in the snow"}


def link(**parameters):
    return "/filter-map?" + urlencode({"model": "test-topics"} | parameters)


def drawn(page):
    """Badges of the stars, texts of all versions, and the number of arrows."""
    words = "stars => stars.map(star => star.dataset.words)"
    return {
        "badges": sorted(page.locator(".star.now .badge").all_text_contents()),
        "now": page.locator(".star.now").evaluate_all(words),
        "earlier": page.locator(".star.earlier").evaluate_all(words),
        "arrows": page.locator(".trail").count(),
    }


def wait_for_star(page, words):
    page.locator(f'.star.now[data-words*="{words}"]').wait_for()


def place_of_first_point(page):
    """Where the first reference text lies in the window, by the beginning of its class's path."""
    return page.locator(f"{MAP} g > path").first.evaluate(
        """path => {
            const box = path.ownerSVGElement.getBoundingClientRect();
            const [, left, middle] = path.getAttribute("d").match(/^M([-\\d.]+) ([-\\d.]+)a/).map(Number);
            return [box.x + left + 3.5, box.y + middle];
        }"""
    )


def width_of_points(page):
    """How wide the points of the first class lie, in pixels."""
    return page.locator(f"{MAP} g > path").first.evaluate("path => path.getBBox().width")


def wait_until(page, seen, wanted):
    """Wait until what ``seen(page)`` gives is as wanted: the map draws many movements at once."""
    for _ in range(100):
        if wanted(seen(page)):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it stays {seen(page)}")


def type_into(page, label, text):
    box = page.get_by_label(label, exact=True)
    box.fill(text)
    box.press("Enter")


def test_a_typed_text_becomes_a_star_an_edit_leaves_a_trail_and_a_reload_gives_the_same(open_page):
    page = open_page(link(first="a dog with a toy"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    type_into(page, "Text 1", "a man with a toy")
    wait_for_star(page, "a man with a toy")
    type_into(page, "Text 1", "a man in the snow")
    wait_for_star(page, "a man in the snow")
    page.get_by_role("button", name="Add a text").click()
    type_into(page, "Text 2", "cold weather outside")
    wait_for_star(page, "cold weather outside")
    # A star goes to its place, and only then it is an earlier one.
    wait_until(page, drawn, lambda seen: seen["badges"] == ["1", "2"] and seen["arrows"] == len(seen["earlier"]) == 2)
    before = drawn(page)
    page.wait_for_url(re.compile("first2=cold"))
    page.reload()
    wait_for_star(page, "cold weather outside")
    wait_until(page, drawn, lambda seen: seen == before)
    expect(page.get_by_label("Text 1", exact=True)).to_have_value("a man in the snow")
    page.get_by_role("button", name="Clear the trails").click()
    expect(page.locator(".trail")).to_have_count(0)
    expect(page.get_by_role("button", name="Clear the trails")).to_have_count(0)
    page.wait_for_url(lambda url: "first.1" not in url)


def test_a_text_typed_without_enter_is_kept_when_another_is_added(open_page):
    page = open_page(link(first="a dog"), wait=SEEN)
    page.get_by_label("Text 1", exact=True).fill("a cat")
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
    expect(page.get_by_role("radio", name="around the text looked into")).to_be_checked()
    plane, star = page.locator(MAP).bounding_box(), page.locator(".star.now").bounding_box()
    assert plane["x"] < star["x"] < plane["x"] + plane["width"]
    assert plane["y"] < star["y"] + star["height"] < plane["y"] + plane["height"]
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_text("the whole map", exact=True).click()
    page.wait_for_url(lambda url: "view=" not in url)
    other = page.context.new_page()
    other.goto(page.url)
    wait_for_star(other, "cold weather outside")
    whole = width_of_points(other)
    wait_until(page, width_of_points, lambda width: width == pytest.approx(whole, abs=1))


def test_hovering_shows_titles_as_text(open_page):
    page = open_page(link(first="a dog with a toy"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    page.mouse.move(*place_of_first_point(page))
    expect(page.locator(".filter-map .tip")).to_contain_text(re.compile(r"\*\*Row\*\* <b>\d+</b>"))


def test_an_own_view_stays_while_a_text_changes_and_classes_can_be_hidden(open_page):
    page = open_page(link(first="a dog with a toy"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    whole = width_of_points(page)
    page.get_by_role("button", name="Zoom out").click()
    wait_until(page, width_of_points, lambda width: width < 0.75 * whole)
    type_into(page, "Text 1", "a man with a toy")
    wait_for_star(page, "a man with a toy")
    assert width_of_points(page) < 0.75 * whole
    page.locator(MAP).press("0")
    wait_until(page, width_of_points, lambda width: width > 0.9 * whole)
    x, y = place_of_first_point(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 20, steps=3)
    page.mouse.up()
    wait_until(page, place_of_first_point, lambda place: place == pytest.approx([x + 30, y + 20], abs=1))
    page.get_by_role("button", name="The whole map again").click()
    entry = page.locator(".map-key button", has_text="film")
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")
    expect(entry).to_be_focused()
    expect(page.locator(f"{MAP} g > path").first).to_have_attribute("d", "")
    type_into(page, "Text 1", "a dog with a toy")
    wait_for_star(page, "a dog with a toy")
    expect(page.locator(f"{MAP} g > path").first).to_have_attribute("d", "")
    page.locator(".map-key button", has_text="yours").click()
    expect(page.locator(".star.now")).to_have_count(0)


def test_the_keyboard_chooses_the_text_that_is_looked_into(open_page):
    page = open_page(link(first="a dog with a toy", first2="cold weather outside"), wait=SEEN)
    page.get_by_role("radio", name="1", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("One of the 7 filters made from text 2")).to_be_visible()
    page.wait_for_url(re.compile("look=2"))
    expect(page.get_by_role("radio", name="2", exact=True)).to_be_focused()


def test_map_and_filter_are_saved_light_with_a_caption_and_without_a_raster(open_page):
    page = open_page(link(model="test-qa", **QUESTION), wait=SEEN, color_scheme="dark")
    wait_for_star(page, "the dog is playing")
    names = set()
    for what, said in (
        ("filter map", "Each point is one of 89 texts of pairs.csv"),
        ("filter", "Weights of filter"),
    ):
        for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
            with page.expect_download() as waiting:
                page.get_by_role("button", name=f"Save the {what} as {kind}", exact=True).click()
            drawing = waiting.value.path().read_bytes()
            assert drawing.startswith(begins)
            names.add(waiting.value.suggested_filename)
            if kind == "SVG":
                words = " ".join(re.sub("<[^>]*>", " ", drawing.decode()).split())
                for text in (said, f"Question 1: {QUESTION['first']}", "Test questions and answers: "):
                    assert text in words
                assert b"<image" not in drawing
                assert b"17, 22, 28" not in drawing and b"232, 237, 242" not in drawing, "light in either theme"
    assert len(names) == 4
    assert all("test-qa" in name for name in names)
    reading = page.locator(".filter-map .how").first
    expect(reading).to_have_css("color", "rgb(163, 178, 193)")
    page.emulate_media(color_scheme="light")
    expect(reading).to_have_css("color", "rgb(86, 100, 115)")  # without any gesture


def test_on_a_phone_the_parts_stack_in_order(open_page):
    page = open_page(link(model="test-qa", **QUESTION), wait=SEEN, viewport={"width": 390, "height": 844})
    names = ("[aria-label='Question 1']", "[aria-label='Answer 1']", MAP, ".pl-list >> nth=0", ".st-key-filter-figure")
    tops = [page.locator(name).bounding_box()["y"] for name in names]
    assert tops == sorted(tops)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_holds_texts_map_and_nearest_filters(open_page, scheme):
    page = open_page(link(first="a dog with a toy", first2="cold weather"), wait=SEEN, color_scheme=scheme)
    for name in ("[aria-label='Text 1']", MAP, ".pl-list >> nth=0"):
        box = page.locator(name).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800


def test_explore_leads_to_both_filters_of_the_pair(open_page):
    page = open_page("/?" + urlencode({"model": "test-qa", **QUESTION}))
    page.get_by_role("link", name="Show this pair’s filters on the map").click()
    wait_for_star(page, "the dog is playing")
    assert drawn(page)["badges"] == ["1 answer", "1 question"]
    assert "/filter-map?model=test-qa" in page.url


def test_explore_tells_what_each_window_takes_in(open_page):
    page = open_page("/?" + urlencode({"model": "test-qa-bare", **QUESTION}))
    panel = page.get_by_label("How the windows match")
    expect(panel.locator("tbody tr")).to_have_count(3)
    expect(panel.locator("tbody .ngram").nth(1)).to_have_text(re.compile("^(is a dog outside|none is alike)$"))
    with page.expect_download() as saved:
        panel.get_by_role("button", name="Save the windows as SVG").click()
    figure = saved.value.path().read_text()
    assert "How the windows match: 3 of 3" in figure and QUESTION["first"] in figure
    expect(page.locator(".filters thead")).not_to_contain_text("answer")
    expect(page.locator(".filters .choices")).to_contain_text("Strongest")


def test_explore_shows_the_filters_of_either_text(open_page):
    page = open_page("/?" + urlencode({"model": "test-qa", **QUESTION}))
    panel = page.locator(".filters")
    strongest = panel.get_by_role("button", name=re.compile("^Strongest")).first  # beside those of the selected word
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
    page.locator('.side[data-role="answer"] .chip', has_text="playing").click()
    expect(panel.get_by_role("button", name="answer", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(panel.locator(".choices [aria-pressed=true]")).to_contain_text("Won by playing")
    page.wait_for_url(re.compile("select=x4"))
    page.locator('.side[data-role="question"] .chip', has_text="dog").click()
    expect(panel.get_by_role("button", name="question", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(panel.locator(".choices [aria-pressed=true]")).to_contain_text("Won by dog (7)")


def test_a_box_grows_with_its_sentence_and_enter_sends_it(open_page):
    page = open_page(link(first="a dog"), wait=SEEN)
    box = page.get_by_label("Text 1", exact=True)
    low = box.bounding_box()["height"]
    assert low < 50
    type_into(page, "Text 1", "a dog is playing with a toy in the snow and " * 8)
    wait_for_star(page, "in the snow and a dog")
    assert box.bounding_box()["height"] > 1.8 * low
    assert "\n" not in box.input_value()


def test_a_swipe_over_the_map_scrolls_the_page_and_a_tap_names_a_point(open_page):
    page = open_page(link(first="a dog"), wait=SEEN, viewport={"width": 390, "height": 844}, has_touch=True)
    wait_for_star(page, "a dog")
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
    page.wait_for_timeout(1500)  # the swipe rolls on
    page.locator(MAP).evaluate("map => map.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(500)
    page.touchscreen.tap(*place_of_first_point(page))
    expect(page.locator(".filter-map .tip")).to_contain_text("Row")


def test_the_map_takes_the_whole_screen_in_large_type_and_gives_it_back(open_page):
    page = open_page(link(first="a dog with a toy"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    before, whole = page.locator(MAP).bounding_box(), page.get_by_role("button", name="The map on the whole screen")
    whole.click()
    wait_until(page, lambda page: page.locator(MAP).bounding_box()["width"], lambda width: width > before["width"])
    large = page.locator(MAP).bounding_box()
    assert large["width"] == page.viewport_size["width"] - 80
    below = page.locator(".filter-map > .how").last.bounding_box()
    assert below["y"] + below["height"] <= page.viewport_size["height"]
    assert page.locator(".filter-map .badge").first.evaluate("text => getComputedStyle(text).fontSize") == "18px"
    whole.click()
    # Streamlit's sidebar may have taken another width meanwhile.
    wait_until(
        page,
        lambda page: page.locator(MAP).bounding_box(),
        lambda box: box["height"] == before["height"] and abs(box["width"] - before["width"]) < 40,
    )


def test_the_name_of_a_class_is_not_cut_by_the_edge_of_the_map(open_page):
    page = open_page(link(first="a dog with a toy"), wait=SEEN)
    wait_for_star(page, "a dog with a toy")
    plane = page.locator(MAP).bounding_box()
    names = page.locator(f"{MAP} text:not(.badge)")
    middle = names.first.bounding_box()
    near_the_edge = plane["x"] + 6 - (middle["x"] + middle["width"] / 2)
    page.mouse.move(plane["x"] + plane["width"] / 2, plane["y"] + plane["height"] - 20)
    page.mouse.down()
    page.mouse.move(plane["x"] + plane["width"] / 2 + near_the_edge, plane["y"] + plane["height"] - 20, steps=4)
    page.mouse.up()
    wait_until(page, lambda page: names.first.bounding_box()["x"], lambda x: x < middle["x"] - 5)
    assert names.first.bounding_box()["x"] >= plane["x"]


def test_names_of_classes_lie_neither_on_each_other_nor_under_a_star(open_page):
    page = open_page(link(model="topic-acnn", first="Ann Lee (born 1975) is a retired footballer"), wait=SEEN)
    wait_for_star(page, "footballer")
    boxes = page.locator(MAP).evaluate(
        """plane => [...plane.querySelectorAll("text:not(.badge), .star.now")].map(one => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            // A line's box is higher than its letters.
            const spare = one.tagName === "text" ? (bottom - top) / 6 : 0;
            return [one.tagName === "text" ? one.textContent : "star", left, right, top + spare, bottom - spare];
        })"""
    )
    assert len(boxes) > 10 and any(name == "star" for name, *_ in boxes)
    for i, (name, left, right, top, bottom) in enumerate(boxes):
        for other, left2, right2, top2, bottom2 in boxes[:i]:
            assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top, f"{name} lies on {other}"
