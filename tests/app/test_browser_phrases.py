"""Phrases in a real browser: k and the selected phrase are one everywhere, text is text, links open the same view."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.app.conftest import MARKUP
from tests.app.pages import IMAGE_FAILED, come_to_rest, downloaded

pytestmark = pytest.mark.browser

PAIR = {"first": "An animal is playing with a toy", "second": "A dog jumping outside in the snow"}
COVERED = '.column[data-pooling="kmin"] .side[data-side="0"] .chip.covered'
REBUILT = '.column[data-pooling="{}"] .rebuilt[data-side="{}"] .phrase'


def link(**parameters):
    return "/phrases?" + urlencode({"model": "test-te"} | parameters)


def bar(page, name):
    return page.locator(f'.hit[data-phrase="{name}"]')


def slide(page, key, times=1):
    slider = page.get_by_label("k, the number of phrases")
    slider.focus()
    for _ in range(times):
        slider.press(key)


def words(page, name):
    return page.locator(f'.column[data-pooling="kmin"] .chip.{name}').all_inner_texts()


MARKS = "“”\u2068\u2069"


def parts(label):
    """The phrase and its partner that a bar's label names."""
    match = re.fullmatch(
        r"“\u2068(.+)\u2069” of .+: aᵢ = −?\d\.\d{3}, best matched by “\u2068(.+)\u2069” of .+; .+", label
    )
    assert match is not None, label
    return match[1], match[2]


def test_moving_k_changes_the_marked_words_at_once_and_then_the_address(open_page):
    page = open_page("/?" + urlencode({"model": "test-te", **PAIR}))
    kept = page.locator('.column[data-pooling="kmin"] .rebuilt[data-role="premise"] .phrase')
    expect(kept).to_have_count(5)
    on_explore = kept.all_inner_texts()
    page.get_by_role("link", name="Show this pair’s phrases").click()
    expect(page.locator(".slider output")).to_have_text("k = 5")
    expect(page.get_by_label("Premise (the context)")).to_have_value(PAIR["first"])
    page.wait_for_url(re.compile(r"/phrases\?model=test-te"))
    come_to_rest(page)
    expect(page.locator(REBUILT.format("kmax", 1))).to_have_count(5)
    expect(page.locator(REBUILT.format("kmin", 0))).to_have_text(on_explore)
    slide(page, "Home")
    for pooling in ("kmin", "kmax"):
        for side in (0, 1):
            expect(page.locator(REBUILT.format(pooling, side))).to_have_count(1)
    only = page.locator(REBUILT.format("kmin", 0)).inner_text()
    assert " ".join(page.locator(COVERED).all_inner_texts()) == only
    expect(page.locator('[data-part="pooling kmin"]')).to_contain_text("trained with k = 5")
    expect(page.locator('[data-part="pooling kmax"]')).to_contain_text("what if")
    row = page.locator('[data-part="pooling kmin"] .best').inner_text()
    label, share = row.split(" ", 1)
    expect(page.locator(".said")).to_have_text(f"{label.capitalize()}, {share}")
    expect(page.locator(".top .note.other").first).to_have_text("what if k = 1: trained with k-min, k = 5")
    page.wait_for_url(re.compile(r"[?&]k=1(&|$)"))
    slide(page, "ArrowRight", 4)
    expect(page.locator(REBUILT.format("kmin", 0))).to_have_count(5)
    expect(page.locator('[data-part="pooling kmin"]')).to_contain_text("as trained")
    page.wait_for_url(lambda url: "k=" not in url)
    expect(page.get_by_role("button", name="Phrases at k = 5 (CSV)")).to_be_visible()


def test_a_bar_shows_its_partner_in_both_sentences_and_a_click_keeps_it(open_page):
    page = open_page(link(**PAIR))
    bar(page, "a12").hover()
    phrase, partner = parts(bar(page, "a12").get_attribute("aria-label"))
    expect(page.locator(".readout")).to_contain_text(f"“\u2068{phrase}\u2069” of the premise")
    assert " ".join(words(page, "on")) == phrase
    assert " ".join(words(page, "partner")) == partner
    expect(page.locator('.chart[data-side="1"] .hit.partner')).to_have_count(1)
    bar(page, "a12").click()
    page.wait_for_url(re.compile("select=a12"))
    page.locator(".said").hover()
    expect(page.locator(".readout")).to_contain_text(f"best matched by “\u2068{partner}\u2069” of the hypothesis")
    expect(bar(page, "a12")).to_have_attribute("aria-selected", "true")
    page.locator(REBUILT.format("kmax", 1)).first.click()
    page.wait_for_url(re.compile("select=b"))
    expect(bar(page, "a12")).to_have_attribute("aria-selected", "false")


def test_the_keyboard_walks_the_bars_and_keeps_a_phrase(open_page):
    page = open_page(link(**PAIR, select="a2"))
    bar(page, "a2").focus()
    page.keyboard.press("ArrowRight")
    expect(bar(page, "a3")).to_be_focused()
    assert " ".join(words(page, "on")) == parts(bar(page, "a3").get_attribute("aria-label"))[0]
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    last = bar(page, "a28")
    expect(last).to_have_attribute("aria-selected", "true")
    page.wait_for_url(re.compile("select=a28"))
    partner = parts(last.get_attribute("aria-label"))[1]
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit:focus")).to_have_attribute("aria-label", re.compile(f"^.{{2}}{re.escape(partner)}\u2069"))
    page.keyboard.press("Escape")
    expect(last).to_have_attribute("aria-selected", "false")
    page.wait_for_url(lambda url: "select=" not in url)


