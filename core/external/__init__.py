"""External models (Hugging Face pair classifiers and Python functions), used like checkpoints."""
