"""Values computed and packages imported on first use."""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_ONE_AT_A_TIME = threading.RLock()


def import_alone(package: str) -> None:
    """Imports nltk, scikit-learn or a package built on them, one at a time. Their modules import each other circularly:
    two threads that import parts of them at once, like a visitor's page and the preloading, could see half-initialised
    modules. So this comes before any import of them."""
    with _ONE_AT_A_TIME:
        importlib.import_module(package)


class lazy_property(functools.cached_property[T]):
    """A cached property without the lock that all objects of a class share in Python 3.11: there, a long computation
    would block other threads' computations. Two threads that share an object may compute its value twice."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        super().__init__(compute)
        self.lock = contextlib.nullcontext()
