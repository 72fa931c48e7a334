"""The effects of corrections: the pairs of the suites that an adapted classifier gets right or wrong now, by kind. The
base's features are computed only once, so that testing a classifier takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.adaptation.adapt import Examples, chosen_pull, classifier_of, corrected
from core.adaptation.features import GradualFeatures, Pair
from core.adaptation.fits import KEEP, PULLS, Linear
from core.checkpoint import Checkpoint
from core.evaluation.probe import suits
from core.evaluation.reliability import mcnemar
from core.evaluation.suites import SUITES, Suite
from core.progress import Progress
from core.shared_cache import SharedCache
from core.wording import counted

MOST_COST = 0.05
"""The largest share of a kind's pairs that the default pull may lose."""
LEAST = 20
"""Kinds with fewer pairs do not count: a single pair would exceed that share."""


@dataclass(frozen=True)
class Tested:
    """The pairs of one suite: a base model's features, ``[N, F]``; gold labels as indices into ``suite.scale``,
    ``[N]``; and kinds."""

    suite: Suite
    features: Tensor
    gold: np.ndarray
    kinds: np.ndarray


class KindEffect(NamedTuple):
    """The pairs of a kind that are right before and after; how many became right or wrong; the p of McNemar's exact
    test; and an example pair, if possible one that changed."""

    suite: str
    kind: str
    total: int
    before: int
    after: int
    fixed: int
    cost: int
    p: float
    example: Pair = ("", "")


@dataclass(frozen=True)
class WhatChanged:
    """The effect of corrections at one strength of the pull. ``stood``, ``learned``: the numbers of corrected pairs
    that had their right class before, and have it now; ``kinds``: worst losses first."""

    pull: float
    corrections: int
    stood: int
    learned: int
    kinds: tuple[KindEffect, ...]

    @property
    def worst(self) -> float:
        """The largest share of a kind that is lost, among kinds of at least :data:`LEAST` pairs."""
        return max(((one.before - one.after) / one.total for one in self.kinds if one.total >= LEAST), default=0.0)

    @property
    def lost(self) -> str:
        """The kind that loses most pairs; empty if none does."""
        kind = max(self.kinds, key=lambda one: one.before - one.after, default=None)
        if kind is None or kind.after >= kind.before:
            return ""
        return f"“{kind.kind}” falls from {kind.before} to {kind.after} of {kind.total} test pairs"

    @property
    def sentence(self) -> str:
        """The effect in one sentence."""
        verb = "stands" if self.corrections == 1 else "stand"
        before = f" ({self.stood} did before)" if self.stood else ""
        said = f"{self.learned} of {counted(self.corrections, 'correction')} now {verb}{before}"
        if not self.kinds:
            return f"{said}."
        wrong = sum(one.total - one.before for one in self.kinds)
        right = sum(one.before for one in self.kinds)
        fixed, cost = sum(one.fixed for one in self.kinds), sum(one.cost for one in self.kinds)
        best = max(self.kinds, key=lambda one: one.fixed - one.cost)
        worst = max(self.kinds, key=lambda one: one.cost - one.fixed)
        most = f"{_where(fixed)} “{best.kind}”" if best.fixed > best.cost else ""
        least = f"{_where(cost)} “{worst.kind}”" if worst.cost > worst.fixed else ""
        return (
            f"{said}. Of our test pairs, {fixed} of the {wrong} that were wrong {_are(fixed)} right now{most}, and "
            f"{cost:,} of the {right:,} that were right {_are(cost)} wrong now{least}."
        )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _where(count: int) -> str:
    return ", in" if count == 1 else ", most in"


def tested(base: Checkpoint, progress: Progress = lambda done, of: None) -> tuple[Tested, ...]:
    """The base's features of all suites, computed once per version of the base; none if the suites do not apply."""
    if not suits(base.card):
        return ()
    features = gradual_suites(base).all(progress)
    return _TESTED((base.folder, base.state), lambda: _tested(base, features))


def suites_are_read(base: Checkpoint) -> bool:
    """Whether :func:`tested` answers at once."""
    key = base.folder, base.state
    return not suits(base.card) or (key in _FEATURES and gradual_suites(base).complete)


def gradual_suites(base: Checkpoint) -> GradualFeatures:
    """The features of the pairs of all suites, one after the other, as far as they have been read."""
    pairs = [(row.first, row.second) for suite in SUITES.values() for row in suite.pairs.rows]
    return _FEATURES((base.folder, base.state), lambda: GradualFeatures(base, pairs))


