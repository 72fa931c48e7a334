"""The pages: each file in app/views is one, named by the first words of its docstring, up to the colon. A page with
``PLACE_IN_MENU = None`` can only be opened from other pages."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

VIEWS = Path(__file__).resolve().parent / "views"


LAST = 1000
"""The default place in the menu."""


def pages() -> dict[str, str]:
    """The title of each page by file name, in menu order: by the files' ``PLACE_IN_MENU``, then by title."""
    return {name: title for _, title, name in _found()}


def in_menu(name: str) -> bool:
    """Whether the page with this file name is listed in the menu."""
    return next(place is not None for place, _, found in _found() if found == name)


@functools.cache
def _found() -> list[tuple[int | None, str, str]]:
    """The place, title and name of each file. They are parsed, not imported, because a page draws itself when it
    runs."""
    found = list[tuple[int | None, str, str]]()
    for path in VIEWS.glob("[!_]*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        title = (ast.get_docstring(module) or path.stem).partition(":")[0]
        assigned = (part for part in module.body if isinstance(part, ast.Assign))
        place = next((ast.literal_eval(part.value) for part in assigned if _name(part) == "PLACE_IN_MENU"), LAST)
        found.append((place, title, path.stem))
    return sorted(found, key=lambda page: (LAST - 1 if page[0] is None else page[0], page[1]))


def _name(assigned: ast.Assign) -> str:
    return ast.unparse(assigned.targets[0])


def address(name: str) -> str:
    """The URL path of the page with this file name."""
    return name.replace("_", "-")
