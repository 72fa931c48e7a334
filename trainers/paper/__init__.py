"""Rebuilds the papers' tables, the word table, the generated pairs and docs/results.md."""
