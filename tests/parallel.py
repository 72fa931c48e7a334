"""Tests in several processes, which are forked when all tests are collected: to import torch, Streamlit and the tests
takes 15 seconds of a processor, which each further process would take again.

A process gets one file after the other, so that what a file's tests share is made once. When no file is left, it gets
half of what another process has left."""

from __future__ import annotations

import json
import os
import selectors
import socket
import traceback
import warnings
from collections import deque
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NoReturn

import pytest

PROCESS = "PYTEST_PROCESS"
"""The variable with the number of a forked process."""


class Process:
    """A forked process, seen by the first one."""

    def __init__(self, session: pytest.Session, number: int, others: Sequence[Process]) -> None:
        here, there = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            for channel in (here, *(other.channel for other in others)):
                channel.close()
            _work(session, number, there)
        there.close()
        self.channel, self.heard = here, b""
        self.left = deque[int]()
        """The numbers of the tests that it is to get."""
        self.given = deque[int]()
        """Those of the tests that it got and has not finished: it knows the next one while it runs one."""

    def hear(self) -> list[Any] | None:
        """What it says, after a wait for at least a part of it; None when it has ended."""
        if not (part := self.channel.recv(1 << 16)):
            return None
        *lines, self.heard = (self.heard + part).split(b"\n")
        return [json.loads(line) for line in lines]


class Files:
    """Tests by their file, those in a browser first, as they are the longest, for whichever process asks."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        files = [list(file) for _, file in groupby(range(len(items)), lambda i: items[i].location[0])]
        self.files = deque(sorted(files, key=lambda file: not items[file[0]].get_closest_marker("browser")))

    def next(self, process: Process, processes: Sequence[Process]) -> int | None:
        """The number of the test that a process is to run next; None when there is none."""
        if not process.left and self.files:
            process.left.extend(self.files.popleft())
        if not process.left:
            longest = max(processes, key=lambda other: len(other.left)).left
            process.left.extend(reversed([longest.pop() for _ in range((len(longest) + 1) // 2)]))
        if not process.left:
            return None
        process.given.append(process.left.popleft())
        return process.given[-1]


class Run:
    """All tests of a session in several processes, of which this one only reports."""

    def __init__(self, session: pytest.Session) -> None:
        self.session, self.hook = session, session.config.hook
        self.files, self.processes = Files(session.items), list[Process]()
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all

    def run(self, count: int) -> None:
        """Raises pytest's own exceptions when the session is to stop early."""
        with selectors.DefaultSelector() as selector:
            while selector.get_map() or len(self.processes) < count:
                if len(self.processes) < count:
                    self.processes.append(process := Process(self.session, len(self.processes), self.processes))
                    selector.register(process.channel, selectors.EVENT_READ, process)
                    continue
                for key, _ in selector.select():
                    process = key.data
                    if (said := process.hear()) is not None:
                        for kind, told in said:
                            getattr(self, kind)(process, told)
                        continue
                    selector.unregister(process.channel)
                    count += self.lost(process)
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)
        if self.session.shouldstop:
            raise self.session.Interrupted(self.session.shouldstop)

    def lost(self, process: Process) -> bool:
        """Whether a process has ended in the middle of a test, which fails: then another one is needed."""
        status = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
        if not status:
            return False
        item = self.session.items[process.given.popleft()] if process.given else self.session.items[0]
        told = f"the process of this test ended with status {status}"
        self.hook.pytest_runtest_logreport(
            report=pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")
        )
        self.files.files.appendleft([*process.given, *process.left])
        process.left.clear()
        return bool(self.files.files[0])

    def next(self, process: Process, told: None) -> None:
        stop = self.session.shouldfail or self.session.shouldstop
        number = None if stop else self.files.next(process, self.processes)
        process.channel.sendall(json.dumps(number).encode() + b"\n")

    def start(self, process: Process, told: list[Any]) -> None:
        self.hook.pytest_runtest_logstart(nodeid=told[0], location=tuple(told[1]))

    def finish(self, process: Process, told: list[Any]) -> None:
        process.given.popleft()
        self.hook.pytest_runtest_logfinish(nodeid=told[0], location=tuple(told[1]))

    def report(self, process: Process, told: dict[str, Any]) -> None:
        if told["outcome"] == "skipped":
            told["longrepr"] = tuple(told["longrepr"])
        report = self.hook.pytest_report_from_serializable(config=self.session.config, data=told)
        self.hook.pytest_runtest_logreport(report=report)

    def warning(self, process: Process, told: list[Any]) -> None:
        text, name, file, line, when, nodeid = told
        category = type(name, (Warning,), {})
        message = warnings.WarningMessage(category(text), category, file, line)
        self.hook.pytest_warning_recorded.call_historic(
            kwargs={"warning_message": message, "when": when, "nodeid": nodeid, "location": None}
        )


class Reporter:
    """What a process tells the first one while it runs its tests: lines of JSON."""

    def __init__(self, config: pytest.Config, channel: socket.socket) -> None:
        self.config, self.lines = config, channel.makefile("rw")

    def say(self, kind: str, told: Any = None) -> None:
        self.lines.write(json.dumps([kind, told]) + "\n")
        self.lines.flush()

    def next(self, items: Sequence[pytest.Item]) -> pytest.Item | None:
        self.say("next")
        number = json.loads(self.lines.readline())
        return None if number is None else items[number]

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.say("start", [nodeid, location])

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.say("finish", [nodeid, location])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.say("report", self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, when: str, nodeid: str) -> None:
        heard = warning_message
        self.say("warning", [str(heard.message), heard.category.__name__, heard.filename, heard.lineno, when, nodeid])


def _work(session: pytest.Session, number: int, channel: socket.socket) -> NoReturn:
    """What a forked process does: it runs the tests that it is given."""
    config, status = session.config, 1
    try:
        os.environ[PROCESS] = str(number)
        factory = config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp = factory.getbasetemp() / f"process-{number}"
        factory._basetemp.mkdir(mode=0o700)
        captured = config.pluginmanager.getplugin("capturemanager")
        captured.stop_global_capturing()  # its files are those of the other processes, too
        captured.start_global_capturing()
        captured.suspend_global_capture()
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(reporter := Reporter(config, channel))
        item = reporter.next(session.items)
        while item:
            following = reporter.next(session.items)
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
        status = 0
    except BaseException:
        traceback.print_exc()
        session._setupstate.teardown_exact(None)
    finally:
        os._exit(status)
