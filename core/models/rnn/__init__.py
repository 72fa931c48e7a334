"""Recurrent readers with attention, and a Transformer (Potts, CS224u slides)."""
