"""Speed of the running app: in a browser, compared with an empty Streamlit page, and under many simulated visitors that
send Streamlit's messages over the websocket, as the page would."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import os
import random
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
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import numpy as np
import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from core.checkpoint import Checkpoint, load_named
from core.data import Dataset, read
from core.desk import run_folder, store
from core.desk.filters import rows_of
from core.desk.run import Predictions, Run
from core.desk.table import open_table
from core.errors import RunError
from core.explain import explain
from core.json_types import JsonObject
from core.wording import counted
from trainers.bench.client import seconds_until_answered
from trainers.bench.models import Measurement, Unmeasured, medians, pairs_file, word_pair

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
    "phrases": ("Phrases", 2, ".poolings"),
    "filter-map": ("Filter map", 2, ".map-key button"),
    "models": ("Models", 2, "tbody tr"),
}
"""Pages by address: the name, the bar as a multiple of an empty page, and a selector that appears with the numbers."""
DESK_ROWS = 10_000
FILTERS = ("not right", 'gold = "neutral"', "p > 60%", 'second contains "the"', "right and p > 60%")


def first_page(quick: bool) -> list[Measurement]:
    """A new server's first page, from its start on, and a second visitor's pages, relative to an empty page."""
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
    """Seconds until a new visitor's page has its numbers."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    started = time.perf_counter()
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.locator(sign).first.wait_for(timeout=60_000)
    seconds = time.perf_counter() - started
    context.close()
    return seconds


def verdict(quick: bool) -> list[Measurement]:
    """A typed pair's verdict on Explore, beyond an empty Streamlit rerun, by its explanation alone."""
    words = ("sheep", "horses", "trees", "cars", "clouds", "boats", "birds", "chairs")
    texts = [f"A man is near the {word}" for word in words[: 4 if quick else None]]
    with chromium() as browser, empty_page() as empty, server(empty) as plain, server() as own:
        rerun = _reruns(browser, plain)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{own.address}/?model={MODEL}")
        page.locator(PAGES[""][2]).first.wait_for(timeout=60_000)
        taken = statistics.median(_answer(page, "Hypothesis", text, page.locator(".chips").last) for text in texts)
    pair = word_pair(load_named(MODEL), 8, 20)
    (alone,) = medians([lambda: explain(load_named(MODEL), *pair)], 20)
    note = f"{taken:.0f} ms; an empty run {rerun:.0f} ms, the explanation {alone:.0f} ms"
    return [Measurement("app: a verdict after Enter, beyond an empty run", (taken - rerun) / alone, "x", 3, note=note)]


def desk(quick: bool) -> list[Measurement]:
    """Filters of the Error desk's rows, alone and as the page's answer, for which the bar is three empty Streamlit
    reruns and 200 ms."""
    sizes = ((DESK_ROWS, 100),) if quick else ((DESK_ROWS, 100), (1_000_000, 2000))
    return [*(_filters(rows, bar) for rows, bar in sizes), _filter_on_the_page(quick)]


