"""Completes the URL of a page that was just opened, without adding an entry to the browser history.

Every write to ``st.query_params`` adds an entry. That is right after a choice, which Back undoes; for a URL that the
page only completes, Back would first show the same page again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from app.browser import component, text_of, unseen


def complete(seen: Mapping[str, str], parameters: Mapping[str, str] | None) -> None:
    """Replaces the parameters ``seen`` in the URL, unless it has changed meanwhile; None leaves it unchanged. Every
    page calls it: its script also prevents a page that is still computing from undoing Back."""
    data = {} if parameters is None else {"seen": urlencode(seen), "query": urlencode(parameters)}
    with unseen("address"):
        component("pairlens_address", text_of(Path(__file__).with_suffix(".js")))(key="put into the address", data=data)
