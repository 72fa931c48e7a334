"""Visitors of the app in Debian's Chromium, and their tabs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.pages import PATIENCE, come_to_rest

PHONE = 768
"""Pixels. On a narrower screen Streamlit's menu lies over the page, as it was when the page was loaded."""
UNFOLDED_AT_ONCE = """const { animate } = Element.prototype;
Element.prototype.animate = function (...how) {
  const movement = animate.apply(this, how);
  if (this.localName === "details") movement.finish();
  return movement;
};"""
"""Streamlit's expanders take half a second to unfold: what is in them moves, and a click on it may be lost."""
AT_ONCE = """{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, *::before, *::after { transition: none !important; animation: none !important; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
"""Nothing of Streamlit's fades or slides: tests would wait for its end, and the browser draws each frame of it. Our own
parts, in shadow trees, move as ever."""

ASKED = """const { fetch, WebSocket: { prototype: socket } } = window;
const { send } = socket;
const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => (window.asked -= 1)));
window.asked = 0;
socket.send = function (message) {
  if (message[0] === 0x5a) { // the script is to run again: field 11 of a BackMsg
    window.asked += 1;
    const answered = () => {
      for (const event of ["message", "close"]) this.removeEventListener(event, answered);
      drawn();
    };
    for (const event of ["message", "close"]) this.addEventListener(event, answered);
  }
  return send.call(this, message);
};
window.fetch = async (...request) => {
  if (!String(request[0]).includes("/api/")) return fetch(...request);
  window.asked += 1;
  try {
    const response = await fetch(...request);
    response.clone().text().finally(drawn).catch(() => {});
    return response;
  } catch (error) {
    drawn();
    throw error;
  }
};"""
"""Counts the questions of the page whose answers are not drawn yet, and the runs that it has asked the server for and
that have not begun (:func:`~tests.app.pages.come_to_rest`)."""


def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * PATIENCE)
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
    program = next((path for path in map(shutil.which, names) if path), None)
    if program is None:
        pytest.fail("The browser tests need Chromium: install it with `apt-get install chromium`.", pytrace=False)
    switches = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-software-rasterizer",
        "--disable-gpu-compositing",
        # Pages are left before what V8's slower compilers make of their scripts is of use, and before their garbage is
        # worth collecting: a quarter of all.
        "--js-flags=--no-opt --no-maglev --min-semi-space-size=64 --max-semi-space-size=128 --single-threaded-gc",
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=switches)
        yield started
        started.close()


class Tabs:
    """The tabs that tests use one after the other. No two of them share a browser context."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.pages: dict[tuple[Any, ...], Any] = {}

    def get(self, key: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The tab of a key."""
        if key not in self.pages:
            context = self.browser.new_context(**options)
            context.add_init_script(UNFOLDED_AT_ONCE + AT_ONCE + ASKED)
            self.pages[key] = context.new_page()
            self.pages[key].set_default_timeout(1000 * PATIENCE)
        return self.pages[key]

    def leave(self, key: tuple[Any, ...]) -> None:
        """Nothing of a test stays in its tab."""
        page = self.pages[key]
        try:
            for tab in page.context.pages:
                if tab is not page:
                    tab.close()
            page.unroute_all()
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            page.context.clear_cookies()
            page.context.clear_permissions()
            page.goto("about:blank")
        except Exception:  # of a tab that the test has closed or left hanging
            del self.pages[key]
            page.context.close()


class Visits:
    """The visitors of one test. Each call opens another one in a separate browser context."""

    def __init__(self, server: str, tabs: Tabs) -> None:
        self.server, self.tabs, self.wrong = server, tabs, list[str]()
        self.used: dict[tuple[Any, ...], Any] = {}
        self.listeners = {
            "request": lambda request: self.wrong.append(request.url) if self._outside(request.url) else None,
            "websocket": lambda socket: self.wrong.append(socket.url) if self._outside(socket.url) else None,
            "dialog": lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()),
            "pageerror": lambda error: self.wrong.append(f"script error {error}"),
        }

    def _outside(self, url: str) -> bool:
        return not url.startswith((self.server, self.server.replace("http", "ws"), "data:", "blob:", "about:blank"))

    def __call__(
        self,
        path: str = "/",
        wait: str = ".pairlens footer",
        color_scheme: str = "light",
        **options: Any,
    ) -> Any:
        viewport = options.pop("viewport", {"width": 1280, "height": 800})
        key = (len(self.used), viewport["width"] < PHONE, *sorted(options.items()))
        page = self.tabs.get(key, options)
        self.used[key] = page
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme, reduced_motion="no-preference")
        for event, listener in self.listeners.items():
            page.on(event, listener)
        page.goto(path if path.startswith("http") else self.server + path)
        page.wait_for_selector(wait)
        come_to_rest(page)
        return page

    def end(self) -> None:
        """Nothing may have left this machine, no dialog opened, and no script failed."""
        for key, page in self.used.items():
            for event, listener in self.listeners.items():
                page.remove_listener(event, listener)
            self.tabs.leave(key)
        assert self.wrong == []
