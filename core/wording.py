"""Numbers in words, the same on pages, in reports and on the command line."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence


def percent(share: float) -> str:
    """A probability or another share with a sensible number of digits: 46 %, 4.6 %, 99.6 %, > 99.9 %. Browser
    components follow the same rule (``percent`` in app/components/wording.js)."""
    value = 100 * share
    if 0 < value < 0.1 or 99.9 < value < 100:
        return "< 0.1\u00a0%" if value < 1 else "> 99.9\u00a0%"
    return f"{value:.{1 if 0 < value < 9.95 or 99.5 <= value < 100 else 0}f}\u00a0%"


def shown(value: float, classes: int) -> str:
    """A model's output in a few digits: the probability of one of several classes, or the score of a model with one
    output, which is not a probability."""
    return percent(value) if classes > 1 else f"{value:.2f}".replace("-", "−")


def signed(value: float, digits: int) -> str:
    """A number with its sign, a true minus sign; none for 0 (``signed`` in app/components/wording.js)."""
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else f"{'−' if value < 0 else '+'}{text}"


def score_percent(share: float) -> str:
    """A score, such as an accuracy, with one decimal: 87.1 %."""
    return f"{100 * share:.1f}\u00a0%"


def the(role: str) -> str:
    """A role with its article: "the premise", but "question 2", which is a name."""
    return role if role[-1:].isdigit() else f"the {role}"


def capital(text: str) -> str:
    """The text with its first letter capitalised."""
    return text[:1].upper() + text[1:]


def points(difference: float) -> str:
    """A difference of two percentages: 12 percentage points, 0.3 percentage points."""
    number = percent(abs(difference)).removesuffix("\u00a0%")
    return f"{number} percentage {'point' if number == '1.0' else 'points'}"


def counted(count: int, noun: str, ending: str = "s") -> str:
    """A count with its noun: 1 row, 2,000 rows; ``ending``: the plural suffix, as in passes."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def told_apart(names: Mapping[str, str], letters: int | None = None) -> dict[str, str]:
    """Names by key, equal ones with the first ``letters`` of their keys (by default all): in a list of options,
    Streamlit opens the first one of the same text."""
    often = Counter(names.values())
    return {key: f"{name} ({key[:letters]})" if often[name] > 1 else name for key, name in names.items()}


def together(problems: Sequence[str]) -> str:
    """Several problems as a list without duplicates; a single problem unchanged."""
    different = [*dict.fromkeys(problems)]
    return different[0] if len(different) == 1 else "\n- ".join([f"{len(different)} problems", *different])


def with_label(count: int, rows: int) -> str:
    """How many rows have a gold label: 9,824 of 10,000 rows have a label, no row has a label."""
    if not count:
        return "no row has a label"
    return f"{count:,} of {counted(rows, 'row')} {'has' if count == rows == 1 else 'have'} a label"


SENTIMENTS = ("very negative", "negative", "neutral", "positive", "very positive")
"""Class names of SST-5, whose files have "0" to "4"."""


def class_names(labels: Sequence[str], judged: str) -> tuple[str, ...]:
    """Labels in plain words: data files for answer selection and paraphrases have "0" and "1", reviews "neg" and "pos",
    SST-5 "0" to "4". ``judged``: the role of the text they describe; if both are judged, the second one's."""
    if tuple(labels) == ("0", "1", "2", "3", "4"):
        return SENTIMENTS
    if tuple(labels) != ("0", "1"):
        return tuple({"neg": "negative", "pos": "positive"}.get(label, label) for label in labels)
    name = "paraphrase" if judged in ("first", "second") or judged[-1:].isdigit() else judged
    return (f"not {'an' if name[:1] in 'aeiou' else 'a'} {name}", name)


def hint(name: str, known: Iterable[str]) -> str:
    """An ending for an error sentence: the name that was probably meant, or all known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(names)}"


def duration(seconds: float) -> str:
    """A duration in words: 0.3 s, 50 s, 3 minutes, 2 hours."""
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s" if seconds < 0.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else counted(round(seconds / 3600), "hour")
