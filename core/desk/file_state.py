"""People's annotations of a file's rows (tags, notes, labels and decisions), and which of them an annotator may see."""

from __future__ import annotations

import zlib
from base64 import b64decode
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from core.desk.event_log import NO, YES


class Decision(NamedTuple):
    """A row's class and the person who decided on it."""

    label: str
    by: str


class Guess(NamedTuple):
    """A model's prediction for a row before an annotator labelled it."""

    label: str
    random: bool
    """Whether the row was drawn at random: only such rows count for the model's accuracy."""
    labels: int
    """Number of labels that the model had learned from."""
    right: bool
    """Whether the annotator gave this label."""


@dataclass(slots=True)
class RowState:
    """The annotations of a row."""

    tags: dict[str, set[str]] = field(default_factory=dict)
    """The annotators who gave each tag."""
    looked: set[str] = field(default_factory=set)
    """Those who tagged it, wrote a note on it, or marked it as done."""
    notes: dict[str, str] = field(default_factory=dict)
    """Notes by annotator."""
    settled: dict[str, bool] = field(default_factory=dict)
    """Whether a disputed tag applies, once settled."""
    done: set[str] = field(default_factory=set)
    """Those who marked it as done: no more tags apply; and the file's first annotator for rows tagged before anyone
    else reviewed one, because until then tagging a row counts as having reviewed it."""
    labels: dict[str, str] = field(default_factory=dict)
    """The class that each annotator gave."""
    unsure: set[str] = field(default_factory=set)
    """Those who cannot tell the class."""
    skipped: set[str] = field(default_factory=set)
    """Those who left the label for later."""
    decision: Decision | None = None
    """The class that an adjudicator decided on."""

    guesses: dict[str, tuple[str, bool, int]] = field(default_factory=dict)
    """The class, and the further facts of :class:`Guess`, that a model predicted before an annotator's label."""

    @property
    def reviewers(self) -> set[str]:
        """The annotators who tagged or labelled it, or said that they are unsure."""
        return self.looked | self.labels.keys() | self.unsure

    @property
    def decided(self) -> Decision | None:
        """The decision, or else the class if all who labelled the row agree."""
        if self.decision is not None or self.unsure or len({*self.labels.values()}) != 1:
            return self.decision
        return Decision(next(iter(self.labels.values())), ", ".join(sorted(self.labels)))

    @property
    def votes(self) -> Counter[str]:
        """Number of annotators who gave each class."""
        return Counter(self.labels.values())

    def answer(self, annotator: str, label: str | None) -> None:
        """Adds an annotator's class; None if they cannot tell."""
        if label is None:
            self.unsure.add(annotator)
        else:
            self.labels[annotator] = label

    def add(self, kind: str, annotator: str, value: str, tag: str) -> None:
        """Adds an annotator's mark or note."""
        self.looked.add(annotator)
        if kind == "looked":
            self.done.add(annotator)
        elif kind == "tag":
            self.tags.setdefault(tag, set()).add(annotator)
        elif kind == "note":
            self.notes[annotator] = value

    def of(self, annotator: str) -> RowState:
        """One annotator's share of the row's state."""
        own = {annotator}
        tags = {tag: own.copy() for tag in self.tags_of(annotator)}
        notes = {by: note for by, note in self.notes.items() if by == annotator}
        labels = {by: label for by, label in self.labels.items() if by == annotator}
        doubts = self.unsure & own, self.skipped & own
        guesses = {by: guess for by, guess in self.guesses.items() if by == annotator}
        return RowState(tags, self.looked & own, notes, {}, self.done & own, labels, *doubts, guesses=guesses)

    def shown_to(self, annotator: str) -> bool:
        """Whether a blind annotator sees all of it: after marking it as done, or labelling it."""
        return annotator in self.done or annotator in self.labels or annotator in self.unsure

    def tags_of(self, annotator: str) -> set[str]:
        """The tags given by one annotator."""
        return {tag for tag, annotators in self.tags.items() if annotator in annotators}

    def tags_that_hold(self) -> set[str]:
        """The tags settled as applying, and unsettled tags that anyone gave."""
        return {tag for tag in (*self.tags, *self.settled) if self.settled.get(tag, True)}

    def decisions(self) -> list[str]:
        """The settled tags in words: "other: yes"."""
        return [f"{tag}: {YES if holds else NO}" for tag, holds in self.settled.items()]


