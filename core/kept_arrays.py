"""Arrays that are slow to compute, cached in the user's cache folder (XDG base directories)."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable

import numpy as np

from core.files import FileError, users_folder, whole_file


def kept(folder: str, key: Iterable[str], width: int, make: Callable[[], np.ndarray]) -> np.ndarray:
    """The result of ``make``, ``[N, width]``, computed unless it is cached under this ``key``, which must contain
    everything that the result depends on. If the file is damaged, the result is computed and written again. Processes
    may share the ``folder``; if it cannot be written, nothing is cached.
    """
    digest = hashlib.sha256("\x1e".join(key).encode()).hexdigest()
    path = users_folder("XDG_CACHE_HOME", ".cache") / folder / f"{digest}.npy"
    with contextlib.suppress(OSError, ValueError, EOFError):
        values: np.ndarray = np.load(path, allow_pickle=False)
        if values.ndim == 2 and values.shape[1] == width:
            return values
    values = make()
    with contextlib.suppress(OSError, FileError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as scratch, scratch.open("wb") as file:
            np.save(file, values, allow_pickle=False)
    return values
