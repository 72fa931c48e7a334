"""Filters generated from a text: the page Filter map draws them and shows each in detail."""
