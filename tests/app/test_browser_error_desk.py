"""The Error desk in a real browser: from an upload to the exported report, a self-contained file."""

from __future__ import annotations

import csv
import re

import pytest
from playwright.sync_api import expect

from tests.app.pages import PATIENCE, come_to_rest, downloaded, type_into
from tests.core.made_up_runs import ROWS, taxi

pytestmark = pytest.mark.browser

CHART = "[data-testid=stVegaLiteChart]"
GRID = "[data-testid=stDataFrame] .dvn-scroller"


def click_mark(page):
    """Click the first mark of the chart that has a filter."""
    mark = page.locator(f"{CHART} .mark-rect path").first
    expect(mark).to_be_visible()
    come_to_rest(page)
    mark.click(force=True)  # on the number in its middle


def on_a_phone_nothing_is_wider_than_the_screen(page):
    expect(page.locator(CHART).first).to_be_visible()
    for view in ("Rows", "Scores", "Slices", "Strongest words", "Tags", "Export"):
        come_to_rest(page)
        page.get_by_role("radio", name=view, exact=True).or_(page.get_by_role("button", name=view, exact=True)).click()
        if view not in ("Rows", "Export"):
            page.wait_for_url(re.compile(f"view={view.split()[-1].lower()}"))
        come_to_rest(page)
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390, view


