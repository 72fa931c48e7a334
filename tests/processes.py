"""Processes that have loaded what this one has, as torch takes seconds: for what has to be killed, or to run twice."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

_FORK = multiprocessing.get_context("fork")


def forked(call: Callable[..., Any], *arguments: Any, **environment: str) -> BaseProcess:
    """A process, already running, that calls this with more variables in its environment; its exit code is 1 where
    the call raises. Its standard output is lost."""

    def run() -> None:
        os.environ.update(environment)
        call(*arguments)

    process = _FORK.Process(target=run)
    process.start()
    return process
