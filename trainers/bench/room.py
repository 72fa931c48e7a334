"""Speed of a room for a class: a hundred phones on one server, and one among them that floods it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

import numpy as np
import psutil

from core.checkpoint import load_named
from core.desk.database import open_database
from core.errors import RunError
from core.json_types import JsonObject
from core.rooms import questions
from core.rooms.lecturer import Lecturer
from core.rooms.room import BREAK, GUESS, open_room
from trainers.bench.app import MODEL, StartedApp, server
from trainers.bench.crowd import peak_memory
from trainers.bench.models import Measurement
from trainers.bench.visitors import Visitor, headers_of, pairs, seconds_until_answered, wait_for_preloading

DATABASE = "PAIRLENS_BENCH_DB"
"""The environment variable with the address of a database to use instead of a new SQLite file."""
PHONES = 100
POLL, SEND, GUESS_AGAIN, OPEN = 2.0, 10.0, 5.0, 5.0
"""Seconds between a phone's state requests, between its pairs, between its guesses, and between the lecturer's
pairs."""
SECONDS, QUICK_SECONDS = 60.0, 15.0
"""Seconds of each round: one of pairs, one of guesses, and one of pairs while a phone floods the server."""
AT_ONCE = 8
"""Connections of the phone that floods."""
BARS = {"pair": 0.5, "sentence": 2.0, "guess": 0.15}
NAMES = {"pair": "a verdict", "sentence": "its sentence", "guess": "a guess", "state": "the state", "check": "a check"}


@dataclass
class Timings:
    """Measurements of a round: seconds by kind of request, errors, answers to the flood by status, the waits of the
    lecturer's page, processor seconds of the server by second, and how late this process itself was."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    flood: Counter[int] = field(default_factory=Counter)
    page: list[float] = field(default_factory=list)
    busy: float = 0.0
    late: list[float] = field(default_factory=list)


