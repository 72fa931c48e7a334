"""All pages in a real browser, one after the other: what holds of each of them."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from core.desk.store import short
from tests.app.pages import come_to_rest, settled, violations, wait_until
from tests.core.made_up_runs import made_up_run

pytestmark = pytest.mark.browser

PAIR = {"first": "An animal is playing with a toy", "second": "A dog jumping outside in the snow"}
LONG = PAIR | {"first": "An animal is playing with a toy and " * 4}
PAGES = {
    "/?" + urlencode({"model": "test-light", "select": "x2"} | LONG): ".notices li",
    "/?" + urlencode({"model": "test-as", "candidates": "a cat\na toy"} | PAIR): "[data-testid=stTable]",
    "/phrases?" + urlencode({"model": "test-te", "select": "a3"} | PAIR): ".pairlens footer",
    "/filter-map?" + urlencode({"model": "test-qa"} | PAIR): "[data-testid=stTable]",
    "/compare?" + urlencode({"model": "test-light", "with": "test-two-sided,test-alone"} | PAIR): ".difference",
    "/lessons?lesson=light&step=4": ".numbers math",
    "/error-desk?row=1c&DESK": ".pl-row",
    "/error-desk?view=scores&DESK": "[data-testid=stVegaLiteChart] svg",
    "/error-desk?view=tags&DESK": "text=Taxonomy",
    "/error-desk": "[data-testid=stFileUploader]",
    "/models": "[data-testid=stDataFrame] .dvn-scroller",
    "/models?model=sick-phrases-kmin": "[data-testid=stTable]",
}
"""An address of each page, with a sign that it is drawn. DESK stands for the run of the server's Error desk."""
SMALL = """() => {
  const out = [];
  const walk = (root) => root.querySelectorAll('*').forEach((node) => {
    if (node.shadowRoot) walk(node.shadowRoot);
    const text = Array.from(node.childNodes).some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!text || !node.getClientRects().length || node.closest('style, script')) return;
    // A drawing is enlarged as a whole, letters and all.
    const { a, b } = node.ownerSVGElement ? node.getScreenCTM() : { a: 1, b: 0 };
    const size = Math.hypot(a, b) * parseFloat(getComputedStyle(node).fontSize);
    if (size < 18) out.push([node.textContent.slice(0, 30), size]);
  });
  walk(document.body);
  return out;
}"""
"""Texts smaller than 18 pixels, with their sizes."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """The part of an address that opens the run of the server's Error desk."""
    run = made_up_run(tmp_path_factory.mktemp("desk"))
    return urlencode(
        {"file": short(run.dataset.sha256), "models": ".".join(short(model.sha256) for model in run.models)}
    )


def fits(page):
    """Wait until the page fits its frame, which it may not during a redraw."""
    page.wait_for_function(
        """() => { const main = document.querySelector("[data-testid=stMain]");
                   return main.scrollWidth <= main.clientWidth; }"""
    )


def is_not_squeezed(page, path):
    """Large type on a small projector; figures are redrawn for a smaller screen."""
    wide = "node => node.getBoundingClientRect().width"
    selector, seen, wanted = {
        "/": (".matrix", wide, lambda width: width > 450),
        "/lessons": (".numbers", "node => node.scrollWidth - node.clientWidth", lambda hidden: hidden <= 1),
        "/filter-map": ("[data-testid=stTable]", wide, lambda width: width > 600),
        "/phrases": (".column.kmin .title", GAP, lambda gap: gap >= 0),
    }.get(path, ("", "", None))
    if selector and page.locator(selector).count():
        wait_until(page, lambda page: page.locator(selector).first.evaluate(seen), wanted)


GAP = """title => title.querySelector("h2").getBoundingClientRect().left
  - title.querySelector(".sign").getBoundingClientRect().right"""
"""Pixels between the sign and its title."""


@pytest.mark.parametrize("address", PAGES)
def test_every_page_is_accessible_in_both_themes_and_large_on_a_projector(open_page, desk, address):
    page = open_page(address.replace("DESK", desk), wait=PAGES[address], viewport={"width": 1920, "height": 1080})
    with_menu = {"within": "html"} if address == next(iter(PAGES)) else {}
    assert violations(page, **with_menu) == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(17, 22, 28)")
    # Contrast is axe's only rule that depends on the theme.
    assert violations(page, **with_menu, runOnly=["color-contrast"]) == []
    verdict = page.locator(".said").first
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    before = verdict.evaluate(size) if verdict.count() else 0
    page.get_by_test_id("stSidebar").get_by_text("Projector").click()
    page.wait_for_url(re.compile("projector=on"))
    expect(page.locator("html")).to_have_css("font-size", "22.5px")
    if before:
        least = 40 if address.startswith("/compare") else 56  # as several matrices share Compare's width
        expect(verdict).to_have_css("font-size", f"{1.5 * before:g}px")
        wait_until(  # cells are redrawn while the sidebar widens
            page,
            lambda page: page.locator('[data-cell="0,0"]').evaluate_all(
                "cells => cells.map(cell => cell.getBoundingClientRect().width)"
            ),
            lambda sizes: all(wide >= least - 2 for wide in sizes),
        )
    expect(page.locator(".stMainBlockContainer")).to_have_css("max-width", "1600px")
    settled(page)
    wait_until(page, lambda page: page.evaluate(SMALL), lambda small: small == [])
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    fits(page)
    is_not_squeezed(page, address.partition("?")[0])


