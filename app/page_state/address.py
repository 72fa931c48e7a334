"""The address of a page that a person has just come to, completed without a step of the browser's own history.

``st.query_params`` adds a step whenever it is written. After a choice that is right: Back undoes it. But an address
that a page only completes would take a second press of Back, which shows the same page again.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

KEY = "address"
"""Of the container, which app/page_style.py hides."""
_SCRIPT = """
export default function ({ data }) {
  const now = new URL(window.location.href);
  // What has been chosen since is in the address already.
  if (now.searchParams.toString() !== new URLSearchParams(data.seen).toString()) return;
  window.history.replaceState(window.history.state, "", `${now.pathname}?${data.query}`);
}
"""


def complete(seen: Mapping[str, str], parameters: Mapping[str, str]) -> None:
    """Put ``parameters`` in place of those ``seen`` in the address, unless it has changed meanwhile."""
    with st.container(key=KEY):
        _component()(key="put into the address", data={"seen": urlencode(seen), "query": urlencode(parameters)})


@functools.cache
def _component() -> Any:
    return st.components.v2.component("pairlens_address", html="<i></i>", js=_SCRIPT)
