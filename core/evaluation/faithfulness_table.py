"""Tables on a card's `python -m trainers faithfulness` results. Does not import torch, so pages open fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.card import CardFaithfulness, Interval
from core.wording import counted, percent

CAPTION = (
    "Each method ranks the words of both texts. Comprehensiveness: the drop in p of the verdict when the first 1, 2 "
    "and 3 words, 20 and 50 % are dropped (large is good); sufficiency: the drop when only they are left (small is "
    "good); means over these steps (area over the perturbation curve, AOPC; DeYoung et al. 2020), with 95 % intervals "
    "over the rows. For comparison: the mean of 20 random orders. {moved}"
)
"""How to read :func:`table`."""
MOVED = (
    "Permuted: the share of 100 permutations of the attention that change the verdict (Jain & Wallace 2019); τ-b: "
    "Kendall’s rank correlation between the weight of a link and the size of its effect."
)
"""Explains the columns on moved attention."""
RANDOM = "random"
REMOVED = ("zeroed", "gradient-times-input", "partner")
"""Methods of earlier versions that cards may still have results for."""
MEASURES = ("comprehensiveness", "sufficiency")

Stored = Mapping[str, CardFaithfulness]
"""A card's ``faithfulness`` results, by data set."""


def table(stored: Stored) -> list[dict[str, str]]:
    """Rows of a card's ``faithfulness`` results: for each set one row per method, most faithful first."""
    return [
        {"set": name, "way": _named(method)} | {measure: interval(own[measure]) for measure in MEASURES}
        for name, figures in stored.items()
        for method, own in _in_order(figures["ways"])
    ]


def in_words(stored: Stored) -> str:
    """One sentence per set: the number of rows, and the effect of moved attention if the model has any."""
    return " ".join(_sentence(name, figures) for name, figures in stored.items())


def moved_elsewhere(stored: Stored, verdict: str) -> tuple[str, ...]:
    """One sentence per set: the share of permutations that change the model's verdict, over all rows and over those
    with this verdict."""
    sentences = []
    for name, figures in stored.items():
        if figures["permutations"] is not None:
            share = percent(figures["permutations"]["mean"])
            own = figures.get("permutations_by_verdict", {}).get(verdict)
            of_verdict = f", and {percent(own['mean'])} where it is {verdict}" if own else ""
            rows = counted(figures["rows"], "row")
            sentences.append(f"On {name} ({rows}) {share} of permutations change its verdict{of_verdict}.")
    return tuple(sentences)


def by_checkpoint(measured: Mapping[str, Stored], measure: str) -> list[dict[str, str]]:
    """One measure by method, and for random orders, per checkpoint and data set."""
    return [
        about
        | {_named(method): interval(own[measure]) for method, own in figures["ways"].items() if method not in REMOVED}
        for about, figures in _each(measured)
    ]


def of_attention(measured: Mapping[str, Stored]) -> list[dict[str, str]]:
    """Number of rows and effects of moved attention, per checkpoint and data set; a dash without attention."""
    return [
        about
        | {
            "rows": f"{figures['rows']:,}",
            "permutations that change the verdict": interval(figures["permutations"]),
            "τ-b of weight and effect": interval(figures["tau_b"]),
        }
        for about, figures in _each(measured)
    ]


def _each(measured: Mapping[str, Stored]) -> Iterator[tuple[dict[str, str], CardFaithfulness]]:
    """The leading columns (checkpoint and set) of each table row, with its figures."""
    for name, stored in measured.items():
        for data, figures in stored.items():
            yield {"checkpoint": f"`{name}`", "set": data}, figures


def interval(figure: Interval | None) -> str:
    """Formats as 0.412 (0.398 to 0.427)."""
    if figure is None:
        return "–"
    low, high = figure["interval"]
    return f"{figure['mean']:.3f} ({low:.3f} to {high:.3f})".replace("-", "−")


def _in_order(methods: Mapping[str, dict[str, Interval]]) -> list[tuple[str, dict[str, Interval]]]:
    known = [method for method in methods.items() if method[0] not in REMOVED]
    return sorted(known, key=lambda method: (method[0] == RANDOM, -method[1]["comprehensiveness"]["mean"]))


def _named(method: str) -> str:
    return "random orders" if method == RANDOM else method.replace("-", " ")


def _sentence(name: str, figures: CardFaithfulness) -> str:
    parts = [f"{name}, {counted(figures['rows'], 'row')}"]
    if figures["permutations"] is not None:
        parts.append(f"permuted {interval(figures['permutations'])}")
    if figures["tau_b"] is not None:
        parts.append(f"τ-b {interval(figures['tau_b'])}")
    return f"{'; '.join(parts)}."
