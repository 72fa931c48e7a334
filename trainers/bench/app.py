"""Speed of the app in a real browser: beside an empty Streamlit page in the same run a new server's first page, another
visitor's pages and a new verdict; a click; and a new text on the filter map.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from core.checkpoint import available, load_named
from core.errors import RunError
from core.filter_map.map import FilterMap, available_map, codes_of
from trainers.bench.explaining import by_time
from trainers.bench.row import Row, Unmeasured, filled

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
TEXTS = (
    "Blue River is a village in Poland",
    "Blue River is a species of plant in the orchid family",
    "The Blue River is a company that makes cars",
    "Blue River is a novel by an English author",
    "Blue River is a river in the west of the state",
    "Blue River is the first album of the band",
)
EMPTY = """import streamlit as st
st.title("Empty")
st.text(st.text_input("Text"))
"""
"""What every Streamlit page takes: a title and a text box, whose text it shows."""
PAGES = {
    "": ("Explore", 1.4, "[role=gridcell]"),
    "phrases": ("Phrases", 2, ".poolings"),
    "filter-map": ("Filter map", 2, ".map-key button"),
    "models": ("Models", 2, "tbody tr"),
}
"""By address: a page's name, how many times an empty Streamlit page it may take a second visitor, and what stands on it
when its numbers do."""
MAPPED = "topic-acnn"
"""The checkpoint whose filter map is measured."""
WORDS = ("sheep", "horses", "trees", "cars", "clouds", "boats", "birds", "chairs")
_CLICK_SHOWN = """cell => new Promise((done) => {
  let pressed;
  cell.addEventListener("pointerdown", () => { pressed = performance.now(); }, { capture: true, once: true });
  new MutationObserver((_, observer) => {
    if (cell.getAttribute("aria-selected") !== "true") return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - pressed)));
  }).observe(cell, { attributes: true });
})"""
_TEXT_SHOWN = """(shown, [sign, word]) => new Promise((done) => {
  let pressed;
  window.addEventListener("keydown", () => { pressed = performance.now(); }, { capture: true, once: true });
  const root = shown.getRootNode();
  new MutationObserver((_, observer) => {
    if (!Array.from(root.querySelectorAll(sign)).some((one) => one.textContent.includes(word))) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - pressed)));
  }).observe(root, { subtree: true, childList: true, characterData: true });
})"""
"""By the browser's own clock: Playwright looks again after 20, 50, 100 … ms, which is longer than what is measured."""
_STAR = ".star.now"
"""A text's present place on the map, which bears its words."""


class Server(NamedTuple):
    """A running app of its own."""

    address: str
    process: subprocess.Popen[bytes]
    started: float
    """When it was started, on :func:`time.perf_counter`'s clock."""


def pages(quick: bool) -> list[Row]:
    """The pages beside an empty Streamlit page in the same run, and the server's memory."""
    rows = [Row("app: first page of a new server", None, "x", 2.2)]
    rows += [Row(f"app: {name}, a second visitor", None, "x", bar) for name, bar, _ in PAGES.values()]
    rows += [
        Row("app: a new verdict after Enter", None, "x", 3),
        Row("app: a click shown", None, "ms", 100),
        Row("app: memory of a server", None, "GB", 1.2),
    ]
    repeats = 1 if quick else 3

    def values() -> list[tuple[float, str]]:
        times, memory = _page_times(repeats)
        explained = (by_time("nli-two-sided", True, ((8, 20),))[0].value or 0) / 1000  # as long as the typed pairs
        first, visit, rerun = (times[f"empty {what}"] for what in ("first", "visit", "rerun"))
        out = [(times["first"] / first, f"{times['first']:.2f} s; of an empty Streamlit page {first:.2f} s")]
        out += [(times[page] / visit, f"{times[page]:.2f} s; of the empty page {visit:.2f} s") for page in PAGES]
        what = f"times its explanation ({1000 * explained:.0f} ms) beyond an empty run, {1000 * rerun:.0f} ms"
        out.append(((times["verdict"] - rerun) / explained, what))
        return [*out, (1000 * times["click"], "median of clicks on cells"), (memory, f"largest of {repeats}")]

    return filled(rows, values)


