"""The app in a real browser: a selection is one everywhere, text is text, links open the same page, nothing leaks."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from core.checkpoint import available
from tests.app.conftest import MARKUP
from tests.app.pages import IMAGE_FAILED, come_to_rest, reload, type_into, wait_until

pytestmark = pytest.mark.browser

CONTEXT_WORD = '.context [data-part="context-word"]'
SELECTED_CHIP = '.chip[aria-pressed="true"]'
PAIR = {"model": "test-light", "first": "An animal is playing with a toy", "second": "A dog jumping"}


def link(**parameters):
    return "/?" + urlencode({"model": "test-light"} | parameters)


def cell(page, i, j):
    return page.locator(f'[data-cell="{i},{j}"]')


def chips(page):
    return page.locator(SELECTED_CHIP).all_inner_texts()


def tokens(page, role):
    return page.locator(f'.side[data-role="{role}"] .chip').all_inner_texts()


def test_an_empty_side_gets_one_sentence_and_a_cell_selects_its_words_everywhere_and_in_the_address(open_page):
    page = open_page(link(first="", second="**A dog**"), wait=".pl-notice")
    assert page.locator(".pl-notice").inner_text() == "The premise is empty: type a sentence with at least one word."
    expect(page.get_by_label("Hypothesis (the sentence judged)")).to_have_value("**A dog**")
    type_into(page, "Premise (the context)", "An animal is playing with a toy")
    page.wait_for_selector(".pairlens footer")
    assert tokens(page, "hypothesis")[0] == "*"
    type_into(page, "Hypothesis (the sentence judged)", "A dog jumping")
    expect(page.locator(".chip", has_text="Frisbee")).to_have_count(0)
    expect(cell(page, 2, 6)).to_have_attribute("aria-label", re.compile("^jumping to toy: weight "))
    cell(page, 2, 6).click()

    def shown(there):
        # A slow machine may still be drawing: wait for the selected cell, then read all parts at once.
        expect(there.locator('[aria-selected="true"]')).to_have_attribute("data-cell", "2,6")
        assert chips(there) == ["toy", "jumping"]
        assert there.locator(CONTEXT_WORD).inner_text() == "jumping"
        assert there.locator(".bars .on button").inner_text() == "toy"
        assert there.locator('[aria-selected="true"]').get_attribute("data-cell") == "2,6"
        assert there.locator(".matrix .side .on").text_content().startswith("jumping")

    shown(page)
    page.wait_for_url(re.compile("select=x3y7"))
    page.locator('[data-part="nearest"] b').first.wait_for()
    shown(page)
    page.locator('.door[data-place="details"] summary').click()
    page.wait_for_url(re.compile("open=details"))
    fresh = open_page(page.url.replace("&open=details", ""))
    expect(fresh.get_by_label("Premise (the context)")).to_have_value("An animal is playing with a toy")
    shown(fresh)


def test_a_word_of_either_sentence_can_be_followed(open_page):
    page = open_page(link(**PAIR, select="x1"))
    page.locator('.side[data-role="hypothesis"] .chip', has_text="dog").click()
    bar = page.locator(".bars button").first
    looked_at, place = bar.inner_text(), int(bar.get_attribute("data-word"))
    page.locator('.side[data-role="premise"] .chip').nth(place).click()
    assert page.locator(CONTEXT_WORD).inner_text() == looked_at
    assert "Who looks at" in page.locator(".context h2").inner_text()
    page.locator(".bars button", has_text="dog").click()
    assert chips(page) == [looked_at, "dog"]
    page.locator(".matrix .side text").nth(0).click()
    assert chips(page) == ["A"]
    # The keyboard moves the selection and tells it; going back brings back an earlier one.
    page.wait_for_url(re.compile("select=x1(&|$)"))
    cell(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator('[aria-selected="true"]').get_attribute("data-cell") == "1,1"
    expect(page.locator("[role=gridcell]:focus")).to_have_attribute("aria-label", re.compile("dog to animal: weight "))
    page.keyboard.press("End")
    assert chips(page) == ["toy", "dog"]
    page.wait_for_url(re.compile("select=x2y7"))
    page.locator(SELECTED_CHIP, has_text="dog").focus()
    page.keyboard.press("ArrowRight")
    assert chips(page) == ["jumping"]
    page.wait_for_url(re.compile("select=x3(&|$)"))
    page.go_back()
    expect(page.locator(SELECTED_CHIP)).to_have_text(["toy", "dog"])


def test_text_appears_exactly_as_typed(open_page):
    """The page's fixture reports the dialogs of scripts that run."""
    first, second = " ".join(MARKUP), MARKUP[0]
    page = open_page(link(first=first, second=second, select="<img src=x onerror=alert(1)>", show="**b**"))
    notices = page.locator(".notices li").all_inner_texts()
    assert [notice for notice in notices if notice.endswith("shown without them: show, select.")]
    cell(page, 1, 1).click()
    expect(page.get_by_label("Premise (the context)")).to_have_value(first)
    expect(page.get_by_label("Hypothesis (the sentence judged)")).to_have_value(second)
    assert "".join(tokens(page, "premise")) == first.replace(" ", "")
    assert "".join(tokens(page, "hypothesis")) == second.replace(" ", "")
    assert page.locator(".pairlens img, .pairlens script, .stMain img, .stMain .katex").count() == 0
    page.evaluate(IMAGE_FAILED)