def test_text_appears_exactly_as_typed(open_page):
    """The page's fixture reports the dialogs of scripts that run."""
    first, second = " ".join(MARKUP), MARKUP[0]
    page = open_page(link(first=first, second=second, select="a1"))
    for side, text in ((0, first), (1, second)):
        chips = page.locator(f'.column[data-pooling="kmax"] .side[data-side="{side}"] .chip').all_inner_texts()
        assert "".join(chips) == text.replace(" ", "")
    assert page.locator(".pairlens img, .pairlens script, .stMain img, .stMain .katex").count() == 0
    page.evaluate(IMAGE_FAILED)


def test_the_address_opens_the_same_view(open_page):
    page = open_page(link(**PAIR))
    slide(page, "ArrowRight", 2)
    bar(page, "b4").click()
    page.wait_for_url(re.compile("k=7.*select=b4"))
    fresh = open_page(page.url)
    expect(fresh.get_by_label("Premise (the context)")).to_have_value(PAIR["first"])
    expect(fresh.locator(".slider output")).to_have_text("k = 7")
    expect(bar(fresh, "b4")).to_have_attribute("aria-selected", "true")
    expect(fresh.locator(REBUILT.format("kmin", 0))).to_have_count(7)


def test_typing_fast_into_both_boxes_keeps_both(open_page):
    page = open_page(link(example="entailed"))
    for label, text in (("Premise (the context)", "A secret animal"), ("Hypothesis (the sentence judged)", "A dog")):
        box = page.get_by_label(label)
        box.fill(text)
        box.press("Enter")
    expect(page.locator('.column[data-pooling="kmin"] .chip')).to_have_text(["A", "secret", "animal", "A", "dog"])
    expect(page.get_by_label("Premise (the context)")).to_have_value("A secret animal")


def test_both_halves_and_the_verdicts_are_saved_and_name_pair_model_and_list(open_page):
    page = open_page(link(**PAIR, k=3), color_scheme="dark")
    names = set()
    for what, title in (
        ("half of k-min", "k-min keeps the 3 least matched phrases of each sentence"),
        ("half of k-max", "k-max keeps the 3 best matched phrases of each sentence"),
        ("verdicts", "Verdicts"),
        ("bars", "Best alignment of every phrase"),
    ):
        file = downloaded(page.get_by_role("button", name=f"Save the {what} as SVG", exact=True))
        drawing = file.path().read_text()
        assert title in drawing
        assert f"Premise: {PAIR['first']}" in drawing
        assert "Test entailment phrases: " in drawing
        assert drawing.startswith("<svg")
        assert what == "verdicts" or ">playing<" in drawing
        assert not any(sign in drawing for sign in ("<image", "var(--", "light-dark"))
        assert 'fill="#ffffff"' in drawing, "light in either theme"
        names.add(file.suggested_filename)
    assert len(names) == 4
    assert all("test-te-a-dog-jumping-outside" in name for name in names)


def test_the_first_screen_of_a_shipped_model_and_the_models_of_its_task(open_page):
    page = open_page("/phrases?model=te-phrases-kmin&example=entailed")
    for name in (".said", ".slider", ".columns", ".poolings", ".reading"):
        box = page.locator(name).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    others = page.locator(".others .row")
    expect(others).to_have_count(6)
    expect(others.locator(".bar")).to_have_count(5)
    expect(others.filter(has_not=page.locator(".bar"))).to_contain_text("cannot be used")
    expect(page.get_by_label("Verdicts of all phrase models")).not_to_contain_text("answer")


def test_on_a_phone_the_parts_stack_and_the_bars_scroll_in_their_frame(open_page):
    page = open_page("/phrases?model=test-te&example=entailed", viewport={"width": 390, "height": 844})
    names = (".said", ".slider", ".column.kmin", ".column.kmax", ".poolings", ".reading", ".figure")
    tops = [page.locator(name).bounding_box()["y"] for name in names]
    assert tops == sorted(tops)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    bar(page, "a1").focus()
    page.keyboard.press("End")
    frame, last = page.locator('.chart[data-side="0"]').bounding_box(), bar(page, "a63").bounding_box()
    assert frame["x"] < last["x"] < frame["x"] + frame["width"]


def test_a_long_sentence_is_cut_between_lines_and_marked_as_cut(open_page):
    page = open_page(link(first="dog and cat " * 70, second="A dog jumping in the snow"))
    words = page.locator('.column.kmin .side[data-side="0"] .chips')
    bottom = words.bounding_box()["y"] + words.bounding_box()["height"]
    tops = words.locator(".chip").evaluate_all("all => all.map(c => [c.getBoundingClientRect().top, c.offsetHeight])")
    assert all(top >= bottom or top + height <= bottom + 0.5 for top, height in tops)
    expect(page.locator('.column.kmin .side[data-side="0"] .more-below')).to_have_text("200 words: scroll to see all")
    # A model's name is whole, and what it read stands within its row.
    names = page.locator(".others .who b")
    assert names.evaluate_all("all => all.map((name) => name.getClientRects().length)") == [1] * names.count()
    rows = page.locator(".others .row")
    assert rows.evaluate_all("all => all.every((row) => row.scrollWidth <= row.clientWidth + 1)")
    expect(page.locator('.bars-of[data-role="premise"] small')).to_contain_text("scroll inside the frame")
