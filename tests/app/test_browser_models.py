"""Models in a real browser: one table that sorts, one card at a time, both in the address."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.checkpoint import PRETRAINED

pytestmark = pytest.mark.browser

TABLE = "table.models"
SHIPPED = sum(folder.name != "words" for folder in PRETRAINED.iterdir())
"""The table also lists the test models."""


def column(page, name):
    return page.locator(f'{TABLE} [data-of="{name}"]').evaluate_all("cells => cells.map(c => c.firstChild.textContent)")


def test_the_table_sorts_at_once_by_keyboard_too_and_keeps_its_order_in_the_address(open_page):
    page = open_page("/models", wait=TABLE)
    expect(page.locator(f"{TABLE} tbody tr").first).to_contain_text("entailment")
    page.get_by_role("button", name="Parameters").focus()
    page.keyboard.press("Enter")
    assert column(page, "Parameters")[0] == "22.71 M"
    page.wait_for_url(re.compile("sort=-size"))
    page.get_by_role("button", name="Model", exact=True).click()
    names = page.locator(f"{TABLE} .open").all_inner_texts()
    assert names == sorted(names, key=str.lower)
    page.wait_for_url(re.compile("sort=title"))
    again = open_page(page.url, wait=TABLE)
    expect(again.locator(f"{TABLE} .open")).to_have_text(names)
    expect(again.locator("thead [aria-sort=ascending]")).to_contain_text("Model")


def test_a_name_opens_only_its_card_with_folded_studies(open_page):
    page = open_page("/models", wait=TABLE)
    assert page.locator(f"{TABLE} tbody tr").nth(15).bounding_box()["y"] < 800, "no row of a screen is cut"
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 1024
    page.get_by_role("button", name="GRU k-min-max, SICK").click()
    expect(page.locator(".pl-card h2")).to_have_text("GRU k-min-max, SICK")
    page.wait_for_url(re.compile("model=sick-phrases-kmin"))
    expect(page.locator(TABLE)).to_have_count(0)
    study = page.get_by_text("Ablation", exact=True)
    expect(study).to_be_visible()
    expect(page.get_by_text("ablation.csv")).to_be_hidden()
    study.click()
    expect(page.get_by_text("ablation.csv")).to_be_visible()
    page.get_by_role("button", name="All models").click()
    expect(page.locator(TABLE)).to_be_visible()
    page.wait_for_url(lambda url: "model=" not in url)


def test_on_a_phone_the_models_take_four_thousand_pixels_and_a_touch_sorts(open_page):
    page = open_page("/models", wait=TABLE, viewport={"width": 390, "height": 844}, has_touch=True)
    expect(page.locator(f"{TABLE} tbody tr").first).to_be_visible()
    assert page.locator(TABLE).bounding_box()["height"] / page.locator(f"{TABLE} tbody tr").count() <= 4000 / SHIPPED
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    page.get_by_role("button", name="Measured").tap()
    page.wait_for_url(re.compile("sort=-score"))
    page.locator(f"{TABLE} .open").first.tap()
    expect(page.locator(".pl-card h2")).to_be_visible()