def _page_times(repeats: int) -> tuple[dict[str, float], float]:
    """Median seconds, and the most gigabytes that a server took: the app's pages and the empty one are opened by turns.

    By name: ``first``, from a server's start until its first page is complete; by page, that of a second visitor;
    ``click`` on a cell until it is drawn as selected; ``verdict``, from Enter until it stands there; of the empty page
    ``empty first``, ``empty visit`` and ``empty rerun``. Raises Unmeasured.
    """
    times: dict[str, list[float]] = {}
    memory = 0.0
    with chromium() as (browser, psutil), tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.py")
        empty.write_text(EMPTY, encoding="utf-8")

        def visit(own: Server, page: str, sign: str) -> Page:
            tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            tab.goto(f"{own.address}/{page}", wait_until="commit")
            tab.locator(sign).first.wait_for(timeout=60_000)
            return tab

        def timed(name: str, started: float) -> None:
            times.setdefault(name, []).append(time.perf_counter() - started)

        def reruns(tab: Page, name: str, label: str, shown: str) -> None:
            box = tab.locator(f"input[aria-label^={label}]")
            for word in WORDS:
                tab.wait_for_timeout(500)
                box.fill(f"A man is near the {word}")
                waiting = _awaited(tab.locator(shown).first, _TEXT_SHOWN, [shown, word])
                box.press("Enter")
                times.setdefault(name, []).append(waiting())

        for _ in range(repeats):
            with server(empty) as own:
                visit(own, "", "input").context.close()
                timed("empty first", own.started)
                for _ in range(3):
                    started = time.perf_counter()
                    tab = visit(own, "", "input")
                    timed("empty visit", started)
                reruns(tab, "empty rerun", "Text", "[data-testid=stText]")
                tab.context.close()
            with server() as own:
                visit(own, "", PAGES[""][2]).context.close()
                timed("first", own.started)
                for page, (_, _, sign) in PAGES.items():
                    visit(own, page, sign).context.close()
                    for _ in range(3):
                        started = time.perf_counter()
                        tab = visit(own, page, sign)
                        timed(page, started)
                        if page:
                            tab.context.close()
                    if not page:
                        times.setdefault("click", []).extend(_click(tab, place) for place in range(1, 8))
                        reruns(tab, "verdict", "Hypothesis", ".chips")
                process = psutil.Process(own.process.pid)
                used = sum(p.memory_info().rss for p in [process, *process.children(recursive=True)])
                memory = max(memory, used / 1e9)
    return {name: statistics.median(values) for name, values in times.items()}, memory


def _click(tab: Page, place: int) -> float:
    """Seconds until the cell is drawn as selected that is ``place``-th of the matrix."""
    cell = tab.get_by_role("gridcell").nth(place)
    waiting = _awaited(cell, _CLICK_SHOWN)
    cell.click()
    return waiting()


def _awaited(locator: Locator, script: str, argument: object = None) -> Callable[[], float]:
    """Start a script on an element, whose promise the returned function waits for: seconds."""
    promise = locator.evaluate_handle(f"(element, argument) => ({{ shown: ({script})(element, argument) }})", argument)
    return lambda: float(promise.evaluate("promise => promise.shown")) / 1000


def filter_map(quick: bool) -> list[Row]:
    """Milliseconds to read and place a text on a filter map, seconds from Enter until a browser draws its star."""
    rows = [Row("filter map: a new text's place", None, "ms", 500), Row("filter map: star after Enter", None, "s", 1)]
    folder = available_map(load_named(MAPPED)) if MAPPED in available() else None
    if folder is None:
        return [replace(row, note="the map is not there") for row in rows]
    checkpoint = load_named(MAPPED)
    placed = FilterMap.load(folder, checkpoint)
    layout, times = next(iter(placed.layouts)), []
    for text in TEXTS * (1 if quick else 3):
        started = time.perf_counter()
        placed.place(codes_of(checkpoint, [text]), layout)
        times.append((time.perf_counter() - started) * 1000)
    place = replace(rows[0], value=statistics.median(times), note=f"among {len(placed.items):,}")
    return [place, *filled(rows[1:], lambda: [(_star(), f"median of {len(TEXTS)}")])]


def _star() -> float:
    """Median seconds from Enter until the browser's map holds the star of the typed text. Raises Unmeasured."""
    times = []
    with chromium() as (browser, _), server() as own:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{own.address}/filter-map?model={MAPPED}&first=A+text")
        page.locator(_STAR).wait_for(timeout=60_000)
        for text in TEXTS:
            page.wait_for_timeout(1500)
            box = page.get_by_label("Text 1", exact=True)
            box.fill(text)
            started = time.perf_counter()
            box.press("Enter")
            page.locator(f'{_STAR}[data-words="{text}"]').wait_for(timeout=30_000)
            times.append(time.perf_counter() - started)
    return statistics.median(times)


@contextmanager
def chromium() -> Iterator[tuple[Browser, ModuleType]]:
    """A browser, and psutil. Raises Unmeasured where one of them is not there."""
    try:
        import psutil
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise Unmeasured(f"{error.name} is not installed") from None
    names = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
    program = next(filter(None, map(shutil.which, names)), None)
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
            yield browser, psutil
            browser.close()
    except Error as error:
        raise Unmeasured(str(error).splitlines()[0][:100]) from None


@contextmanager
def server(script: Path = ROOT / "streamlit_app.py", **environment: str) -> Iterator[Server]:
    """A server of this script, which sees these environment variables too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", "--browser.gatherUsageStats=false"]
    started = time.perf_counter()
    quiet, env = subprocess.DEVNULL, {**os.environ, **environment}
    process = subprocess.Popen(command, cwd=script.parent, env=env, stdout=quiet, stderr=quiet)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).read()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
                if time.perf_counter() - started > 60 or process.poll() is not None:
                    raise RunError("the app's server does not start; try `streamlit run streamlit_app.py`") from None
        yield Server(f"http://127.0.0.1:{port}", process, started)
    finally:
        process.terminate()
        process.wait(timeout=20)
