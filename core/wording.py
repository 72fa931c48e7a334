"""Numbers in words, as pages, reports and command lines say them alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def percent(share: float) -> str:
    """A probability, or another share, with as many digits as it deserves: 46 %, 4.6 %, 99.6 %, > 99.9 %. Browser
    components have the same rule (``percent`` of app/components/elements.js)."""
    value = 100 * share
    if 0 < value < 0.1 or 99.9 < value < 100:
        return "< 0.1\u00a0%" if value < 1 else "> 99.9\u00a0%"
    return f"{value:.{1 if 0 < value < 9.95 or 99.5 <= value < 100 else 0}f}\u00a0%"


def shown(value: float, classes: int) -> str:
    """What a model says, in a few digits: one of several classes' probabilities, or of a model with one output its
    score, which is no probability."""
    return percent(value) if classes > 1 else f"{value:.2f}".replace("-", "−")


def score_percent(share: float) -> str:
    """A score, such as an accuracy, with the digit behind the point that scores are compared by: 87.1 %."""
    return f"{100 * share:.1f}\u00a0%"


def counted(count: int, noun: str, ending: str = "s") -> str:
    """A number of things: 1 row, 2,000 rows; ``ending``: of several, as of passes."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def hint(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, or all that there are, to end a sentence with."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(names)}"


def duration(seconds: float) -> str:
    """A time as people say it: 0.3 s, 50 s, 3 minutes, 2 hours."""
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s" if seconds < 0.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else counted(round(seconds / 3600), "hour")
