"""An external model in a real browser: its heads by click and by keyboard, and the pages that it is taken to."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from core.checkpoint import available
from tests.app.pages import come_to_rest
from tests.core.made_up_runs import taxi

pytestmark = pytest.mark.browser

PAIR = {"first": "An animal is playing with a toy", "second": "A dog jumping"}
CHOSEN = '.one-head[aria-pressed="true"]'


def first_row(page):
    """The accessible names of the first row's cells."""
    cells = page.locator(".attention_map:visible [data-cell^='0,']")
    return cells.evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")


def shown(page, head):
    """Wait until the page shows this head."""
    expect(page.locator(".attention_heads p[aria-live] b")).to_have_text(head)
    expect(page.locator(".attention_map:visible .how")).to_contain_text(head[:1].upper() + head[1:])


def test_a_head_is_chosen_and_goes_along(open_page, tmp_path):
    page = open_page("/?" + urlencode({"model": "small-bert", **PAIR, "open": "details"}), wait=".attention_heads")
    shown(page, "mean of all layers and heads")
    mean = first_row(page)
    expect(page.locator(CHOSEN)).to_have_count(0)
    expect(page.locator(".attention_map:visible .more").first).to_contain_text("to special tokens")

    page.locator('[data-head="2.3"]').click()
    shown(page, "layer 2, head 3")
    page.wait_for_url(re.compile("head=2.3"))
    clicked = first_row(page)
    assert clicked != mean and all(cell.startswith("A to ") for cell in clicked)
    expect(page.locator(CHOSEN)).to_have_count(1)
    expect(page.locator(CHOSEN)).to_be_focused()
    outline, corner = page.locator(CHOSEN).evaluate(
        "one => [getComputedStyle(one).outlineWidth, getComputedStyle(one, '::after').borderTopWidth]"
    )
    assert (outline, corner) == ("3px", "5px"), "not by its colour alone"

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    shown(page, "layer 3, head 4")
    page.wait_for_url(re.compile("head=3.4"))
    assert first_row(page) not in (mean, clicked)
    expect(page.locator('[data-head="3.4"]')).to_be_focused()

    page.get_by_role("button", name="Show where the premise looks").filter(visible=True).click()
    expect(page.locator('[data-head="1.1"]')).to_have_attribute("aria-label", re.compile("a word of the premise gives"))
    page.wait_for_url(re.compile("direction=premise"))
    page.get_by_role("button", name="Show where the hypothesis looks").filter(visible=True).click()
    page.wait_for_url(lambda url: "direction=" not in url)
    again = open_page(page.url, wait=".attention_heads")
    shown(again, "layer 3, head 4")
    again.get_by_role("button", name="Mean of all").click()
    shown(again, "mean of all layers and heads")
    again.wait_for_url(lambda url: "head=" not in url)
    assert first_row(again) == mean

    base = page.url.split("/?")[0]
    page.goto(f"{base}/compare?" + urlencode({"model": "small-bert", "with": "test-light", **PAIR}))
    expect(page.locator(".compared > section").first).to_contain_text("small-bert")
    expect(page.locator(".compared .numbers text").first).to_have_text(re.compile(r"^\d+$"))
    page.goto(f"{base}/error-desk")
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    come_to_rest(page)
    page.locator("input[type=file]").set_input_files(taxi(tmp_path))
    expect(page.get_by_text("6 rows")).to_be_visible()
    page.get_by_role("button", name="Remove Two-sided AttConv").click()
    come_to_rest(page)
    page.get_by_label("Checkpoints, one to four").fill("small-bert")
    expect(page.get_by_role("option", name="small-bert")).to_be_visible()
    page.keyboard.press("Enter")
    page.get_by_label("Checkpoints, one to four").press("Escape")
    come_to_rest(page)
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_role("heading", name="Confusion of small-bert")).to_be_visible()
    page.wait_for_url(re.compile("file=[0-9a-f]{16}&models=[0-9a-f]{16}"))


@pytest.mark.skipif("encoder-minilm" not in available(), reason="its package is not installed")
def test_a_similarity_adds_up_from_pairs_of_words(open_page):
    asked = {"model": "encoder-minilm", "first": "A dog", "second": "A cat", "open": "details"}
    page = open_page("/?" + urlencode(asked), wait=".similarity_shares")
    shares = page.locator(".panel.similarity_shares")
    expect(shares.locator(".how").first).to_contain_text(re.compile(r"add up to (0\.\d{3}); the similarity is \1\."))
    expect(page.locator(".chip[aria-pressed=true]")).to_have_count(1)  # the sentence has selected its word
    shares.locator('[data-cell="1,1"]').click()
    expect(shares.get_by_text("“cat” and “dog”:")).to_contain_text("without it, at the same lengths and token counts")
    page.keyboard.press("ArrowDown")
    expect(shares.locator('[data-cell="2,1"]')).to_be_focused()
    expect(shares.locator('[data-cell="2,1"]')).to_have_attribute("aria-label", re.compile("^special tokens and dog: "))
    page.get_by_role("button", name="Compute integrated Jacobians").click()
    expect(page.locator(".panel.jacobians .how").first).to_contain_text(re.compile(r"residual .?0\.000\d"))
    page.wait_for_url(re.compile("jacobians=on"))
