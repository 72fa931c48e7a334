"""The page's parts that run in the browser: plain JavaScript and CSS, joined here without a build step."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import streamlit as st

from app.palette import CIVIDIS, css_variables

_COMMON = Path(__file__).parent / "common"
_COMMON_SCRIPTS = ("elements", "shares", "save", "footer", "mount")


@functools.cache
def component(name: str, folder: Path, scripts: tuple[str, ...]) -> Any:
    """The component of this folder, registered once a process: the common scripts and its own, joined into one module
    in this order (only the last exports), and the common style before its own, with the page's colours."""
    files = [_COMMON / f"{script}.js" for script in _COMMON_SCRIPTS] + [folder / f"{script}.js" for script in scripts]
    joined = "\n".join(file.read_text(encoding="utf-8") for file in files)
    style = "\n".join((place / file).read_text(encoding="utf-8") for place, file in (
        (_COMMON, "base.css"), (folder, "style.css")))  # fmt: skip
    return st.components.v2.component(
        name,
        html='<div class="pairlens"></div>',
        css=style.replace("/*palette*/", css_variables()),
        js=f"const CIVIDIS = {json.dumps(CIVIDIS)};\n{joined}",
    )
