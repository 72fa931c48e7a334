"""A class in a room: five phones and the lecturer's page in a real browser, a round of each kind."""

from __future__ import annotations

import itertools
import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from core.checkpoint import load_named
from core.rooms import questions
from tests.app.pages import AXE, PATIENCE, VIOLATIONS, come_to_rest

pytestmark = pytest.mark.browser

PAIR = {"model": "test-light", "first": "a dog is outside", "second": "the cat is cold"}
OTHERS = ("a man is outside", "the toy is cold", "a dog is playing", "the snow is <b>outside</b>", "no man is cold")
FOOLING = 3
"""Number of phones whose pair fools the model; the fourth phone's pair does not, and the fifth sends none."""
SMALL = """() => [...document.querySelectorAll("button, input:not([type=radio]), textarea, .option")]
  .filter((part) => part.offsetParent && part.getBoundingClientRect().height < 44).map((part) => part.outerHTML)"""


@pytest.fixture
def phones(browser, server):
    """Five phones, each a separate browser; no request may leave this machine, and no script may fail."""
    wrong, pages = [], []
    for number in range(5):
        context = browser.new_context(
            viewport={"width": 390, "height": 780}, has_touch=True, color_scheme=("light", "dark")[number % 2]
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("request", lambda one: None if one.url.startswith((server, "data:")) else wrong.append(one.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
        pages.append(page)
    yield pages
    for page in pages:
        page.context.close()
    assert wrong == []


def press(page, name):
    """A button of the lecturer's page; clicks during a redraw are lost."""
    come_to_rest(page)
    page.get_by_role("button", name=re.compile(f"^{name}")).click()  # its key follows the name


def shown(phones, text):
    for phone in phones:
        expect(phone.get_by_text(text).first).to_be_visible(timeout=PATIENCE * 1000)


def join(phone, server, code, name):
    phone.goto(f"{server}/room")
    phone.get_by_label("Code on the screen").fill(code.lower())
    phone.keyboard.press("Enter")
    phone.get_by_label("Nickname").fill(name)
    phone.get_by_role("button", name="Join").click()
    expect(phone.get_by_role("heading", name="You are in")).to_be_visible()


def violations(phone):
    phone.evaluate(AXE.read_text())
    return phone.evaluate(VIOLATIONS, ["body", {}])


def check(phone, labels):
    """Gives a classmate's pair its author's label, if this phone has one to check."""
    waiting = phone.get_by_role("button", name="A classmate’s pair")
    if not waiting.is_visible():
        return False
    waiting.click()
    card = phone.locator(".card")
    card.get_by_role("radio", name=labels[card.locator("dd").nth(1).inner_text()], exact=True).check()
    card.get_by_role("button", name="Send").click()
    expect(phone.get_by_text("Thank you.")).to_be_visible()
    return True


def test_a_class_guesses_breaks_the_model_and_teaches_it(open_page, phones, server):
    lecturer = open_page(f"/classroom?{urlencode(PAIR)}", wait="button")
    press(lecturer, "Open a room")
    lecturer.wait_for_url(re.compile("room="))
    code = parse_qs(urlsplit(lecturer.url).query)["room"][0]
    for phone, name in zip(phones, ("<b>Ada</b>", "", "Bo", "", "Zoë"), strict=True):
        join(phone, server, code, name)
    ada, bo, *_ = phones
    expect(ada.locator("#line")).to_have_text("You are <b>Ada</b>.")

    press(lecturer, "Start the round")
    shown(phones, "What does the model say?")
    for phone, guess in zip(phones, ("neutral", "neutral", "entailment", "neutral", "contradiction"), strict=True):
        phone.get_by_role("radio", name=guess).check()
        expect(phone.get_by_text(f"Your guess: {guess}.")).to_be_visible()
    assert violations(ada) == []
    expect(lecturer.get_by_text("5 of 5 phones have answered.")).to_be_visible(timeout=PATIENCE * 1000)
    press(lecturer, "Reveal")
    shown(phones, "The model says ")
    expect(bo.locator(".bars li").nth(1)).to_have_text(re.compile(r"neutral.*you.*3"))

    come_to_rest(lecturer)
    lecturer.get_by_role("radio", name="Break it").click()
    press(lecturer, "Start the round")
    shown(phones, "Fool the model")
    model, labels = load_named("test-light"), {}
    for phone, text in zip(phones[: FOOLING + 1], OTHERS, strict=False):
        verdict, _ = questions.verdict(model, PAIR["first"], text)
        wrong = next(name for name in model.labels if name != verdict)
        labels[text] = wrong if len(labels) < FOOLING else verdict
        phone.get_by_label("Hypothesis").fill(text)
        phone.get_by_role("radio", name=labels[text], exact=True).check()
        phone.get_by_role("button", name="Send to the model").click()
    shown(phones[:FOOLING], "you fooled it.")
    shown(phones[FOOLING : FOOLING + 1], "it agrees with you.")
    # What is typed stays, and what is sent arrives, when the connection comes back.
    ada.context.set_offline(True)
    ada.get_by_label("Hypothesis").fill(OTHERS[-1])
    ada.get_by_role("button", name="Send to the model").click()
    expect(ada.get_by_text("No connection: your text is kept.")).to_be_visible(timeout=PATIENCE * 1000)
    ada.context.set_offline(False)
    expect(ada.locator(".sent").get_by_text(OTHERS[-1])).to_be_visible(timeout=PATIENCE * 1000)
    expect(ada.get_by_label("Hypothesis")).to_have_value(OTHERS[-1])
    labels[OTHERS[-1]] = labels[OTHERS[0]]
    # Each of the phones with a classmate's pair agrees with its author.
    agreed = phones[0].locator(".sent").get_by_text("Your classmates agree with you")
    for phone in itertools.islice(itertools.cycle(phones), 40):
        if sum(one.get_by_text("Your classmates agree with you").count() > 0 for one in phones[:FOOLING]) == FOOLING:
            break
        if not check(phone, labels):
            phone.wait_for_timeout(300)
    expect(agreed.first).to_be_visible()
    assert violations(bo) == [] and bo.evaluate(SMALL) == []

    come_to_rest(lecturer)
    lecturer.get_by_role("radio", name="Teach").click()
    press(lecturer, "Start the round")
    shown(phones, "The model learns from the class’s pairs.")
    press(lecturer, "Teach the model")
    shown(phones, "The model learned from ")

    come_to_rest(lecturer)
    lecturer.get_by_role("button", name="Close the room").click()
    press(lecturer, "Close and delete the data")
    shown(phones, "This room is closed")
    ada.reload()
    expect(ada.get_by_text("No room has this code")).to_be_visible()
