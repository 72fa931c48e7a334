"""Explore in a real browser: what some models alone show, and ways back."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.app.pages import come_to_rest, downloaded, reload, unfold
from tests.app.test_browser_explore import PAIR, PHONE, PRESSED, chip, link, ribbons

pytestmark = pytest.mark.browser


EXCHANGED = {"first": "dog playing cat", "second": "cat playing dog"}
TWO_SIDED = {"model": "test-two-sided", "first": "the dog is playing outside", "second": "a dog is not playing"}


def saved(page, figure):
    page.get_by_label("Save a figure").select_option(label=figure)
    file = downloaded(page.get_by_role("button", name="Save the figure as SVG"))
    return file.suggested_filename, file.path().read_text()


def test_on_a_projector_no_heading_of_the_matrix_is_cut(open_page):
    pair = {
        "first": "An animal is outside in the cold weather, playing with a plastic toy",
        "second": "A dog jumping for a Frisbee in the snow",
    }
    large = {"width": 1920, "height": 1080}
    page = open_page(link(**TWO_SIDED | pair, projector="on"), viewport=large)
    frame = page.locator(".matrix").filter(visible=True)
    expect(frame.locator('[data-cell="0,0"]')).to_have_css("width", "56px")
    assert frame.evaluate("node => node.scrollHeight <= node.clientHeight + 4"), "the page scrolls, not the frame"
    edges, word = frame.bounding_box(), frame.locator("text.none").bounding_box()
    assert word["x"] + word["width"] <= edges["x"] + edges["width"] and word["y"] >= edges["y"]


def test_both_directions_of_attention_with_a_column_for_no_word(open_page):
    page = open_page(link(**TWO_SIDED, select="x2", open="details"))
    expect(page.get_by_label("Premise", exact=True)).to_be_visible()
    grid = page.locator(".matrix").filter(visible=True)
    expect(grid).to_have_count(1)
    assert grid.get_attribute("aria-colcount") == "6"
    none = grid.locator('[data-cell="1,5"]')
    assert re.fullmatch(r"dog to \(no word\): weight .*%", none.get_attribute("aria-label"))
    # In one step: late answers redraw the matrix.
    left = grid.evaluate(
        """grid => [0, 1, 4, 5].map((column) =>
             grid.querySelector(`[data-cell="1,${column}"]`).getBoundingClientRect().x)"""
    )
    assert left[3] - left[2] > left[1] - left[0]
    none.hover()
    expect(page.locator(".tip").filter(visible=True)).to_contain_text("(no word)")
    grid.locator('[data-cell="1,4"]').focus()
    page.keyboard.press("ArrowRight")
    expect(none).to_be_focused()
    expect(page.locator(".bars .of-nothing").filter(visible=True)).to_contain_text("(no word)")
    expect(page.locator(PRESSED)).to_have_text(["dog"])
    assert ">(no word)<" in saved(page, "Matrix")[1]
    page.get_by_role("button", name="Show where the premise looks").filter(visible=True).click()
    page.wait_for_url(re.compile("direction=premise"))
    reload(page)
    expect(page.locator(".attention h2").filter(visible=True)).to_have_text("Where each word of the premise looks")
    expect(page.locator(".matrix").filter(visible=True).locator("text.on")).to_have_text(["dogdog"])
    expect(page.locator(".context h2").filter(visible=True)).to_contain_text("Who looks at")
    chip(page, "premise", "playing").click()
    expect(page.locator(".context h2").filter(visible=True)).to_contain_text("Attentive context of playing")
    expect(page.locator(".nearest b").filter(visible=True).first).to_be_visible()
    chip(page, "hypothesis", "not").hover()
    expect(ribbons(page, "back").first).to_be_attached()
    expect(page.locator(".whose")).to_contain_text("premise")
    effects_by_every_gesture(page)


def effects_by_every_gesture(page):
    """Effects of words and links on a page with two directions, seen from the premise."""
    panel = page.locator("section.effects")
    expect(panel.locator("li .number").filter(has_text=re.compile(r"\d"))).to_have_count(10)
    expect(page.locator(".text .chip .effect:not([hidden])").first).to_be_visible()
    panel.locator('.side[data-role="hypothesis"] .word', has_text="not").click()
    expect(page.locator(PRESSED)).to_have_text(["not"])
    expect(panel).to_contain_text("The thin line")
    panel.get_by_label("Method").select_option("integrated-gradients")
    page.wait_for_url(re.compile("method=integrated-gradients"))
    expect(panel).to_contain_text("Completeness: the bars add up to")
    expect(panel).not_to_contain_text("The thin line")  # nothing was drawn
    panel.get_by_role("button", name="More about this figure").click()
    expect(panel.locator("p.more")).to_contain_text("What it cannot tell")
    links = page.locator("section.links")
    links.get_by_role("button", name="what each link does").click()
    expect(links.locator("section h2").filter(visible=True)).to_contain_text(
        "What each link of the premise into the hypothesis"
    )
    links.get_by_role("button", name="is renormalised").click()
    expect(links.get_by_text("Kendall’s τ-b").filter(visible=True)).to_be_visible()
    page.wait_for_url(re.compile("links=renormalised"))
    expect(page.locator("section.attention_map .matrix").filter(visible=True)).to_have_count(2)
    assert "What each link of the premise" in saved(page, "Effects of links")[1]
    links.get_by_role("button", name="what each link does").click()
    expect(page.locator("section.attention_map .matrix").filter(visible=True)).to_have_count(1)


def test_matches_of_phrases_are_changed_by_keyboard_and_slider(open_page):
    page = open_page(link(model="test-te", open="what-if"))
    panel = page.get_by_label("What if", exact=True)
    panel.get_by_label("Match of (the hypothesis)").select_option(label="1 A")
    panel.get_by_label("Match with (the premise)").select_option(label="2 animal")
    slider = panel.get_by_role("slider", name="Match of “A” with “animal”")
    slider.fill("25")
    row = panel.locator("tr[aria-current]")
    expect(row).to_contain_text("“A” matches “animal” with 25\u00a0%")
    page.wait_for_url(re.compile(r"edits=cell\+0\+0\+1\+0\.25"))
    expect(slider).to_have_value("25")
    panel.get_by_role("button", name="Attention uniform").click()
    expect(row).to_contain_text("attention uniform")
    page.keyboard.press("Control+z")
    expect(row).to_contain_text("“A” matches “animal”")


def test_training_rows_like_the_pair_open_on_explore(open_page):
    page = open_page(link(model="test-other", open="how-sure"))
    panel = page.get_by_label("Like these", exact=True)
    expect(panel.locator(".how")).to_contain_text("The nearest of 3 of 9 training rows by the classifier’s input")
    expect(panel.locator("h3")).to_have_text(["entailment", "neutral"])
    expect(panel.locator("li")).to_have_count(3)
    expect(panel.get_by_text("A dog is <b>outside</b>", exact=True)).to_be_visible()
    cosines = [float(number) for number in panel.locator("ol").nth(1).locator(".number").all_inner_texts()]
    assert cosines == sorted(cosines, reverse=True) and -1 <= cosines[-1] <= cosines[0] <= 1
    panel.get_by_role("link", name="A man with a toy").click()
    page.wait_for_url(re.compile("first=A.man.with.a.toy"))
    expect(chip(page, "hypothesis", "cat")).to_be_visible()
    expect(panel.locator(".number").first).to_be_visible()
    assert "model=test-other" in page.url


def test_ribbons_that_cross_a_word_are_outlined_and_named_next_to_the_verdict_without_them(open_page):
    page = open_page(link(**TWO_SIDED | EXCHANGED, select="x1", open="what-if"), **PHONE)
    expect(ribbons(page, "of-mine")).to_have_count(1)
    assert ribbons(page, "outline").count() == 3, "all three words' ribbons, and no one else's"
    word = chip(page, "hypothesis", "cat")
    expect(word).to_have_attribute("aria-label", re.compile(r"crossed by “dog” and “playing” \(q = 0\.\d\d\)$"))
    own = page.locator('[data-part="verdict"]').inner_text()
    page.get_by_role("button", name="Crossing words not counted").click()
    expect(page.locator(".verdict .what-if")).to_contain_text("What if: crossing words not counted (q = 0)")
    expect(page.locator(".verdict .as-trained")).to_contain_text(own.split(",")[0].lower())
    expect(word).to_have_attribute("aria-label", re.compile("q = 0.00"))
    page.wait_for_url(re.compile("edits=uncrossed"))
    reload(page)
    expect(page.locator(".as-trained")).to_have_count(1)
    page.get_by_role("button", name="Undo the last change").click()
    expect(page.locator(".as-trained")).to_have_count(0)


def test_a_softmax_at_another_temperature_is_marked_as_what_if(open_page):
    page = open_page(link(model="nli-attconv-light", select="x2", open="what-if how-sure details"))
    own = page.locator('[data-part="verdict"]').inner_text()
    sharp = page.locator('[data-cell="1,1"]').get_attribute("aria-label")
    page.get_by_label("Temperature of the attention").fill("5")
    expect(page.locator(".verdict .what-if")).to_contain_text("What if: attention at temperature 32")
    expect(page.locator(".verdict .trained")).to_contain_text(own.split(",")[0].lower())
    expect(page.locator('[data-cell="1,1"]')).not_to_have_attribute("aria-label", sharp)
    page.wait_for_url(re.compile(r"edits=temperature\+32"))
    file, svg = saved(page, "Matrix")
    assert re.search("-attention-[0-9a-f]{6}.svg$", file)
    assert "what if: attention at temperature 32" in " ".join(re.sub("<[^>]*>", " ", svg).split())
    # Its numbers are another file than the model's own.
    numbers = downloaded(unfold(page, "Save and open", "Attention (CSV)"))
    assert numbers.suggested_filename.endswith(file[-18:].replace(".svg", ".csv"))
    # Faithfulness is computed on request, and each number has a tooltip.
    panel = page.locator(".panel.belief")
    panel.get_by_role("button", name="Compute the faithfulness").click()
    expect(panel.locator(".sentence")).to_contain_text("of 100 permutations")
    page.wait_for_url(re.compile("believed=on"))
    panel.get_by_role("button", name="More about: Permuted attention").click()
    expect(panel.get_by_text("Jain & Wallace 2019, section 4.2.1")).to_be_visible()
    file, svg = saved(page, "Measures")
    assert file.startswith("pairlens-believed-") and "Random orders" in re.sub("<[^>]*>", " ", svg)


def arrived(page, sign):
    """Wait until a page with this sign has been drawn."""
    page.locator(sign).first.wait_for()
    page.wait_for_load_state("networkidle")
    come_to_rest(page)


def test_back_goes_back_with_one_press_from_every_page_and_two_with_two(open_page):
    page = open_page(link().replace("/?", "/explore?"))
    assert page.get_by_role("dialog").count() == 0
    expect(page).to_have_title("Explore · PairLens")
    menu = page.get_by_test_id("stSidebarNav").get_by_role("link")
    pages = ["Explore", "Compare", "Phrases", "Filter map", "Lessons", "Error desk", "Models"]
    assert menu.all_inner_texts() == pages
    explore, phrases, models = ".verdict .said", ".phrase_selection .said", "[data-testid=stDataFrame] .dvn-scroller"
    places = []
    for before, name, sign in (
        (explore, "Phrases", phrases),
        (phrases, "Models", models),
        (models, "Explore", explore),
    ):
        places.append((page.url.split("?")[0], before))
        menu.and_(page.get_by_role("link", name=name)).click()
        arrived(page, sign)
        expect(page).to_have_title(f"{name} · PairLens")
    for place, sign in reversed(places):
        page.go_back()
        page.wait_for_url(lambda url, place=place: url.split("?")[0] == place)
        arrived(page, sign)
        assert page.url.split("?")[0] == place, "it stays there"
    expect(chip(page, "hypothesis", "jumping")).to_be_visible()
    for name, sign in (("Phrases", phrases), ("Models", models)):
        menu.and_(page.get_by_role("link", name=name)).click()
        arrived(page, sign)
    page.evaluate("() => { history.back(); setTimeout(() => history.back(), 20); }")  # as fast as a double press
    expect(chip(page, "hypothesis", "jumping")).to_be_visible()
    arrived(page, explore)
    page.go_forward()
    page.wait_for_url(re.compile("/phrases"))


def test_saved_data_are_those_shown_and_a_saved_figure_names_model_pair_verdict_and_list(open_page):
    page = open_page(link(select="x2", open="details"))
    data = json.loads(downloaded(unfold(page, "Save and open", "All numbers (JSON)")).path().read_text())
    assert [token["text"] for token in data["contexts"][0]["tokens"]] == ["A", "dog", "jumping"]
    verdict = page.locator('[data-part="verdict"]').inner_text().split(", ")[0].lower()
    best = max(range(3), key=data["probabilities"].__getitem__)
    assert verdict.startswith(data["labels"][best])
    table = downloaded(page.get_by_role("button", name="Attention (CSV)")).path().read_text().splitlines()
    assert len(table) == 1 + 3 * 7
    decides = " ".join(page.locator(".reason button").first.inner_text().split())
    looked_at = page.locator(".bars button").first.inner_text()
    words = {"Matrix": "dog", "Ribbons": "dog", "Context": looked_at, "Filters": "dog"}
    figures = [saved(page, what) for what in words]
    for (_, text), word in zip(figures, words.values(), strict=True):
        assert f"Test light: {verdict} " in re.sub("<[^>]*>", " ", text)
        assert all(sentence in text for sentence in (f"Premise: {PAIR['first']}", f"Hypothesis: {PAIR['second']}"))
        assert text.startswith("<svg") and f">{word}<" in text
        assert decides in " ".join(" ".join(re.findall(">([^<>]+)</text>", text)).split())
        assert not any(sign in text for sign in ("<image", "var(--", "light-dark"))
    image = downloaded(page.get_by_role("button", name="Save the figure as PNG")).path().read_bytes()
    assert image.startswith(b"\x89PNG")
    assert "won by “dog”" in figures[3][1]
    page.locator(".filters .choice", has_text="neutral").click()
    figures.append(saved(page, "Filters"))
    assert "strongest towards neutral (8 of 12)" in figures[4][1]
    page.get_by_role("button", name="Swap sides").click()
    expect(chip(page, "premise", "dog")).to_be_visible()
    figures.append(saved(page, "Filters"))
    assert len({name for name, _ in figures}) == 6