class _Connection:
    """A connection of a phone, which stays open between its requests."""

    def __init__(self, address: str, path: str) -> None:
        self._host, self._path, self.cookie = urlsplit(address).netloc, path, ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, act: str, body: JsonObject | None = None) -> tuple[int, JsonObject]:
        """The status and the answer. Raises OSError or EOFError if there is none."""
        sent = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} {self._path}{act} HTTP/1.1\r\nHost: {self._host}\r\n"
        request = f"{head}Cookie: {self.cookie}\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent
        if self._streams is not None:
            with contextlib.suppress(OSError, EOFError):  # the server has closed it meanwhile
                return await self._answer(request)
            self.close()
        host, _, port = self._host.partition(":")
        self._streams = await asyncio.open_connection(host, int(port))
        return await self._answer(request)

    async def _answer(self, request: bytes) -> tuple[int, JsonObject]:
        assert self._streams is not None
        reader, writer = self._streams
        writer.write(request)
        status, *headers = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        values = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in headers)}
        text = await reader.readexactly(int(values.get("content-length", 0)))
        self.cookie = values.get("set-cookie", self.cookie).partition(";")[0]
        is_json = values.get("content-type", "").startswith("application/json")
        return int(status.split()[1]), json.loads(text) if is_json else {}

    def close(self) -> None:
        """Ends it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class _Phone:
    """A phone that has joined: it polls the state and acts like a student in the round."""

    def __init__(self, address: str, code: str, number: int, texts: Iterator[tuple[str, str]]) -> None:
        path = f"/room/{code}"
        self._polls, self._acts = _Connection(address, path), _Connection(address, path)
        self._chance, self._texts, self._shown = random.Random(number), texts, JsonObject()

    async def join(self) -> None:
        """Loads the page, and joins. Raises RunError."""
        await self._polls.ask("")
        self._acts.cookie = self._polls.cookie
        status, self._shown = await self._acts.ask("/join", {"nickname": ""})
        if status != HTTPStatus.OK:
            raise RunError(f"a phone could not join: {self._shown}")

    async def play(self, timings: Timings, until: float) -> None:
        """Takes part in the current round, until a time of this process's clock."""
        await asyncio.gather(self._poll(timings, until), self._act(timings, until))

    async def _poll(self, timings: Timings, until: float) -> None:
        await asyncio.sleep(self._chance.uniform(0, POLL))
        while time.perf_counter() < until:
            self._shown = await self._timed(timings, self._polls, "state") or self._shown
            await asyncio.sleep(POLL * self._chance.uniform(0.8, 1.2))

    async def _act(self, timings: Timings, until: float) -> None:
        await asyncio.sleep(POLL * 1.2)
        kind = self._shown["round"]["kind"]
        every = SEND if kind == BREAK else GUESS_AGAIN
        await asyncio.sleep(self._chance.uniform(0, every))
        while (started := time.perf_counter()) < until:
            await (self._send_pair(timings) if kind == BREAK else self._guess(timings))
            await asyncio.sleep(max(0.0, started + every - time.perf_counter()))

    async def _guess(self, timings: Timings) -> None:
        asked = self._shown["round"]
        body = {"round": asked["id"], "value": self._label(asked)}
        await self._timed(timings, self._acts, "guess", body)

    async def _send_pair(self, timings: Timings) -> None:
        asked = self._shown["round"]
        sent = await self._timed(timings, self._acts, "pair", self.pair())
        if sent:
            await self._timed(timings, self._acts, "sentence", {"pair": sent["id"]})
        if asked["check"]:
            body = {"pair": asked["check"]["pair"], "label": self._label(asked)}
            await self._timed(timings, self._acts, "check", body)

    def pair(self) -> JsonObject:
        """Another pair for the current round."""
        asked, (first, second) = self._shown["round"], next(self._texts)
        return {"round": asked["id"], "first": first, "second": second, "label": self._label(asked)}

    def _label(self, asked: JsonObject) -> str:
        return str(self._chance.choice(asked["classes"])["name"])

    async def _timed(
        self, timings: Timings, connection: _Connection, act: str, body: JsonObject | None = None
    ) -> JsonObject | None:
        started = time.perf_counter()
        try:
            status, answer = await connection.ask(f"/{act}", body)
        except (OSError, EOFError) as error:
            status, answer = 0, {"error": repr(error)}
        if status == HTTPStatus.OK:
            timings.seconds[act].append(time.perf_counter() - started)
            return answer
        if "no longer to be checked" not in answer.get("error", ""):
            timings.errors.append(f"{act}: {answer.get('error')}")
        return None

    async def flood(self, timings: Timings, until: float) -> None:
        """Sends pairs and polls the state as fast as answers arrive."""

        async def hammer(connection: _Connection) -> None:
            connection.cookie = self._polls.cookie
            turns = itertools.cycle((True, False))
            while time.perf_counter() < until:
                with contextlib.suppress(OSError, EOFError):
                    act, body = ("/pair", self.pair()) if next(turns) else ("/state", None)
                    status, _ = await connection.ask(act, body)
                    timings.flood[status] += 1
            connection.close()

        address, path = f"http://{self._polls._host}", self._polls._path
        await asyncio.gather(*(hammer(_Connection(address, path)) for _ in range(AT_ONCE)))

    def close(self) -> None:
        """Ends its connections."""
        self._polls.close()
        self._acts.close()


async def _round(phones: list[_Phone], visitor: Visitor, seconds: float, flooding: _Phone | None = None) -> Timings:
    """All phones play for some seconds, while the lecturer opens pairs on Explore."""
    timings, until = Timings(), time.perf_counter() + seconds

    def lecture() -> None:
        for first, second in pairs():
            started = time.perf_counter()
            timings.page.append(visitor.open(model=MODEL, first=first, second=second).seconds)
            time.sleep(max(0.0, started + OPEN - time.perf_counter()))
            if time.perf_counter() > until:
                return

    async def watch() -> None:
        while (started := time.perf_counter()) < until:
            await asyncio.sleep(0.05)
            timings.late.append(time.perf_counter() - started - 0.05)

    everyone = [phone.play(timings, until) for phone in phones]
    flood = [flooding.flood(timings, until)] if flooding else []
    await asyncio.gather(*everyone, *flood, watch(), asyncio.to_thread(lecture))
    return timings


