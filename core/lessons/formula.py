r"""Formulas in lessons: LaTeX converted to MathML (by latex2mathml), with the example's numbers inserted.

``\val{name}`` is replaced by the named value (a vector in parentheses, a matrix in brackets); ``\each{between}{name}{
body}`` repeats the body for every part of a value, replacing each # by the part's number, from 1; ``\if{name}{body}{
otherwise}`` is the body unless the value is 0; and a line ``\list{words}{name}{title}`` is a value's numbers, each with
its word, as plain text that wraps. Browsers render
MathML natively, on the page and in a printed handout; each number carries its name (``data-of``) for clicks.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from xml.etree.ElementTree import Element, SubElement

from latex2mathml.converter import convert

from core.lessons.lesson import LessonError, Values, at, place_of, shown

MOST = 3
r"""Number of parts that an ``\each`` shows before it only counts the rest."""
LONGEST = 7
"""Length of a vector that a formula shows before it only counts the rest, unless at most two are left."""
LINE = 4 * "_"
"""Replaces a blank number."""
HIDDEN = "…"
"""Replaces a number that would give a blank one away."""
NEW_ROW = r" \\ "
MACROS = {
    "softmax": r"\operatorname{softmax}",
    "mean": r"\operatorname{mean}",
    "mathbf": r"\operatorname",
    "minus": "-",
}
"""Our own commands, and names set upright."""
_LIST = re.compile(r"\\list\{(\w+)\}\{(\w+)\}\{([^{}]*)\}")
_SIGN_BEFORE = re.compile(r"([-+·×]|\\times|\\cdot)\s*$")


def mathml(
    latex: str,
    values: Values,
    digits: int,
    blank: Mapping[str, str] = MappingProxyType({}),
    words: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """A formula as MathML, a list as a paragraph. ``blank``: the texts that replace numbers, by name; ``words``: the
    words of lists. Raises LessonError for LaTeX that cannot be converted, and for an unknown value."""
    named: list[tuple[str, str]] = []
    latex = expanded(latex, values)
    if listed := _LIST.fullmatch(latex):
        return _listed(listed, values, digits, blank, words)

    def place(name: str, value: float) -> str:
        named.append((name, blank.get(name) or shown(value, digits)))
        return rf"\class{{number{len(named) - 1}}}{{0}}"

    def given(match: re.Match[str]) -> str:
        name, value = place_of(values, match[1]), at(values, match[1])
        if not isinstance(value, list):
            number = place(name, value)
            signed = value < 0 and name not in blank and _SIGN_BEFORE.search(match.string[: match.start()])
            return f"({number})" if signed else number
        if value and isinstance(value[0], list):
            rows = [
                " & ".join(place(f"{name}.{i}.{j}", cell) for j, cell in enumerate(row, 1))
                for i, row in enumerate(value, 1)
            ]
            return rf"\begin{{matrix}} {NEW_ROW.join(rows)} \end{{matrix}}"
        most = _most(len(value))
        parts = [place(f"{name}.{i}", part) for i, part in enumerate(value[:most], start=1)]
        if len(value) > most:
            parts.append(rf"\text{{and {len(value) - most} more}}")
        named.append((name, ""))
        return rf"\class{{number{len(named) - 1}}}{{({', '.join(parts)})}}"

    if latex.count("{") != latex.count("}"):
        raise LessonError(f"the formula {latex!r} lacks a brace: add it")
    written = re.sub(r"\\val\{([^{}]*)\}", given, latex)
    written = re.sub(r"\\([A-Za-z]+)", lambda match: MACROS.get(match[1], match[0]), written)
    try:
        root = ElementTree.fromstring(convert(written, xmlns="", display="block"))
    except Exception as error:  # latex2mathml raises many exception types
        raise LessonError(f"the formula {latex!r} is not valid LaTeX ({type(error).__name__}): correct it") from None
    for element in root.iter():
        _finish(element, named, latex)
    return ElementTree.tostring(root, encoding="unicode")


def _most(count: int) -> int:
    """How many numbers are shown of a list of this length."""
    return LONGEST if count > LONGEST + 2 else count


def _listed(
    listed: re.Match[str],
    values: Values,
    digits: int,
    blank: Mapping[str, str],
    words: Mapping[str, Sequence[str]],
) -> str:
    """A value's first numbers with their words, as a paragraph."""
    of, name, title = listed[1], listed[2], listed[3]
    value, paragraph = at(values, name), Element("p", {"class": "listed"})
    if of not in words or not isinstance(value, list) or len(value) != len(words[of]):
        raise LessonError(f"the list of {name!r} needs one word for each number: name its words instead of {of!r}")
    paragraph.text = f"{title} · " if title else ""
    most = _most(len(value))
    for i, (word, number) in enumerate(zip(words[of][:most], value, strict=False), 1):
        item = SubElement(paragraph, "span")
        SubElement(item, "bdi").text = f"{word}: "
        part = SubElement(item, "b", {"data-of": f"{name}.{i}", "class": "value"})
        part.text = blank.get(f"{name}.{i}") or shown(number, digits)
        item.tail = "; " if i < most else ""
    if len(value) > most:
        item.tail = f"; and {len(value) - most} more"
    return ElementTree.tostring(paragraph, encoding="unicode", method="html")