def _filters(rows: int, bar: float) -> Measurement:
    """The slowest filter of a stored run with that many rows."""
    with tempfile.TemporaryDirectory() as folder:
        known = read(pairs_file(Path(folder, "pairs.jsonl"), DESK_ROWS)).rows
        dataset = Dataset("rows", "", known * (rows // DESK_ROWS), sha256="0" * 64)
        chances = np.random.default_rng(0).dirichlet([0.6] * 3, rows)
        run_folder.save(Run(dataset, (Predictions.of(load_named(MODEL), chances),)), Path(folder, "run"))
        # Features of words are computed once a run; here no word is looked up.
        table = open_table(run_folder.load(Path(folder, "run")), known=bool)
        times = medians([functools.partial(rows_of, text, table) for text in FILTERS], 5)
    name = f"error desk: the slowest filter of {rows:,} rows"
    return Measurement(name, max(times), "ms", bar, note=f"of {len(FILTERS)} filters")


def _filter_on_the_page(quick: bool) -> Measurement:
    """The page's answer to a filter."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser, empty_page() as empty:
        dataset = read(pairs_file(Path(folder, "pairs.jsonl"), DESK_ROWS))
        chances = np.random.default_rng(0).dirichlet([0.6] * 3, len(dataset.rows))
        run = Run(dataset, (Predictions.of(load_named(MODEL), chances),))
        store.keep(run, Path(folder))
        with server(empty) as plain, server(PAIRLENS_DESK=folder, PAIRLENS_DB="") as own:
            rerun = _reruns(browser, plain)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            link = f"file={store.short(run.dataset.sha256)}&models={store.short(run.models[0].sha256)}"
            page.goto(f"{own.address}/error-desk?{link}")
            rows = page.get_by_text(re.compile(rf"^[\d,]+ of {DESK_ROWS:,} rows"))
            rows.first.wait_for(timeout=120_000)
            taken = statistics.median(_answer(page, "Filter", text, rows) for text in FILTERS[: 2 if quick else None])
    name, bar = f"error desk: a filter of {DESK_ROWS:,} rows", round(3 * rerun + 200)
    return Measurement(name, taken, "ms", bar, note=f"an empty rerun {rerun:.0f} ms")


def _reruns(browser: Browser, empty: Server) -> float:
    """Median milliseconds of the empty page's rerun."""
    page = browser.new_page()
    page.goto(empty.address)
    shown = page.get_by_text(re.compile(r"^run \d+"))
    shown.wait_for(timeout=60_000)
    return statistics.median(_answer(page, "Text", f"x{n}", shown) for n in range(10))


def _answer(page: Page, label: str, text: str, shown: Locator) -> float:
    """Milliseconds from Enter in a text box until the text of an element is another one."""
    page.wait_for_timeout(700)  # what the last answer set off has ended
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


class Server(NamedTuple):
    """A separately started app, and the seconds that its start took."""

    address: str
    process: subprocess.Popen[bytes]
    seconds: float


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser. Raises Unmeasured where Playwright or Chromium is missing."""
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
def server(script: Path = APP, **environment: str) -> Iterator[Server]:
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
        while not _healthy(port):
            if time.perf_counter() - started > 60 or process.poll() is not None:
                raise RunError("the app's server does not start; try `streamlit run streamlit_app.py`")
            time.sleep(0.05)
        yield Server(f"http://127.0.0.1:{port}", process, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _healthy(port: int) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
        return True
    return False


class TimedVerdict(NamedTuple):
    """The page's answer to a pair: the class probabilities in order, and the seconds since the request."""

    first: str
    second: str
    probabilities: tuple[float, ...]
    seconds: float


class Visitor:
    """One session of Explore. ``address``: http://HOST:PORT; ``headers``: of a login and its cookie. Use it as an
    asynchronous context. All that waits raises RunError after ``patience`` seconds or when the server hangs up."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None, patience: float = 300) -> None:
        self._address, self._headers, self._patience = address, dict(headers or {}), patience
        self._known: list[str] = []
        """Hashes of messages that the server need not send again."""

    async def __aenter__(self) -> Visitor:
        url = self._address.replace("http", "ws", 1) + "/_stcore/stream"
        protocol = websockets.Subprotocol("streamlit")
        try:
            self._socket = await websockets.connect(
                url,
                subprotocols=[protocol],
                additional_headers=self._headers,
                max_size=None,
                open_timeout=300,
                ping_interval=None,  # browsers answer the server's pings, and send none
            )
        except (OSError, websockets.WebSocketException, TimeoutError) as error:
            raise RunError(f"{self._address} cannot be opened ({error}): check that the app runs there") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()

    async def open(self, **link: str) -> TimedVerdict:
        """Open an address of Explore with these parameters, of which ``first`` and ``second`` are needed, as Back and
        edited addresses do. The verdict's time is when its own message arrives; this returns after the last one."""
        started, question = time.perf_counter(), BackMsg()
        question.rerun_script.query_string = urlencode(link)
        question.rerun_script.context_info.url = f"{self._address}/"
        question.rerun_script.cached_message_hashes.extend(self._known)
        known, verdict = list[str](), None
        try:
            async with asyncio.timeout(self._patience):
                await self._socket.send(question.SerializeToString())
                while True:
                    data, message = await self._socket.recv(), ForwardMsg()
                    message.ParseFromString(data if isinstance(data, bytes) else data.encode())
                    if message.ref_hash or message.metadata.cacheable:
                        known.append(message.ref_hash or message.hash)
                    shown = _shown_pair(message)
                    if shown and (shown["link"]["first"], shown["link"]["second"]) == (link["first"], link["second"]):
                        shares = tuple(share["p"] for share in shown["verdict"]["classes"])
                        seconds = time.perf_counter() - started
                        verdict = TimedVerdict(link["first"], link["second"], shares, seconds)
                    elif message.WhichOneof("type") == "script_finished" and verdict:
                        self._known = known
                        return verdict
        except (TimeoutError, websockets.WebSocketException) as error:
            why = f"{type(error).__name__} {error}".rstrip()
            raise RunError(f"the app did not answer ({why}): is it busy, or was it stopped?") from error


def _shown_pair(message: ForwardMsg) -> JsonObject | None:
    """The drawing of a pair, if that is what the message has."""
    component = message.delta.new_element.bidi_component
    data = json.loads(component.json or "{}")
    return json.loads(data["drawing"]) if data.get("view") == "pair" else None


SIDES = ("first", "second")
SESSIONS = (1, 20, 50, 100)
EVERY = 5.0  # seconds between two pairs of a visitor
ROUNDS, CLOSE = 6, 1e-6  # probabilities that are further apart are wrong
_WORDS = (
    "A man|A woman|A boy|A girl|A dog|A cat|An old man|A young girl|Two men|Three women|A child|A horse",
    "runs|sleeps|walks|sits|jumps|eats|plays|stands|waits|swims|sings|falls",
    "outside|in the snow|near a tree|on a bench|at home|by the river|in a park|on the street|under a bridge|alone",
)


@dataclass
class Phase:
    """The measurements of one number of sessions: seconds of each opened pair's verdict and of its word effects over
    HTTP, error messages, the server's bytes at the end, and the largest difference of a probability from the one
    computed alone."""

    sessions: int
    seconds: list[float] = field(default_factory=list)
    effects: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: int = 0
    apart: float = 0.0

    def check(self, checkpoint: Checkpoint, answers: Sequence[TimedVerdict]) -> None:
        """Take the times of these answers, and note those that differ from the checkpoint's answer to the same pair."""
        for answer in answers:
            self.seconds.append(answer.seconds)
            serial = explain(checkpoint, answer.first, answer.second, records=()).probabilities
            apart = max(abs(a - b) for a, b in zip(serial, answer.probabilities, strict=True))
            self.apart = max(self.apart, apart)
            if apart > CLOSE:
                self.errors.append(f"{answer.first!r}, {answer.second!r}: {answer.probabilities} instead of {serial}")

    def rows(self) -> list[Measurement]:
        """The times within which 95 % were answered."""
        bar, of = 1.5 if self.sessions == 20 else None, counted(self.sessions, "session")
        measured = (("an opened pair's verdict", self.seconds, bar), ("word effects over HTTP", self.effects, None))
        return [
            Measurement(f"load: p95 of {name}, {of}", float(most), "s", bar, note=f"p50 {median:.2f} s")
            for name, seconds, bar in measured
            for median, most in [np.percentile(seconds, [50, 95]) if seconds else (np.nan, np.nan)]
        ]


def pairs() -> Iterator[tuple[str, str]]:
    """1,439 different pairs of short sentences."""
    texts = [" ".join(words) for words in itertools.product(*(line.split("|") for line in _WORDS))]
    random.Random(0).shuffle(texts)
    return itertools.pairwise(texts)


async def phase(
    address: str,
    model: str,
    sessions: int,
    rounds: int,
    texts: Iterator[tuple[str, str]],
    every: float = EVERY,
    process: psutil.Process | None = None,
) -> Phase:
    """``sessions`` visitors each open ``rounds`` pairs, one ``every`` so often (seconds; 0: without a pause), with
    staggered starts, and request the word effects of each. ``process``: the server's, whose memory is
    measured."""
    own, answers = Phase(sessions), list[TimedVerdict]()
    ready, begin, leave = asyncio.Semaphore(0), asyncio.Event(), asyncio.Event()
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(sessions)

    def link() -> dict[str, str]:
        return {"model": model, **dict(zip(SIDES, next(texts), strict=True))}

    async def visit(number: int) -> None:
        try:
            async with Visitor(address) as visitor:
                await visitor.open(**link())
                ready.release()
                await begin.wait()
                await asyncio.sleep(every * number / sessions)
                for _ in range(rounds):
                    started, body = time.perf_counter(), link()
                    answers.append(await visitor.open(**body))
                    ask = functools.partial(seconds_until_answered, address, "why", body, f"visitor {number}")
                    own.effects.append(await loop.run_in_executor(threads, ask))
                    await asyncio.sleep(max(0.0, every - (time.perf_counter() - started)))
                ready.release()
                await leave.wait()
        except RunError as error:
            own.errors.append(str(error))
            ready.release()
            ready.release()

    visits = [asyncio.create_task(visit(number)) for number in range(sessions)]
    for event in (begin, leave):
        for _ in range(sessions):
            await ready.acquire()
        own.memory = process.memory_info().rss if process else 0
        event.set()
    await asyncio.gather(*visits)
    own.check(load_named(model), answers)
    return own


def load(quick: bool) -> list[Measurement]:
    """1, 20, 50 and 100 visitors of a separate server with an empty desk."""
    sizes, rounds, texts = (SESSIONS[:2], 1, pairs()) if quick else (SESSIONS, ROUNDS, pairs())
    with tempfile.TemporaryDirectory() as folder, server(PAIRLENS_DESK=folder, PAIRLENS_DB="") as own:
        process = psutil.Process(own.process.pid)
        phases = [asyncio.run(phase(own.address, MODEL, size, rounds, texts, process=process)) for size in sizes]
    errors, apart = sum(len(each.errors) for each in phases), max(each.apart for each in phases)
    note = f"of all phases; answers differ from serial ones by {apart:.1g} at most"
    return [
        *(row for each in phases for row in each.rows()),
        Measurement(f"load: errors at {sizes[-1]} sessions", errors, "errors", 0, note=note),
        Measurement("load: memory of the server", max(each.memory for each in phases) / 1e9, "GB", 1.2),
    ]
