"""Turns text into model input: tokens, word vectors, batches."""
