"""Parts of the page Filter map."""
