"""The pages: each file in app/views is one, named by the first words of its docstring, up to the colon."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

VIEWS = Path(__file__).resolve().parent / "views"


@functools.cache
def pages() -> dict[str, str]:
    """The title of each page by file name, in menu order: by the files' ``PLACE_IN_MENU``, then by title. Files are
    parsed, not imported, because a page draws itself when it runs."""
    found = []
    for path in VIEWS.glob("[!_]*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        title = (ast.get_docstring(module) or path.stem).partition(":")[0]
        assigned = (part for part in module.body if isinstance(part, ast.Assign))
        place = next((ast.literal_eval(part.value) for part in assigned if _name(part) == "PLACE_IN_MENU"), None)
        found.append((place is None, place or 0, title, path.stem))
    return {name: title for *_, title, name in sorted(found)}


def _name(assigned: ast.Assign) -> str:
    return ast.unparse(assigned.targets[0])


def address(name: str) -> str:
    """The URL path of the page with this file name."""
    return name.replace("_", "-")
