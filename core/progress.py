"""Progress bars with items done, items per second and time left, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

Progress = Callable[[int, int], None]
"""Called with the amount done and the total; its exceptions cancel the work."""


def bar(total: int | None, unit: str = "row", what: str = "", *, done: int = 0, shown: bool = True) -> tqdm[NoReturn]:
    """A progress bar for about ``total`` units (None: unknown), hidden for work that takes less than a second. If
    standard error is not a terminal, it prints a line every half minute."""
    from tqdm import tqdm  # imported here, so that pages start without it

    return tqdm(
        total=total,
        initial=done,
        unit=f" {unit}s",
        desc=what or None,
        unit_scale=True,
        leave=False,
        delay=1,
        smoothing=0.05,
        dynamic_ncols=True,
        mininterval=0.5 if sys.stderr.isatty() else 30,
        file=sys.stderr,
        disable=not shown,
    )


@contextmanager
def progress_bar(unit: str, what: str = "") -> Iterator[Progress]:
    """Like :func:`bar`, for work that reports its own total."""
    with bar(None, unit, what) as shown:

        def progress(done: int, of: int) -> None:
            shown.total = of
            shown.update(done - shown.n)

        yield progress
