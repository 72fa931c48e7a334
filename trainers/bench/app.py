"""Speed of the running app in a browser, compared with an empty Streamlit page."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.checkpoint import load_named
from core.errors import RunError
from core.explain import explain
from trainers.bench.models import Measurement, Unmeasured, medians, word_pair

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

APP = Path(__file__).resolve().parents[2] / "streamlit_app.py"
MODEL = "nli-two-sided"
EMPTY = """
import streamlit as st
st.session_state.runs = st.session_state.get("runs", 0) + 1
st.text_input("Text")
st.text(f"run {st.session_state.runs}")
"""
PAGES = {
    "": ("Explore", 1.4, "[role=gridcell]"),
    "phrases": ("Phrases", 2, ".pairlens footer"),
    "filter-map": ("Filter map", 2, ".map .points path"),
    "models": ("Models", 2, "[data-testid=stDataFrame] canvas"),
}
"""Pages by URL path: the name, the threshold as a multiple of an empty page, and a selector for the results."""
LONGEST_FRAME = """() => {
  let last = performance.now();
  const end = last + 700;
  let longest = 0;
  const ended = new Promise((done) => {
    const next = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (now < end) requestAnimationFrame(next);
      else done(longest);
    };
    requestAnimationFrame(next);
  });
  return { longest: ended };
}"""
"""Measures the longest time between frames during 0.7 seconds, enough for an animation of 0.6 seconds."""


def first_page(quick: bool) -> list[Measurement]:
    """First page of a new server, including its start, and a second visitor's pages, relative to an empty page."""
    times: dict[tuple[bool, str], list[float]] = defaultdict(list)
    signs = {page: sign for page, (_, _, sign) in PAGES.items()}
    with chromium() as browser, empty_page() as empty:
        for _ in range(1 if quick else 3):
            for script, pages in ((empty, {"": "input"}), (APP, signs)):
                with server(script) as at:
                    for page, sign in pages.items():
                        visits = [_visit(browser, f"{at.address}/{page}", sign) for _ in range(4)]
                        times[script is APP, page] += visits[1:]
                        if not page:
                            times[script is APP, "first"].append(visits[0] + at.seconds)

    def row(name: str, bar: float, page: str, other: str) -> Measurement:
        own, empty = (statistics.median(times[key]) for key in ((True, page), (False, other)))
        return Measurement(f"app: {name}", own / empty, "x", bar, note=f"{own:.2f} s; the empty page {empty:.2f} s")

    rows = [row(f"{name}, a second visitor", bar, page, "") for page, (name, bar, _) in PAGES.items()]
    return [row("first page of a new server", 2.2, "first", "first"), *rows]


