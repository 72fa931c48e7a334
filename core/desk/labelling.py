"""The changes that people make when they label the rows of a file."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine

from core.data.labels import key
from core.desk.changes import put, writing_as
from core.desk.classes import classes_of, free_name, new_number
from core.desk.event_log import NO, YES, Subject, Write
from core.desk.schema import check_row


class Labelling:
    """Writes classes, labels and decisions to a database (:func:`core.desk.database.open_database`). All methods raise
    DeskError if the database is unreachable or a change is rejected."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add_classes(self, annotator: str, file: str, names: Sequence[str]) -> None:
        """Adds the classes with these names that the file does not have, after the others."""
        with writing_as(self._engine, annotator) as (connection, by):
            for name in names:
                classes = classes_of(connection, file)
                if key(name) not in map(key, classes.values()):
                    number = new_number(connection, file)
                    put(connection, Write(by, Subject("class", file, str(number)), free_name(classes, name)))

    def rename_class(self, annotator: str, file: str, number: int, name: str) -> None:
        """Renames a class in all labels at once."""
        with writing_as(self._engine, annotator) as (connection, by):
            name = free_name(classes_of(connection, file), name, number)
            put(connection, Write(by, Subject("class", file, str(number)), name))

    def remove_class(self, annotator: str, file: str, number: int) -> None:
        """Removes a class that no row is labelled with."""
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("class", file, str(number)), None))

    def label(
        self,
        annotator: str,
        file: str,
        row: str,
        label: int | str | None,
        guess: tuple[int, bool, int] | None = None,
    ) -> None:
        """Labels a row with one class (a number), replacing an earlier label, or with one of the words in
        :mod:`core.desk.classes` for no class yet. None withdraws the label. ``guess``: what a model predicted before: a
        class's number, whether the row was drawn at random, and the number of labels it had learned from."""
        check_row(row)
        with writing_as(self._engine, annotator) as (connection, by):
            writes = [Write(by, Subject("label", file, row, owner=by), None if label is None else str(label))]
            if guess is not None and label is not None:
                number, random, count = guess
                value = f"{number} {YES if random else NO} {count}"
                writes.append(Write(by, Subject("guess", file, row, owner=by), value))
            put(connection, *writes)

    def decide(self, annotator: str, file: str, row: str, number: int | None) -> None:
        """Decides on a row's class, whatever its labels; None reopens the question."""
        check_row(row)
        with writing_as(self._engine, annotator) as (connection, by):
            value = None if number is None else f"{number} {by}"
            put(connection, Write(by, Subject("decided", file, row), value))

    def decides(self, annotator: str, file: str, decides: bool) -> None:
        """Sets whether an annotator is an adjudicator, who sees all labels, decides on them, and labels no rows."""
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("decides", file, owner=by), YES if decides else None))
