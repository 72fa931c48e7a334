"""The payloads that Python sends to the browser, as TypeScript declarations for the scripts' type checker.

`make lint` runs it before `tsc`: it writes app/components/payloads.d.ts, which Git ignores.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

from app.compare.figures import Compared
from app.components import Frame
from app.desk.row_effects import RowEffects
from app.filter_map.figure import FilterWeights, MapPoints, MapText, OwnTexts
from app.lessons.drawing import DrawnLesson
from app.panels import Drawing
from app.panels.phrase_selection import Phrases
from core.evidence import Explanation

FILE = Path(__file__).parents[2] / "app/components/payloads.d.ts"
VIEWS = {
    "pair": (Drawing, Frame),
    "phrases": (Phrases, Frame),
    "compare": (Compared, Frame),
    "lesson": (DrawnLesson, Frame),
    "filterMap": (MapText, MapPoints, OwnTexts, Frame),
    "filterWeights": (FilterWeights, Frame),
    "rowEffects": (RowEffects, Frame),
}
"""The ``data`` type of each view, apart from the values that its page sends without a redraw."""
PLAIN: dict[object, str] = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


class Declarations(dict[str, str]):
    """TypeScript interfaces by their names, each with those that it mentions."""

    def name(self, kind: object) -> str:
        """The TypeScript type of a Python type, as `json.dumps(default=vars)` writes its values."""
        if kind in PLAIN:
            return PLAIN[kind]
        if kind is Explanation:
            return 'import("./evidence.js").Explanation'
        if isinstance(kind, type) and is_dataclass(kind):
            return self.declared(kind)
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(map(self.name, inner)))
        if origin is Literal:
            return " | ".join(f'"{value}"' for value in inner)
        if origin is tuple and inner[-1] is not Ellipsis:
            return f"[{', '.join(map(self.name, inner))}]"
        if origin in (tuple, list, Sequence):
            return f"Array<{self.name(inner[0])}>"
        if origin in (dict, Mapping):
            return f"Record<string, {self.name(inner[1])}>"
        if kind in (object, Any):
            return "any"
        raise TypeError(f"{kind} has no TypeScript type here")

    def declared(self, kind: Any) -> str:
        """The name of a dataclass, once it is declared. Raises TypeError for two of one name."""
        name: str = kind.__name__
        hints = typing.get_type_hints(kind)
        if name not in self:
            self[name] = ""  # it may mention itself
            lines = "".join(f"  {field.name}: {self.name(hints[field.name])};\n" for field in fields(kind))
            self[name] = f"// {kind.__module__}\nexport interface {name} {{\n{lines}}}\n"
        elif self[name] and f"// {kind.__module__}\n" not in self[name]:
            raise TypeError(f"two dataclasses are called {name}")
        return name


def written() -> str:
    """The text of the file: all payloads of views and panels, and what each view draws."""
    declarations = Declarations()
    views = {view: " & ".join(map(declarations.declared, parts)) for view, parts in VIEWS.items()}
    drawn = "".join(f"  {view}: {parts};\n" for view, parts in views.items())
    head = "// What app/components/__init__.py gives the scripts. Written by `python -m tests.app.payload_types`.\n"
    return "\n".join([head, *declarations.values(), f"export interface Drawn {{\n{drawn}}}\n"])


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
