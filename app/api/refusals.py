"""Requests that the API rejects, and the wording of errors for its clients."""

from __future__ import annotations

import re

from core.wording import capital


class Refused(Exception):
    """The request is rejected with an HTTP ``status`` and one sentence."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


def sentence(text: str) -> str:
    """An error's message as a sentence of plain text."""
    plain = re.sub(r"`([^`]+)`", r"“\1”", text)
    return capital(plain) if plain.endswith((".", "?")) else f"{capital(plain)}."
