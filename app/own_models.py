"""The visitor's own models (models that they made, and models that this browser session knows by their unlisted names),
and their key as a maker of models and rooms."""

from __future__ import annotations

import contextlib
import re
import secrets
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import login
from app.api.guard import TOKEN
from app.examples import kind_of
from core.checkpoint import CheckpointError, available, read_card
from core.checkpoint.unlisted import base_of, folder_of, is_made_by, made_by, saved_by

_KEY, _MADE, _SECRET = "own models", "models made", "key of the maker of models"
MOST = 20


def maker() -> str:
    """The visitor's key as a maker of models and rooms: the login name, else the browser's token, which outlasts the
    server, else a secret of this session."""
    if login.name():
        return f"login {login.name()}"
    token = st.context.cookies.get(TOKEN, "")
    return f"browser {token}" if token else st.session_state.setdefault(_SECRET, secrets.token_hex(16))


def known() -> dict[str, Path]:
    """The visitor's own models, newest first: saved ones, and unlisted ones that still exist, including those named in
    the page's address."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return {}
    names: list[str] = st.session_state.setdefault(_KEY, [])
    for value in st.query_params.to_dict().values():
        for name in value.split(","):
            if base_of(name) and name not in names:
                names.append(name)
    folders = {name: folder_of(name) for name in dict.fromkeys([*names, *made_by(maker())][:MOST])}
    unlisted = {name: path for name, path in folders.items() if path is not None and (path / "card.json").is_file()}
    listed = available()
    return unlisted | {name: path for name, path in saved_by(maker()).items() if listed.get(name) == path}


def recall(text: str) -> dict[str, str]:
    """The unlisted models that a saved page names, if they still exist, each with the kind of its examples; the session
    knows them from now on."""
    names: list[str] = st.session_state.setdefault(_KEY, [])
    found = dict[str, str]()
    for name in dict.fromkeys(re.findall(r"[\w./-]+~[0-9a-f]{32}", text)):
        with contextlib.suppress(KeyError, CheckpointError):
            found[name] = kind_of(read_card(available()[name]))
            if name not in names:
                names.append(name)
    return found


def add(name: str) -> None:
    """Puts a new model of the session first in its lists."""
    st.session_state.setdefault(_MADE, set()).add(name)
    names: list[str] = st.session_state.setdefault(_KEY, [])
    names[:] = [name, *(one for one in names if one != name)][:MOST]


def made(name: str) -> bool:
    """Whether the visitor made this model, and did not just open it by a link."""
    folder = available().get(name)
    return name in st.session_state.get(_MADE, ()) or (folder is not None and is_made_by(folder, maker()))


def forget(name: str) -> None:
    """Removes a model from the session's lists."""
    with contextlib.suppress(ValueError):
        st.session_state.setdefault(_KEY, []).remove(name)
