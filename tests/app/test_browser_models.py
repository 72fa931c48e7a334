"""Models in a real browser: one table that sorts, one card at a time, both in the address."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.app.pages import come_to_rest, settled

pytestmark = pytest.mark.browser

TABLE = "[data-testid=stDataFrame] .dvn-scroller"
HEAD, FIRST_ROW = 15, 60
"""Pixels from the table's upper edge."""


def table(page):
    settled(page)
    return page.locator(TABLE)


def test_the_table_sorts_and_opens_a_card_and_back_leaves_both(open_page):
    page = open_page("/models", wait=TABLE)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 1024
    table(page).click(position={"x": 60, "y": HEAD})
    page.wait_for_url(re.compile("sort=title"))
    table(page).click(position={"x": 60, "y": HEAD})
    page.wait_for_url(re.compile("sort=-title"))
    table(page).click(position={"x": 60, "y": FIRST_ROW})
    expect(page.get_by_role("heading", name="Word-by-word attention")).to_be_visible()
    page.wait_for_url(re.compile("model=nli-word-by-word.*sort=-title"))
    expect(page.locator(TABLE)).to_have_count(0)
    page.go_back()
    page.wait_for_url(lambda url: "model=" not in url)
    table(page).wait_for()
    come_to_rest(page)
    page.go_back()
    page.wait_for_url(re.compile("sort=title"))
    table(page).click(position={"x": 60, "y": FIRST_ROW})
    expect(page.get_by_role("heading", name="**Other** <b>:smile:</b>")).to_be_visible()


def test_a_card_folds_its_studies_and_leads_back_to_all_models(open_page):
    page = open_page("/models?model=sick-phrases-kmin", wait="[data-testid=stTable]")
    study = page.get_by_text("Ablation", exact=True)
    expect(study).to_be_visible()
    expect(page.get_by_text("ablation.csv")).to_be_hidden()
    study.click()
    expect(page.get_by_text("ablation.csv")).to_be_visible()
    page.get_by_role("button", name="All models").click()
    expect(page.locator(TABLE)).to_be_visible()
    page.wait_for_url(lambda url: "model=" not in url)


def test_on_a_phone_a_touch_opens_a_card_and_nothing_is_wider_than_the_screen(open_page):
    page = open_page("/models", wait=TABLE, viewport={"width": 390, "height": 844}, has_touch=True)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    table(page).tap(position={"x": 60, "y": FIRST_ROW})
    expect(page.get_by_role("button", name="All models")).to_be_visible()
