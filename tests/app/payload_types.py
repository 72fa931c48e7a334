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

import app.api.answers  # noqa: F401 - they register themselves
from app.api.endpoint import ENDPOINTS
from app.compare.figures import Compared
from app.components import Frame
from app.desk.row_effects import RowEffects
from app.explore.asking import Why
from app.filter_map.figure import FilterWeights, MapPoints, MapText, OwnTexts
from app.lessons.drawing import DrawnLesson
from app.panels import Drawing
from app.panels.phrase_selection import Phrases
from core.evidence import record_kinds
from core.evidence.as_json import LATER
from core.evidence.explanation import Record
from core.json_types import told

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
UNIONS = """export type EvidenceRecord = Records[keyof Records];
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
"""
PLAIN: dict[object, str] = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


class Declarations(dict[str, str]):
    """TypeScript interfaces by their names, each with those that it mentions."""

    def name(self, kind: object) -> str:
        """The TypeScript type of a Python type, as `json.dumps(default=vars)` writes its values."""
        if kind in PLAIN:
            return PLAIN[kind]
        if kind is Record:
            return "EvidenceRecord"
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
            return "Json"
        raise TypeError(f"{kind} has no TypeScript type here")

    def declared(self, kind: Any) -> str:
        """The name of a dataclass, once it is declared. Raises TypeError for two of one name."""
        name: str = kind.__name__
        hints = typing.get_type_hints(kind, localns={"Why": Why})  # which imports the module that mentions it
        if name not in self:
            self[name] = ""  # it may mention itself
            types = {field.name + "?" * (field.metadata == LATER): hints[field.name] for field in fields(kind)}
            types |= {name: typing.get_type_hints(value.fget)["return"] for name, value in _told(kind)}
            own = {"kind": f'"{kind.kind}"'} if issubclass(kind, Record) else {}
            own |= {field: self.name(of) for field, of in types.items()}
            self[name] = f"// {kind.__module__}\n{_interface(name, own)}"
        elif self[name] and f"// {kind.__module__}\n" not in self[name]:
            raise TypeError(f"two dataclasses are called {name}")
        return name


def _told(kind: type) -> list[tuple[str, told]]:
    return [(name, value) for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, told)]


def written() -> str:
    """The text of the file: the payloads of all views, records and answers, by name."""
    names = Declarations()
    views = {view: " & ".join(map(names.declared, parts)) for view, parts in VIEWS.items()}
    records = {kind: names.declared(record) for kind, record in record_kinds().items()}
    answers = {
        name: names.name(typing.get_type_hints(endpoint.compute)["return"]) for name, endpoint in ENDPOINTS.items()
    }
    head = "// What app/components/__init__.py gives the scripts. Written by `python -m tests.app.payload_types`.\n"
    lists = {"Drawn": views, "Records": records, "Answers": answers}
    return "\n".join([head, *names.values(), *(_interface(*one) for one in lists.items()), UNIONS])


def _interface(name: str, types: Mapping[str, str]) -> str:
    return f"export interface {name} {{\n" + "".join(f"  {field}: {of};\n" for field, of in types.items()) + "}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
