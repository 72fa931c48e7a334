"""The address of a page that a person has just come to, completed without a step of the browser's own history.

``st.query_params`` adds a step whenever it is written. After a choice that is right: Back undoes it. But an address
that a page only completes would take a second press of Back, which shows the same page again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from app.browser import component, text_of, unseen


def complete(seen: Mapping[str, str], parameters: Mapping[str, str] | None) -> None:
    """Put ``parameters`` in place of those ``seen`` in the address, unless it has changed meanwhile; None leaves it as
    it is. Every page calls it: its script also keeps Back from being undone by a page that still computes."""
    data = {} if parameters is None else {"seen": urlencode(seen), "query": urlencode(parameters)}
    with unseen("address"):
        component("pairlens_address", text_of(Path(__file__).with_suffix(".js")))(key="put into the address", data=data)
