"""Visitors of the app in Debian's Chromium: their tabs, and how they come to a page."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import TimeoutError

from tests.app.pages import come_to_rest

PATIENCE = 60_000
"""Milliseconds to wait for the page: long, because a machine that trains beside the tests answers late."""
SOON = 15_000
"""Milliseconds until a page that was come to without a load is loaded after all."""
PHONE = 768
"""Pixels. On a narrower screen Streamlit's menu lies over the page, as it was when the page was loaded."""
BLANK = "/?model=test-light&first=&second="
"""A page without figures, so that nothing of what a test has done to one is left in a script."""
_GO = """([address, mark, patience]) => new Promise((resolve) => {
  const there = new URL(address, location.href), last = performance.now() + patience;
  // The app's own pushState keeps the page that Back has led to.
  History.prototype.pushState.call(history, {}, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  const empty = (url) => new URL(url).searchParams.get("first") === "";
  const look = () => {
    const app = document.querySelector("[data-testid=stApp]");
    const drawn = !location.search.includes(mark) && app?.dataset.testScriptState === "notRunning"
      && !document.querySelector("[data-stale=true]");
    if (drawn) resolve(location.pathname === there.pathname && empty(location.href) === empty(there.href));
    else if (performance.now() > last) resolve(false);
    else setTimeout(look, 20);
  };
  look();
})"""
_counter = itertools.count(1)


def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
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
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=switches)
        yield started
        started.close()


def says_all(path: str) -> bool:
    """Whether an address says all that its page shows, whatever its visitor has looked at before."""
    address = urlsplit(path)
    names = parse_qs(address.query, keep_blank_values=True).keys()
    if address.path in ("/models", "/lessons", "/error-desk"):
        return bool(names)
    return not names.isdisjoint(("first", "example"))


def go(page: Any, path: str, patience: int = PATIENCE) -> bool:
    """Come to an address as by Back, without loading Streamlit's scripts again, which costs a second of a processor;
    whether the page was drawn. A mark in the address, which no page reads, is gone when the page has been drawn: then
    it has completed its address. What the last page still asked of the server may come in between and bring it back:
    a second try is made."""
    for _ in range(2):
        mark = f"visit={next(_counter)}."
        if page.evaluate(_GO, [f"{path}&{mark}", mark, patience]):
            return True
    return False


class Tabs:
    """The tabs that tests use one after the other. No two of them share a browser context."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.pages: dict[tuple[Any, ...], Any] = {}
        self.at: dict[tuple[Any, ...], str] = {}
        """Servers of those tabs that stand on the blank page, and may go on from there."""

    def get(self, key: tuple[Any, ...], tour: bool, options: dict[str, Any]) -> Any:
        """The tab of a key."""
        if key not in self.pages:
            context = self.browser.new_context(**options)
            if not tour:
                context.add_init_script("localStorage.setItem('pairlens tour', 'left')")
            self.pages[key] = context.new_page()
            self.pages[key].set_default_timeout(PATIENCE)
        return self.pages[key]

    def come(self, key: tuple[Any, ...], server: str, path: str, fresh: bool, wait: str) -> None:
        """To a page of the app, until it shows the sign ``wait``: as a new visitor where ``fresh``, or where the
        address leaves something to the app."""
        page, at = self.pages[key], self.at.pop(key, None)
        if not fresh and at == server and says_all(path) and go(page, path, SOON):
            with suppress(TimeoutError):
                page.wait_for_selector(wait, timeout=SOON)
                return
        page.goto(path if path.startswith("http") else server + path)
        page.wait_for_selector(wait)

    def leave(self, key: tuple[Any, ...], server: str, again: bool) -> None:
        """Nothing of a test stays in its tab; ``again``: the next one may go on in its session."""
        page = self.pages[key]
        try:
            for tab in page.context.pages:
                if tab is not page:
                    tab.close()
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            page.context.clear_cookies()
            page.context.clear_permissions()
            # A session keeps large type for all pages; a page that does not write its address is none of the app's.
            if again and "projector" not in page.url and "?" in page.url and go(page, BLANK, SOON):
                self.at[key] = server
            else:
                page.goto("about:blank")
        except Exception:  # of a tab that the test has closed or left hanging
            del self.pages[key]
            page.context.close()


class Visits:
    """The visitors of one test. Each call is another one, with a browser context of its own. Without ``fresh`` it may
    be the session in which an earlier test has looked at pages; not where the test is run ``again``."""

    def __init__(self, server: str, tabs: Tabs, again: bool) -> None:
        self.server, self.tabs, self.again, self.wrong = server, tabs, again, list[str]()
        self.used: dict[tuple[Any, ...], tuple[Any, bool]] = {}
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
        tour: bool = False,
        color_scheme: str = "light",
        fresh: bool = False,
        **options: Any,
    ) -> Any:
        viewport = options.pop("viewport", {"width": 1280, "height": 800})
        key = (len(self.used), tour, viewport["width"] < PHONE, *sorted(options.items()))
        page = self.tabs.get(key, tour, options)
        self.used[key] = page, not (fresh or tour)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        for event, listener in self.listeners.items():
            page.on(event, listener)
        self.tabs.come(key, self.server, path, fresh or tour or self.again, wait)
        come_to_rest(page)
        return page

    def end(self) -> None:
        """Nothing may have left this machine, no dialog opened, and no script failed."""
        for key, (page, again) in self.used.items():
            for event, listener in self.listeners.items():
                page.remove_listener(event, listener)
            self.tabs.leave(key, self.server, again)
        assert self.wrong == []
