"""Data sets as numbers, predictions, scores and intervals."""
