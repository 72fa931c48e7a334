"""Filters made from a text: the page Filter map draws them, with a look into each."""
