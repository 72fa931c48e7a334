"""Compare in a real browser: a story of two models, two versions and two files of predictions."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

PAIR = {"first": "A man in snow", "second": "A dog in the cold"}
HEAD = "id,first,second,label,predicted,p_entailment,p_neutral\n"


def test_models_versions_and_disagreements_in_one_visit(open_page, tmp_path):
    page = open_page("/compare?" + urlencode({"model": "test-light", **PAIR}), wait=".pl-differences")
    sections = page.locator(".pl-compare section")
    expect(sections).to_have_count(2)
    tops = sections.evaluate_all("all => all.map((one) => one.getBoundingClientRect().y)")
    assert tops[0] == tops[1], "they stand side by side"
    expect(page.locator(".pl-compare tbody td").first).to_have_text(re.compile(r"^\d+$"))
    page.get_by_role("combobox", name=re.compile("Beside it")).click()
    page.keyboard.type("two-sided")
    page.get_by_role("option", name="Test two-sided").click()
    expect(sections).to_have_count(3)
    page.wait_for_url(re.compile("with=.*test-two-sided"))
    page.keyboard.press("Escape")
    page.get_by_text("premise", exact=True).click()
    page.wait_for_url(re.compile("rows=first"))

    page.get_by_text("One model on two versions of a pair").click()
    box = page.get_by_label("The other version’s hypothesis")
    box.fill("A cat in the cold")
    box.press("Enter")
    expect(page.locator(".pl-compare mark")).to_have_text(["dog", "cat"])
    page.wait_for_url(re.compile("second2="))
    again = open_page(page.url, wait=".pl-compare mark")
    expect(again.locator(".pl-compare mark")).to_have_text(["dog", "cat"])

    files = []
    for name, verdict in (("a.csv", "entailment"), ("b.csv", "neutral")):
        (tmp_path / name).write_text(f"{HEAD}1,A woman,<b>A toy</b>,,{verdict},.6,.4\n")
        files.append(str(tmp_path / name))
    page.get_by_text("Find a pair where two models disagree").click()
    page.locator("[data-testid=stExpander] input[type=file]").last.set_input_files(files)
    page.get_by_role("button", name="<b>A toy</b>: entailment or neutral").click()
    page.wait_for_url(re.compile("first=A\\+woman"))
    expect(page.get_by_role("textbox", name=re.compile("^Hypothesis"))).to_have_value("<b>A toy</b>")


def test_on_a_phone_nothing_is_wider_than_the_screen(open_page):
    address = "/compare?" + urlencode({"model": "test-light", "with": "test-other,test-two-sided", **PAIR})
    page = open_page(address, wait=".pl-differences", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
