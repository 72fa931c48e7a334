"""Values computed once and shared by threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedCache(Generic[T]):
    """A cache of values by key, each computed once for all threads. The most recently used ones stay, up to a total
    ``size`` of ``most``; a value whose computation failed is tried again at the next call. ``forgot`` is called
    whenever values were evicted."""

    def __init__(
        self, most: float, size: Callable[[T], int] = lambda value: 1, forgot: Callable[[], None] = lambda: None
    ) -> None:
        self.most, self._size, self._forgot, self._lock = most, size, forgot, threading.Lock()
        self._kept: OrderedDict[Hashable, Future[T]] = OrderedDict()
        """Pending or with a value; the most recently used is last."""
        self._sizes = dict[Hashable, float]()
        self._total = 0.0
        """Total size of the cached values, so that they need not be counted again after each new one."""

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value for this key. Re-raises exceptions from ``make`` in all threads that wait for it."""
        with self._lock:
            known = self._kept.get(key)
            future = self._kept.setdefault(key, Future())
            self._kept.move_to_end(key)
        if known is None:
            try:
                value = make()
                size = self._size(value)
            except BaseException as error:
                with self._lock:
                    del self._kept[key]
                future.set_exception(error)
            else:
                future.set_result(value)
                self._keep(key, size)
        return future.result()

    def __contains__(self, key: Hashable) -> bool:
        """Whether the value for this key is already available."""
        known = self._kept.get(key)
        return known is not None and known.done()

    def __len__(self) -> int:
        return len(self._kept)

    def _keep(self, key: Hashable, size: float) -> None:
        with self._lock:
            self._sizes[key] = size
            self._total += size
            crowded = self._total > self.most
            ready = self._sizes.__contains__
            last: Hashable = next(filter(ready, reversed(self._kept)))
            while self._total > self.most and (old := next(filter(ready, self._kept))) is not last:
                del self._kept[old]
                self._total -= self._sizes.pop(old)
        if crowded:
            self._forgot()
