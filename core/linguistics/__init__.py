"""Linguistic features of a pair that need no training."""
