"""Speed of the app in a real browser: the first page of a fresh server, and a new text on the filter map."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import RunError

ROOT = Path(__file__).resolve().parents[2]
TEXTS = (
    "Blue River is a village in Poland", "Blue River is a species of plant in the orchid family",
    "The Blue River is a company that makes cars", "Blue River is a novel by an English author",
    "Blue River is a river in the west of the state", "Blue River is the first album of the band",
)  # fmt: skip
_HAS_STAR = """text => {
  const map = document.querySelector('.js-plotly-plot');
  const holds = (label) => label.replaceAll('<br>', ' ').includes(text);
  return map && map.data && map.data.some((trace) => (trace.name || '').startsWith('yours') && trace.text.some(holds));
}"""


class Unmeasured(Exception):
    """Why nothing could be measured, in a few words: a part of the measurement is not there."""


class Server(NamedTuple):
    """A running app of its own."""

    address: str
    process: subprocess.Popen[bytes]
    started: float
    """When it was started, on :func:`time.perf_counter`'s clock."""


def first_page(repeats: int) -> tuple[float, float]:
    """Median seconds from a server's start until its first page shows the attention matrix, and the most gigabytes that
    a server took then. Raises Unmeasured."""
    times, memory = [], []
    with chromium() as (browser, psutil):
        for _ in range(repeats):
            with server() as own:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(own.address, wait_until="commit")
                page.get_by_role("gridcell").first.wait_for(timeout=60_000)
                times.append(time.perf_counter() - own.started)
                process = psutil.Process(own.process.pid)
                memory.append(sum(p.memory_info().rss for p in [process, *process.children(recursive=True)]) / 1e9)
                page.close()
    return statistics.median(times), max(memory)


def star(model: str) -> float:
    """Median seconds from Enter until the browser's map holds the star of the typed text. Raises Unmeasured."""
    times = []
    with chromium() as (browser, _), server() as own:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{own.address}/filter-map?model={model}&first=A+text")
        page.wait_for_function(_HAS_STAR, arg="A text", timeout=60_000)
        for text in TEXTS:
            page.wait_for_timeout(1500)
            box = page.get_by_label("Text 1", exact=True)
            box.fill(text)
            started = time.perf_counter()
            box.press("Enter")
            page.wait_for_function(_HAS_STAR, arg=text, polling=10, timeout=30_000)
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
def server(script: str = "streamlit_app.py", **environment: str) -> Iterator[Server]:
    """A server of this script, which sees these environment variables too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}"]
    command += ["--server.headless=true", "--server.address=127.0.0.1"]
    started = time.perf_counter()
    quiet, env = subprocess.DEVNULL, {**os.environ, **environment}
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=quiet, stderr=quiet)
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
