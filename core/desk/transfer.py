"""Exports tags, labels and notes as one JSON file, and imports them into another desk, for a changed file, or for the
same file read with other columns: rows are matched by id or by texts, and unmatched rows are counted."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from sqlalchemy import Connection, Engine

from core.data.labels import key
from core.desk import event_log
from core.desk.changes import put, writing_as
from core.desk.classes import MOST_CLASSES, UNSURE, classes_in, free_name, new_number
from core.desk.event_log import NO, YES, Subject, Write
from core.desk.file_state import FileState
from core.desk.run import Run
from core.desk.schema import LONGEST_NOTE, clean
from core.desk.taxonomy import Tag, Taxonomy
from core.errors import DeskError
from core.json_types import LENIENT, checked
from core.wording import counted

FORMAT = "PairLens annotations"
BY_ID, BY_TEXTS = "id", "texts"
LARGEST = 1 << 28
"""Size limit in bytes of a file to import."""
_LISTED = 8
"""Maximum number of names in a sentence."""


@dataclass(frozen=True)
class RowMarks:
    """People's annotations of a row."""

    id: str
    texts: tuple[str, str]
    done: tuple[str, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Those who gave each tag."""
    settled: Mapping[str, bool] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    """The class by annotator."""
    unsure: tuple[str, ...] = ()
    decided: tuple[str, str] | None = None
    """The class and the person who decided on it."""


@dataclass(frozen=True)
class Whole:
    """All annotations of a file."""

    format: str
    file: str
    sha256: str
    withheld: int
    """Number of reviews that were hidden from the exporter."""
    classes: tuple[str, ...]
    tags: Mapping[str, str]
    """The definition of each tag, which may be empty."""
    rows: tuple[RowMarks, ...]


def whole(run: Run, state: FileState, tags: Sequence[Tag]) -> Whole:
    """The annotations in a state of a run's file."""
    rows = tuple(_marks(place, known, run, state) for known, place in run.places(state.rows).items())
    facts = FORMAT, run.dataset.name, run.dataset.sha256, state.withheld, tuple(state.classes.values())
    return Whole(*facts, {tag.name: tag.definition for tag in tags}, rows)


def _marks(place: int, known: str, run: Run, state: FileState) -> RowMarks:
    row, own = run.dataset.rows[place], state.rows[known]
    decided = (own.decision.label, own.decision.by) if own.decision else None
    tags = {tag: tuple(sorted(people)) for tag, people in own.tags.items()}
    done, unsure = tuple(sorted(own.done)), tuple(sorted(own.unsure))
    return RowMarks(known, (row.first, row.second), done, tags, own.settled, own.notes, own.labels, unsure, decided)


def to_text(annotations: Whole) -> str:
    """The annotations as JSON."""
    return json.dumps(asdict(annotations), ensure_ascii=False, indent=1)


def from_text(text: str | bytes) -> Whole:
    """The annotations in a file. Raises DeskError for any other file."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise ValueError
        return checked(found, Whole, by=LENIENT)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DeskError(
            "this file does not hold annotations: give one that “Everything (JSON)” saved under Export"
        ) from None


@dataclass
class BroughtIn:
    """The outcome of an import."""

    rows: int = 0
    """Number of rows that matched."""
    unmatched: int = 0
    marks: int = 0
    """Tags, notes, labels and decisions written."""
    kept: int = 0
    """Number of marks left out because the row already had other values."""
    people: list[str] = field(default_factory=list)
    """Names that were removed here or are invalid: their marks are left out."""
    new: list[str] = field(default_factory=list)
    """Classes and tags that were added."""
    lost: list[str] = field(default_factory=list)
    """Classes and tags that could not be added."""

    def sentence(self) -> str:
        """The outcome in words."""
        rows = self.rows + self.unmatched
        told = [f"{self.rows:,} of {counted(rows, 'row')} matched, {counted(self.marks, 'mark')} written"]
        told += [f"{self.unmatched:,} did not match"] if self.unmatched else []
        told += [f"{self.kept:,} differ from those here, which stay"] if self.kept else []
        told += [f"added: {_listed(self.new)}"] if self.new else []
        told += [f"left out: {_listed(self.lost)}"] if self.lost else []
        told += [f"people removed here, or without a name, left out: {_listed(self.people)}"] if self.people else []
        return "; ".join(told) + "."


def _listed(names: Sequence[str]) -> str:
    """The first of these names, shortened, and how many more there are."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(f"{name[:40]}…" if len(name) > 40 else name or "“”" for name in names[:_LISTED]) + more


def matches(run: Run, rows: Sequence[RowMarks], by: str) -> dict[int, str]:
    """The key of the run's row for each of these rows, by its index: the one of the same id, or of the same texts (the
    first one for the first, if several have them)."""
    if by == BY_ID:
        found = run.places(row.id for row in rows)
        return {at: row.id for at, row in enumerate(rows) if row.id in found}
    wanted = {_plain(row.texts) for row in rows}
    places = defaultdict[tuple[str, str], list[int]](list)
    for place, texts in enumerate(pair for part in run.rows.texts(10_000) for pair in zip(*part, strict=True)):
        if _plain(texts) in wanted:
            places[_plain(texts)].append(place)
    taken, out = Counter[tuple[str, str]](), {}
    for at, row in enumerate(rows):
        own = _plain(row.texts)
        if taken[own] < len(places[own]):
            out[at] = str(run.keys[places[own][taken[own]]])
            taken[own] += 1
    return out


def _plain(texts: Sequence[str]) -> tuple[str, str]:
    first, second = (" ".join(text.split()) for text in texts)
    return first, second


def bring_in(engine: Engine, annotator: str, run: Run, annotations: Whole, by: str) -> BroughtIn:
    """Writes the annotations to the rows of a run that match, for the people who made them. Nothing that is there
    changes; unknown people, classes and tags are added. Atomic; raises DeskError if the database refuses."""
    found, file = matches(run, annotations.rows, by), run.dataset.sha256
    outcome = BroughtIn(len(found), len(annotations.rows) - len(found))
    with writing_as(engine, annotator) as (connection, author):
        names = _Names(connection, author, file, annotations, outcome)
        current, writes = event_log.values(connection, file), list[Write]()
        for at, own in found.items():
            for subject, value in names.subjects(annotations.rows[at], own):
                if subject in current and current[subject] != value:
                    outcome.kept += 1
                elif subject not in current:
                    writes.append(Write(author, subject, value))
        outcome.marks = len(writes)
        event_log.append(connection, writes, current)
    return outcome


class _Names:
    """The numbers, in this database, of the people, classes and tags of imported annotations."""

    def __init__(self, connection: Connection, author: int, file: str, annotations: Whole, outcome: BroughtIn) -> None:
        self._connection, self._author, self._file, self._outcome = connection, author, file, outcome
        self._people: dict[str, int | None] = {}
        self._classes = {key(name): n for n, name in classes_in(event_log.values(connection, file)).items()}
        self._tags: dict[str, int | None] = {}
        self._definitions = annotations.tags
        for name in annotations.classes:
            self._class(name)

    def subjects(self, row: RowMarks, known: str) -> Iterator[tuple[Subject, str]]:
        """A row's annotations, as subjects of the matching row ``known`` in this database."""
        for name in row.done:
            yield from self._of(name, "looked", known, YES)
        for tag, people in row.tags.items():
            for name in people:
                if (number := self._tag(tag)) is not None:
                    yield from self._of(name, "tag", known, YES, number)
        for name, note in row.notes.items():
            if text := clean(note, LONGEST_NOTE):
                yield from self._of(name, "note", known, text)
        for name, label in row.labels.items():
            if (number := self._class(label)) is not None:
                yield from self._of(name, "label", known, str(number))
        for name in row.unsure:
            yield from self._of(name, "label", known, UNSURE)
        for tag, holds in row.settled.items():
            if (number := self._tag(tag)) is not None:
                yield Subject("settled", self._file, known, number), YES if holds else NO
        if row.decided is not None:
            decided, by = self._class(row.decided[0]), self._person(row.decided[1])
            if decided is not None and by is not None:
                yield Subject("decided", self._file, known), f"{decided} {by}"

    def _of(self, name: str, kind: str, row: str, value: str, tag: int = 0) -> Iterator[tuple[Subject, str]]:
        owner = self._person(name)
        if owner is not None:
            yield Subject(kind, self._file, row, tag, owner), value

    def _person(self, name: str) -> int | None:
        if name not in self._people:
            try:
                self._people[name] = event_log.annotator_number(self._connection, name)
            except DeskError:
                self._people[name] = None
                self._outcome.people.append(name)
        return self._people[name]

    def _class(self, name: str) -> int | None:
        if key(name) not in self._classes:
            try:
                if len(self._classes) >= MOST_CLASSES:
                    raise DeskError("too many classes")
                number = new_number(self._connection, self._file)
                subject = Subject("class", self._file, str(number))
                put(self._connection, Write(self._author, subject, free_name({}, name)))
            except DeskError:
                if name not in self._outcome.lost:
                    self._outcome.lost.append(name)
                return None
            self._classes[key(name)] = number
            self._outcome.new.append(name)
        return self._classes[key(name)]

    def _tag(self, name: str) -> int | None:
        if name not in self._tags:
            taxonomy = Taxonomy(self._connection)
            same = next((n for n, other in taxonomy.names.items() if other.casefold() == name.casefold()), None)
            try:
                if same is None:
                    same = taxonomy.add(self._author, name)
                    self._outcome.new.append(name)
                    if text := clean(self._definitions.get(name, ""), LONGEST_NOTE):
                        put(self._connection, Write(self._author, Subject("tag definition", tag=same), text))
                self._tags[name] = taxonomy.shown_as(same)
            except DeskError:
                self._tags[name] = None
                self._outcome.lost.append(name)
        return self._tags[name]
