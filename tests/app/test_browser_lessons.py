"""Lessons in a real browser: walked by keyboard, with a guess, a number changed and a link to the step."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.lessons import evaluate, lessons
from core.lessons.handout import handout

pytestmark = pytest.mark.browser


def test_a_lesson_walked_by_keyboard_a_number_guessed_and_an_input_changed(open_page):
    page = open_page("/lessons", wait=".step h3")
    title, numbers = page.locator(".step h3"), page.locator(".numbers")
    expect(title).to_have_text("1 of 11 What there is to look at")
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("One score")
    page.wait_for_url(re.compile("step=2"))
    # The number is hidden, in the formula and in the picture, until it is guessed.
    score = page.locator('.cell[data-of="score.1"] .text')
    expect(numbers).to_contain_text("=?")
    expect(score).to_have_text("?")
    # The arrow keys do not leave the step while a guess is typed.
    page.get_by_label("Your guess").fill("0.2")
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("One score")
    page.keyboard.press("Enter")
    expect(numbers).to_contain_text("0.16")
    # Those that later steps compute stay hidden.
    later = page.locator('.cell[data-of="score.3"]')
    expect(later.locator(".text")).to_be_hidden()
    expect(later).to_have_css("pointer-events", "none")
    expect(page.locator(".guess")).to_have_text("You guessed 0.2; it is off by 0.04.")
    expect(page.locator('.cell[data-of="score.1"]')).to_have_attribute("title", re.compile("^0.16"))
    # A number that is pointed at lights up everywhere, and so does what it is made of.
    page.locator('.cell[data-of="score.1"]').hover()
    expect(numbers.locator('mn[data-of="score.1"]')).to_have_class(re.compile("hot"))
    expect(page.locator('.cell[data-of="h.1.2"]')).to_have_class(re.compile("origin"))
    expect(page.locator('.cell[data-of="h.2.1"]')).not_to_have_class(re.compile("origin"))
    given = page.get_by_label("states, every, 1")
    given.fill("0.9")
    given.press("Enter")
    expect(numbers).to_contain_text("0.21")
    expect(score).to_have_text("0.21")
    page.wait_for_url(re.compile(r"inputs=h\.1\.1%3D0\.9"))
    # A number with which nothing can be reckoned is not taken, nor is an empty field; the others stay.
    given.fill("1e9")
    given.press("Enter")
    expect(page.get_by_text("With h.1.1 = 1e+09 the lesson divides by 0")).to_be_visible()
    expect(given).to_have_value("0.9")
    given.fill("")
    given.press("Tab")
    expect(given).to_have_value("0.9")
    expect(score).to_have_text("0.21")
    page.locator(".step h3").click()
    for _ in range(20):  # beyond the last step nothing happens
        page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("11 of 11")
    page.keyboard.press("Home")
    expect(title).to_contain_text("1 of 11")
    page.wait_for_url(lambda url: "step=" not in url)
    again = open_page(f"{page.url}&step=4", wait=".step h3")
    expect(again.locator(".numbers")).to_contain_text("0.21")
    # A note that says the number comes with it.
    expect(again.locator(".step p.more")).to_have_count(0)
    again.get_by_role("button", name="Show it").click()
    expect(again.locator(".step p.more")).to_contain_text("The slide prints .35")


def test_an_edit_does_not_reveal_the_number_to_guess(open_page):
    page = open_page("/lessons?step=4", wait=".step h3")
    says = page.locator(".step p.says")
    expect(says).to_contain_text("times the smallest")
    before = says.inner_text()
    given = page.get_by_label("states, every, 1")
    given.fill("9")
    given.press("Enter")
    expect(says).not_to_have_text(before)
    expect(page.locator('.cell[data-of="alpha.1"] .text')).to_have_text("?")


def test_a_step_hides_the_lines_that_later_steps_compute(open_page):
    page = open_page("/lessons?lesson=people&step=2", wait=".step h3")
    expect(page.get_by_role("group", name="people’s links")).to_contain_text("woman")
    expect(page.get_by_role("group", name="P, R and F1")).to_have_count(0)


NEWS = """(step) => {
  window.news = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) window.news.push(...[...addedNodes].map((node) => node.textContent));
  }).observe(step, { childList: true, subtree: true, characterData: true });
}"""
"""Collects the texts that appear in a step from now on."""


def test_a_number_that_is_revealed_is_announced_without_the_step_around_it(open_page):
    page = open_page("/lessons?step=2", wait=".step h3")
    step = page.locator(".step")
    expect(step).to_have_attribute("aria-live", "polite")
    step.evaluate(NEWS)
    page.keyboard.press("Enter")
    expect(step.locator(".numbers")).to_contain_text("0.16")
    assert {*page.evaluate("window.news")} == {"0.16"}
    # Going back and forth, the known number is shown, and after another choice it is hidden again.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(step.locator(".numbers")).to_contain_text("0.16")
    page.get_by_label("Guess first").uncheck()
    page.get_by_label("Guess first").check()
    expect(step.locator(".numbers")).to_contain_text("=?")


PLACES = """(picture, [times, cells]) => {
  const middle = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left + width / 2, top + height / 2].map(Math.round);
  };
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  const copies = [...picture.querySelectorAll(".travelling > *")];
  const places = times.map((time) => {
    copies.flatMap((copy) => copy.getAnimations()).forEach((movement) => (movement.currentTime = time));
    return copies.map(middle);
  });
  return [copies.map((copy) => copy.textContent), places, cells
    .map((name) => middle(picture.querySelector(`.cell[data-of="${name}"]`)))];
}"""
"""The numbers that travel to the next step's cells, their centres after the given milliseconds, and the centres of some
cells. All in one call, since the animation ends and the server's answer redraws the step."""


