"""How the difference between a model's verdicts on two versions of a pair divides among the model's routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from core.evidence.explanation import Explanation, Record
from core.json_types import told
from core.spreadsheet import csv_text
from core.wording import counted

MOST, NOT_ALONE, AGAINST, WHOLE = 0.75, 0.25, -0.1, 1.005
"""Shares of the difference: from which a route carries most of it, below which it is not enough alone, below which it
works against the rest, and above which it is shown as more than 100 %, which needs an explanation."""


@dataclass(frozen=True)
class RouteShare:
    """A route's share in a difference, all numbers in the record's unit."""

    route: str
    by: str
    """The route in words that can follow “by” in a sentence."""
    share: float
    """Its Shapley value: its mean effect over all orders in which routes are taken from the other version. The shares
    of all routes add up to the difference."""
    alone: float
    """Its effect as the first route taken from the other version."""
    last: float
    """Its effect as the last one."""


@dataclass(frozen=True)
class Routes(Record, kind="routes"):
    """The shares of a model's routes in the difference between its verdicts on two versions of a pair.

    A difference is the log-odds of the verdict on this version minus those on the other, or of the score of a model
    with one output. Positive shares lower the verdict, as the difference does if it is positive.
    """

    model: str
    model_title: str
    """The model's display name."""
    verdict: str
    """The class whose probability is measured: the most probable one of this version, or for a ranking model the class
    it ranks by."""
    versions: tuple[tuple[str, ...], tuple[str, ...]]
    """The texts of this version and of the other."""
    probabilities: tuple[float, float]
    """The class's probability for both, or the score."""
    unit: str
    """"log-odds", or "score" for a model with one output."""
    change: str
    """How the verdict changes from this version to the other, in words."""
    difference: float
    routes: tuple[RouteShare, ...]
    sentence: str
    """The routes that carry the difference, in words."""
    passes: int
    """Number of forward passes."""
    name: str = field(default="routes of the difference", init=False)

    def to_text(self, explanation: Explanation | None = None) -> list[str]:
        width = max(len(route.route) for route in self.routes)
        lines = [f"{self.change}   {self.model_title}", self.sentence, ""]
        lines += [f"{'':{width}}   share {self.unit:>10}   alone    last"]
        for route in self.routes:
            share = signed_percent(route.share / self.difference)
            lines.append(
                f"{route.route:<{width}} {share:>7} {route.share:>+10.2f} {route.alone:>+7.2f} {route.last:>+7.2f}"
            )
        return [*lines, "", counted(self.passes, "pass", "es")]

    @told
    def csv(self) -> str:
        """The numbers as a file."""
        return self.to_csv()

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        return f"<pre>{escape(chr(10).join(self.to_text()))}</pre>"

    def to_csv(self, explanation: Explanation | None = None) -> str:
        """One line per route: its share of the difference, and its share, first and last effect in the unit."""
        head = ["route", "share_of_difference", "share", "alone", "last"]
        rows = [[one.route, one.share / self.difference, one.share, one.alone, one.last] for one in self.routes]
        return csv_text(head, rows)


def sentence_of(subject: str, routes: Sequence[RouteShare], difference: float) -> str:
    """One sentence on the routes that carry a difference. ``subject``: the difference between the versions."""
    ranked = sorted(routes, key=lambda route: -route.share / difference)
    against = [route for route in ranked if route.share / difference <= AGAINST]
    carrying = [route for route in ranked if route.share / difference >= -AGAINST]
    top = ranked[0].share / difference
    if len(carrying) > 1 and max(route.alone / difference for route in routes) < NOT_ALONE:
        said = f"only by {_listed(carrying, difference)} together: none of them is enough alone"
    elif top > WHOLE:
        against = [route for route in ranked if route.share / difference < 1 - WHOLE] or ranked[-1:]
        why = "another part works against it" if len(against) == 1 else "other parts work against it"
        return (
            f"{subject} is noticed by {ranked[0].by}: {signed_percent(top)} of the difference, more than the whole "
            f"because {why}: {_listed(against, difference)}."
        )
    elif top >= MOST or len(carrying) == 1:
        said = f"by {ranked[0].by}: {signed_percent(top)} of the difference"
    else:
        said = f"by {_listed(carrying, difference, ' of the difference')}"
    if against:
        said += f"; against it: {_listed(against, difference)}"
    return f"{subject} is noticed {said}."


def _listed(routes: Sequence[RouteShare], difference: float, of: str = "") -> str:
    """The routes with their shares; ``of``: the whole that the first share refers to."""
    shares = [signed_percent(route.share / difference) for route in routes]
    shares[0] += of
    *others, last = [f"{route.by} ({share})" for route, share in zip(routes, shares, strict=True)]
    return f"{', '.join(others)} and {last}" if others else last


def signed(value: float) -> str:
    """A number with two decimals and a true minus sign."""
    return f"{value:+.2f}".replace("-", "−")


def signed_percent(share: float) -> str:
    """A share of a difference in whole percent, which may be negative or above 100 %."""
    whole = round(100 * share)
    return f"{'−' if whole < 0 else ''}{abs(whole)}\u00a0%"
