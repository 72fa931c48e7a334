"""A panel for a record that the app does not know: nothing but this folder says what is drawn of it."""

from dataclasses import dataclass

from app.panels.panel import Panel, Payload


@dataclass(frozen=True)
class Lengths(Payload):
    letters: tuple[int, ...]


PANEL = Panel(("word_length",), payloads=lambda records, explanation, show: [Lengths(r.letters) for r in records])
