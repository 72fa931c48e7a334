"""What if: words and attention changed by hand, and a list of the changes, each with its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from app.panels.panel import Panel, Payload
from app.panels.verdict import Share
from core.checkpoint import Checkpoint
from core.effects.offers import offers_for
from core.effects.turning import Change
from core.effects.words import Progress
from core.evidence import Matrix


@dataclass(frozen=True)
class Step:
    """The verdict after an edit, or of the pair as it was typed. ``said``: the edit for people; ``follows``: the
    probability of the class that is followed; ``change``: by how much this edit changed that; ``note``: why it does not
    act; ``words``: whether it is one of the words."""

    said: str
    classes: tuple[Share, ...]
    label: str
    p: float
    follows: float
    change: float | None
    note: str
    words: bool


@dataclass(frozen=True)
class EditableMap:
    """A map of attention that can be changed by hand, by the ``number`` that edits name it by."""

    number: int
    rows: str
    columns: str


@dataclass(frozen=True)
class ScoreMap(EditableMap):
    """A map of scores that can be changed by hand. ``shares``: of the way from the least match to the best, from 0 to
    1; ``least``: that match's score; ``words``: what stands along both edges; ``units``: what that is."""

    units: str
    words: tuple[tuple[str, ...], tuple[str, ...]]
    shares: Matrix
    least: float


@dataclass(frozen=True)
class WhatIf(Payload):
    """All steps, the pair as typed first. ``at``: how many edits are in effect; ``followed``: the first verdict's
    class, as people read it; ``sides``: the roles of the texts, in the order in which edits number them; ``maps``: of
    attention, none in a model without weights; ``note``: why there are none, of one whose weights are shown; ``cost``:
    of the search for the smallest change, of a model whose passes take long; ``scores``: the maps of a model that
    attends by scores."""

    steps: tuple[Step, ...]
    at: int
    followed: str
    sides: tuple[str, ...]
    maps: tuple[EditableMap, ...] = ()
    note: str = ""
    cost: str = ""
    scores: tuple[ScoreMap, ...] = ()


@dataclass(frozen=True)
class Related:
    """Words that may stand in another's place, by what they are to it."""

    relation: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Offered:
    """Of each text, for each of its words what may stand in its place. ``note``: why there is not more."""

    words: tuple[tuple[tuple[Related, ...], ...], ...]
    note: str


def offered(checkpoint: Checkpoint, texts: Sequence[str], progress: Progress) -> Offered:
    """What may stand in the place of each word of these texts, as this model splits them. The first time WordNet's
    files are read, for seconds."""
    limits = checkpoint.token_limits
    tokens = [checkpoint.reader.tokens(text)[:limit] for text, limit in zip(texts, limits, strict=True)]
    of, done, note = sum(len(side) for side in tokens), 0, ""
    words: list[tuple[tuple[Related, ...], ...]] = []
    for side in tokens:
        own: list[tuple[Related, ...]] = []
        for token in side:
            progress(done, of)
            done += 1
            offers = offers_for(token.norm) if token.is_word else None
            listed = sorted(offers.offers, key=lambda offer: offer.relation) if offers else []
            groups = groupby(listed, key=lambda offer: offer.relation)
            own.append(tuple(Related(relation, tuple(one.word for one in group)) for relation, group in groups))
            note = offers.note if offers else note
        words.append(tuple(own))
    return Offered(tuple(words), note)


@dataclass(frozen=True)
class Turn:
    """A smallest change of the pair, as the panel lists it. ``edits``: in their text form; ``said``: for people;
    ``p``: the probability of the verdict after it, ``follows``: that of the pair's own verdict, ``change``: by how much
    the latter changed."""

    edits: tuple[str, ...]
    said: tuple[str, ...]
    before: tuple[str, str]
    after: tuple[str, str]
    label: str
    p: float
    turned: bool
    follows: float
    change: float


def turns(changes: Sequence[Change], labels: Sequence[str], names: Sequence[str]) -> tuple[Turn, ...]:
    """What is listed of these changes; ``names``: of the ``labels``, as people read them."""
    return tuple(
        Turn(
            tuple(map(str, change.edits)),
            change.described,
            change.before,
            change.after,
            names[labels.index(change.verdict)],
            change.chance,
            change.turned,
            change.probability,
            -change.lost,
        )
        for change in changes
    )


PANEL = Panel(("what_if",), "changes")
