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
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import RunError

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
COMPLETE = {
    "": "[role=gridcell]",
    "phrases": ".poolings",
    "filter-map": ".map-key button",
    "models": "tbody tr",
}
"""By page what stands on it when its numbers do."""
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


class Unmeasured(Exception):
    """Why nothing could be measured, in a few words: a part of the measurement is not there."""


class Server(NamedTuple):
    """A running app of its own."""

    address: str
    process: subprocess.Popen[bytes]
    started: float
    """When it was started, on :func:`time.perf_counter`'s clock."""


class Pages(NamedTuple):
    """Medians, in seconds where nothing else is said. Of the app:"""

    first: float
    """From a server's start until its first page is complete."""
    visits: dict[str, float]
    """Of a second visitor, by page."""
    memory: float
    """Most gigabytes that a server took after all of them."""
    click: float
    """Milliseconds from a click on a cell until it is drawn as selected."""
    verdict: float
    """From Enter in a sentence until its verdict stands there."""
    empty_first: float
    """Of the empty page: from its server's start until it is complete."""
    empty_visit: float
    empty_rerun: float
    """From Enter in its text box until the text stands there."""


def pages(repeats: int) -> Pages:
    """Open the app's pages and the empty one by turns. Raises Unmeasured."""
    times: dict[str, list[float]] = {}
    memory = 0.0
    with chromium() as (browser, psutil), tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.py")
        empty.write_text(EMPTY, encoding="utf-8")

        def visit(own: Server, page: str, sign: str) -> Any:
            tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            tab.goto(f"{own.address}/{page}", wait_until="commit")
            tab.locator(sign).first.wait_for(timeout=60_000)
            return tab

        def timed(name: str, started: float) -> None:
            times.setdefault(name, []).append(time.perf_counter() - started)

        def reruns(tab: Any, name: str, label: str, shown: str) -> None:
            box = tab.locator(f"input[aria-label^={label}]")
            for word in WORDS:
                tab.wait_for_timeout(500)
                box.fill(f"A man is near the {word}")
                waiting = _awaited(tab.locator(shown).first, _TEXT_SHOWN, [shown, word])
                box.press("Enter")
                times.setdefault(name, []).append(waiting() / 1000)

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
                visit(own, "", COMPLETE[""]).context.close()
                timed("first", own.started)
                for page, sign in COMPLETE.items():
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
    medians = {name: statistics.median(values) for name, values in times.items()}
    return Pages(
        medians["first"],
        {page: medians[page] for page in COMPLETE},
        memory,
        medians["click"],
        medians["verdict"],
        medians["empty first"],
        medians["empty visit"],
        medians["empty rerun"],
    )


def _click(tab: Any, place: int) -> float:
    """Milliseconds until the cell is drawn as selected that is ``place``-th of the matrix."""
    cell = tab.get_by_role("gridcell").nth(place)
    waiting = _awaited(cell, _CLICK_SHOWN)
    cell.click()
    return waiting()


def _awaited(locator: Any, script: str, argument: Any = None) -> Callable[[], float]:
    """Start a script on an element, whose promise the returned function waits for: milliseconds."""
    promise = locator.evaluate_handle(f"(element, argument) => ({{ shown: ({script})(element, argument) }})", argument)
    return lambda: float(promise.evaluate("promise => promise.shown"))


def star(model: str) -> float:
    """Median seconds from Enter until the browser's map holds the star of the typed text. Raises Unmeasured."""
    times = []
    with chromium() as (browser, _), server() as own:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{own.address}/filter-map?model={model}&first=A+text")
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
def chromium() -> Iterator[tuple[Any, Any]]:
    """A browser, and psutil. Raises Unmeasured where one of them is not there."""
    try:
        import psutil
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise Unmeasured(f"{error.name} is not installed") from None
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
