"""One file per page (app/pages.py)."""
