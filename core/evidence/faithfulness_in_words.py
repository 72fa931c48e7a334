"""A faithfulness record in words, for the page: one fact for each of its numbers, with its source and its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

from core.evidence.faithfulness_numbers import Adversary, Curves, Moved, ShownMap
from core.wording import percent, points, signed, the

MUCH = 0.1
"""Nats of divergence below which adversarial attention hardly differs from the model's."""


class Measured(Protocol):
    """The subjects of facts; see the fields of :class:`~core.evidence.faithfulness.Faithfulness`."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def verdict(self) -> str: ...

    @property
    def probabilities(self) -> tuple[float, ...]: ...

    @property
    def moved(self) -> Moved | None: ...

    @property
    def tau_b(self) -> tuple[float | None, ...]: ...

    @property
    def named(self) -> tuple[int, int] | None: ...

    @property
    def maps(self) -> tuple[ShownMap, ...]: ...

    @property
    def adversary(self) -> Adversary | None: ...


@dataclass(frozen=True)
class Fact:
    """A number in words. ``more``: how it is measured, its source, and what it cannot tell."""

    name: str
    says: str
    more: str


@dataclass(frozen=True)
class Erased:
    """One method's curves as a line of the figure: their means with its words alone (``left``) and without them
    (``taken``), and each of their steps in words."""

    title: str
    left: float
    taken: float
    steps: tuple[str, ...]


def erased(title: str, curves: Curves, steps: tuple[str, ...]) -> Erased:
    """The line of a method, or of random orders."""
    each = zip(steps, curves.sufficiency, curves.comprehensiveness, strict=True)
    told = (f"{step}: {signed(left, 2)} with these alone, {signed(taken, 2)} without" for step, left, taken in each)
    return Erased(title, *curves.aopc, tuple(told))


def facts(record: Measured, names: tuple[str, ...], same: float) -> Iterator[Fact]:
    """All facts next to the figure. ``names``: the classes as displayed; ``same``: the largest change of probability
    that counts as the same answer."""
    if record.named is not None:
        yield _named(*record.named)
    if record.moved is not None:
        yield _permuted(record.moved)
        yield _uniform(record, record.moved, names)
    if any(tau is not None for tau in record.tau_b):
        yield _agreement(record)
    if record.adversary is not None:
        yield _adversary(record, record.adversary, names, same)
    elif record.tau_b:
        yield NOT_MOVED


NOT_MOVED = Fact(
    "Moving attention",
    "does not apply: this model’s maps hold scores.",
    "Scores, which a choice or a pooling follows, are not shares of a whole, so there is nothing to shuffle or to make "
    "uniform. “What each link does” cuts single cells of such a map.",
)


def _named(hits: int, of: int) -> Fact:
    return Fact(
        "Words named",
        f"{hits} of the {of} words with the largest effect are among the {of} most attended.",
        "An effect is how much the verdict drops without the word (the line under it); a word is attended by the "
        "weight that it receives, summed over all rows. After Jain & Wallace (2019, section 4.1), who compare whole "
        f"orders. What it cannot tell: with {of} words, one hit more or less may be chance; and the least attended "
        "word can be the decisive one, because it has no match in the other text.",
    )


def _permuted(moved: Moved) -> Fact:
    return Fact(
        "Permuted attention",
        f"The verdict changes in {moved.changed} of {moved.permutations} permutations; on average the class "
        f"probabilities move by {points(moved.total_variation)} (total variation).",
        "The weights of each row, the null word’s among them, are shuffled over the cells that the model could use, in "
        f"all maps at once, {moved.permutations} times with a fixed seed (Jain & Wallace 2019, section 4.2.1). What it "
        "cannot tell: that nothing changes does not say that the attention is wrong, only that this verdict does not "
        "depend on where words look, and for a contradiction not even that, since wrongly aligned words themselves "
        "speak for it; and the model was not trained with permuted rows, so a change may be damage and not meaning "
        "(Wiegreffe & Pinter 2019).",
    )


def _uniform(record: Measured, moved: Moved, names: tuple[str, ...]) -> Fact:
    now, before = (values.index(max(values)) for values in (moved.uniform, record.probabilities))
    same = "the same" if now == before else "another"
    return Fact(
        "Uniform attention",
        f"gives {names[now]} {percent(moved.uniform[now])}, {same} verdict.",
        "Every cell that the model could use gets the same weight. Wiegreffe & Pinter (2019, section 3.2) train a "
        "model with such weights; here the trained model gets them, which is harder on it. What it cannot tell: the "
        "same verdict means that attention is not needed for this pair, not that it is not needed for any.",
    )


def _agreement(record: Measured) -> Fact:
    several = len(record.maps) > 1
    where = [f" ({the(of.rows)} into {the(of.columns)})" if several else "" for of in record.maps]
    each = zip_longest(record.tau_b, where, fillvalue="")
    known = [f"τ-b {signed(tau, 2)}{maps}" for tau, maps in each if isinstance(tau, float)]
    return Fact(
        "Weight against effect",
        f"{', '.join(known)} between the weight of a link and the size of its effect, over all links.",
        "Kendall’s τ-b is 1 where both orders are the same, 0 where they have nothing in common, −1 where one is the "
        "other reversed. The effect of a link is log p of the verdict before minus after its cell is set to 0 and the "
        "rest of its row is renormalised. Jain & Wallace (2019, section 4.1) correlate attention with gradients and "
        "with leaving words out. What it cannot tell: most links weigh next to nothing and do next to nothing, which "
        "alone makes τ-b large; it does not say that the heaviest link is the most telling one.",
    )


def _adversary(record: Measured, found: Adversary, names: tuple[str, ...], same: float) -> Fact:
    most = f"{math.log(2):.2f}"
    more = (
        "Other rows are searched that lie as far as possible from the model’s, by the mean Jensen–Shannon divergence "
        f"(0: the same, {most}: no weight in common), while no more than {percent(same)} of probability moves between "
        "the classes; the matrix that is shown was put into the model and checked. By gradients from five starts for "
        "at most 3 seconds (Jain & Wallace 2019, section 4.2.2). What it cannot tell: a search that finds nothing "
        "proves nothing, and a faster machine may find more. Attention that no training would have brought about is a "
        "weak case against the one that it did (Wiegreffe & Pinter 2019)."
    )
    if not found.maps:
        says = "None was found: all other attention that was tried changes the answer."
        return Fact("An adversary", says, more)
    target = record.labels.index(record.verdict)
    before, after = (percent(values[target]) for values in (record.probabilities, found.probabilities))
    stays = f"{names[target]} {after} instead of {before}, {found.total_variation:.3f} of probability moved"
    says = (
        f"No other attention was found with this answer: the farthest lies {found.divergence:.3f} of at most {most} "
        f"nats from the model’s ({stays})."
        if found.divergence < MUCH
        else f"Attention {found.divergence:.2f} of at most {most} nats from the model’s gives the same: {stays}."
    )
    return Fact("An adversary", says, more)
