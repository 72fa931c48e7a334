"""From text to model input: tokens, the word table, batches."""