def test_numbers_travel_from_their_cells_to_the_one_that_they_make(open_page):
    page = open_page("/lessons", wait=".step h3")
    picture = page.locator(".picture")
    cells = ["h.1.1", "h.1.2", "h_C.1", "h_C.2", "score.1"]
    numbers, (begun, arrived), (*origins, score) = picture.evaluate(PLACES, [[0, 599.9], cells])
    assert numbers == ["0.4", "0.6", "0.1", "0.2"]
    for place, origin in zip(begun, origins, strict=True):
        assert place == pytest.approx(origin, abs=1)
    for place in arrived:
        assert place == pytest.approx(score, abs=1)
    page.keyboard.press("Shift")
    expect(page.locator(".travelling")).to_have_count(0)
    expect(page.locator(".awaited")).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".step h3")).to_contain_text("All scores")
    expect(page.locator(".travelling")).to_have_count(0)


def test_the_phrases_that_are_kept_travel_except_to_the_number_to_guess(open_page):
    page = open_page("/lessons?lesson=phrases&step=4", wait=".step h3")
    origins, kept = ([f"{name}.{n}" for n in places] for name, places in (("a", (5, 7, 8, 9)), ("least", range(2, 6))))
    picture = page.locator(".picture")
    numbers, places, cells = picture.evaluate(PLACES, [[0, 599.9], origins + kept])
    assert numbers == ["0.73", "−0.01", "0.46", "0.73"], "0.79 would reveal the first"
    for place, cell in zip(places[0] + places[1], cells, strict=True):
        assert place == pytest.approx(cell, abs=1)


def test_what_moves_is_in_view_on_a_projector(open_page):
    page = open_page("/lessons?lesson=moved-attention&projector=on", wait=".step h3")
    expect(page.locator(".pairlens.projector")).to_be_visible()
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 0)")
    cells = [f"alpha.2.{n}" for n in range(1, 6)] + [f"permuted_row.{n}" for n in range(1, 6)]
    _, _, middles = page.locator(".picture").evaluate(PLACES, [[0, 599.9], cells])
    assert all(0 < y < 800 for _, y in middles), middles
    # The next step's text is in view too when its numbers do not move.
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".step h3")).to_contain_text("1 of")
    expect(page.locator(".step h3")).to_be_in_viewport()
    # Once all numbers of a step with a high picture have arrived, its text is to be read.
    page = open_page("/lessons?lesson=moved-attention&step=4&projector=on", wait=".step h3")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".step h3")).to_contain_text("5 of")
    expect(page.locator(".travelling")).to_have_count(0)
    expect(page.locator(".step h3")).to_be_in_viewport()


