"""Settings of glibc's allocator: a training keeps freed memory for its next step, the app and streams return it."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8


def keep_freed_memory() -> None:
    """Let glibc reuse large blocks; elsewhere nothing happens.

    A training step allocates the same blocks of some megabytes again and again. By default each is a fresh mapping
    whose pages the kernel fills with zeros, which took a quarter of a step's time on two cores.
    """
    _glibc("mallopt", _M_MMAP_THRESHOLD, 32 << 20)
    _glibc("mallopt", _M_TRIM_THRESHOLD, 2**31 - 1)


def hand_back_large_blocks() -> None:
    """Let glibc hand blocks of some megabytes back when they are freed; elsewhere nothing happens.

    A stream has such blocks for each part, the vectors of its words. By default they go into the heap once the first of
    them was freed, where smaller ones keep their pages.
    """
    _glibc("mallopt", _M_MMAP_THRESHOLD, 4 << 20)


def share_arenas() -> None:
    """Let all threads allocate from two arenas: the app runs every visitor's page in a separate thread, and each
    would leave an arena of freed memory behind."""
    _glibc("mallopt", _M_ARENA_MAX, 2)


def return_freed_memory() -> None:
    """Return freed pages to the system."""
    _glibc("malloc_trim", 0)


def _glibc(name: str, *arguments: object) -> None:
    function = getattr(ctypes.CDLL(None), name, None) if sys.platform.startswith("linux") else None
    if function is not None:
        function(*arguments)
