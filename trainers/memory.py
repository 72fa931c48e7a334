"""Keep freed memory for the next step instead of handing it back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> None:
    """Let glibc reuse large blocks; elsewhere nothing happens.

    A training step asks for the same blocks of some megabytes again and again. By default each is a fresh mapping whose
    pages the kernel fills with zeros, which took a quarter of a step's time on two cores.
    """
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
