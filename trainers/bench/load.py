"""What many visitors at once do to the app: each types its own pairs, and every answer is compared with the one that
the same model gives when nothing else is asked of it."""

from __future__ import annotations

import asyncio
import itertools
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import psutil

from core.checkpoint import Checkpoint, load_named
from core.errors import RunError
from core.explain import explain
from core.wording import counted
from trainers.bench.app import server
from trainers.bench.row import Row
from trainers.bench.visitor import Verdict, Visitor

SIDES = ("first", "second")
MODEL = "nli-two-sided"
SESSIONS = (1, 20, 50, 100)
EVERY = 5.0
"""Seconds between two pairs of a visitor."""
ROUNDS = 3
PAIRS, FIRST_PAIRS = 5_000, 1_000
"""Different pairs over which the server's memory is watched, and those after which it should be flat."""
AT_ONCE, STAYS = 2, 100
"""Visitors that ask for them at the same time, and how many pairs each of them asks for before the next one comes."""
CLOSE = 1e-6
"""Probabilities that are further apart are wrong."""
_WORDS = """
    A man|A woman|A boy|A girl|A dog|A cat|An old man|A young girl|Two men|Three women|A child|A horse
    runs|sleeps|walks|sits|jumps|eats|plays|stands|waits|swims|sings|falls
    outside|in the snow|near a tree|on a bench|at home|by the river|in a park|on the street|under a bridge|alone
"""
"""A line is what may stand in one place of a sentence."""


@dataclass
class Phase:
    """What so many sessions met with."""

    sessions: int
    seconds: list[float] = field(default_factory=list)
    """Of each typed pair's verdict."""
    errors: list[str] = field(default_factory=list)
    """Sentences of what was not answered or wrong."""
    memory: int = 0
    """Bytes of the server at the end, its sessions still open."""
    apart: float = 0.0
    """The largest difference of a probability from the serial one."""

    def percentile(self, share: float) -> float:
        """Seconds within which this share (0 to 100) was answered."""
        return float(np.percentile(self.seconds, share)) if self.seconds else float("nan")

    def check(self, checkpoint: Checkpoint, answers: Sequence[Verdict]) -> None:
        """Take the times of these answers, and say which are not what the checkpoint gives of the same pair alone."""
        for answer in answers:
            self.seconds.append(answer.seconds)
            serial = explain(checkpoint, answer.first, answer.second, records=()).probabilities
            apart = max(abs(a - b) for a, b in zip(serial, answer.probabilities, strict=True))
            self.apart = max(self.apart, apart)
            if apart > CLOSE:
                self.errors.append(f"{answer.first!r}, {answer.second!r}: {answer.probabilities} instead of {serial}")


def pairs(seed: int = 0) -> Iterator[tuple[str, str]]:
    """Different pairs of short sentences, in an order of their own."""
    places = [line.strip().split("|") for line in _WORDS.split("\n") if line.strip()]
    texts = [" ".join(words) for words in itertools.product(*places)]
    firsts, seconds = list(texts), list(texts)
    random.Random(seed).shuffle(firsts)
    random.Random(seed + 1).shuffle(seconds)
    for turn in range(len(texts)):
        yield from zip(firsts, seconds[turn:] + seconds[:turn], strict=True)


async def phase(
    address: str,
    model: str,
    sessions: int,
    rounds: int,
    texts: Iterator[tuple[str, str]],
    every: float = EVERY,
    process: psutil.Process | None = None,
) -> Phase:
    """So many visitors each type ``rounds`` pairs of their own, a sentence every so many seconds (0: as soon as the
    last one is answered), each beginning at another moment. ``process``: the server's, whose memory is told."""
    own, answers = Phase(sessions), list[Verdict]()
    ready, begin, leave = asyncio.Semaphore(0), asyncio.Event(), asyncio.Event()

    async def visit(number: int) -> None:
        try:
            async with Visitor(address) as visitor:
                await visitor.open(model=model, **dict(zip(SIDES, next(texts), strict=True)))
                ready.release()
                await begin.wait()
                await asyncio.sleep(every * number / sessions)
                for _ in range(rounds):
                    await _type(visitor, next(texts), every, answers)
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


