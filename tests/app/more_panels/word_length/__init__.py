"""A panel for a record that the app does not know: nothing but this folder says what is drawn of it."""

from app.panels.panel import Panel

PANEL = Panel(("word_length",), payloads=lambda records, explanation, show: [{"letters": r.letters} for r in records])
