"""Compare in a real browser: a story of two models, two versions and two files of predictions."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.app.pages import come_to_rest, downloaded, type_into

pytestmark = pytest.mark.browser

PAIR = {"first": "A man in snow", "second": "A dog in the cold"}
HEAD = "id,first,second,label,predicted,p_entailment,p_neutral\n"


def test_models_versions_and_disagreements_in_one_visit(open_page, tmp_path):
    page = open_page("/compare?" + urlencode({"model": "test-light", "with": "test-other", **PAIR}), wait=".difference")
    sections = page.locator(".compared > section")
    expect(sections).to_have_count(2)
    tops = sections.evaluate_all("all => all.map((one) => one.getBoundingClientRect().y)")
    assert tops[0] == tops[1], "they stand side by side"
    expect(page.locator(".compared .numbers text").first).to_have_text(re.compile(r"^\d+$"))
    said = re.compile("^(Both say|They disagree).+differ (most )?on .+: without it, Test light")
    expect(page.locator(".answer")).to_have_text(said)
    expect(page.locator(".difference .legend")).to_contain_text("difference, percentage points")
    page.get_by_role("combobox", name=re.compile("Compare with")).click()
    page.keyboard.type("two-sided")
    page.get_by_role("option", name="Test two-sided").click()
    expect(sections).to_have_count(3)
    page.wait_for_url(re.compile("with=.*test-two-sided"))
    page.keyboard.press("Escape")
    come_to_rest(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollWidth <= 390")
    page.set_viewport_size({"width": 1280, "height": 800})
    come_to_rest(page)
    page.get_by_text("premise", exact=True).click()
    page.wait_for_url(re.compile("rows=first"))

    come_to_rest(page)
    page.get_by_text("One model on two versions of a pair").click()
    expect(page.get_by_text("Both versions are the same: edit one.")).to_be_visible()
    type_into(page, "The other version’s hypothesis", "A cat in the cold")
    expect(page.locator(".compared .text .changed")).to_have_text(["dog", "cat"])
    expect(page.locator(".answer")).to_contain_text(re.compile("hardly changes .+ nothing to divide: change a word"))
    page.wait_for_url(re.compile("second2="))
    again = open_page(page.url, wait=".compared .changed")
    expect(again.locator(".compared .text .changed")).to_have_text(["dog", "cat"])

    files = []
    for name, verdict in (("a.csv", "entailment"), ("b.csv", "neutral")):
        (tmp_path / name).write_text(f"{HEAD}1,A woman,<b>A toy</b>,,{verdict},.6,.4\n")
        files.append(str(tmp_path / name))
    come_to_rest(page)
    page.get_by_text("Find a pair where two models disagree").click()
    page.locator("[data-testid=stExpander] input[type=file]").last.set_input_files(files)
    button = page.get_by_role("button", name="<b>A toy</b>: entailment or neutral")
    button.wait_for()
    come_to_rest(page)
    button.click()
    page.wait_for_url(re.compile("first=A\\+woman"))
    expect(page.get_by_role("textbox", name=re.compile("^Hypothesis"))).to_have_value("<b>A toy</b>")


def test_figures_are_saved_light_with_their_numbers_and_what_they_show(open_page):
    address = "/compare?" + urlencode({"model": "test-light", "with": "test-two-sided", **PAIR})
    page = open_page(address, wait=".difference", color_scheme="dark")
    expect(page.get_by_text(re.compile("They differ (most )?on"))).to_be_visible()
    files = {}
    for what in (
        "matrix of Test light",
        "matrix of Test two-sided",
        "difference from Test two-sided",
        "table of words",
    ):
        file = downloaded(page.get_by_role("button", name=re.compile(f"^Save the {what}.* as SVG$")))
        files[file.suggested_filename] = file.path().read_text()
    assert len(files) == 4
    light, two_sided, difference, words = files.values()
    for text in files.values():
        assert "<image" not in text and "light-dark" not in text and 'fill="#ffffff"' in text
        assert all(sentence in text for sentence in PAIR.values())
    shown = page.locator(".compared .attention").first.locator(".numbers text").all_text_contents()
    assert all(f">{number}</text>" in light for number in shown)
    assert ">(no word)<" in two_sided and ">(no word)<" not in light
    assert re.search(">They differ (most )?on ", words)
    assert "Test light: " in light and "Test two-sided: " not in light
    assert all(f"Test {model}: " in text for model in ("light", "two-sided") for text in (difference, words))
    # The null word's column of the one leaves its room in the other.
    first, second = (frame.bounding_box() for frame in page.locator('.compared [data-cell="0,0"]').all()[:2])
    assert (first["y"], first["width"]) == (second["y"], second["width"])


def test_a_long_pair_is_drawn_with_few_shapes_and_tells_each_weight(open_page):
    long = {side: (text + " ") * 20 for side, text in PAIR.items()}
    page = open_page("/compare?" + urlencode({"model": "test-light", "with": "test-other", **long}), wait=".difference")
    frame = page.locator(".compared .matrix").first
    assert frame.locator(".cells *").count() < 200
    frame.scroll_into_view_if_needed()
    expect(page.get_by_text("100 × 80 words: scroll inside the frame").first).to_be_visible()
    box = frame.locator(".cells path").first.bounding_box()
    side = frame.locator(".side text").first.bounding_box()
    page.mouse.move(box["x"] + 17 * 2.5, side["y"] + side["height"] / 2)
    expect(page.locator(".tip").filter(visible=True)).to_contain_text(re.compile("A → in ?weight"))
