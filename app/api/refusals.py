"""Requests that the API rejects, and the wording of errors for its clients."""

from __future__ import annotations

import re

from core.wording import capital


class Refused(Exception):
    """The request is rejected with an HTTP ``status`` and one sentence; ``wait``: seconds after which another one may
    succeed, if it was only too soon."""

    def __init__(self, status: int, error: str, wait: float = 0.0) -> None:
        super().__init__(error)
        self.status, self.error, self.wait = status, error, wait or float(status == 429)


def sentence(text: str) -> str:
    """An error's message as a sentence of plain text."""
    plain = re.sub(r"`([^`]+)`", r"“\1”", text)
    return capital(plain) if plain.endswith((".", "?")) else f"{capital(plain)}."
