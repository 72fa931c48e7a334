"""Reruns of a page, and the silence of its scripts: the messages between browser and server."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.app.pages import come_to_rest

pytestmark = pytest.mark.browser

PAIR = {"first": "An animal is playing with a toy", "second": "A dog jumping outside in the snow"}


class Wire:
    """The messages on the web sockets that a page opens from now on, by a reload or at another address."""

    def __init__(self, page):
        self.sent, self.received = list[BackMsg](), list[ForwardMsg]()
        page.on("websocket", self._listen)

    def _listen(self, socket):
        socket.on("framesent", lambda data: self.sent.append(BackMsg.FromString(data)))
        socket.on("framereceived", lambda data: self.received.append(ForwardMsg.FromString(data)))

    def forget(self):
        self.sent.clear()
        self.received.clear()

    @property
    def asked(self):
        """The runs that the browser has asked for, each by its part of the page; empty: all of it."""
        return [message.rerun_script.fragment_id for message in self.sent if message.HasField("rerun_script")]

    @property
    def ends(self):
        """Positions in ``received`` where script runs ended, and their status. A run superseded by the next one, as
        happens on a busy machine, has no end; the requests in ``sent`` tell which one it was."""
        ended = [(i, message) for i, message in enumerate(self.received) if message.HasField("script_finished")]
        named = {i: ForwardMsg.ScriptFinishedStatus.Name(message.script_finished) for i, message in ended}
        return {i: name for i, name in named.items() if name != "FINISHED_EARLY_FOR_RERUN"}


def test_after_enter_in_a_box_the_page_runs_once_as_a_fragment_and_the_menu_stays(open_page):
    page = open_page("/?" + urlencode({"model": "test-light", "open": "details"} | PAIR))
    wire = Wire(page)
    page.reload()
    expect(page.locator(".effects .number").first).to_have_text(re.compile(r"\d"))  # nothing is computed any more
    come_to_rest(page)
    wire.forget()
    box = page.get_by_label("Hypothesis (the sentence judged)")
    box.fill("A cat sleeping")
    box.press("Enter")
    expect(page.locator(".chip", has_text="sleeping")).to_be_visible()
    page.wait_for_url(re.compile("second=A\\+cat"))
    expect(page.locator(".effects .number").first).to_have_text(re.compile(r"\d"))
    come_to_rest(page)
    assert wire.asked and all(wire.asked), "the whole page ran"
    assert {*wire.ends.values()} == {"FINISHED_FRAGMENT_RUN_SUCCESSFULLY"}
    assert 1 <= len(wire.asked) <= 2, "a run for the text, and perhaps one for the blur of its box"


@pytest.mark.parametrize("name", ["", "compare"])
def test_scripts_are_silent_between_a_click_in_the_menu_and_the_new_page(open_page, name):
    """A script that still spoke would make the server stay, or draw the new page upon the old one."""
    page = open_page("/lessons", wait=".step h3")
    wire = Wire(page)
    asked = {"model": "test-light", "believed": "on"} | PAIR
    asked |= {"with": "test-two-sided"} if name else {"links": "kept"}
    page.goto(re.sub("/(lessons|models).*", f"/{name}?", page.url) + urlencode(asked))
    expect(page.locator(".cells rect").first).to_be_attached()
    if not name:
        come_to_rest(page)
    wire.forget()
    # A word is clicked before the new page can have come; and what is computed would be asked for all the while.
    page.evaluate(
        """() => {
             const [drawn] = [...document.querySelectorAll("*")].flatMap((node) =>
               [...(node.shadowRoot ?? node).querySelectorAll(".chip, rect[role=gridcell]")]);
             [...document.querySelectorAll("[data-testid=stSidebarNav] a")]
               .find((link) => link.textContent.includes("Models")).click();
             drawn.dispatchEvent(new MouseEvent("click", { bubbles: true, composed: true }));
           }"""
    )
    expect(page.locator("[data-testid=stDataFrame] .dvn-scroller")).to_be_visible()
    page.wait_for_url(re.compile("/models"))
    come_to_rest(page)
    expect(page.locator("[data-testid=stDataFrame] .dvn-scroller")).to_be_visible()
    expect(page.locator(".verdict, .compared, [data-testid=stException]")).to_have_count(0)
    since_the_click = wire.asked[wire.asked.index("") :]
    assert not any(since_the_click), "a script has spoken of the page that was left"
