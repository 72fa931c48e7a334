"""Which checkpoint to adapt? Cross-validated accuracies of new classifiers on the features of several.

scores = [reader_score(load_named(name), pairs, labels) for name in SUGGESTED]
print(said(scores))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.adaptation.adapt import Examples
from core.adaptation.features import Pair
from core.adaptation.fits import Step, fresh, no_step
from core.checkpoint import Checkpoint
from core.errors import UserError
from core.evaluation.intervals import wilson
from core.evaluation.predict import RowsDone
from core.evaluation.reliability import mcnemar
from core.wording import capital, counted

SUGGESTED = ("nli-two-sided", "nli-esim", "guest-minilm")
"""Readers of pairs to adapt, of three families: the default first."""
MOST_ROWS = 2_000
"""Maximum number of rows to compare readers on: a transformer reads some tens of pairs a second."""


@dataclass(frozen=True)
class ReaderScore:
    """Whether each row is right, bool ``[N]``, by a classifier on a checkpoint's features that was fitted without it;
    the rows are reordered, in the same way for all checkpoints."""

    title: str
    right: np.ndarray

    @property
    def score(self) -> float:
        """The accuracy."""
        return float(self.right.mean())

    def __str__(self) -> str:
        low, high = wilson(int(self.right.sum()), len(self.right))
        return f"{self.title} {100 * self.score:.1f}\N{NO-BREAK SPACE}% ({100 * low:.1f} – {100 * high:.1f})"


def sampled(count: int) -> np.ndarray:
    """The indices of the rows to compare readers on, of ``count`` rows: all, or :data:`MOST_ROWS` drawn at random."""
    return np.sort(np.random.default_rng(0).permutation(count)[:MOST_ROWS])


def reader_score(
    checkpoint: Checkpoint,
    pairs: Sequence[Pair],
    labels: Sequence[str],
    groups: Sequence[str] = (),
    progress: RowsDone = lambda rows: None,
    step: Step = no_step,
) -> ReaderScore:
    """The cross-validated score of a checkpoint on labelled pairs of at least two classes; ``groups`` as in
    :func:`core.adaptation.adapt`. Raises UserError for pairs that cannot be compared, and for a model that cannot be
    adapted."""
    if len(pairs) < 8 or len({*labels}) < 2:
        raise UserError("too few rows to compare readers: label at least eight, of two classes")
    examples = Examples.of(checkpoint, pairs, labels, groups, progress)
    numbers = torch.from_numpy(np.unique(examples.labels.numpy(), return_inverse=True)[1])
    held_out = fresh(examples.features, numbers, examples.folds, step=step).held_out
    assert held_out is not None, "C was chosen on held-out rows"
    return ReaderScore(checkpoint.card["title"], held_out)


def said(scores: Sequence[ReaderScore]) -> str:
    """The scores in a sentence or two, best first, and whether the best one's lead may be chance."""
    ordered = sorted(scores, key=lambda one: -one.score)
    best, *others = ordered
    told = f"Cross-validated on {counted(len(best.right), 'row')}: {', '.join(map(str, ordered))}."
    if not others:
        return told
    p = mcnemar(best.right, others[0].right).p
    sure = f"its lead over {others[0].title} is more than chance" if p < 0.05 else "its lead may be chance"
    shown = "p < .001" if p < 0.001 else f"p = {p:.3f}"
    return f"{told} {capital(best.title)} does best; {sure} (McNemar’s {shown})."
