"""Explore in a real browser: examples, candidates, pairs tried, and a word of a question that is one."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.app.pages import come_to_rest, downloaded, unfold, wait_until
from tests.app.test_browser_explore import chip, link, select

pytestmark = pytest.mark.browser


def test_an_example_shows_its_gold_label_and_sets_the_model_that_it_is_about(open_page):
    page = open_page("/?model=test-light&example=playing-outdoors")
    expect(page.locator(".gold")).to_have_text("Label by people (SICK): entailment")
    page.get_by_role("combobox", name="Example").click()
    page.get_by_role("option", name="A question and its answer").click()
    expect(page.locator(".verdict .model")).to_contain_text("AdaQA")
    expect(page.locator(".gold")).to_have_text("Our label: answer")


def test_candidate_answers_are_ranked_and_stay_in_the_address_and_in_files(open_page):
    page = open_page(link(model="test-as", first="is a dog outside", second="a dog is outside"))
    expect(page.locator('[data-part="verdict"]')).to_have_text(re.compile("^Score as an answer: "))
    page.get_by_text("Rank candidate answers").click()
    box = page.get_by_label("Other candidate answers")
    box.fill("the dog is playing in the snow\n<b>a cat</b>")
    box.press("Control+Enter")
    rows = page.locator("[data-testid=stTable] tbody tr")
    expect(rows).to_have_count(3)
    ranked = rows.all_inner_texts()
    assert any("<b>a cat</b>" in row for row in ranked)
    page.wait_for_url(re.compile("candidates=the"))
    file = downloaded(unfold(page, "Save and open", "Save this pair"))
    assert "<b>a cat</b>" in json.loads(file.path().read_text())["candidates"]
    page.reload()
    expect(page.get_by_label("Other candidate answers")).to_be_visible()
    expect(rows).to_have_text([re.compile(re.escape(row.split("\t")[1].strip())) for row in ranked])


def test_tried_pairs_can_be_reopened_and_compared(open_page):
    page = open_page(link(second="A dog is jumping", select="x2", open="what-if"))
    first = page.locator('[data-part="verdict"]').inner_text()
    expect(page.get_by_role("button", name="Drop “dog” from the hypothesis")).to_be_visible()
    expect(page.get_by_role("button", name="Insert “not”")).to_have_count(0)  # "a not dog" is not English
    chip(page, "hypothesis", "jumping").click()
    page.get_by_role("button", name="Insert “not” before “jumping”").click()
    expect(page.get_by_role("textbox", name="Hypothesis (").last).to_have_value("A dog is not jumping")
    expect(chip(page, "hypothesis", "not")).to_be_visible()
    select(page, "hypothesis", "jumping")
    page.get_by_role("button", name="Drop “jumping” from the hypothesis").click()
    expect(page.get_by_role("textbox", name="Hypothesis (").last).to_have_value("A dog is not")
    page.get_by_test_id("stSidebar").get_by_text("Save and open").click()
    tried = page.locator('[class*="st-key-reopen-"]')
    expect(tried).to_have_count(3)
    expect(tried.nth(0)).to_contain_text("“jumping” left out")
    expect(tried.nth(1)).to_contain_text("“not” before “jumping”")
    expect(tried.nth(2)).to_contain_text(first.lower().replace(",", ""))
    come_to_rest(page)
    tried.nth(2).get_by_role("button").click()
    expect(page.get_by_role("textbox", name="Hypothesis (").last).to_have_value("A dog is jumping")


def test_changes_are_undone_made_again_and_typed_by_keyboard(open_page):
    page = open_page(link(second="A dog is jumping", edits="insert 1 3 not\ndrop 1 4"))
    hypothesis = page.get_by_role("textbox", name="Hypothesis (").last
    changes = page.locator(".changes tbody tr")
    expect(changes).to_have_count(3)
    undo = page.get_by_role("button", name="Undo the last change")
    undo.focus()
    page.keyboard.press("Enter")
    expect(hypothesis).to_have_value("A dog is not jumping")
    expect(undo).to_be_focused()
    expect(changes.nth(2)).to_contain_text("(undone)")
    page.keyboard.press("Control+y")
    expect(hypothesis).to_have_value("A dog is not")
    expect(changes.nth(2)).not_to_contain_text("(undone)")  # drawn after the text box, with new chips
    come_to_rest(page)
    chip(page, "hypothesis", "dog").focus()
    page.keyboard.press("Delete")
    expect(hypothesis).to_have_value("A is not")
    page.keyboard.press("Control+z")
    expect(hypothesis).to_have_value("A dog is not")
    come_to_rest(page)
    page.get_by_role("button", name="Go back to “as typed”").click()
    expect(hypothesis).to_have_value("A dog is jumping")
    page.wait_for_url(re.compile("step=0"))
    select(page, "hypothesis", "dog")
    word = page.get_by_role("textbox", name="Another word")
    word.fill("cat")
    page.keyboard.press("Enter")
    expect(hypothesis).to_have_value("A cat is jumping")
    expect(page.get_by_text("“dog” → “cat”")).to_be_visible()
    page.wait_for_url(re.compile("cat"))
    page.go_back()
    expect(hypothesis).to_have_value("A dog is jumping")
    expect(changes).to_have_count(4)
    come_to_rest(page)
    changes.nth(2).get_by_role("button").click()
    expect(hypothesis).to_have_value("A dog is not")
    come_to_rest(page)
    change_attention(page, changes)


PARTS = """root => Object.fromEntries(
  [".verdict", ".text", ".stage", "section.attention", ".matrix", ".cells"]
    .flatMap(name => [...root.querySelectorAll(name)].map((node, i) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return [name + i, [x, y, width, height].map(Math.round)];
    })))"""


def test_dragging_a_cell_does_not_move_its_neighbours(open_page):
    page = open_page("/?model=test-two-sided&first=A+dog+is+outside&second=A+cat+is+outside&select=x1y1")
    expect(page.locator(".text .effect:not([hidden])").first).to_be_visible()
    root = page.locator(".pairlens:has(.verdict)")
    cell = page.locator('[data-cell="0,0"]').first
    cell.hover()
    come_to_rest(page)
    before = root.evaluate(PARTS)
    assert len(before) >= 6
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x, y - 300, steps=4)
    expect(cell).to_have_attribute("aria-label", re.compile("weight 100"))
    expect(page.locator(".verdict .trained")).to_be_visible()  # the verdict follows
    assert root.evaluate(PARTS) == before
    assert "edits=" not in page.url
    page.mouse.up()
    page.wait_for_url(re.compile("edits=cell"))
    expect(page.locator(".verdict .trained")).to_be_visible()
    come_to_rest(page)
    assert root.evaluate(PARTS) == before


def change_attention(page, changes):
    """Edits in the matrix and in the panel, while the third step is shown: each change adds one to the list."""
    cell = page.locator('[data-cell="1,0"]').first
    cell.hover()
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x, y - 300, steps=4)
    expect(cell).to_have_attribute("aria-label", re.compile("weight 100"))
    page.mouse.up()
    expect(changes).to_have_count(4)
    expect(changes.nth(3)).to_contain_text("with 100\u00a0%")
    expect(page.locator(".verdict .what-if")).to_contain_text("What if: attention changed by hand")
    expect(page.locator(".verdict .trained")).to_be_visible()
    expect(page.get_by_role("heading", name="(what if)")).to_be_visible()
    come_to_rest(page)
    page.get_by_role("combobox", name="The rest of a row").select_option("kept")
    slider = page.get_by_role("slider", name="Weight with which")
    slider.fill("13")
    expect(changes.nth(4)).to_contain_text("the rest kept")
    page.wait_for_url(re.compile(r"cell\+0\+1\+0\+0.13\+kept"))
    come_to_rest(page)
    page.get_by_role("button", name="Attention uniform").click()
    expect(changes.nth(5)).to_contain_text("attention uniform")
    come_to_rest(page)
    page.get_by_role("slider", name="Temperature of the attention").fill("2")
    expect(changes.nth(6)).to_contain_text("attention at temperature 4")
    page.keyboard.press("Control+z")
    expect(changes.nth(6)).to_contain_text("undone")
    expect(changes.nth(5)).to_have_attribute("aria-current", "step")
    expect(slider).to_be_visible()  # the same cell is selected


def test_each_evidence_sentence_has_a_numbered_block_and_another_one_typed_has_too(open_page):
    page = open_page(
        link(
            model="test-with-evidence",
            first="a dog playing",
            second="the dog is outside\na cat in snow",
            select="x2",
            open="details",
        )
    )
    numbers = page.locator(".matrix .line-numbers text")
    expect(numbers).to_have_text(["1", "2"])

    def edges(page):
        """The left edges of the first row's cells, in pixels."""
        return [page.locator(f'[data-cell="0,{j}"]').bounding_box()["x"] for j in (2, 3, 4)]

    wait_until(page, edges, lambda x: x[2] - x[1] > x[1] - x[0] + 4)
    expect(page.locator(".matrix")).to_have_attribute("aria-colcount", "8")
    expect(page.locator("section", has_text="What won the filters").last).to_contain_text(
        re.compile(r"Filters won: \d+ with line 1, \d+ with line 2")
    )
    page.get_by_label("Evidence (the context), one sentence per line").press("Control+End")
    page.keyboard.type("\nthe animal is not playing")
    page.keyboard.press("Control+Enter")
    expect(numbers).to_have_text(["1", "2", "3"])
    select(page, "claim", "playing")
    expect(page.locator(".context")).to_contain_text("One mix of words for each line of the evidence")


def test_question_1_is_named_without_an_article(open_page):
    pair = {"first": "How do I swim?", "second": "How can I learn to swim?"}
    page = open_page(link(model="para-adaqa", **pair, open="details"))
    for name in ("How the windows match", "What won the filters"):
        panel = page.get_by_role("region", name=name)
        expect(panel).to_contain_text("question 1")
        assert not re.search(r"\bthe question \d", panel.inner_text())


def test_the_sentence_under_the_verdict_makes_its_change_by_keyboard(open_page):
    page = open_page(link(model="test-two-sided"))
    verdict = page.locator(".verdict[aria-live=polite]")
    clause = verdict.locator(".reason button").first
    expect(clause).to_have_attribute("aria-label", re.compile("^Try it: "))
    clause.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("edits="))
    expect(page.locator(".changes tbody tr").nth(1)).to_be_visible()
    expect(page.get_by_role("button", name="Undo the last change")).to_be_focused()
