"""The filter map: t-SNE of generated filters, and what single filters answer to."""
