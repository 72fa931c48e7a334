"""Background housekeeping of the server: it regularly returns unused memory to the system, and once a minute it logs a
line of JSON with its state, for monitoring.

    {"time": "…", "sessions": 3, "explanations": 41, "seconds": 0.62, "jobs": 1, "memory_mb": 612}

``explanations`` were computed since the last line and took ``seconds`` together; ``jobs`` run or wait in the queue.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import psutil
from streamlit import runtime
from streamlit.runtime.stats import GaugeStat

from core.json_types import JsonObject
from core.memory import return_freed_memory

MINUTE = 60.0
HAND_BACK = 20.0
"""Seconds between returns of unused memory; each walks over all objects created since the start."""
_SESSIONS = "active_sessions"


def seconds_between() -> float:
    """Seconds between log lines: ``PAIRLENS_LOG_SECONDS``; 60 if unset or not a number, 0 for no lines."""
    try:
        return max(0.0, float(os.environ.get("PAIRLENS_LOG_SECONDS") or MINUTE))
    except ValueError:
        return MINUTE


def begin() -> None:
    """Start the threads that return memory and write log lines."""
    _start(HAND_BACK, _hand_back)
    if seconds_between():
        _start(seconds_between(), _write)


def _start(seconds: float, do: Callable[[], None]) -> None:
    threading.Thread(target=_repeat, args=(seconds, do), name=do.__name__, daemon=True).start()


def _repeat(seconds: float, do: Callable[[], None]) -> None:
    while True:
        time.sleep(seconds)
        do()


def _hand_back() -> None:
    """Sessions that ended are garbage that Python finds by looking through all objects, which it does the later the
    more there are, and what visitors' threads freed are holes between what stays."""
    gc.collect()
    return_freed_memory()


def _write() -> None:
    print(json.dumps(line()), file=sys.stderr, flush=True)


def line() -> JsonObject:
    """The fields of a log line."""
    from core.desk.jobs import QUEUE
    from core.explain import EXPLANATIONS

    count, seconds = EXPLANATIONS.take()
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "sessions": _sessions(),
        "explanations": count,
        "seconds": round(seconds, 3),
        "jobs": len(QUEUE.jobs()),
        "memory_mb": round(psutil.Process().memory_info().rss / 1e6),
    }


def _sessions() -> int:
    if not runtime.exists():
        return 0
    told = runtime.get_instance().stats_mgr.get_stats(family_names=[_SESSIONS])
    return int(sum(stat.value for stat in told.get(_SESSIONS, ()) if isinstance(stat, GaugeStat)))