def _visit(browser: Browser, address: str, sign: str) -> float:
    """Seconds until a new visitor's page shows its results."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    started = time.perf_counter()
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.locator(sign).first.wait_for(timeout=60_000)
    seconds = time.perf_counter() - started
    context.close()
    return seconds


def verdict(quick: bool) -> list[Measurement]:
    """Time to the verdict and to the words of a typed pair on Explore. The words come with a run of the page: minus an
    empty rerun, they are relative to the explanation alone; the verdict, which precedes them, to both together."""
    names = ("sheep", "horses", "trees", "cars", "clouds", "boats", "birds", "chairs")
    with chromium() as browser, empty_page() as empty, server(empty) as plain, server() as own:
        rerun = reruns(browser, plain)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{own.address}/?model={MODEL}")
        page.locator(PAGES[""][2]).first.wait_for(timeout=60_000)
        times = [_typed(page, f"A man is near the {name}") for name in names[: 4 if quick else None]]
    said, words = map(statistics.median, zip(*times, strict=True))
    pair = word_pair(load_named(MODEL), 8, 20)
    (alone,) = medians([lambda: explain(load_named(MODEL), *pair)], 20)
    by = f"an empty run {rerun:.0f} ms, the explanation {alone:.0f} ms"
    return [
        Measurement("app: the verdict after Enter", said / (rerun + alone), "x", 1.5, note=f"{said:.0f} ms; {by}"),
        Measurement("app: the words after Enter", (words - rerun) / alone, "x", 3, note=f"{words:.0f} ms; {by}"),
    ]


def _typed(page: Page, text: str) -> tuple[float, float]:
    """Milliseconds from pressing Enter until a new verdict and new words are visible."""
    page.wait_for_timeout(3000)  # wait for effects of the last answer to end
    parts = ".pairlens .verdict", ".pairlens .chips"
    for part in parts:
        page.locator(part).evaluate_all("old => old.forEach((part) => part.dataset.old = true)")
    box = page.locator("input[aria-label^=Hypothesis]").first
    box.fill(text)
    started = time.perf_counter()
    box.press("Enter")
    times = []
    for part in parts:
        page.locator(f"{part}:not([data-old])").first.wait_for(timeout=30_000)
        times.append((time.perf_counter() - started) * 1000)
    return times[0], times[1]


def motion(quick: bool) -> list[Measurement]:
    """The longest frame while a lesson animates its numbers between steps."""
    steps = range(1, 4 if quick else 6)
    with chromium() as browser, server() as own:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{own.address}/lessons?lesson=light")
        page.locator(".step h3").wait_for(timeout=60_000)
        longest = []
        for step in steps:
            page.wait_for_timeout(2000)  # wait for effects of the last step to end
            frames = page.evaluate_handle(LONGEST_FRAME)
            page.keyboard.press("ArrowRight")
            page.get_by_text(re.compile(rf"^{step + 1} of")).wait_for()
            longest.append(page.evaluate("frames => frames.longest", frames))
    note = f"of {len(longest)} steps: {', '.join(f'{one:.0f}' for one in longest)}"
    return [
        Measurement("app: the longest frame of a lesson’s motion", statistics.median(longest), "ms", 100, note=note)
    ]


def reruns(browser: Browser, empty: StartedApp) -> float:
    """Median milliseconds for a rerun of the empty page."""
    page = browser.new_page()
    page.goto(empty.address)
    shown = page.get_by_text(re.compile(r"^run \d+"))
    shown.wait_for(timeout=60_000)
    return statistics.median(answer(page, "Text", f"x{n}", shown) for n in range(10))


def answer(page: Page, label: str, text: str, shown: Locator) -> float:
    """Milliseconds from pressing Enter in a text box until an element's text changes."""
    page.wait_for_timeout(3000)  # wait for effects of the last answer to end
    box, before = page.locator(f"input[aria-label^={label}]").first, shown.first.inner_text()
    box.fill(text)
    started = time.perf_counter()
    box.press("Enter")
    while shown.first.inner_text() == before:
        if time.perf_counter() - started > 30:
            raise Unmeasured("the page did not answer in 30 s")
    return (time.perf_counter() - started) * 1000


@contextlib.contextmanager
def empty_page() -> Iterator[Path]:
    """The script of the empty page."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "empty.py").write_text(EMPTY, encoding="utf-8")
        yield Path(folder, "empty.py")


class StartedApp(NamedTuple):
    """A separately started app, and the seconds it took to start."""

    address: str
    process: subprocess.Popen[bytes]
    seconds: float


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser. Raises Unmeasured if Playwright or Chromium is missing."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise Unmeasured(f"{error.name} is not installed") from None
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-headless-shell"))), None)
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
            yield browser
            browser.close()
    except Error as error:
        raise Unmeasured(str(error).splitlines()[0][:100]) from None


@contextlib.contextmanager
def server(script: Path = APP, **environment: str) -> Iterator[StartedApp]:
    """A server for this script, with these additional environment variables."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", "--browser.gatherUsageStats=false"]
    started = time.perf_counter()
    quiet, env = subprocess.DEVNULL, {**os.environ, **environment}
    process = subprocess.Popen(command, cwd=script.parent, env=env, stdout=quiet, stderr=quiet)
    try:
        while not _healthy(port):
            if time.perf_counter() - started > 60 or process.poll() is not None:
                raise RunError("the app's server does not start; try `streamlit run streamlit_app.py`")
            time.sleep(0.05)
        yield StartedApp(f"http://127.0.0.1:{port}", process, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _healthy(port: int) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
        return True
    return False
