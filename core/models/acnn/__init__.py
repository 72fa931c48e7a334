"""Filters generated from a text: ACNN and AdaQA (Shen et al. 2018)."""