async def _lesson(own: StartedApp, visitor: Visitor, lecturer: Lecturer, seconds: float) -> dict[str, Timings]:
    """Three rounds: pairs, guesses, and pairs again while one phone floods."""
    checkpoint, texts = load_named(MODEL), itertools.cycle(pairs())
    asked = questions.question(checkpoint, "A man is playing a guitar", "A woman plays an instrument")
    process = psutil.Process(own.process.pid)
    phones = [_Phone(own.address, lecturer.code, number, texts) for number in range(PHONES + 1)]
    try:
        for phone in phones:
            await phone.join()
        found = {}
        for name, kind in (("", BREAK), ("guess", GUESS), (", one floods", BREAK)):
            lecturer.start(kind, MODEL, asked, {"value": "neutral", "chance": 0.5})
            await asyncio.gather(*(phone._poll(Timings(), time.perf_counter() + POLL) for phone in phones))
            before, started = sum(process.cpu_times()[:2]), time.perf_counter()
            found[name] = await _round(phones[:PHONES], visitor, seconds, phones[-1] if "floods" in name else None)
            found[name].busy = (sum(process.cpu_times()[:2]) - before) / (time.perf_counter() - started)
        return found
    finally:
        for phone in phones:
            phone.close()


def room(quick: bool) -> list[Measurement]:
    """The 95th percentiles of the times of a verdict, its sentence and a guess for a hundred phones, which poll the
    state every two seconds and send a pair every ten; the longest wait of the lecturer's page, and the server's memory;
    and all of this while one more phone floods the server. In a new SQLite file, unless :data:`DATABASE` names a
    database."""
    seconds = QUICK_SECONDS if quick else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        database = os.environ.get(DATABASE) or f"sqlite:///{folder}/desk.sqlite3"
        engine = open_database(database)
        with server(PAIRLENS_DESK=folder, PAIRLENS_DB=database) as own:
            lecturer = Lecturer(engine, open_room(engine, "bench", MODEL).code, "bench")
            with closing(Visitor(own.address)) as visitor, peak_memory(psutil.Process(own.process.pid)) as peak:
                pair = {"model": MODEL, "first": "A dog", "second": "A cat"}
                visitor.open(**pair)
                seconds_until_answered(own.address, "reason", pair, headers_of(own.address))
                wait_for_preloading(own.process.pid)
                found = asyncio.run(_lesson(own, visitor, lecturer, seconds))
            lecturer.delete()
        engine.dispose()
    rows = [row for name, timings in found.items() for row in _rows(name, timings)]
    late = float(np.percentile([one for timings in found.values() for one in timings.late], 95))
    return [
        *rows,
        Measurement("room: memory of the server", max(peak) / 1e9, "GB", 1.2),
        Measurement("room: p95 of this client's own delay", late, "s", 0.05),
    ]


def _rows(name: str, timings: Timings) -> list[Measurement]:
    """The measurements of a round."""
    suffix = name if name.startswith(",") else ""
    rows = []
    for act, seconds in timings.seconds.items():
        if act != "state" or suffix:
            middle, most = np.percentile(seconds, [50, 95])
            note = f"p50 {middle:.3f} s, of {len(seconds)}"
            rows.append(Measurement(f"room: p95 of {NAMES[act]}{suffix}", float(most), "s", BARS.get(act), note=note))
    if name != "guess":
        errors = f"errors: {len(timings.errors)} {' '.join(timings.errors[:1])}"
        note = f"of {len(timings.page)} verdicts on Explore; {errors}"
        rows.append(
            Measurement(f"room: longest wait of the lecturer's page{suffix}", max(timings.page), "s", 1, note=note)
        )
        rows.append(Measurement(f"room: cores that the server uses{suffix}", timings.busy, "cores", None))
    if timings.flood:
        slowed = timings.flood[HTTPStatus.TOO_MANY_REQUESTS] / timings.flood.total()
        note = ", ".join(f"{status}: {count:,}" for status, count in sorted(timings.flood.items()))
        rows.append(Measurement("room: share of the flood that is refused", 100 * slowed, "%", None, note=note))
    return rows
