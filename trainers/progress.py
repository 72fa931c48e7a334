"""The bar of a command that goes through many rows: how many are done, rows a second, time left; on standard error."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm


def bar(rows: int | None) -> tqdm[Any]:
    """A bar of about so many rows, None where that is not known; work of less than a second has none. Where standard
    error is no terminal, it is told every half minute."""
    shown: tqdm[Any] = tqdm(
        total=rows,
        unit=" rows",
        unit_scale=True,
        leave=False,
        delay=1,
        smoothing=0.05,
        dynamic_ncols=True,
        mininterval=0.5 if sys.stderr.isatty() else 30,
        file=sys.stderr,
    )
    return shown
