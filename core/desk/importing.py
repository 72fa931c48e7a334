"""Tags and notes on many rows of a file, all of them or none: what each line says becomes so, and is written down as
changes that can be undone one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from core.desk import changes, schema
from core.desk.changes import YES, Subject


@dataclass(frozen=True)
class Marked:
    """What one line of a file of tags says."""

    row: str
    annotator: str
    tags: frozenset[str]
    note: str


def take(connection: Connection, author: int, file: str, new_tags: Iterable[str], lines: Sequence[Marked]) -> None:
    """Make all lines so; ``author`` adds those of ``new_tags`` that are not there yet. Raises DeskError for a tag that
    is neither there nor new."""
    known = {name.casefold() for name in connection.scalars(sa.select(schema.tag.c.name))}
    for name in new_tags:
        if name.casefold() not in known:
            changes.add_tag(connection, author, name)
    there = changes.values_of_rows(connection, file)
    changes.write(connection, _wanted(connection, file, there, lines), there)


def _wanted(
    connection: Connection, file: str, there: Iterable[Subject], lines: Sequence[Marked]
) -> Iterator[tuple[int, Subject, str | None]]:
    """What the lines say, in their order: whose, of what, and its value."""
    names = dict.fromkeys(line.annotator for line in lines)
    annotators = {name: changes.annotator_number(connection, name) for name in names}
    read_as = {number: into for number, (into, _) in changes.reads_as(connection).items()}
    numbers = {
        name.casefold(): read_as[i] for i, name in connection.execute(sa.select(schema.tag.c.id, schema.tag.c.name))
    }
    given: dict[tuple[int | None, str | None], list[int]] = defaultdict(list)
    for subject in there:
        if subject.what == "tag" and subject.tag is not None:
            given[subject.annotator, subject.row].append(subject.tag)
    for line in lines:
        changes.check_row(line.row)
        by, tags = annotators[line.annotator], []
        for name in sorted(line.tags):
            if name.casefold() not in numbers:
                raise changes.no_tag(name)
            tags.append(numbers[name.casefold()])
        # A mark made with a tag that was merged into another one counts as that one's.
        own = given.get((by, line.row), [])
        gone = [(tag, None) for tag in own if read_as[tag] not in tags]
        new = [(tag, YES) for tag in tags if tag not in {read_as[tag] for tag in own}]
        for tag, value in (*gone, *new):
            yield by, Subject("tag", file, line.row, tag, by), value
        if not tags:
            yield by, Subject("looked", file, line.row, annotator=by), YES
        if line.note:
            yield by, Subject("note", file, line.row, annotator=by), line.note
