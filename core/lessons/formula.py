r"""Formulas of lessons: a part of LaTeX as MathML, with numbers of the example in their places.

``\val{name}`` stands for a value by its name (a vector lies in parentheses, a matrix in brackets); ``\each{between}{
name}{body}`` repeats the body for every part of a value, with its number, from 1, in place of each #. MathML is what
browsers draw themselves, on the page and in a printed handout, and a number in it can be pointed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape

from core.lessons.lesson import LessonError, Values, at, place_of, shown

SYMBOLS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "kappa": "κ",
    "sigma": "σ",
    "tau": "τ",
    "Sigma": "Σ",
    "psi": "ψ",
}
OPERATORS = {
    "cdot": "·", "times": "×", "odot": "⊙", "sum": "∑", "approx": "≈", "neq": "≠", "le": "≤", "ge": "≥", "cdots": "⋯",
    "dots": "…", "to": "→", "in": "∈", "mid": "|", "lVert": "‖", "rVert": "‖", "top": "⊤", "circ": "∘", "minus": "−",
}  # fmt: skip
SIGNS = ("+", "−", "×", "·")
FLAT = {"stretchy": "false"}
FUNCTIONS = ("tanh", "exp", "max", "min", "cos", "softmax", "mean", "arg")
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", " ": "0.3em"}
MOST = 3
r"""Parts that an ``\each`` shows before it says how many more there are."""

LONGEST = 8
"""Numbers of a vector that a formula shows before it says how many more there are."""

_TOKEN = re.compile(r"\\([A-Za-z]+|.)|([0-9]+(?:\.[0-9]+)?)|\s+|(.)", re.DOTALL)


@dataclass
class Node:
    """An element of MathML: its name, attributes, and text or elements in it."""

    tag: str
    children: list[Node | str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def to_list(self) -> list[object]:
        """``[tag, attributes, children]``, as the browser builds it."""
        return [self.tag, self.attributes, [c if isinstance(c, str) else c.to_list() for c in self.children]]

    def to_html(self) -> str:
        """The element as text."""
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in self.attributes.items())
        inner = "".join(escape(c) if isinstance(c, str) else c.to_html() for c in self.children)
        return f"<{self.tag}{attributes}>{inner}</{self.tag}>"


def mathml(latex: str, values: Values, digits: int) -> Node:
    """A formula as MathML. Raises LessonError for a command that is none of those known here, and for a value that
    there is not."""
    parser = _Parser(_repeated(latex, values), values, digits)
    body = parser.row("")
    return Node("math", [body], {"display": "block"})


def _repeated(latex: str, values: Values) -> str:
    r"""The formula without ``\each``."""
    while (begin := latex.find(r"\each{")) >= 0:
        end, parts = begin + len(r"\each"), []
        for _ in range(3):
            close = _closing(latex, end)
            parts.append(latex[end + 1 : close])
            end = close + 1
        between, name, body = parts
        value = at(values, name)
        count = len(value) if isinstance(value, list) else 1
        shown_ = [body.replace("#", str(i + 1)) for i in range(count if count <= MOST else MOST - 1)]
        if count > MOST:
            shown_.append(rf"\cdots \text{{ ({count - MOST + 1} more)}}")
        latex = latex[:begin] + f" {between} ".join(shown_) + latex[end:]
    return latex


def _closing(latex: str, start: int) -> int:
    """Where the brace that opens at ``start`` closes."""
    depth = 0
    for place in range(start, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[place], 0)
        if depth == 0:
            return place
    raise LessonError(f"the formula {latex!r} lacks a closing brace: add it")


class _Parser:
    def __init__(self, latex: str, values: Values, digits: int) -> None:
        self.latex, self.values, self.digits, self.place = latex, values, digits, 0

    def _peek(self) -> str:
        while self.place < len(self.latex) and self.latex[self.place].isspace():
            self.place += 1
        return self.latex[self.place : self.place + 1]

    def _argument(self) -> str:
        """The text between the next two braces."""
        if self._peek() != "{":
            raise LessonError(f"the formula {self.latex!r} lacks a brace at {self.latex[self.place :]!r}: add it")
        close = _closing(self.latex, self.place)
        inner, self.place = self.latex[self.place + 1 : close], close + 1
        return inner

    def _group(self) -> Node:
        return _Parser(self._argument(), self.values, self.digits).row("")

    def row(self, end: str) -> Node:
        """Everything up to ``end``."""
        parts: list[Node | str] = []
        while (peek := self._peek()) and not (end and self.latex.startswith(end, self.place)):
            if peek in "_^":
                self.place += 1
                kind = {"_": "msub", "^": "msup"}[peek]
                base = parts.pop() if parts else Node("mrow")
                script = self._group() if self._peek() == "{" else self._atom()
                if kind == "msup" and isinstance(base, Node) and base.tag == "msub":
                    parts.append(Node("msubsup", [*base.children, script]))
                else:
                    parts.append(Node(kind, [base, script]))
            else:
                part = self._atom()
                # A negative number behind an operator stands in parentheses.
                signed = part.tag == "mn" and str(part.children[0]).startswith("−")
                if (
                    signed
                    and parts
                    and isinstance(before := parts[-1], Node)
                    and before.children[:1]
                    and before.children[0] in SIGNS
                ):
                    part = Node("mrow", [Node("mo", ["("], FLAT), part, Node("mo", [")"], FLAT)])
                parts.append(part)
        self.place += len(end)
        return parts[0] if len(parts) == 1 and isinstance(parts[0], Node) else Node("mrow", parts)

    def _atom(self) -> Node:
        self._peek()
        match = _TOKEN.match(self.latex, self.place)
        assert match is not None
        self.place = match.end()
        command, number, other = match.groups()
        if command:
            return self._command(command)
        if number:
            return Node("mn", [number])
        if other == "{":
            self.place -= 1
            return self._group()
        if other.isalpha():
            return Node("mi", [other])
        fence = {"stretchy": "false"} if other in "()[]|" else {}
        return Node("mo", ["−" if other == "-" else other], fence)

    def _command(self, name: str) -> Node:
        if name in ("left", "right"):
            return self._atom()
        if name == "val":
            return self._value(self._argument())
        if name == "frac":
            return Node("mfrac", [self._group(), self._group()])
        if name == "sqrt":
            return Node("msqrt", [self._group()])
        if name == "tilde":
            return Node("mover", [self._group(), Node("mo", ["~"], {"stretchy": "false"})], {"accent": "true"})
        if name == "text":
            return Node("mtext", [self._argument().replace(" ", "\u00a0")])
        if name == "mathbf":
            return Node("mi", [self._argument()], {"mathvariant": "normal", "class": "name"})
        if name == "begin":
            return self._matrix(self._argument())
        if name in SYMBOLS:
            return Node("mi", [SYMBOLS[name]])
        if name in OPERATORS:
            return Node("mo", [OPERATORS[name]])
        if name in FUNCTIONS:
            return Node("mi", [name], {"mathvariant": "normal", "class": "name"})
        if name in SPACES:
            return Node("mspace", [], {"width": SPACES[name]})
        raise LessonError(f"the formula {self.latex!r} has the unknown command \\{name}: see docs/lessons.md")

    def _matrix(self, kind: str) -> Node:
        end = rf"\end{{{kind}}}"
        close = self.latex.find(end, self.place)
        if kind != "bmatrix" or close < 0:
            raise LessonError(f"the formula {self.latex!r} needs \\begin{{bmatrix}} … \\end{{bmatrix}}")
        inner, self.place = self.latex[self.place : close], close + len(end)
        lines = [
            [_Parser(cell, self.values, self.digits).row("") for cell in line.split("&")] for line in inner.split(r"\\")
        ]
        return _table(lines)

    def _value(self, name: str) -> Node:
        name, value = place_of(self.values, name), at(self.values, name)
        if not isinstance(value, list):
            return self._number(name, value)
        if value and isinstance(value[0], list):
            return _table(
                [
                    [self._number(f"{name}.{i}.{j}", cell) for j, cell in enumerate(row, 1)]
                    for i, row in enumerate(value, 1)
                ]
            )
        parts: list[Node | str] = []
        for i, part in enumerate(value[:LONGEST], start=1):
            parts += [Node("mo", [","]), self._number(f"{name}.{i}", part)]
        if len(value) > LONGEST:
            parts += [Node("mo", [","]), Node("mtext", [f"and\u00a0{len(value) - LONGEST}\u00a0more"])]
        return Node("mrow", [Node("mo", ["("], FLAT), *parts[1:], Node("mo", [")"], FLAT)], {"data-of": name})

    def _number(self, name: str, value: float) -> Node:
        text = shown(value, self.digits)
        return Node("mn", [text], {"data-of": name, "class": "value"})


def _table(lines: list[list[Node]]) -> Node:
    rows: list[Node | str] = [Node("mtr", [Node("mtd", [cell]) for cell in line]) for line in lines]
    return Node("mtable", rows, {"class": "matrix"})
