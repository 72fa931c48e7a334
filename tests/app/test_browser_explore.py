"""Explore in a real browser: on a projector in class, on a phone, with the keyboard."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.app.pages import FRAMES, come_to_rest, reload, type_into, wait_until
from tests.app.test_palette import contrast

pytestmark = pytest.mark.browser

PAIR = {"first": "An animal is playing with a toy", "second": "A dog jumping"}
PRESSED = '.chip[aria-pressed="true"]'
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def link(**parameters):
    return "/?" + urlencode({"model": "test-light"} | PAIR | parameters)


def chip(page, role, word):
    return page.locator(f'.side[data-role="{role}"] .chip', has_text=re.compile(f"^{word}$"))


def select(page, role, word):
    """Select a word, with which the page may have begun, or which it may have selected for its sentence."""
    come_to_rest(page)
    if chip(page, role, word).get_attribute("aria-pressed") == "false":
        chip(page, role, word).click()
    expect(chip(page, role, word)).to_have_attribute("aria-pressed", "true")


def hexadecimal(colour):
    return "#" + "".join(f"{int(c):02x}" for c in re.findall(r"\d+", colour)[:3])


def ribbons(page, kind):
    return page.locator(f".ribbons path.{kind}")


def test_hovering_shows_a_words_ribbons_and_a_selection_is_undone_in_each_way(open_page):
    page = open_page(link(select="none", edits="temperature 50"))  # where the weight is spread
    everything = ribbons(page, "other").count()
    chip(page, "hypothesis", "dog").hover()
    expect(ribbons(page, "mine").first).to_be_attached()
    assert ribbons(page, "mine").count() + ribbons(page, "other").count() >= everything
    page.mouse.move(0, 0)
    expect(ribbons(page, "mine")).to_have_count(0)
    page.locator(".text").get_by_role("button", name="More about this figure").click()
    threshold = re.compile(r"Ribbons show weights of at least \d+(\.\d+)?\u00a0%")
    expect(page.locator(".text .more")).to_contain_text(threshold)
    for undo in (
        lambda: page.keyboard.press("Escape"),
        lambda: chip(page, "hypothesis", "dog").click(),
        lambda: page.locator(".attention .how").click(position={"x": 4, "y": 4}),
    ):
        chip(page, "hypothesis", "dog").click()
        expect(page.locator(PRESSED)).to_have_text(["dog"])
        page.wait_for_url(re.compile("select=x2"))
        undo()
        expect(page.locator(PRESSED)).to_have_count(0)
        page.wait_for_url(re.compile("select=none"))
        expect(page.locator(".context")).to_contain_text("Select a word")
    reload(page)
    expect(page.locator(PRESSED)).to_have_count(0)


STROKE = "node => [getComputedStyle(node).stroke, getComputedStyle(node).strokeOpacity]"


def test_all_ribbons_stay_readable_when_a_word_is_selected_and_a_rescaled_matrix_is_labelled(open_page):
    page = open_page(link(select="x2", show="column"))
    expect(page.locator(".attention h2")).to_contain_text("columns rescaled: not what the model used")
    expect(page.locator('[data-cell="1,1"]')).to_have_attribute("aria-label", re.compile("of the column, not what"))
    others, app = ribbons(page, "other"), page.locator(".stApp")
    expect(others.first).to_be_attached()
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(17, 22, 28)")):
        page.emulate_media(color_scheme=scheme)
        expect(app).to_have_css("background-color", paper)
        # A ribbon has no colour while it is being redrawn.
        stroke, _ = wait_until(page, lambda page: others.first.evaluate(STROKE), lambda found: found[1] == "1")
        assert contrast(hexadecimal(stroke), hexadecimal(paper)) >= 3


def test_models_are_grouped_by_task_with_descriptions_and_useful_controls(open_page):
    page = open_page(link())
    sidebar = page.get_by_test_id("stSidebar")
    control = sidebar.get_by_text("Projector").bounding_box()
    assert control["y"] + control["height"] < 800, "in sight without scrolling"
    models, names = sidebar.get_by_role("combobox", name="Model"), page.get_by_role("option")
    models.fill("for the lessons")
    expect(names).to_have_count(2)
    assert names.evaluate_all("all => all.every((node) => node.scrollWidth <= node.clientWidth + 1)"), "no name is cut"
    models.fill("answer")
    expect(names.filter(has_text="answer")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(sidebar).to_contain_text("Yin & Schütze 2018, section 3.1")
    expect(page.locator(".verdict .model")).to_have_text("Test light")
    # By the keyboard alone: a part of its name, and Enter.
    models.fill("test alone")
    expect(names.first).to_contain_text("Test alone")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict .model")).to_have_text("Test alone")
    expect(sidebar).to_contain_text("over the judged sentence alone")
    premise = page.locator('.side[data-role="premise"]')
    expect(premise).to_contain_text("not read")
    assert float(premise.locator(".chip").first.evaluate("node => getComputedStyle(node).opacity")) < 0.7
    come_to_rest(page)
    task = sidebar.get_by_role("combobox", name="Task")
    # A list that opens while the sidebar still rolls to its box closes again.
    task.scroll_into_view_if_needed()
    page.evaluate(FRAMES)
    task.click()
    page.get_by_role("option", name="Answer selection").click()
    expect(page.locator(".verdict .model")).to_contain_text("AdaQA with word counts and answer types")


def test_the_sidebar_shows_where_the_keyboard_is_and_no_tooltip_stays_after_a_swap(open_page):
    page = open_page(link())
    entry = page.get_by_test_id("stSidebarNav").get_by_role("link").nth(1)
    page.get_by_test_id("stSidebarNav").get_by_role("link").first.focus()
    page.keyboard.press("Tab")
    expect(entry).to_be_focused()
    assert entry.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    # Streamlit hides its inputs and draws their labels: the focus ring is around the label.
    shown = page.get_by_test_id("stSidebar").locator("[data-testid=stCheckbox] label:has-text('Projector')")
    shown.locator("input").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert shown.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    page.get_by_role("button", name="Swap sides").click()
    expect(chip(page, "premise", "dog")).to_be_visible()
    expect(page.get_by_role("tooltip").filter(visible=True)).to_have_count(0)


def test_right_to_left_text_is_aligned_right(open_page):
    page = open_page(link(first="הכלב משחק בשלג"))
    for row in ('.side[data-role="premise"] .chip', '[data-cell^="0,"]'):
        expect(page.locator(row).first).to_be_visible()
        left = page.locator(row).evaluate_all("nodes => nodes.map((node) => node.getBoundingClientRect().x)")
        assert len(left) >= 3 and left == sorted(left, reverse=True)
    assert page.get_by_label("Premise (").evaluate("node => getComputedStyle(node).unicodeBidi") == "plaintext"


@pytest.mark.parametrize("width", [390, 768])
def test_on_a_narrow_screen_filters_and_logits_are_whole_and_the_sidebars_button_covers_no_text(open_page, width):
    page = open_page(link(open="details"), **(PHONE | {"viewport": {"width": width, "height": 844}}))
    header = page.locator(".stAppHeader")
    ground = page.locator(".stApp").evaluate("node => getComputedStyle(node).backgroundColor")
    assert header.evaluate("node => getComputedStyle(node).backgroundColor") == ground
    label = page.get_by_text("Premise (the context)").bounding_box()
    assert label["y"] >= header.bounding_box()["y"] + header.bounding_box()["height"] - 1
    frame = page.locator(".filters .scroll")
    assert frame.evaluate("node => node.scrollWidth <= node.clientWidth")
    right = frame.bounding_box()["x"] + frame.bounding_box()["width"]
    logits = page.locator(".filters .logit td")
    expect(logits).to_have_count(3)
    for number in logits.all():
        assert number.bounding_box()["x"] + number.bounding_box()["width"] <= right + 1


def edges(nodes):
    """Where each of these begins and ends, from above: all at once, as asking for one takes some milliseconds."""
    return nodes.evaluate_all(
        "nodes => nodes.map((node) => [node.getBoundingClientRect().top, node.getBoundingClientRect().bottom])"
    )


def test_a_premise_of_200_words_leaves_the_hypothesis_whole_and_only_a_selected_words_ribbons_are_drawn(open_page):
    page = open_page(link(first="dog and cat " * 70, second="A dog jumping in the snow"))

    def frame_and_words(page):
        return [*edges(page.locator(".text .stage")), *edges(page.locator('.side[data-role="hypothesis"] .chip'))]

    def whole(found):
        frame, *words = found
        return len(words) == 6 and all(frame[0] <= top and bottom <= frame[1] + 1 for top, bottom in words)

    # The parts are fitted once more when the page's own letters are there.
    wait_until(page, frame_and_words, whole)
    premise = page.locator('.side[data-role="premise"] .chips')
    expect(page.locator('.side[data-role="premise"] .more-below')).to_have_text("200 words: scroll to see all")
    ((_, end),) = edges(premise)
    chips = edges(premise.locator(".chip"))
    cut = [(top, bottom) for top, bottom in chips if top < end < bottom]
    assert len(chips) == 200
    assert cut == []
    premise.hover()
    page.mouse.wheel(0, 60)
    page.wait_for_function("node => node.scrollTop > 20", arg=premise.element_handle())
    page.evaluate(FRAMES)  # ribbons were redrawn
    assert premise.evaluate("node => node.scrollTop") > 20
    page.mouse.move(0, 0)
    select(page, "hypothesis", "dog")
    expect(ribbons(page, "mine").first).to_be_attached()
    expect(ribbons(page, "other")).to_have_count(0)
    page.keyboard.press("Escape")
    page.mouse.move(0, 0)
    expect(page.locator(".ribbons path")).to_have_count(0)


IN_SIGHT = """matrix => {
  const nodes = [matrix.querySelector('[data-cell="40,60"]'), matrix];
  const [cell, frame] = nodes.map((node) => node?.getBoundingClientRect());
  return cell && frame.left < cell.left && frame.top < cell.top &&
    cell.right <= frame.right + 1 && cell.bottom <= frame.bottom + 1;
}"""
"""Whether the cell of the two last words is inside the part of the matrix that is shown."""


def test_a_selected_word_of_a_long_pair_is_shown_with_the_word_that_it_looks_at_most(open_page):
    words = {"first": "cold weather outside " * 20 + "dog", "second": "snow toy " * 20 + "dog"}
    page = open_page(link(model="test-two-sided", **words, select="x41"))
    wait_until(page, lambda page: page.locator(".matrix").first.evaluate(IN_SIGHT), bool)
    partner = page.locator('.text .side[data-role="premise"] .chip').last
    at, shown = partner.bounding_box(), page.locator('.text .side[data-role="premise"] .chips').bounding_box()
    assert shown["y"] <= at["y"] and at["y"] + at["height"] <= shown["y"] + shown["height"] + 1


def test_bars_of_a_context_share_one_scale_and_small_ones_are_folded(open_page):
    page = open_page(link(model="nli-attconv-light", select="x2"))
    expect(page.locator(".bars li[title]").first).to_be_visible()
    drawn = page.locator(".bars li[title]").evaluate_all(  # at once: a late answer draws them again
        """lines => lines.map((line) => [line.title, ...["i", "i span"].map((part) =>
             line.querySelector(part).getBoundingClientRect().width)])"""
    )
    for title, frame, width in drawn:
        share = float(title.split("\u00a0")[0]) / 100
        assert share >= 0.001
        assert width == pytest.approx(max(1, share * frame), abs=1)
    expect(page.locator(".bars .rest").first).to_contain_text("other word")
    # At a high temperature no word is next to nothing: the others are a click away, and one more folds them.
    long = {"first": "A dog that is brown and very young runs over the snow", "second": "A dog is out"}
    page = open_page(link(**long, model="nli-attconv-light", select="x2", edits="temperature 50"))
    lines, words = page.locator(".bars li[title]"), page.locator('.side[data-role="premise"] .chip').count()
    expect(lines).to_have_count(7)
    page.get_by_role("button", name="Show more or fewer words").press("Enter")
    expect(lines).to_have_count(words)
    page.keyboard.press("Enter")
    expect(lines).to_have_count(7)
    type_into(page, "Premise (the context)", "Qqxzia")
    chip(page, "premise", "Qqxzia").wait_for()
    select(page, "hypothesis", "dog")
    expect(page.locator('[data-part="nearest"]')).to_have_text(
        re.compile("^Mostly Qqxzia, which is not in the word ta")
    )
    type_into(page, "Premise (the context)", "A dgo jumpnig in teh sonw")
    expect(page.locator(".notices")).to_contain_text("unknown to the word vectors (dgo, jumpnig, sonw)")


STOPPED = """async (panel) => {
  panel.querySelector("[aria-label^='Let the numbers travel']").click();
  const [copy, last] = [panel.querySelector(".travelling > *"), [...panel.querySelectorAll(".line")].at(-1)];
  const { visibility } = getComputedStyle(last);
  const way = copy.getAnimations()[0].finished.then(() => "arrived", () => "stopped");
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Shift", bubbles: true }));
  return [visibility, await way];
}"""
"""Lets the numbers travel and presses a key at once, since a slow machine would let them arrive first. Returns how the
last line looked on the way, and whether the first number has arrived."""


def test_a_words_numbers_travel_to_the_verdict_until_a_key_is_pressed(open_page):
    page = open_page(link(model="test-two-sided", select="x2", open="details"))
    panel = page.locator(".word_path")
    lines, play = panel.locator(".line"), panel.get_by_role("button", name="Let the numbers travel")
    expect(lines.first).to_contain_text("dog")
    chip(page, "premise", "toy").click()
    expect(lines.first).to_contain_text("toy")
    expect(lines.nth(3)).to_contain_text("word × context")
    expect(lines.last).to_contain_text("verdict")
    come_to_rest(page)
    assert panel.evaluate(STOPPED) == ["hidden", "stopped"], "else the next line would follow"
    expect(panel.locator(".travelling, .later")).to_have_count(0)
    expect(lines.last).to_be_visible()
    page.emulate_media(reduced_motion="reduce")
    play.click()
    expect(panel.locator(".travelling, .later")).to_have_count(0)


def test_a_verdict_is_corrected_by_keyboard_and_the_model_learns_it(open_page):
    page = open_page(link())
    before = page.locator(".said").inner_text().partition(",")[0].lower()
    right = next(name for name in ("contradiction", "neutral") if name != before)
    page.get_by_label("Not right?").focus()
    page.keyboard.type(right)
    expect(page.get_by_label("You say:")).to_have_value(right)
    come_to_rest(page)
    page.get_by_role("button", name="Adapt the model").press("Enter")
    expect(page.get_by_text(re.compile(r"\d of 1 correction now stands"))).to_be_visible()
    page.wait_for_url(re.compile("model=test-light(~|%7E)[0-9a-f]{32}"))
    come_to_rest(page)
    expect(page.get_by_text("Compare both on this pair")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    come_to_rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
