"""Sentence-pair models, the evidence behind their predictions, data and scores; imports neither app nor trainers."""