def test_two_browsers_share_nothing_and_pages_keep_the_pair(open_page):
    one, other = open_page(link(**PAIR)), open_page(link())
    type_into(other, "Hypothesis (the sentence judged)", "A secret dog")
    other.locator(".chip", has_text="secret").wait_for()
    assert "secret" not in one.content()
    assert tokens(one, "hypothesis") == ["A", "dog", "jumping"]
    come_to_rest(other)
    other.get_by_role("link", name="Models").click()
    other.locator("[data-testid=stDataFrame] .dvn-scroller").first.wait_for()
    come_to_rest(other)
    other.get_by_role("link", name="Explore").click()
    other.locator(".chip", has_text="secret").wait_for()
    other.wait_for_url(re.compile("second=A\\+secret"))  # the pair comes before the address is completed
    explore = other.url
    come_to_rest(other)
    other.get_by_role("link", name="Phrases").click()
    other.locator(".column .chip", has_text="secret").first.wait_for()
    expect(other.get_by_label("Hypothesis (the sentence judged)")).to_have_value("A secret dog")
    type_into(other, "Hypothesis (the sentence judged)", "A hidden cat")
    other.locator(".column .chip", has_text="hidden").first.wait_for()
    other.wait_for_url(re.compile("second=A\\+hidden"))
    come_to_rest(other)
    other.get_by_role("link", name="Filter map").click()
    other.wait_for_url(re.compile("/filter-map.*=A\\+hidden"))
    come_to_rest(other)
    other.get_by_role("link", name="Explore").click()
    other.locator(".chip", has_text="hidden").wait_for()
    other.goto(explore)
    other.locator(".chip", has_text="secret").wait_for()
    reload(one)
    assert tokens(one, "hypothesis") == ["A", "dog", "jumping"]


def test_the_first_screen_holds_sentences_verdict_attention_and_context_and_on_a_phone_they_stack(open_page):
    page = open_page("/?model=test-light&example=figure-6")
    names = (".said", ".text", ".matrix", ".attention", ".context", ".attention .legend")
    boxes = {name: page.locator(name).bounding_box() for name in names}
    for box in boxes.values():
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    assert boxes[".context"]["x"] >= boxes[".matrix"]["x"] + boxes[".matrix"]["width"]
    side = page.locator('[data-cell="0,0"]').bounding_box()
    assert side["width"] == pytest.approx(side["height"], abs=0.5)
    page.set_viewport_size({"width": 390, "height": 844})
    order = (".said", ".text", ".matrix", ".context", ".door >> nth=0")
    wait_until(page, lambda page: [page.locator(name).bounding_box()["y"] for name in order], lambda y: y == sorted(y))
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollWidth <= 390")


CONTROLS = """() => {
  const all = (root) => Array.from(root.querySelectorAll("*"))
    .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  const controls = all(document).filter((node) => node.matches("a[href], button, input, select, textarea, summary")
    && node.tabIndex >= 0 && !node.disabled && node.checkVisibility({ visibilityProperty: true })
    && node.getBoundingClientRect().right > 0 && node.getBoundingClientRect().bottom > 0);
  const more = (node) => node.closest(".chip, .bars");
  return controls.filter((node) => !more(node)).map((node) => node.ariaLabel || node.innerText);
}"""
"""The controls of the page that can be seen and have the focus, without words."""


@pytest.mark.parametrize(("width", "height", "controls", "screens"), [(1280, 800, 25, 1.3), (390, 844, 20, 2.5)])
def test_at_rest_explore_shows_few_controls_and_all_doors_open_by_keyboard(open_page, width, height, controls, screens):
    page = open_page("/?model=test-two-sided&example=figure-6", viewport={"width": width, "height": height})
    asked = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]) if "/api/" in request.url else None)
    expect(page.locator(".text .effect:not([hidden])").first).to_be_visible()
    shown = page.evaluate(CONTROLS)
    assert len(shown) <= controls, shown
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    assert tall <= screens * height
    assert not {*asked} & {"faithfulness", "links", "offers", "like", "change"}, "nothing behind a door is computed"
    scale = page.locator(".attention .legend span:has(> .scale)").first
    middles = [box["y"] + box["height"] / 2 for box in (part.bounding_box() for part in scale.locator("> span").all())]
    assert len(middles) == 3 and max(middles) - min(middles) < 3, "both ends of a scale are on one line"
    doors = page.locator(".door")
    expect(doors).to_have_count(3)
    for door in doors.all():
        door.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(door.locator("section").first).to_be_visible()
    page.wait_for_url(re.compile(r"open=what-if\+how-sure\+details"))
    page.reload()
    expect(page.locator(".door[open]")).to_have_count(3)