def test_on_a_phone_the_menu_goes_with_a_choice_and_back_leaves_a_card(open_page):
    page = open_page("/?projector=on", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    menu = page.get_by_test_id("stSidebar")
    assert menu.bounding_box()["x"] + menu.bounding_box()["width"] <= 0
    page.get_by_test_id("stExpandSidebarButton").tap()
    expect(menu).to_have_attribute("data-collapsed", "false")
    page.get_by_role("link", name="Models").tap()
    expect(menu).to_have_attribute("data-collapsed", "true")
    table = page.locator("[data-testid=stDataFrame] .dvn-scroller")
    expect(table).to_be_visible()
    settled(page)
    table.tap(position={"x": 60, "y": 60})
    page.wait_for_url(re.compile("model="))
    expect(page.get_by_role("button", name="All models")).to_be_visible()
    page.go_back()
    expect(table).to_be_visible()


LOOKS = """(target) => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  const looks = (node) => {
    const near = [node, ...(node.closest('label') ?? node).querySelectorAll('*')];
    for (let up = node, i = 0; up && i < 4; i += 1, up = up.parentElement ?? up.getRootNode().host) near.push(up);
    return near.map((one) => {
      const style = getComputedStyle(one);
      return [style.outlineStyle, style.outlineColor, style.boxShadow, style.borderColor, style.stroke].join();
    }).join();
  };
  const place = window.walked && window.walked !== document.body; // nothing has the focus during a redraw
  const unmarked = place && window.walked !== node && looks(window.walked) === window.looked
    ? (window.walked.getAttribute('aria-label') || window.walked.outerHTML).slice(0, 120) : null;
  // As it was reached: a box whose list is open looks as without the focus.
  if (window.walked !== node) [window.walked, window.looked] = [node, looks(node)];
  return [unmarked, node === target, target?.isConnected];
}"""
"""Notes where the focus is. Returns the place before it where that looks the same without the focus, whether the focus
is on the target, and whether the target is still on the page."""


def test_all_pages_work_with_only_the_keyboard_and_show_the_focus(open_page):
    page = open_page("/?model=test-light")
    unmarked = set()

    def press(key):
        page.keyboard.press(key)
        unmarked.add(page.evaluate(LOOKS)[0])

    def reach(target, key="Tab"):
        come_to_rest(page)
        node = target.element_handle()  # once: finding it by role and name takes as long as several key presses
        for _ in range(80):
            seen, there, stands = node.evaluate(LOOKS)
            unmarked.add(seen)
            if there:
                return
            if stands:
                page.keyboard.press(key)
            else:  # a redraw has replaced it
                node = target.element_handle()
        raise AssertionError(f"{key} does not reach {target}")

    def leave_for(name, sign):
        reach(page.get_by_test_id("stSidebarNav").get_by_role("link", name=name), "Shift+Tab")
        page.keyboard.press("Enter")
        page.locator(sign).first.wait_for()

    reach(page.get_by_test_id("stSidebarNav").get_by_role("link", name="Models"))
    for label, words in (
        ("Premise (the context)", PAIR["first"]),
        ("Hypothesis (the sentence judged)", PAIR["second"]),
    ):
        reach(page.get_by_label(label))
        page.keyboard.press("Control+A")
        page.keyboard.type(words)
        page.keyboard.press("Enter")
    words = page.locator('.side[data-role="hypothesis"] .chip')
    expect(words).to_have_count(7)
    reach(page.locator('.side[data-role="hypothesis"] .chip[tabindex="0"]'))
    press("Home")
    press("ArrowRight")
    expect(page.locator('.chip[aria-pressed="true"]')).to_have_text(["dog"])
    press("Escape")
    expect(page.locator('.chip[aria-pressed="true"]')).to_have_count(0)
    reach(page.locator('.door[data-place="details"] summary'))
    press("Enter")
    reach(page.get_by_label("Save a figure"))
    leave_for("Phrases", ".phrase_selection .said")
    expect(page.get_by_label("Premise (the context)")).to_have_value(PAIR["first"])
    slider = page.get_by_label("k, the number of phrases")
    reach(slider)
    press("ArrowRight")
    page.wait_for_url(re.compile("[?&]k="))
    reach(page.locator('.chart[data-side="1"] .hit[tabindex="0"]'))
    press("ArrowRight")
    press("Enter")
    page.wait_for_url(re.compile("select=b2"))
    press("Escape")
    leave_for("Filter map", "[data-testid=stTable]")
    reach(page.get_by_role("button", name="Save the filter map as SVG"))
    leave_for("Models", "[data-testid=stDataFrame] .dvn-scroller")
    reach(page.get_by_label("Card of"))
    page.keyboard.type("Test two-sided")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="All models").wait_for()
    page.wait_for_url(re.compile(r"/models\?.*model="))
    reach(page.get_by_role("link", name="Explore").last)
    page.go_back()
    expect(page.get_by_role("button", name="All models")).to_have_count(0)
    page.locator("[data-testid=stDataFrame] .dvn-scroller").wait_for()
    leave_for("Explore", ".verdict .said")
    expect(words).to_have_count(7)
    assert unmarked - {None} == set()
