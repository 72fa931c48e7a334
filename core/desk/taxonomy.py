"""The available tags, and the changes allowed on them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from core.desk import event_log
from core.desk.event_log import Subject, Write
from core.desk.schema import clean
from core.errors import DeskError


@dataclass(frozen=True)
class Tag:
    """An available tag. ``merged``: names of the tags merged into it and displayed as it; ``definition``: when it
    applies, if written."""

    id: int
    name: str
    merged: tuple[str, ...] = ()
    definition: str = ""


class Taxonomy:
    """The tags as of a transaction, by number."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        values = event_log.values(connection, "")
        self.names = {tag: name for (kind, _, _, tag, _), name in values.items() if kind == "tag name"}
        self._definitions = {tag: text for (kind, _, _, tag, _), text in values.items() if kind == "tag definition"}
        merged = {tag: int(into) for (kind, _, _, tag, _), into in values.items() if kind == "tag merged"}
        self._merged = {tag: into for tag, into in merged.items() if tag in self.names}

    def shown_as(self, tag: int) -> int:
        """The tag as which a tag is displayed: itself, or the one it was merged into."""
        while tag in self._merged:
            tag = self._merged[tag]
        return tag

    def tags(self) -> list[Tag]:
        """The available tags, oldest first."""
        numbers = sorted(self.names)
        return [
            Tag(i, self.names[i], merged, self._definitions.get(i, ""))
            for i in numbers
            if i not in self._merged
            for merged in [tuple(self.names[j] for j in numbers if j != i and self.shown_as(j) == i)]
        ]

    def number(self, name: str) -> int:
        """The number of an available tag. Raises DeskError if no tag has the name."""
        for number, other in self.names.items():
            if other == name and number not in self._merged:
                return number
        raise DeskError(f"there is no tag {name[:80]!r}: choose one of the list, or add it first")

    def free_name(self, name: str, tag: int | None = None) -> str:
        """A cleaned name for a tag (None: a new one). Raises DeskError if it is empty or another tag has it."""
        name = clean(name.replace("|", "/"))  # the separator between tags in CSV files
        if not name:
            raise DeskError("a tag needs a name: type one")
        if any(name.casefold() == other.casefold() for number, other in self.names.items() if number != tag):
            raise DeskError(f"there is a tag {name!r} already: give another name, or merge the two")
        return name

    def add(self, author: int, name: str) -> int:
        """Adds a tag and returns its number. Raises DeskError as :meth:`free_name` does."""
        number, name = event_log.new_tag(self._connection), self.free_name(name)
        event_log.append(self._connection, [Write(author, Subject("tag name", tag=number), name)], {})
        self.names[number] = name
        return number

    def check(self, subject: Subject, value: str | None) -> None:
        """Raises DeskError if a tag may not be set to the value, or a mark's tag was removed."""
        tag = subject.tag
        if subject.kind == "tag name" and value is not None:
            self.free_name(value, tag)
        elif subject.kind == "tag name":
            if tag in self._merged.values() or event_log.used(self._connection, tag):
                raise DeskError("this tag was given to rows meanwhile: merge it into another one instead")
        elif tag:
            into = int(value or 0) if subject.kind == "tag merged" else 0
            if not {tag, into or tag} <= self.names.keys():
                raise DeskError("the tag was taken out of the list since: undo that first")
            if into and self.shown_as(into) == tag:
                raise DeskError("the other tag was merged into this one meanwhile: undo that first")
