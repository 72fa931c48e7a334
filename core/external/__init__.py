"""External models: Hugging Face's pair classifiers and Python functions, read as checkpoints are."""
