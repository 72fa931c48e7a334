"""The pages' browser code: plain JavaScript and CSS, bundled here without a build step.

One component draws everything a page shows about an explanation, because a selection must appear everywhere at once:
the browser draws it immediately, and then informs the server, which adds it to the URL. User input is only ever set as
text (``textContent``), never as HTML or Markdown.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from app.browser import component, text_of
from app.components.bundle import bundle
from app.models import card
from app.page_state import codec
from app.page_state.codec import PageState
from app.page_state.session import PageSession
from app.page_style import capital
from app.pair_form import digest
from app.palette import CIVIDIS, COLOURS, DIVERGING, css_variables
from app.panels import drawable, folders, verdict
from core.evidence import Explanation
from core.json_types import JsonMapping

_FOLDER = Path(__file__).parent
DIGITS = 6
"""Significant digits of an explanation's numbers sent to the browser: a third of their full length."""
LONGEST_QUOTED = 300
"""Length limit in characters of a sentence below a saved figure."""


def draw(
    view: str, *drawn: object, key: str, on_selection_change: Callable[[], None] | None = None, **moving: Any
) -> None:
    """Draws the fields of the dataclass ``drawn`` with the script's ``VIEWS.<view>``. ``moving``: data that may change
    without redrawing (the selection and its details, the ``id`` of the drawing). :func:`picked` returns the user's
    selection."""
    fields = {name: value for part in drawn for name, value in vars(part).items()}
    moving = {"turn": st.session_state.get(f"{key} turn", 0)} | moving
    # As text, because Streamlit serialises its arguments several times, and a drawing has thousands of numbers.
    data = {"view": view, "drawing": _compact_json(fields), "moving": _compact_json(moving)}
    drawing = component("pairlens", _loader(), html='<div class="pairlens"></div>')
    drawing(key=key, data=data, on_selection_change=on_selection_change or (lambda: None))


def _compact_json(values: Mapping[str, Any]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{_json(value)}" for name, value in values.items()) + "}"


def _json(value: object) -> str:
    if isinstance(value, Explanation):
        return _explanation_json(_Same(value))
    return json.dumps(value, default=_fields, separators=(",", ":"))


def _fields(value: object) -> Any:
    return _drawn(value) if isinstance(value, Explanation) else vars(value)


@dataclass(frozen=True, eq=False)
class _Same:
    """A key compared by identity: an explanation's own hash reads all of its numbers."""

    explanation: Explanation

    def __hash__(self) -> int:
        return id(self.explanation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.explanation is self.explanation


@functools.lru_cache(maxsize=32)
def _explanation_json(key: _Same) -> str:
    return json.dumps(_drawn(key.explanation), separators=(",", ":"))


def _drawn(explanation: Explanation) -> Any:
    """The drawable parts of an explanation, with as many digits as a figure can show."""
    return _short(drawable(explanation).to_dict())


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: _short(own) for name, own in value.items()}
    return [_short(own) for own in value] if isinstance(value, list) else value


def picked(page: PageSession[Any], key: str) -> Mapping[str, Any]:
    """The user's selection in the component with this key, with the ``id`` of its drawing. The ``turn`` sent back to
    the browser identifies the last selection that the page knows."""
    page.touch()
    selection: Mapping[str, Any] = st.session_state[key].get("selection") or {}
    st.session_state[f"{key} turn"] = selection.get("turn", 0)
    return selection


@dataclass(frozen=True)
class About:
    """The caption lines and the file name of a saved figure."""

    file: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """The frame of every drawing: facts below, warnings above. ``projector``: whether type is large; ``about``:
    captions its saved figures."""

    footer: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    projector: bool = False
    about: About | None = None


def frame(explanation: Explanation, card_of: JsonMapping, page: PageState, problems: Sequence[str]) -> Frame:
    """The frame of an explanation."""
    if page.link_parameters() is None:
        problems = [*problems, "This pair is too long for a link: “Save and open” in the sidebar keeps it in a file."]
    return Frame(
        (explanation.title, *card.made_and_measured(card_of), f"{explanation.milliseconds:.0f} ms"),
        (*problems, *explanation.warnings),
        page.projector,
        about(explanation),
    )


def about(explanation: Explanation) -> About:
    """The caption and file name for a saved figure of an explanation."""
    sides = [side for side in (explanation.first, explanation.second) if side.role]
    quoted = (f"{capital(side.role)}: {codec.short(side.text, LONGEST_QUOTED)}" for side in sides)
    return About(file_stem(explanation), (*quoted, f"{explanation.title}: {verdict.said(explanation)}"))


def file_stem(explanation: Explanation) -> str:
    """A file name unique to this model and pair."""
    words = re.findall(r"[a-z0-9]+", explanation.second.text.lower() or explanation.first.text.lower())
    texts = digest([explanation.first.text, explanation.second.text])[:6]
    return "-".join([re.sub(r"[^\w.-]+", "-", explanation.model), *words[:4], texts])


@functools.cache
def _loader() -> str:
    """The component's own script, short because Streamlit sends it with each run."""
    return bundle(_FOLDER / "loader.js", [], {"SCRIPTS": f"{_base_path()}/scripts/{version()}.js"})


def version() -> str:
    """Identifies what :func:`bundled` returns, in the address under which browsers keep it."""
    return digest([bundled()])


def _base_path() -> str:
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


@functools.cache
def bundled() -> str:
    """All scripts and styles (:mod:`app.api.scripts`). A panel's styles apply inside its element, whose class is the
    folder's name."""
    # mount exports what loader, the component's own script, calls.
    scripts = [*_FOLDER.glob("*.js"), *(script for folder in folders() for script in folder.glob("*.js"))]
    alone = {_FOLDER / f"{name}.js" for name in ("mount", "loader")}
    base = _FOLDER / "base.css"
    style = text_of(base).replace("/*palette*/", css_variables())
    style += "".join(map(text_of, sorted({*_FOLDER.glob("*.css")} - {base})))
    style += "".join(
        f".{file.parent.name} {{\n{text_of(file)}}}\n" for f in folders() for file in sorted(f.glob("*.css"))
    )
    constants = {
        "API": f"{_base_path()}/api",
        "CIVIDIS": CIVIDIS,
        "DIVERGING": DIVERGING,
        "PAPER": COLOURS["paper"],
        "STYLE": style,
    }
    return bundle(_FOLDER / "mount.js", sorted({*scripts} - alone), constants)
