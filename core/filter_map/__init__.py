"""The filter map: t-SNE of generated filters, and the n-grams that single filters respond to."""