def test_from_an_upload_to_the_exported_report(open_page, browser, tmp_path):
    rows = [(f"{first} {more}", *rest) for more in ("now", "here", "too", "again", "twice") for first, *rest in ROWS]
    page = open_page("/error-desk", wait="[data-testid=stFileUploader]")
    page.locator("input[type=file]").set_input_files(taxi(tmp_path, rows))
    expect(page.get_by_text("30 rows (sentence-pair table)")).to_be_visible()
    come_to_rest(page)
    page.get_by_role("button", name="Remove Two-sided AttConv").click()
    come_to_rest(page)
    page.get_by_label("Checkpoints, one to four").fill("Test light")
    page.get_by_role("option", name="Test light (test-light)").click()
    page.get_by_label("Checkpoints, one to four").press("Escape")
    come_to_rest(page)
    page.set_viewport_size({"width": 1280, "height": 400})  # the button is far down
    page.get_by_role("button", name="Predict").click()
    expect(page.locator(CHART).first).to_be_visible()
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop === 0")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_url(re.compile("file=[0-9a-f]{16}&models=[0-9a-f]{16}"))

    # A cell of the matrix filters; the browser's way back undoes it.
    click_mark(page)
    expect(page.get_by_label("Filter").first).to_have_value(re.compile("gold = .* and A = "))
    expect(page.get_by_text(re.compile(r"\d+ of 30 rows"))).to_be_visible()
    come_to_rest(page)

    # The words with the largest effect are computed, and one of them filters.
    page.get_by_role("radio", name="Strongest words").click()
    page.get_by_role("button", name=re.compile("Compute for 30 rows|Words .CSV.")).first.wait_for()
    come_to_rest(page)
    for button in page.get_by_role("button", name="Compute for 30 rows").all():  # none where it was computed before
        button.click()
    word = page.get_by_role("heading", name=re.compile("Words with the largest effect"))
    expect(word).to_be_visible()
    click_mark(page)
    expect(page.get_by_label("Filter").first).to_have_value(re.compile("A.strongest_word = .* and A.strongest_in = "))
    expect(page.get_by_text(re.compile(r"\d+ of 30 rows"))).to_be_visible()
    come_to_rest(page)

    # A map of the rows: a lasso around points filters.
    page.get_by_role("radio", name="Map").click()
    plot = page.locator(".js-plotly-plot .nsewdrag")
    page.get_by_role("button", name="Map 30 rows").or_(plot).first.wait_for()
    come_to_rest(page)
    for button in page.get_by_role("button", name="Map 30 rows").all():  # none where it was made before
        button.click()
    expect(plot).to_be_visible()
    come_to_rest(page)
    area = plot.bounding_box()
    for number, (x, y) in enumerate([(0.02, 0.2), (0.98, 0.2), (0.98, 0.98), (0.02, 0.98), (0.02, 0.3)]):
        page.mouse.move(area["x"] + x * area["width"], area["y"] + y * area["height"], steps=5)
        if not number:
            page.mouse.down()
    page.mouse.up()
    # Either the rows or the shape around them, whichever is shorter.
    expect(page.get_by_label("Filter").first).to_have_value(re.compile(r"^id in \(|A\.map_x .*A\.map_y"))
    expect(page.get_by_text(re.compile(r"\d+ of 30 rows"))).to_be_visible()
    come_to_rest(page)
    page.get_by_label("Filter").first.fill('id = "2n"')
    page.get_by_label("Filter").first.press("Enter")
    expect(page.get_by_text("1 of 30 rows")).to_be_visible()
    come_to_rest(page)

    # A column's name orders the rows, and stands in the address.
    page.locator(GRID).first.click(position={"x": 30, "y": 15})
    page.wait_for_url(re.compile("sort=id"))
    come_to_rest(page)

    # A row opens next to the table, is tagged under the user's name, and appears in the report.
    type_into(page, "Your name", "Ann of the browser")
    expect(page.get_by_label("Your name", exact=True)).not_to_be_focused()  # or keys of tags would go into the name
    come_to_rest(page)
    page.locator(GRID).first.click(position={"x": 30, "y": 55})
    expect(page.get_by_role("heading", name="Row 2n")).to_be_visible()
    expect(page.locator(".pl-row").first).to_contain_text("=SUM(A1) <b>toy</b>")
    come_to_rest(page)
    page.get_by_role("heading", name="Row 2n").click()
    page.keyboard.press("5")
    expect(page.get_by_role("button", name="5 misled by noise")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("1 change", exact=True)).to_be_visible()
    come_to_rest(page)

    # The history stays open after an undo.
    page.get_by_text("History", exact=True).click()
    come_to_rest(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 changes", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Undo").nth(1)).to_be_disabled()
    expect(page.get_by_role("button", name="Undo").first).to_be_visible()
    come_to_rest(page)
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_role("button", name="5 misled by noise")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("3 changes", exact=True)).to_be_visible()
    come_to_rest(page)

    # A click before the answer to the last one is saved, too, or said to be lost, and a half-typed note stays.
    page.get_by_label("Note").press_sequentially("half")
    tags = page.locator("[class*=st-key-desk-tags] [role=toolbar] button")
    tags.evaluate_all("tags => tags.slice(0, 2).forEach((tag, number) => setTimeout(() => tag.click(), 40 * number))")
    lost = page.get_by_text(re.compile("^The tag .* was not saved"))
    expect(page.get_by_text("5 changes", exact=True).or_(lost).first).to_be_visible()
    expect(page.get_by_label("Note")).to_have_value("half")
    page.get_by_label("Note").fill("")
    come_to_rest(page)
    given = tags.and_(page.locator("[aria-pressed=true]:not(:nth-of-type(5))"))
    while count := given.count():
        given.first.click()
        expect(given).to_have_count(count - 1)
        come_to_rest(page)
    page.get_by_text("In the report", exact=True).click()
    come_to_rest(page)
    page.wait_for_url(re.compile("row=2n"))
    assert "Ann" not in page.url

    # To Explore and back to the same place.
    page.get_by_role("link", name="Explore", exact=True).last.click()
    expect(page.locator(".pairlens footer")).to_be_visible()
    expect(page.get_by_role("textbox", name="Hypothesis")).to_have_value("=SUM(A1) <b>toy</b>")
    come_to_rest(page)
    page.get_by_role("link", name="Back to the row on the Error desk").click()
    expect(page.get_by_role("heading", name="Row 2n")).to_be_visible()
    page.wait_for_url(re.compile("filter=id.*row=2n|row=2n.*filter=id"))
    come_to_rest(page)

    page.get_by_text("Export").click()
    rows = downloaded(page.get_by_role("button", name="Rows (CSV)"))
    (line,) = csv.DictReader(rows.path().read_text(encoding="utf-8-sig").splitlines())
    assert (line["hypothesis"], line["tags"]) == ("'=SUM(A1) <b>toy</b>", "misled by noise")
    saved = tmp_path / "report.html"
    downloaded(page.get_by_role("button", name="Report (HTML)")).save_as(saved)

    # The browser remembers the name, the address does not hold it.
    again = page.context.new_page()
    again.set_default_timeout(1000 * PATIENCE)
    again.set_viewport_size({"width": 390, "height": 844})
    again.goto(f"{page.url.partition('?')[0]}?{re.search('file=[0-9a-f]+&models=[0-9a-f]+', page.url)[0]}")
    expect(again.get_by_role("textbox", name="Your name")).to_have_value("Ann of the browser")
    on_a_phone_nothing_is_wider_than_the_screen(again)

    alone = browser.new_context(offline=True).new_page()
    wrong = []
    alone.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.on("console", lambda message: wrong.append(message.text))
    alone.goto(saved.as_uri())
    expect(alone.get_by_role("heading", name="Errors on taxi.tsv")).to_be_visible()
    finding = alone.get_by_role("link", name=re.compile(r"^The score of A \(.*\) in 30 rows: .* right \(.*\)\.$"))
    expect(finding).to_have_attribute("href", re.compile(r"/error-desk\?file=[0-9a-f]{16}&models="))
    expect(alone.locator("article")).to_contain_text("=SUM(A1) <b>toy</b>")
    expect(alone.locator("article .attention p").nth(1)).to_contain_text(re.compile(r"%\)\.$"))  # the reason
    expect(alone.locator("article .attention table").first).to_be_visible()
    expect(alone.locator("article .tag")).to_have_text("misled by noise")
    expect(alone.locator("svg").first).to_be_visible()
    assert alone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wrong == []
    alone.context.close()
