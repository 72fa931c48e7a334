"""Attention over the states of a recurrent reader, and a Transformer's (Potts, CS224u slides)."""
