"""Encodes data sets and computes predictions, scores and intervals."""
