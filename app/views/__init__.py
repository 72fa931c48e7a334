"""One file a page (app/pages.py)."""
