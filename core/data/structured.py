"""JSON and XML with rows that span several lines, converted to one JSON object per line.

JSON: a list of objects, objects that span several lines, ``{"data": [objects]}``, and columns as written by pandas'
``to_json``. XML: each element with two or more text elements in it, such as RTE's ``<pair>``, becomes an object of its
attributes and their texts.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from core.data.dataset import DataError, Problem
from core.data.layouts import fitting, is_sentence
from core.data.lines import HEAD, MOST_VALUES, Line

_LONGEST_VALUE = 1 << 26
"""Length limit in characters of a JSON value that spans several lines."""
_BEGINS_JSON = re.compile(r"\s*(\[\s*(\{|$)|\{\s*(\"|\}|$))")
_BEGINS_XML = re.compile(r"\s*<(\?xml|!DOCTYPE|!--|[A-Za-z][\w.-]*(\s+[\w.:-]+\s*=[^\t]*?)?\s*/?>)", re.IGNORECASE)
_WEB_PAGE = re.compile(r"\s*<(!DOCTYPE\s+html|html)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,\[\]]*")
_DECODER = json.JSONDecoder()


def one_row_a_line(lines: Iterator[Line], problems: list[Problem], name: str) -> Iterator[Line]:
    """The lines unchanged, or one line for each JSON object or XML record, with the number of its first line. Raises
    DataError for a web page, for XML that declares entities, and for JSON that is too large to hold in memory."""
    head = [*itertools.islice(lines, HEAD)]
    rest, first = itertools.chain(head, lines), head[0][1] if head else ""
    if _WEB_PAGE.match(first):
        raise DataError(f"{name} is a web page, not data; download the file that the page links to")
    if _BEGINS_XML.match(first) and "\t" not in first:
        return _of_xml(rest, problems, name)
    on_lines = any(_is_object(text) for _, text in head)
    if _BEGINS_JSON.match(first) and (len(head) == 1 or first.lstrip().startswith("[") or not on_lines):
        return _of_json(rest, name)
    return rest


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _of_json(lines: Iterator[Line], name: str) -> Iterator[Line]:
    values = _values(lines, name)
    first = [*itertools.islice(values, 2)]
    if len(first) == 1 and (rows := _rows_in(first[0][2])):
        yield from ((first[0][0], json.dumps(row)) for row in rows)
        return
    for number, text, _ in itertools.chain(first, values):
        yield number, text


def _values(lines: Iterator[Line], name: str) -> Iterator[tuple[int, str, Any]]:
    """Each object in a list, or in a sequence of objects: number of its first line, text, value. Unparsable remaining
    text has no value and ends the iteration."""
    text, starts, numbers, failed = "", list[int](), list[int](), 0
    ends: Iterator[Line | None] = itertools.chain(lines, [None])
    for line in ends:
        if line is not None:
            numbers.append(line[0])
            starts.append(len(text))
            text += f"{line[1]}\n"
            if len(text) < 2 * failed:  # parsing again after each line of a long value would take quadratic time
                continue
        if len(text) > _LONGEST_VALUE or (len(text) > MOST_VALUES and sum(map(text.count, "[{,")) > 4 * MOST_VALUES):
            raise DataError(f"{name} is one JSON value of more than {len(text):,} characters; give a row a line")
        at = 0
        while True:
            at = _end_of_gap(text, at)
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                break
            yield numbers[bisect.bisect(starts, at) - 1], text[at:end], value
            at = end
        kept = max(bisect.bisect(starts, at) - 1, 0)
        text, numbers, starts = text[at:], numbers[kept:], [max(0, start - at) for start in starts[kept:]]
        failed = len(text)
    if text:
        yield numbers[0], text, None


def _end_of_gap(text: str, at: int) -> int:
    gap = _BETWEEN.match(text, at)
    return gap.end() if gap else at


def _rows_in(value: Any) -> list[dict[str, Any]]:
    """The rows in a file's only object: a list of objects under one of its keys, or columns."""
    if not isinstance(value, dict):
        return []
    lists = [part for part in value.values() if isinstance(part, list) and part and isinstance(part[0], dict)]
    if len(lists) > 1:  # as in the Error desk's export, which also lists its models
        lists = [part for part in lists if fitting([*part[0]])]
    if len(lists) == 1:
        return lists[0]
    columns = {name: [*part.values()] if isinstance(part, dict) else part for name, part in value.items()}
    if fitting([*columns]) is None or not all(isinstance(part, list) for part in columns.values()):
        return []
    if len({len(part) for part in columns.values()}) != 1:
        return []
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


class _Element:
    def __init__(self, line: int, fields: dict[str, Any]) -> None:
        self.line, self.fields = line, fields
        self.attributes = len(fields)
        self.texts: list[str] = []
        self.has_text = False
        """Whether it has text besides its child elements."""
        self.leaves = 0
        self.holds_rows = False

    def add(self, name: str, text: str) -> None:
        """Adds a text under a name; several with the same name become a list."""
        known = self.fields.get(name)
        whole = text if known is None else [*(known if isinstance(known, list) else [known]), text]
        self.fields[name] = whole
        self.texts.append(text)
        self.leaves += 1


class _Records:
    """The XML records reported by an expat parser."""

    def __init__(self, name: str) -> None:
        self.name, self.line = name, 0
        self.stack, self.done = [_Element(0, {})], list[_Element]()
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler, self.parser.EntityDeclHandler = self._text, self._entity

    def taken(self) -> Iterator[Line]:
        """The completed records, each returned once."""
        yield from ((element.line, json.dumps(element.fields)) for element in self.done)
        self.done.clear()

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.stack.append(_Element(self.line, dict(attributes)))

    def _text(self, data: str) -> None:
        self.stack[-1].texts.append(data)
        self.stack[-1].has_text = self.stack[-1].has_text or not data.isspace()

    def _end(self, tag: str) -> None:
        element, parent, in_root = self.stack.pop(), self.stack[-1], len(self.stack) == 2
        is_row = element.leaves >= 2 or (element.attributes >= 2 and not element.leaves and in_root)
        if element.holds_rows:
            if len(self.stack) > 1 and any(map(is_sentence, element.texts)):
                raise DataError(
                    f"{self.name} has texts in <{tag}> next to records of texts, so it is unclear which belong "
                    "together; give a table with a pair in each row"
                )
            parent.holds_rows = True
        elif is_row and not element.has_text:
            parent.holds_rows = True
            self.done.append(element)
        else:
            parent.add(tag, "".join(element.texts).strip())

    def _entity(self, *_: object) -> None:
        raise DataError(f"{self.name} is XML with its own entities, which are not read; write their text instead")


def _of_xml(lines: Iterator[Line], problems: list[Problem], name: str) -> Iterator[Line]:
    records = _Records(name)
    try:
        for records.line, text in lines:
            records.parser.Parse(f"{text}\n")
            yield from records.taken()
        records.parser.Parse("", True)
    except expat.ExpatError as error:
        yield from records.taken()
        problems.append(Problem(records.line, f"not well-formed XML ({expat.ErrorString(error.code)})"))
