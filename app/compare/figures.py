"""Figures of Compare, ready for the browser to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.compare.comparison import Difference, Looks
from app.components import About
from app.panels.verdict import Verdict
from core.evidence import Matrix


@dataclass(frozen=True)
class DrawnMatrix:
    """Weights or differences with their words; ``none``: the last column, for the null word or special tokens, labelled
    ``none_word``. ``rows`` and ``columns``: roles."""

    rows: str
    columns: str
    words: tuple[tuple[str, ...], tuple[str, ...]]
    weights: Matrix
    none: tuple[float, ...] | None
    none_word: str


def matrix(seen: Looks, roles: tuple[str, str]) -> DrawnMatrix:
    """The drawn form of weights or differences. ``roles``: of rows and columns."""
    return DrawnMatrix(*roles, (seen.rows, seen.columns), seen.weights, seen.none, seen.none_word)


@dataclass(frozen=True)
class MarkedWords:
    """A sentence with the places of the words that were changed."""

    words: tuple[str, ...]
    marked: tuple[int, ...]


@dataclass(frozen=True)
class PooledWords:
    """A sentence with how much each word counts in pooling."""

    role: str
    words: tuple[str, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class SideWords:
    """A sentence that a model reads."""

    role: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One model, or version: its verdict on the pair, or the ``problem`` that prevented one. ``read``: the sentences
    whose words can affect ``followed``, a class's display name; ``question``: the request for the word effects."""

    title: str
    problem: str = ""
    verdict: Verdict | None = None
    facts: tuple[str, ...] = ()
    sentences: tuple[MarkedWords, ...] = ()
    pooled: tuple[PooledWords, ...] = ()
    matrix: DrawnMatrix | None = None
    read: tuple[SideWords, ...] = ()
    followed: str = ""
    question: Mapping[str, str] | None = None
    about: About | None = None


@dataclass(frozen=True)
class ComparedSections:
    """All models, or versions, with one scale for their weights, from 0 to ``high``."""

    sections: tuple[Section, ...]
    high: float


@dataclass(frozen=True)
class DrawnDifference:
    """The difference between two models' (or versions') attention matrices."""

    titles: tuple[str, str]
    mean: float
    about: About
    matrix: DrawnMatrix


@dataclass(frozen=True)
class Agreement:
    """Total variation of each word, a column for each model or version, the mean of each column last."""

    heads: tuple[str, ...]
    rows: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    about: About


def agreement(differences: Sequence[tuple[str, Difference]], about: About) -> Agreement:
    """How far the models or versions of these titles differ from the first, by the words of the first difference."""
    rows = differences[0][1].rows
    heads, means = [], []
    columns: list[Sequence[float | None]] = []
    for title, one in differences:
        same = one.rows == rows
        heads.append(title)
        columns.append(one.variation if same else [None] * len(rows))
        means.append(one.mean if same else None)
    return Agreement(tuple(heads), (*rows, "mean"), (*zip(*columns, strict=True), tuple(means)), about)


@dataclass(frozen=True)
class Differences:
    """Differences on one scale from -``furthest`` to ``furthest``, and the words' total variation; a ``hint`` if there
    is nothing to compare."""

    hint: str
    differences: tuple[DrawnDifference, ...] = ()
    furthest: float = 0.0
    agreement: Agreement | None = None
