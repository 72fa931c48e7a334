"""Speed of the running app with several visitors: clients of its HTTP API, and pages that use Streamlit's websocket
messages."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np
import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from core.checkpoint import Checkpoint, load_named
from core.errors import RunError
from core.explain import explain
from core.json_types import JsonObject
from core.wording import counted
from trainers.bench.app import MODEL, server
from trainers.bench.models import Measurement, Unmeasured


def headers_of(address: str) -> dict[str, str]:
    """The headers of a new browser, which got its token with a page. Raises RunError if no page comes."""
    try:
        with urllib.request.urlopen(address, timeout=60) as page:
            return {"Cookie": page.headers.get("Set-Cookie", "").partition(";")[0]}
    except OSError as error:
        raise RunError(f"{address} cannot be opened ({error}): check that the app runs there") from error


@contextmanager
def asked(address: str, kind: str, body: JsonObject, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
    """The response to a request, whose connection is closed afterwards. Raises RunError if none arrives."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=300)
    try:
        connection.request("POST", f"/api/{kind}", json.dumps(body), {**headers})
        yield connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise RunError(f"{address}/api/{kind} did not answer ({error}): is the app running?") from error
    finally:
        connection.close()


def seconds_until_answered(address: str, kind: str, body: JsonObject, headers: Mapping[str, str]) -> float:
    """Time from the request to the complete answer. Raises RunError if the answer is an error."""
    started = time.perf_counter()
    with asked(address, kind, body, headers) as response:
        last = json.loads(response.read().splitlines()[-1])
    if "answer" not in last:
        raise RunError(f"{address}/api/{kind} answered: {last['error']}")
    return time.perf_counter() - started


BUSY = "guest-minilm"
WORDS_A_SIDE = 210


def shared(quick: bool) -> list[Measurement]:
    """Time for a third client's word effects while two tabs request them for 210 + 210 words from the shipped
    transformer; and how long the server keeps computing after both have left."""
    rounds, texts = 2 if quick else 10, pairs()
    words = sorted({word.lower() for text, _ in pairs() for word in text.split()})
    with (
        tempfile.TemporaryDirectory() as folder,
        server(PAIRLENS_DESK=folder, PAIRLENS_DB="") as own,
        ExitStack() as tabs,
    ):

        def third() -> float:
            first, second = next(texts)
            body = {"model": MODEL, "first": first, "second": second}
            return seconds_until_answered(own.address, "why", body, headers)

        headers = headers_of(own.address)
        alone = [third() for _ in range(rounds + 1)][1:]
        for tab in range(2):
            text = " ".join(itertools.islice(itertools.cycle(words), tab, tab + WORDS_A_SIDE))
            body = {"model": BUSY, "first": text, "second": text}
            first_line = tabs.enter_context(asked(own.address, "why", body, headers_of(own.address))).readline()
            if b"progress" not in first_line:
                raise Unmeasured(first_line.decode()[:200])
        time.sleep(10)  # until the texts are prepared and the forward passes run
        busy = [third() for _ in range(rounds)]
        tabs.close()
        still = seconds_computing(own.process.pid)
    note = f"{statistics.median(busy):.2f} s; alone {statistics.median(alone):.2f} s"
    ratio = statistics.median(busy) / statistics.median(alone)
    return [
        Measurement("api: a third client's word effects while two compute, by those alone", ratio, "x", 2, note=note),
        Measurement("api: computing after both have left", still, "s", 2),
    ]


def seconds_computing(pid: int) -> float:
    """How long a process keeps using at least a tenth of a CPU."""
    process, started = psutil.Process(pid), time.perf_counter()
    while process.cpu_percent(0.2) > 10:
        pass
    return max(0.0, time.perf_counter() - started - 0.2)


PRELOADING = 65.0
"""Seconds until a new server begins to import what later answers need (app.preloading), and a little more."""


def wait_for_preloading(pid: int) -> None:
    """Waits until a new server, which a visitor has just opened, has imported what later answers need."""
    time.sleep(PRELOADING)
    seconds_computing(pid)


class TimedVerdict(NamedTuple):
    """The page's answer for a pair: the class probabilities in order, and the seconds since the request."""

    first: str
    second: str
    probabilities: tuple[float, ...]
    seconds: float


class Visitor:
    """One session on Explore. ``address``: http://HOST:PORT; ``headers``: those for the login and its cookie. All
    waiting raises RunError after ``patience`` seconds or if the server disconnects."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None, patience: float = 300) -> None:
        self._address, self._patience, self._session = address, patience, ExitStack()
        self._known: list[str] = []
        """Hashes of messages that the server need not send again."""
        try:
            self.socket = self._session.enter_context(
                connect(
                    address.replace("http", "ws", 1) + "/_stcore/stream",
                    subprotocols=[websockets.Subprotocol("streamlit")],
                    additional_headers=headers,
                    max_size=None,
                    open_timeout=300,
                    ping_interval=None,  # browsers only answer the server's pings
                    proxy=None,
                )
            )
        except (OSError, websockets.WebSocketException) as error:
            raise RunError(f"{address} cannot be opened ({error}): check that the app runs there") from error

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    def open(self, **link: str) -> TimedVerdict:
        """Opens a URL of Explore with these parameters (``first`` and ``second`` are required), as Back and edited URLs
        do. The verdict's time ends when its own message arrives; this method returns after the last message."""
        started, question = time.perf_counter(), BackMsg()
        question.rerun_script.query_string = urlencode(link)
        question.rerun_script.context_info.url = f"{self._address}/"
        question.rerun_script.cached_message_hashes.extend(self._known)
        known, verdict = list[str](), None
        try:
            self.socket.send(question.SerializeToString())
            while True:
                message, left = ForwardMsg(), started + self._patience - time.perf_counter()
                message.ParseFromString(self.socket.recv(left, decode=False))
                if message.ref_hash or message.metadata.cacheable:
                    known.append(message.ref_hash or message.hash)
                shown = _shown_pair(message)
                asked: JsonObject = shown["why"]["question"] if shown else {}
                if shown and (asked["first"], asked["second"]) == (link["first"], link["second"]):
                    shares = tuple(share["p"] for share in shown["verdict"]["classes"])
                    verdict = TimedVerdict(link["first"], link["second"], shares, time.perf_counter() - started)
                elif message.WhichOneof("type") == "script_finished" and verdict:
                    self._known = known
                    return verdict
        except (TimeoutError, websockets.WebSocketException) as error:
            why = f"{type(error).__name__} {error}".rstrip()
            raise RunError(f"the app did not answer ({why}): is it busy, or was it stopped?") from error