def test_what_is_still_being_computed_is_said_and_moves_nothing(open_page):
    page, held = open_page(link(model="test-two-sided")), {}
    page.route(
        re.compile("/api/(preview|why)$"), lambda route: held.update({route.request.url.rpartition("/")[2]: route})
    )
    with page.expect_request("**/api/preview"), page.expect_request("**/api/why"):
        page.reload()
    second, words, working = page.locator(".second"), page.locator(".stage"), page.locator(".foot > .screen")
    expect(second).to_have_text(re.compile(r": loading …$"))
    expect(working).to_contain_text("Stop")
    for width in (390, 980, 1060, 1140, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        mark, message = page.locator(".foot .ask").bounding_box(), working.bounding_box()
        assert message["x"] >= mark["x"] + mark["width"] or message["y"] >= mark["y"] + mark["height"], width
    expect(page.locator(".foot .together")).to_have_css("white-space", "nowrap")  # the mark stays on a word's line
    before = words.bounding_box()
    answer = {"answer": {"labels": ["neutral"], "probabilities": [0.9]}}
    held["preview"].fulfill(content_type="application/x-ndjson", body=json.dumps(answer))
    held["why"].continue_()
    expect(second).to_contain_text("neutral 90")
    expect(working).to_be_hidden()
    assert words.bounding_box() == before
    page.unroute_all()
    a_second_opinion_is_asked_for_after_the_reason_which_its_model_would_delay(page)
    page.unroute_all()
    a_sentence_of_many_clauses_adds_three_controls_in_all(page)


def a_second_opinion_is_asked_for_after_the_reason_which_its_model_would_delay(page):
    held, asked = [], []
    page.route("**/api/reason", lambda route: held.append(route))
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    with page.expect_response("**/api/why"):
        page.reload()
    expect(page.locator(".second")).to_have_text(re.compile(r": loading …$"))
    assert "reason" in asked and "preview" not in asked
    with page.expect_request("**/api/preview"):
        held[0].continue_()
    expect(page.locator(".second b")).to_be_visible()


def a_sentence_of_many_clauses_adds_three_controls_in_all(page):
    texts = [f"“{word}” ↔ “other” (exchanged: neutral 90 %)" for word in ("one", "two", "three", "four")]
    clauses = [{"text": text, "edits": ["exchange"], "verdict": "neutral", "probability": 0.9} for text in texts]
    answer = {"kind": "match", "sentence": f"{', '.join(texts)}.", "clauses": clauses, "named": []}
    ended = {"content_type": "application/x-ndjson", "body": json.dumps({"answer": answer})}
    page.route("**/api/reason", lambda route: route.fulfill(**ended))
    page.reload()
    expect(page.locator(".reason")).to_contain_text("four")
    expect(page.locator(".reason button, .second a")).to_have_count(3)
    shown = page.evaluate(CONTROLS)
    assert len(shown) <= 25, shown


KINDS = ("guest-minilm", "encoder-minilm", "as-adaqa", "qa-phrases-kmax", "sentiment-attconv", "para-adaqa")


@pytest.mark.parametrize("model", [name for name in KINDS if name in available()])
def test_every_kind_of_model_gives_a_reason_on_a_page_that_is_short_at_rest(open_page, model):
    page = open_page(link(model=model))
    expect(page.locator(".reason button:not(:text('Compute'))").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    shown = page.evaluate(CONTROLS)
    assert len(shown) <= 26, shown
    for width, height, screens in ((1280, 800, 1.3), (390, 844, 2.5)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(f"document.querySelector('[data-testid=stMain]').scrollHeight <= {screens * height}")


def test_a_long_pair_scrolls_inside_its_frame_with_the_edges_fixed(open_page):
    words = " ".join(["dog", "animal", "playing", "snow", "weather", "outside"] * 10)
    page = open_page(link(first=words, second=words, select="x55y55"))
    # The frame is scrolled once it has its size.
    expect(page.locator('[aria-selected="true"]')).to_be_in_viewport(ratio=1)
    frame = page.locator(".matrix").bounding_box()
    selected = page.locator('[aria-selected="true"]').bounding_box()
    assert frame["x"] < selected["x"] < frame["x"] + frame["width"]
    assert frame["y"] < selected["y"] < frame["y"] + frame["height"]
    assert frame["height"] < 400  # of the 1,000 pixels of 60 rows
    assert page.locator(".pin-top").bounding_box()["y"] == pytest.approx(frame["y"], abs=2)
    assert page.locator(".pin-side").bounding_box()["x"] == pytest.approx(frame["x"], abs=2)
    assert page.locator('[role="gridcell"]').count() == 3600