def _finish(element: Element, named: list[tuple[str, str]], latex: str) -> None:
    """Inserts the numbers, and sets names upright."""
    text = element.text or ""
    if element.tag == "mfrac" and len(element) != 2:
        raise LessonError(f"the formula {latex!r} has a fraction without two parts: correct it")
    if text.startswith("\\"):
        raise LessonError(f"the formula {latex!r} has the unknown command {text}: see docs/lessons.md")
    marked = re.fullmatch(r"number(\d+)", element.get("class", ""))
    if marked:
        name, number = named[int(marked[1])]
        element.attrib = {"data-of": name}
        if number:
            element.clear()
            element.tag, element.text = "mn", number
            element.attrib = {"data-of": name, "class": "value"}
    elif element.tag == "munder":
        element.tag = "msub"  # limits next to the sign, so that a handout fits on one page
    elif element.tag == "mover":
        element.set("accent", "true")
    elif element.tag == "mtable":
        element.set("class", "matrix")
    elif element.tag in ("mo", "mi") and len(text) > 1 and text.isalpha():
        element.tag = "mi"
        element.attrib = {"mathvariant": "normal", "class": "name"}


def expanded(latex: str, values: Values, every: bool = False) -> str:
    r"""The formula without ``\if`` and ``\each``; ``every``: with all parts of each value, however many."""
    while (begin := latex.find(r"\if{")) >= 0:
        (name, body, otherwise), end = _arguments(latex, begin + len(r"\if"))
        latex = latex[:begin] + (body if at(values, name) else otherwise) + latex[end:]
    while (begin := latex.find(r"\each{")) >= 0:
        (between, name, body), end = _arguments(latex, begin + len(r"\each"))
        value = at(values, name)
        count = len(value) if isinstance(value, list) else 1
        most = count if every or count <= MOST else MOST - 1
        repeated = [body.replace("#", str(i + 1)) for i in range(most)]
        if count > most:
            repeated.append(rf"\cdots \text{{ ({count - most} more)}}")
        latex = latex[:begin] + f" {between} ".join(repeated) + latex[end:]
    return latex


def _arguments(latex: str, end: int) -> tuple[list[str], int]:
    """The three arguments in braces that begin at ``end``, and where they end."""
    parts = []
    for _ in range(3):
        close = _closing(latex, end)
        parts.append(latex[end + 1 : close])
        end = close + 1
    return parts, end


def _closing(latex: str, start: int) -> int:
    """The index of the brace that closes the one at ``start``."""
    depth = 0
    for place in range(start, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[place], 0)
        if depth == 0:
            return place
    raise LessonError(f"the formula {latex!r} lacks a brace: add it")