COUNT_RUNS = """() => {
  const app = document.querySelector("[data-testid=stApp]");
  window.runs = 0;
  new MutationObserver(() => { window.runs += app.dataset.testScriptState === "notRunning"; }).observe(app, {
    attributeFilter: ["data-test-script-state"],
  });
}"""
"""Counts how often the server has answered from now on."""


def test_the_whole_screen_keeps_its_large_type_from_step_to_step(open_page):
    page = open_page("/lessons?lesson=softmax", wait=".step h3")
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator(".pairlens.projector .step")).to_be_visible()
    page.evaluate(COUNT_RUNS)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".step h3")).to_contain_text("2 of 6")
    expect(page.locator(".says")).to_have_css("font-size", "24px")
    # What is being typed stays when the server answers.
    field = page.get_by_label("Your guess")
    field.fill("0.7")
    page.wait_for_function("window.runs")
    expect(field).to_have_value("0.7")


def test_a_handout_is_one_page_on_which_nothing_is_cut(browser):
    page = browser.new_page(viewport={"width": 720, "height": 1000})
    page.emulate_media(media="print")
    printed = {}
    for lesson in lessons().values():
        evaluated = evaluate(lesson, {}, {})
        for blanks in (True, False):
            head, body = handout(lesson, evaluated, {}, blanks).split("<body>")
            printed.setdefault(head[head.index("<style>") :], []).append(body.removesuffix("</body></html>"))
    right = "nodes => Math.max(...nodes.map((node) => node.getBoundingClientRect().right))"
    for head, bodies in printed.items():  # printing is slow, so pages of one style are printed together
        pages = "".join(f'<div style="break-before: page">{body}</div>' for body in bodies)
        page.set_content(f"<!DOCTYPE html><html><head>{head}<body>{pages}")
        assert len(re.findall(rb"/Type */Page\b", page.pdf(prefer_css_page_size=True))) == len(bodies)
        assert page.locator("math > *").evaluate_all(right) <= 720
        expect(page.get_by_role("button", name="Print").first).to_be_hidden()
    page.close()


def test_on_a_narrow_screen_the_page_does_not_run_over(open_page):
    page = open_page("/lessons?lesson=light&step=5", wait=".step h3", viewport={"width": 390, "height": 800})
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    assert page.locator(".numbers").evaluate("node => node.scrollWidth <= node.clientWidth"), "no number is cut"
    page.goto(f"{page.url.partition('/lessons')[0]}/lessons?lesson=moved-attention&step=5")
    expect(page.locator(".step h3")).to_contain_text("5 of 12")
    right = "nodes => Math.max(...nodes.map((node) => node.getBoundingClientRect().right))"
    numbers = page.locator(".numbers").bounding_box()
    assert page.locator(".numbers math *").evaluate_all(right) <= numbers["x"] + numbers["width"] - 10, "padding"
    # At the end the class votes on each of several models before it sees their numbers.
    for number in range(6, 13):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".step h3")).to_contain_text(f"{number} of 12")
    shares = page.locator(".numbers .value")
    expect(shares).to_have_text(["?"] * shares.count())
    for light in page.get_by_label(re.compile("Vote for attconv")).all():
        light.check()
    page.get_by_role("button", name="Check the votes").click()
    expect(page.locator(".guess")).to_have_text(re.compile("^(All right|Right about [3-5] of 6; wrong about .+)\\.$"))
    expect(shares.first).to_have_text(re.compile(r"^0\.\d+$"))
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
