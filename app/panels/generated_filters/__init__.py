"""Filters made from a text: the page Filter map draws them, with a look into each."""

from app.panels.panel import Page, Panel

PANEL = Panel(("generated_filters",), page=Page("filter_map", "Show this pair’s filters on the map"))
