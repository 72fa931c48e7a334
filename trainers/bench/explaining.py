"""Speed of :func:`core.explain.explain` on one pair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch

from core.checkpoint import Checkpoint, available, load_named
from core.evidence import Explanation, Record
from core.explain import explain
from trainers.bench.row import Row, medians

MISSING = "the checkpoint is not there"


def explanation(model: str, words: int, records: Collection[type[Record]] | None = None) -> Callable[[], Explanation]:
    """What explains a pair of so many words a side with a shipped checkpoint."""
    checkpoint = load_named(model)
    first, second = sentences(checkpoint, words, words)
    return lambda: explain(checkpoint, first, second, records=records)


def sentences(checkpoint: Checkpoint, words: int, others: int) -> tuple[str, str]:
    """Two texts of so many words. The second has every second of the most frequent ones, so that half of its first
    words stand in the first text too."""
    vocabulary = [word for word in checkpoint.words.words[:400] if word.isalpha()]
    return " ".join(vocabulary[:words]), " ".join(vocabulary[: 2 * others : 2])


def by_time(
    model: str,
    quick: bool,
    bars: Sequence[tuple[int, int]] = ((30, 20), (60, 60)),
    records: Collection[type[Record]] | None = None,
) -> list[Row]:
    """Median time of an explanation for so many words a side, with its bar in ms, with these types of record (None:
    all)."""
    rows = []
    for words, bar in bars:
        name = f"explain {words} x {words} words, {model}{' alone' if records == () else ''}"
        if model not in available():
            rows.append(Row(name, None, "ms", bar, note=MISSING))
            continue
        compute, repeats = explanation(model, words, records), 20 if quick else 140
        assert len(compute().second.tokens) == words
        (taken,) = medians([compute], repeats)
        rows.append(Row(name, taken, "ms", bar, note=f"median of {repeats}"))
    return rows


def by_product(model: str, words: int, repeats: int) -> Row:
    """The same as a multiple of the time of a 1024³ float32 product."""
    name = f"explain {words} x {words} words, {model}, of a 1024³ product"
    if model not in available():
        return Row(name, None, "x", 8, note=MISSING)
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    explained, product = medians((explanation(model, words), lambda: torch.mm(a, b)), repeats)
    return Row(name, explained / product, "x", 8, note=f"{explained:.1f} and {product:.1f} ms")