def _tested(base: Checkpoint, features: Tensor) -> tuple[Tested, ...]:
    of_suites = torch.split(features, [len(suite.pairs.rows) for suite in SUITES.values()])
    return tuple(
        Tested(
            suite,
            own,
            suite.scale(base.labels).of([row.label for row in suite.pairs.rows]),
            np.array([row.columns["kind"] for row in suite.pairs.rows]),
        )
        for suite, own in zip(SUITES.values(), of_suites, strict=True)
    )


def right(test: Tested, linear: Linear, classes: Sequence[str]) -> np.ndarray:
    """Whether a classifier answers each pair of a suite correctly, bool ``[N]``."""
    chances = linear.logits(test.features).softmax(1).numpy()
    hits: np.ndarray = test.suite.scale(classes).sums(chances).argmax(1) == test.gold
    return hits


def compared(
    base: Checkpoint, examples: Examples, old: Linear, new: Linear, pull: float, tests: Sequence[Tested]
) -> WhatChanged:
    """The changes of a classifier compared with the old one."""
    kinds = list[KindEffect]()
    for test in tests:
        before, after = right(test, old, base.labels), right(test, new, base.labels)
        for kind in dict.fromkeys(test.kinds.tolist()):
            here = test.kinds == kind
            was, now = before[here], after[here]
            counts = int((now & ~was).sum()), int((was & ~now).sum())
            totals = len(was), int(was.sum()), int(now.sum())
            row = test.suite.pairs.rows[np.flatnonzero(here)[(was != now).argmax()]]
            example = row.first, row.second
            kinds.append(KindEffect(test.suite.title, str(kind), *totals, *counts, mcnemar(was, now).p, example))
    stood, learned = (
        int((linear.logits(examples.features).argmax(1) == examples.labels).sum()) for linear in (old, new)
    )
    ordered = sorted(kinds, key=lambda one: (one.after - one.before) / one.total)
    return WhatChanged(pull, len(examples.pairs), stood, learned, tuple(ordered))


class Fitted(NamedTuple):
    """A classifier fitted with one pull, and its changes."""

    linear: Linear
    changed: WhatChanged


def old_classifier(base: Checkpoint) -> Linear:
    """The classifier of a model whose verdicts can be corrected."""
    found = classifier_of(base)
    assert found is not None, "corrections are only taken for a model with a classifier"
    return found


def fitted(base: Checkpoint, examples: Examples, pull: float, keep: float = KEEP) -> Fitted:
    """The classifier for these corrections with this pull. Computed once for all threads."""
    old = old_classifier(base)

    def fit() -> Fitted:
        linear = corrected(base, old, examples, pull, keep)
        return Fitted(linear, compared(base, examples, old, linear, pull, tested(base)))

    key = base.folder, base.state, tuple(examples.pairs), tuple(examples.labels.tolist()), pull, keep
    return _FITTED(key, fit)


def default_pull(base: Checkpoint, examples: Examples) -> float:
    """The pull that learns most among the pulls that cost no kind more than :data:`MOST_COST`; the strongest if there
    is none, and :func:`core.adaptation.adapt.chosen_pull` if no suite applies."""
    if not tested(base):
        return chosen_pull(base, old_classifier(base), examples)
    harmless = [one for one in (fitted(base, examples, pull) for pull in PULLS) if one.changed.worst <= MOST_COST]
    if not harmless:
        return PULLS[-1]
    return max(harmless, key=lambda one: (one.changed.learned, _gain(one.changed))).changed.pull


def thorough_pull(base: Checkpoint, examples: Examples) -> float:
    """The pull that learns most; of several, the one with the smallest worst loss: for users who want the corrections
    to be learned at any cost. :func:`default_pull` if no suite applies."""
    if not tested(base):
        return default_pull(base, examples)
    found = [fitted(base, examples, pull).changed for pull in PULLS]
    return max(found, key=lambda one: (one.learned, -one.worst, _gain(one))).pull


def learned_with_less(now: WhatChanged, weaker: Sequence[WhatChanged]) -> str:
    """One sentence on the ``weaker`` pull that learns more corrections, and the kind that then loses most; empty if
    there is none."""
    best = max(weaker, key=lambda one: (one.learned, one.pull), default=now)
    if best.learned <= now.learned:
        return ""
    said = f"With the pull at {PULLS.index(best.pull) + 1} of {len(PULLS)}, {best.learned} of {best.corrections} stand"
    lost = best.lost
    return f"{said}, and {lost}." if lost else f"{said}."


def _gain(changed: WhatChanged) -> int:
    return sum(one.fixed - one.cost for one in changed.kinds)


_MOST = 6
"""Number of bases whose features are cached: a wide model's take some megabytes."""
_FEATURES: SharedCache[GradualFeatures] = SharedCache(_MOST)
_TESTED: SharedCache[tuple[Tested, ...]] = SharedCache(_MOST)
_FITTED: SharedCache[Fitted] = SharedCache(200)
