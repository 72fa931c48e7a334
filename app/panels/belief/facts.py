"""The numbers in words, each with what it is, where it comes from and what it cannot tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.panels.verdict import class_names
from core.effects import gradients
from core.effects.words import DROPPED, TAKEN_AWAY
from core.evaluation.pointing import LEAST_ATTENDED, MOST_ATTENDED
from core.evidence import Explanation
from core.evidence.faithfulness import LARGEST_CHANGE, Adversary, Faithfulness, Moved
from core.evidence.record import the
from core.wording import percent, points

WAYS = {
    TAKEN_AWAY: "Taken away, several ways together",
    DROPPED: "Dropped",
    gradients.NORM: "Length of the gradient",
    gradients.INTEGRATED: "Integrated gradients",
    MOST_ATTENDED: "Attention, most attended first",
    LEAST_ATTENDED: "Attention, least attended first",
}
"""The ways that are compared, by their names in core."""
MUCH = 0.1
"""Nats of divergence below which an adversary's attention is hardly another."""


@dataclass(frozen=True)
class Fact:
    """One number in a sentence; ``more``: what it is, its source, and what it cannot tell. ``maps``: it is about the
    matrices, which stand below it."""

    name: str
    says: str
    more: str
    maps: bool = False


def facts(measured: Faithfulness, explanation: Explanation) -> tuple[Fact, ...]:
    """All facts beside the figure."""
    names = class_names(explanation)
    return tuple(_facts(measured, names))


def _facts(measured: Faithfulness, names: Sequence[str]) -> Iterator[Fact]:
    if measured.named is not None:
        yield _named(*measured.named)
    if measured.moved is not None:
        yield _permuted(measured.moved)
        yield _uniform(measured, measured.moved, names)
    if any(tau is not None for tau in measured.tau_b):
        yield _tau_b(measured)
    if measured.adversary is not None:
        yield _adversary(measured.adversary, names[measured.labels.index(measured.verdict)], measured)
    elif measured.tau_b:
        yield Fact(
            "Moving attention",
            "does not apply: this model’s maps hold scores.",
            "Scores, of which a choice or a pooling follows, are no shares of a whole, so there is nothing to deal "
            "anew or to make uniform. “What each link does” cuts single cells of such a map.",
        )


def _named(hits: int, of: int) -> Fact:
    return Fact(
        "Words named",
        f"{hits} of the {of} words with the largest effect are among the {of} most attended.",
        "An effect is what the verdict loses when the word is taken away (the first bars of this page); a word is "
        "attended by the weight that it receives, summed over all rows that look at it. After Jain & Wallace (2019, "
        f"section 4.1), who compare whole orders. What it cannot tell: with {of} words, one hit more or less may be "
        "chance; and the least attended word can be the one that decides, because nothing in the other text answers "
        "it.",
    )


def _permuted(moved: Moved) -> Fact:
    return Fact(
        "Permuted attention",
        f"{moved.changed} of {moved.permutations} permutations change the verdict; on average the class probabilities "
        f"move by {points(moved.total_variation)} (total variation).",
        "The weights of each row, the null word’s among them, are dealt anew to the cells that the model could use, in "
        f"all maps at once, {moved.permutations} times with a fixed seed (Jain & Wallace 2019, section 4.2.1). What it "
        "cannot tell: that nothing changes does not say that the attention is wrong, only that this verdict does not "
        "hang on where words look, and a contradiction not even that, since wrongly aligned words themselves speak for "
        "it; and permuted rows are none that the model was trained with, so what changes may be damage and not meaning "
        "(Wiegreffe & Pinter 2019).",
    )


def _uniform(measured: Faithfulness, moved: Moved, names: Sequence[str]) -> Fact:
    best = max(range(len(names)), key=moved.uniform.__getitem__)
    same = best == max(range(len(names)), key=measured.probabilities.__getitem__)
    return Fact(
        "Uniform attention",
        f"gives {names[best]} {percent(moved.uniform[best])}, {'the same' if same else 'another'} verdict.",
        "Every cell that the model could use gets the same weight. Wiegreffe & Pinter (2019, section 3.2) train a "
        "model with such weights; here the trained model gets them, which is harder on it. What it cannot tell: the "
        "same verdict means that attention is not needed for this pair, not that it is not needed for any.",
    )


def _tau_b(measured: Faithfulness) -> Fact:
    several = len(measured.maps) > 1
    told = [
        f"τ-b {_signed(tau)}" + (f" ({the(one.rows)} into {the(one.columns)})" if several else "")
        for tau, one in zip(measured.tau_b, measured.maps, strict=True)
        if tau is not None
    ]
    return Fact(
        "Weight against effect",
        f"{', '.join(told)} between the weight of a link and the size of its effect, over all links.",
        "Kendall’s τ-b is 1 where both orders are the same, 0 where they have nothing in common, −1 where one is the "
        "other turned round. The effect of a link is log p of the verdict before minus after its cell becomes 0 and "
        "the rest of its row is divided by its sum. Jain & Wallace (2019, section 4.1) correlate attention with "
        "gradients and with leaving words out. What it cannot tell: most links weigh next to nothing and do next to "
        "nothing, which alone makes τ-b large; it does not say that the heaviest link is the most telling one.",
    )


def _adversary(found: Adversary, verdict: str, measured: Faithfulness) -> Fact:
    most = math.log(2)
    how = (
        "Other rows are looked for that lie as far as possible from the model’s, by the mean Jensen–Shannon divergence "
        f"(0: the same, {most:.2f}: no weight in common), while no more than {percent(LARGEST_CHANGE)} of probability "
        "moves between the classes; the matrix that is shown was put into the model and checked. By gradients from "
        "five starts for at most 3 seconds (Jain & Wallace 2019, section 4.2.2). What it cannot tell: a search that "
        "finds nothing proves nothing, and a faster machine may find more. Attention that no training would have "
        "brought about is a weak case against the one that it did (Wiegreffe & Pinter 2019)."
    )
    if not found.maps:
        return Fact("An adversary", "None was found: all other attention that was tried changes the answer.", how)
    p = found.probabilities[measured.labels.index(measured.verdict)]
    own = measured.probabilities[measured.labels.index(measured.verdict)]
    stays = f"{verdict} {percent(p)} instead of {percent(own)}, {found.total_variation:.3f} of probability moved"
    if found.divergence < MUCH:
        says = (
            f"No other attention was found with this answer: the farthest lies {found.divergence:.3f} of at most "
            f"{most:.2f} nats from the model’s ({stays})."
        )
    else:
        says = f"Attention {found.divergence:.2f} of at most {most:.2f} nats from the model’s gives the same: {stays}."
    return Fact("An adversary", says, how, maps=True)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
