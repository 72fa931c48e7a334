"""Attention over the states of a recurrent reader, and the Transformer's beside it (Potts, CS224u slides)."""
