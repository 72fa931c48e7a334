"""Tables on a card's `python -m trainers people` results. Does not import torch, so pages open fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from core.card import CardPeople, Interval
from core.evaluation.faithfulness_table import interval
from core.wording import counted

CAPTION = (
    "People’s words are the content words whose stem at least two of three explanations use (e-SNLI, Camburu et al. "
    "2018). P@1: how often the content word that a method ranks first is one of them; average precision: how far up "
    "they all are. Means over the texts, of pairs judged right, that have such words and others (their number is in "
    "brackets), with 95 % intervals. Chance ranks all words the same; new words are those that the other text lacks. "
    "Last columns: P@1 by label."
)
"""How to read :func:`table`."""
ALL = "all labels"
DEFAULT, CHANCE, NEW = "taken-away", "chance", "new-words"
BASELINES = (CHANCE, NEW)

Stored = Mapping[str, CardPeople]
"""A card's ``people`` results, by data set."""


def _mean(figure: Interval) -> str:
    return f"{figure['mean']:.3f}"


def table(stored: Stored, spelled: Callable[[Interval], str] = _mean) -> list[dict[str, str]]:
    """Rows of a card's ``people`` results: for each set and side one row per method, the best P@1 first. ``spelled``:
    formats P@1 by label."""
    return [
        {
            "set": f"{name}, {side} ({labels[ALL]['items']:,})",
            "way": method.replace("-", " "),
            "P@1": interval(at_1),
            "average precision": interval(labels[ALL]["precision"][method]),
            **{label: spelled(own["at_1"][method]) for label, own in labels.items() if label != ALL},
        }
        for name, figures in stored.items()
        for side, labels in figures["sides"].items()
        for method, at_1 in sorted(labels[ALL]["at_1"].items(), key=lambda pair: -pair[1]["mean"])
    ]


def by_checkpoint(measured: Mapping[str, Stored]) -> Iterator[dict[str, str]]:
    """One row per checkpoint and set: P@1 of the default method, the best single one and the baselines on each side."""
    for name, stored in measured.items():
        for data, figures in stored.items():
            row = {"checkpoint": f"`{name}`", "set": f"{data}, {counted(figures['rows'], 'pair')}"}
            for side, labels in figures["sides"].items():
                at_1 = labels[ALL]["at_1"]
                single = [method for method in at_1 if method not in (DEFAULT, *BASELINES)]
                best = max(single, key=lambda method: at_1[method]["mean"])
                row[f"{side}: taken away"] = interval(at_1[DEFAULT])
                row[f"{side}: best single way"] = f"{best.replace('-', ' ')} {_mean(at_1[best])}"
                row |= {f"{side}: {method.replace('-', ' ')}": _mean(at_1[method]) for method in BASELINES}
            yield row
