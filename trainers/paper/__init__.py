"""The workshop: what rebuilds the papers' tables, the word table and the made data, and writes docs/results.md."""
