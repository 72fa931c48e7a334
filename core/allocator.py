"""Settings of glibc's allocator: training keeps freed memory for its next step; the app and streams return it."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8


def keep_freed_memory() -> None:
    """Lets glibc reuse large blocks; no effect on other systems.

    A training step repeatedly allocates the same blocks of several megabytes. By default each is a new mapping whose
    pages the kernel zeroes, which took a quarter of a step's time on two cores.
    """
    _glibc("mallopt", _M_MMAP_THRESHOLD, 32 << 20)
    _glibc("mallopt", _M_TRIM_THRESHOLD, 2**31 - 1)


def hand_back_large_blocks() -> None:
    """Lets glibc return blocks of several megabytes when they are freed; no effect on other systems.

    A stream allocates such blocks for the word vectors of each part. By default they move to the heap once the first
    one is freed, where smaller blocks keep their pages in use.
    """
    _glibc("mallopt", _M_MMAP_THRESHOLD, 4 << 20)


def share_arenas() -> None:
    """Makes all threads allocate from two arenas: the app runs every visitor's page in a separate thread, and each
    would leave an arena of freed memory behind."""
    _glibc("mallopt", _M_ARENA_MAX, 2)


def return_freed_memory() -> None:
    """Returns freed pages to the system."""
    _glibc("malloc_trim", 0)


def _glibc(name: str, *arguments: object) -> None:
    function = getattr(ctypes.CDLL(None), name, None) if sys.platform.startswith("linux") else None
    if function is not None:
        function(*arguments)
