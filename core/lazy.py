"""Values computed on first use."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class lazy_property(functools.cached_property[T]):
    """A cached property without the lock that all objects of a class share in Python 3.11: there, a long computation
    would hold up those of other threads. Two threads that share an object may compute its value twice."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        super().__init__(compute)
        self.lock = contextlib.nullcontext()