def _shown_pair(message: ForwardMsg) -> JsonObject | None:
    """The pair data for drawing, if the message contains it."""
    component = message.delta.new_element.bidi_component
    data = json.loads(component.json or "{}")
    return json.loads(data["drawing"]) if data.get("view") == "pair" else None


SESSIONS = (1, 20, 50, 100)
EVERY = 5.0  # seconds between two pairs of a visitor
ROUNDS, CLOSE = 6, 1e-6  # larger differences in probabilities are errors
_WORDS = (
    "A man|A woman|A boy|A girl|A dog|A cat|An old man|A young girl|Two men|Three women|A child|A horse",
    "runs|sleeps|walks|sits|jumps|eats|plays|stands|waits|swims|sings|falls",
    "outside|in the snow|near a tree|on a bench|at home|by the river|in a park|on the street|under a bridge|alone",
)


@dataclass
class Phase:
    """Measurements for one number of sessions: seconds to each opened pair's verdict and to its word effects over HTTP,
    error messages, the server's memory in bytes at the end, and the largest deviation from separately computed
    probabilities."""

    sessions: int
    seconds: list[float] = field(default_factory=list)
    effects: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: int = 0
    apart: float = 0.0

    def check(self, checkpoint: Checkpoint, answers: Sequence[TimedVerdict]) -> None:
        """Records the times of these answers, and reports those that differ from the checkpoint's own answer."""
        for answer in answers:
            self.seconds.append(answer.seconds)
            serial = explain(checkpoint, answer.first, answer.second, records=()).probabilities
            apart = max(abs(a - b) for a, b in zip(serial, answer.probabilities, strict=True))
            self.apart = max(self.apart, apart)
            if apart > CLOSE:
                self.errors.append(f"{answer.first!r}, {answer.second!r}: {answer.probabilities} instead of {serial}")

    def rows(self) -> list[Measurement]:
        """The 95th percentiles of the times."""
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


def phase(
    address: str,
    model: str,
    sessions: int,
    rounds: int,
    texts: Iterator[tuple[str, str]],
    every: float = EVERY,
    process: psutil.Process | None = None,
) -> Phase:
    """Each of ``sessions`` visitors opens ``rounds`` pairs, one per ``every`` seconds (0: without pauses), with
    staggered starts, and requests the word effects of each. ``process``: the server, whose memory is measured."""
    own, answers = Phase(sessions), list[TimedVerdict]()

    def measure() -> None:
        own.memory = process.memory_info().rss if process else 0

    everybody = threading.Barrier(sessions, measure)

    def meet() -> None:
        with suppress(threading.BrokenBarrierError):  # another visitor has failed
            everybody.wait()

    def visit(number: int, links: Sequence[dict[str, str]]) -> None:
        try:
            with closing(Visitor(address)) as visitor:
                headers = headers_of(address)
                visitor.open(**links[0])
                meet()
                time.sleep(every * number / sessions)
                for link in links[1:]:
                    started = time.perf_counter()
                    answers.append(visitor.open(**link))
                    own.effects.append(seconds_until_answered(address, "why", link, headers))
                    time.sleep(max(0.0, every - (time.perf_counter() - started)))
                meet()
        except RunError as error:
            own.errors.append(str(error))
            everybody.abort()

    plans = [
        [{"model": model, "first": first, "second": second} for first, second in itertools.islice(texts, rounds + 1)]
        for _ in range(sessions)
    ]
    with ThreadPoolExecutor(sessions) as threads:
        list(threads.map(visit, range(sessions), plans))
    own.check(load_named(model), answers)
    return own


def load(quick: bool) -> list[Measurement]:
    """1, 20, 50 and 100 visitors of a separate server with an empty desk."""
    sizes, rounds, texts = (SESSIONS[:2], 1, pairs()) if quick else (SESSIONS, ROUNDS, pairs())
    with tempfile.TemporaryDirectory() as folder, server(PAIRLENS_DESK=folder, PAIRLENS_DB="") as own:
        process = psutil.Process(own.process.pid)
        phases = [phase(own.address, MODEL, size, rounds, texts, process=process) for size in sizes]
    errors, apart = sum(len(each.errors) for each in phases), max(each.apart for each in phases)
    note = f"of all phases; answers differ from serial ones by {apart:.1g} at most"
    return [
        *(row for each in phases for row in each.rows()),
        Measurement(f"load: errors at {sizes[-1]} sessions", errors, "errors", 0, note=note),
        Measurement("load: memory of the server", max(each.memory for each in phases) / 1e9, "GB", 1.2),
    ]
