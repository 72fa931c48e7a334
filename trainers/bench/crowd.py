"""Speed of the running app for a new visitor while many others keep its server busy."""

from __future__ import annotations

import http.client
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from trainers.bench.app import APP, MODEL, server
from trainers.bench.models import Measurement
from trainers.bench.visitors import Visitor, headers_of, pairs, seconds_until_answered, wait_for_preloading

CLIENTS, OF_EACH = 20, 2
"""Clients that request word effects, and the number of requests that each of them keeps open."""
WORDS_A_SIDE = 150
SECONDS, QUICK_SECONDS = 60.0, 15.0


def crowd(quick: bool, script: Path = APP) -> list[Measurement]:
    """The longest times until a new visitor has the preview over HTTP, until Explore shows their verdict, and until it
    shows the verdict of a visitor who enters another pair, while 20 clients each have two requests open for the word
    effects of 150 + 150 words; and how much the server's memory grows meanwhile."""
    texts, seconds = pairs(), QUICK_SECONDS if quick else SECONDS
    with tempfile.TemporaryDirectory() as folder, server(script, PAIRLENS_DESK=folder, PAIRLENS_DB="") as own:
        probes = _Probes(own.address, texts)
        for _ in range(3):
            alone = probes.measured()
        wait_for_preloading(own.process.pid)  # or its memory would count as the crowd's
        process = psutil.Process(own.process.pid)
        before = process.memory_info().rss
        with peak_memory(process) as peak, _crowd(own.address):
            until, busy = time.perf_counter() + seconds, list[tuple[float, ...]]()
            while time.perf_counter() < until:
                busy.append(probes.measured())
        probes.close()
    names = ("a newcomer's preview", "a newcomer's page", "a visitor's next verdict")
    rows = [
        Measurement(f"crowd: {name}, at most", max(times), "s", 1, note=f"of {len(times)}; alone {idle:.2f} s")
        for name, idle, times in zip(names, alone, zip(*busy, strict=True), strict=True)
    ]
    grown = (max(peak) - before) / 1e6
    return [*rows, Measurement("crowd: growth of the server's memory", grown, "MB", 300)]


class _Probes:
    """The three actions measured: a new visitor's preview over HTTP, a new visitor's page, and another pair on an open
    page."""

    def __init__(self, address: str, texts: Iterator[tuple[str, str]]) -> None:
        self._address, self._texts = address, texts
        self._visitor = Visitor(address)
        self._visitor.open(**self._pair())
        self.close = self._visitor.close

    def _pair(self) -> dict[str, str]:
        first, second = next(self._texts)
        return {"model": MODEL, "first": first, "second": second}

    def measured(self) -> tuple[float, float, float]:
        """Seconds until each of them is answered, one after the other."""
        preview = seconds_until_answered(self._address, "preview", self._pair(), headers_of(self._address))
        with closing(Visitor(self._address)) as newcomer:
            page = newcomer.open(**self._pair()).seconds
        return preview, page, self._visitor.open(**self._pair()).seconds


@contextmanager
def _crowd(address: str) -> Iterator[None]:
    """Clients that keep requests for the effects of many words open."""
    words = sorted({word.lower() for text, _ in pairs() for word in text.split()})
    with ExitStack() as everyone:
        for client in range(CLIENTS):
            headers = headers_of(address)
            for request in range(OF_EACH):
                start = client * OF_EACH + request
                text = " ".join(itertools.islice(itertools.cycle(words), start, start + WORDS_A_SIDE))
                connection = everyone.enter_context(closing(http.client.HTTPConnection(urlsplit(address).netloc)))
                body = json.dumps({"model": MODEL, "first": text, "second": text})
                connection.request("POST", "/api/why", body, dict(headers))
        yield


@contextmanager
def peak_memory(process: psutil.Process) -> Iterator[list[int]]:
    """The process's memory in bytes, ten times a second."""
    sizes, ended = [process.memory_info().rss], threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            sizes.append(process.memory_info().rss)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield sizes
    finally:
        ended.set()
        thread.join()