async def _type(visitor: Visitor, pair: tuple[str, str], every: float, answers: list[Verdict]) -> None:
    clock = asyncio.get_running_loop().time
    for side, text in zip(SIDES, pair, strict=True):
        started = clock()
        answers.append(await visitor.type(side, text))
        await asyncio.sleep(max(0.0, every - (clock() - started)))


async def watched(address: str, process: psutil.Process, marks: Sequence[int], model: str = MODEL) -> list[int]:
    """The server's bytes after each of so many different verdicts, the last of all: asked for as fast as they are
    answered by ``AT_ONCE`` visitors at a time, each of whom leaves after ``STAYS`` and makes place for the next."""
    texts, memory, done = pairs(1), dict[int, int](), itertools.count(1)

    async def visit() -> None:
        async with Visitor(address) as visitor:
            await visitor.open(model=model, **dict(zip(SIDES, next(texts), strict=True)))
            for turn in range(STAYS):
                await visitor.type(SIDES[turn % 2], next(texts)[turn % 2])
                number = next(done)
                if number in marks:
                    memory[number] = process.memory_info().rss

    async def visits() -> None:
        while len(memory) < len(marks):
            await visit()

    await asyncio.gather(*(visits() for _ in range(AT_ONCE)))
    return [memory[mark] for mark in marks]


@contextmanager
def _server() -> Iterator[tuple[str, psutil.Process]]:
    """The address and the process of an app of its own, with an empty desk."""
    with tempfile.TemporaryDirectory() as desk, server(PAIRLENS_DESK=desk, PAIRLENS_DB="") as own:
        yield own.address, psutil.Process(own.process.pid)


def pairs_tried(quick: bool) -> list[Row]:
    """The server's memory over 5,000 different pairs, by one visitor after the other."""
    count, first = (PAIRS // 100, FIRST_PAIRS // 100) if quick else (PAIRS, FIRST_PAIRS)
    every = max(1, first // 20)
    with _server() as (address, process):
        memory = asyncio.run(watched(address, process, range(every, count + 1, every)))
        seconds = sum(process.cpu_times()[:2])
    # At most, as it rises and falls by some tens of megabytes with every visitor.
    early, late = max(memory[: first // every]), max(memory[first // every :])
    told = f"{early / 1e6:,.0f} and {late / 1e6:,.0f} MB; {seconds:,.0f} s of processor time"
    return [
        Row(f"memory of the server over {count:,} pairs, at most", max(early, late) / 1e9, "GB", 1.2),
        Row(f"more at most after the first {first:,} than in them", (late - early) / 1e6, "MB", 50, note=told),
    ]


def load(quick: bool) -> list[Row]:
    """Visitors of a server of its own: 1, 20, 50 and 100 of them."""
    sizes, rounds = (SESSIONS[:2], 1) if quick else (SESSIONS, ROUNDS)
    with _server() as (address, process):
        texts = pairs()
        phases = {size: asyncio.run(phase(address, MODEL, size, rounds, texts, process=process)) for size in sizes}
    least, most = phases[sizes[0]], phases[sizes[-1]]
    each = (most.memory - least.memory) / (most.sessions - least.sessions) / 1e6
    apart = max(one.apart for one in phases.values())
    return [
        *(_waited(one) for one in phases.values()),
        Row(
            f"load: errors at {most.sessions} sessions",
            sum(len(one.errors) for one in phases.values()),
            "errors",
            0,
            note=f"of all phases; answers differ from serial ones by {apart:.1g} at most",
        ),
        Row("load: memory of the server", max(one.memory for one in phases.values()) / 1e9, "GB", 1.2),
        Row("load: memory a session", each, "MB", None),
    ]


def _waited(own: Phase) -> Row:
    bar = 1.5 if own.sessions == 20 else None
    name = f"load: p95 of a verdict, {counted(own.sessions, 'session')}"
    return Row(name, own.percentile(95), "s", bar, note=f"p50 {own.percentile(50):.2f} s")
