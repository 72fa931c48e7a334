"""A change to the annotations: one transaction by one annotator, checked against what others wrote meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from core.desk import classes, event_log
from core.desk.database import writing
from core.desk.event_log import Write
from core.desk.taxonomy import Taxonomy


@contextmanager
def writing_as(engine: Engine, annotator: str) -> Iterator[tuple[Connection, int]]:
    """A transaction, and the annotator's number."""
    with writing(engine) as connection:
        yield connection, event_log.annotator_number(connection, annotator)


def put(connection: Connection, *writes: Write, undoes: int | None = None) -> None:
    """Logs these writes, all on one row, one tag or one class. Raises DeskError if the row's key cannot be stored, or
    the taxonomy or the classes do not allow it."""
    first = writes[0].subject
    current = event_log.values(connection, first.file, first.row)
    for write in writes:
        if current.get(write.subject) != write.value:
            if write.subject.tag:
                Taxonomy(connection).check(write.subject, write.value)
            classes.check(connection, write.subject, write.value)
    event_log.append(connection, writes, current, undoes)
