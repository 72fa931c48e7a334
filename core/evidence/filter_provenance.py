"""The winning n-gram of each convolution filter, and the terms that add up to the logits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.evidence.as_json import LATER
from core.evidence.explanation import Explanation, Record
from core.evidence.matrix import Matrix
from core.spreadsheet import csv_text
from core.wording import the

LISTED_FILTERS = 8
"""Number of filters listed on the terminal."""


@dataclass(frozen=True, slots=True)
class FilterRecord:
    """One filter after max-pooling: its winning position, and its pre-activation as a sum of parts.

    ``sum(offsets) + context + bias == preactivation`` (within 1e-5 in float32), and ``left + self_ + right`` also
    equals the sum of ``offsets``. ``logit_shares[c]`` is the classifier's weight times the activation: summed over all
    filters they equal logit c minus its bias and the terms in ``FilterProducts``. It is empty if the classifier reads
    more than the pooled activations (multi-perspective matching).
    """

    index: int
    position: int
    """Index of the winning window's central word in the sentence's tokens."""
    window: tuple[int, int]
    """Tokens [first, last) that the window covers inside the sentence."""
    left: float
    self_: float
    right: float
    context: float
    bias: float
    preactivation: float
    activation: float
    logit_shares: tuple[float, ...]
    offsets: tuple[float, ...] = ()
    """One part per word of the window, from left to right."""
    beside: int | None = None
    """Index of the winning context, from 0; None unless there are several contexts."""


@dataclass(frozen=True)
class FilterProvenance(Record, kind="filter_provenance"):
    """The winning n-gram of each of the K filters of a convolution (AttConv, figure 6a)."""

    name: str
    rows: str
    width: int
    filters: tuple[FilterRecord, ...]
    logit_bias: tuple[float, ...]
    activation: str = "tanh"
    """tanh or ReLU."""
    made_from: str = ""
    """Role of the text that generated the filters; empty for filters that do not depend on the text."""
    contexts: int = 1
    """The number of contexts the text was read with, one at a time."""
    compared: Matrix = field(default=(), metadata=LATER)
    """[K, 6], for a model that compares words with their contexts before the convolution: the terms that add up to
    the part of the winning window's central word, from the word, its context, their product, their difference, the
    share of crossing words, and the comparison's bias."""

    @property
    def part_names(self) -> list[str]:
        """The parts of a pre-activation: one per word of the window, then the attentive context and the bias."""
        near = {1: ["self"], 3: ["left", "self", "right"]}
        return [*near.get(self.width, [f"word {i}" for i in range(1, self.width + 1)]), "context", "bias"]

    @property
    def wins(self) -> tuple[int, ...]:
        """Number of filters each context won; empty unless there are several contexts."""
        won = [f.beside for f in self.filters if f.beside is not None]
        return tuple(won.count(context) for context in range(self.contexts)) if won else ()

    @property
    def shared(self) -> bool:
        """Whether each filter has its own share in the logits."""
        return bool(self.filters[0].logit_shares)

    def to_text(self, explanation: Explanation) -> list[str]:
        """The filters that push most towards the verdict; without logit shares, the most active ones."""
        verdict = explanation.labels.index(explanation.verdict)
        sentence = explanation.sentence(self.rows)
        made = f", made from {the(self.made_from)}" if self.made_from else ""
        what = f"push most towards {explanation.verdict}" if self.shared else "are most active"
        center = "left + self + right" if self.width <= 3 else "words before + central word + words after"
        lines = ["", f"Filters over {the(self.rows)}{made} that {what} ({center} + context + bias):"]
        ranked = sorted(self.filters, key=lambda f: -(f.logit_shares[verdict] if self.shared else f.activation))
        if self.wins:
            lines.append(f"  won with {', '.join(f'context {k}: {n}' for k, n in enumerate(self.wins, start=1))}")
        for f in ranked[:LISTED_FILTERS]:
            context = "" if f.beside is None else f"   with context {f.beside + 1}"
            share = f"{f.logit_shares[verdict]:+.3f}  " if self.shared else ""
            lines.append(
                f"  {f.index:>4}  {share}{f.left:+.2f} {f.self_:+.2f} {f.right:+.2f} {f.context:+.2f} {f.bias:+.2f} -> "
                f"{self.activation} = {f.activation:+.3f}   {sentence.words(f.window)}{context}"
            )
        return lines

    def to_csv(self, explanation: Explanation) -> str:
        """One line per filter: winning n-gram, the parts of its pre-activation and its shares in the logits. Lines with
        a name instead of a number hold the other terms of the logits."""
        sentence = explanation.sentence(self.rows)
        names = [name.replace(" ", "_") for name in self.part_names]
        shares = [f"share_{label}" for label in explanation.labels] if self.shared else []
        context = ["context"] if self.wins else []
        head = ["text", "filter", "position", "ngram", *names, "preactivation", "activation", *shares, *context]
        rows: list[list[object]] = [
            [
                self.rows,
                f.index,
                f.position + 1,
                sentence.words(f.window),
                *f.offsets,
                f.context,
                f.bias,
                f.preactivation,
                f.activation,
                *f.logit_shares,
                *([] if f.beside is None else [f.beside + 1]),
            ]
            for f in self.filters
        ]
        if self.shared:
            terms = [*other_terms(explanation, self), ("the classifier’s bias", self.logit_bias)]
            rows += [["", name, *[""] * (len(names) + 4), *values] for name, values in terms]
        return csv_text(head, rows)


@dataclass(frozen=True)
class FilterProducts(Record, kind="filter_products"):
    """Terms of a pair model's logits that belong to no single filter (Shen et al. 2018, equation 6).

    ``products[k][c]`` is the share of h_q,k · h_a,k in logit c; ``linguistic`` the share of all linguistic features
    together. Together with the shares of both sides' filters and the bias, they add up to the logits.
    """

    name: str
    products: Matrix
    linguistic: tuple[float, ...]

    def to_text(self, explanation: Explanation) -> list[str]:
        """The terms of the verdict's logit other than the filters' shares."""
        verdict = explanation.labels.index(explanation.verdict)
        shares = ", ".join(f"{name} {shares[verdict]:+.3f}" for name, shares in self.parts())
        return ["", f"Other than the filters, towards {explanation.verdict}: {shares}"] if shares else []

    def parts(self) -> list[tuple[str, tuple[float, ...]]]:
        """A name and one share per class; all-zero parts are left out."""
        products = tuple(sum(column) for column in zip(*self.products, strict=True))
        lines = [("products of both texts’ filters", products), ("linguistic features", self.linguistic)]
        return [(name, shares) for name, shares in lines if any(shares)]


def other_terms(explanation: Explanation, own: FilterProvenance) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The terms of the logits other than the shares of ``own`` filters and the classifier's bias: a name and one share
    per class."""
    for record in explanation.evidence:
        if isinstance(record, FilterProvenance) and record is not own:
            sums = tuple(sum(column) for column in zip(*(f.logit_shares for f in record.filters), strict=True))
            yield f"all filters over {the(record.rows)}", sums
        elif isinstance(record, FilterProducts):
            yield from record.parts()