@dataclass(frozen=True)
class FileState:
    """The annotations of a file's rows."""

    rows: Mapping[str, RowState] = field(default_factory=dict)
    """By key; :meth:`row` also works for rows without annotations."""
    reported: tuple[str, ...] = ()
    """The rows in the report, in the order in which they were chosen."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """The filters of the saved slices by name, oldest first."""
    reviewed: Mapping[str, int] = field(default_factory=dict)
    """Number of rows each annotator reviewed."""
    blind_as_set: bool | None = None
    """See :meth:`blind`; None until someone sets it."""
    hands: tuple[tuple[str, ...], ...] = ()
    """The groups of annotators to whom rows are assigned in turn; see :meth:`Annotations.deal`."""
    maker: str = ""
    """Who made the file's run and may delete it; see :meth:`Annotations.made`."""
    packed: str = ""
    """The assigned rows, packed; empty: all."""
    classes: Mapping[int, str] = field(default_factory=dict)
    """The classes that rows can be labelled with, by number."""
    deciders: frozenset[str] = frozenset()
    """Those who decide on disagreements instead of labelling."""

    def dealt_rows(self, rows: int) -> np.ndarray:
        """The assigned rows of a file, bool ``[rows]``."""
        if not self.hands or not self.packed:
            return np.full(rows, bool(self.hands))
        return np.unpackbits(np.frombuffer(zlib.decompress(b64decode(self.packed)), np.uint8), count=rows).astype(bool)

    def dealt(self, draws: np.ndarray) -> np.ndarray:
        """The index in :attr:`hands` of the group to which each row is assigned, int ``[N]``, -1 for none; ``draws``:
        the rows' random numbers (:attr:`core.desk.run.Run.draws`)."""
        chosen, hands = np.flatnonzero(self.dealt_rows(len(draws))), np.full(len(draws), -1)
        hands[chosen[np.argsort(draws[chosen], kind="stable")]] = np.arange(len(chosen)) % max(1, len(self.hands))
        return hands

    def deals_to(self, annotator: str) -> bool:
        """Whether rows are dealt to an annotator, who then labels only these."""
        return any(annotator in hand for hand in self.hands)

    def dealt_to(self, annotator: str, draws: np.ndarray) -> np.ndarray:
        """The rows that are dealt to an annotator, bool ``[N]``."""
        return np.isin(self.dealt(draws), [at for at, hand in enumerate(self.hands) if annotator in hand])

    def guesses(self, annotator: str) -> list[Guess]:
        """A model's predictions for the rows that an annotator labelled afterwards."""
        known = [
            (row.guesses[annotator], row.labels[annotator])
            for row in self.rows.values()
            if annotator in row.guesses and annotator in row.labels
        ]
        return [Guess(*guess, guess[0] == label) for guess, label in known]

    def blind(self, annotator: str) -> bool:
        """Whether an annotator ("" for a visitor without a name) sees the others' annotations of a row only after
        marking it as done or labelling it: the explicit setting, or else whether others have reviewed rows."""
        if annotator in self.deciders:
            return False
        return bool(self.reviewed.keys() - {annotator}) if self.blind_as_set is None else self.blind_as_set

    def seen_by(self, annotator: str, decisions: bool = False) -> FileState:
        """The annotations that an annotator may see; with ``decisions``, including all decisions, as in exports."""
        if not self.blind(annotator):
            return self
        seen = dict[str, RowState]()
        for key, row in self.rows.items():
            own = row if row.shown_to(annotator) else row.of(annotator)
            if decisions and own is not row:
                own.settled, own.decision = row.settled, row.decision
            if own != _EMPTY:
                seen[key] = own
        return replace(self, rows=seen)

    @property
    def withheld(self) -> int:
        """Number of row reviews that :meth:`seen_by` has left out."""
        return sum(self.reviewed.values()) - sum(len(row.reviewers) for row in self.rows.values())

    def row(self, key: str) -> RowState:
        """The state of a row, which may be empty."""
        return self.rows.get(key) or RowState()


_EMPTY = RowState()
