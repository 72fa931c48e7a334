"""Phrase alignments with k-min-max, k-max-max and full pooling (Yin & Schütze 2017)."""
