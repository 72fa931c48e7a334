"""Completes the address of a page just opened, without a step of the browser's history.

Every write to ``st.query_params`` adds a step. That is right after a choice, which Back undoes; an address that a page
only completes would need a second press of Back, which shows the same page again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from app.browser import component, text_of, unseen


def complete(seen: Mapping[str, str], parameters: Mapping[str, str] | None) -> None:
    """Replace the parameters ``seen`` in the address, unless it has changed meanwhile; None leaves it as it is. Every
    page calls it: its script also keeps a page that still computes from undoing Back."""
    data = {} if parameters is None else {"seen": urlencode(seen), "query": urlencode(parameters)}
    with unseen("address"):
        component("pairlens_address", text_of(Path(__file__).with_suffix(".js")))(key="put into the address", data=data)
