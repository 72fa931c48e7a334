"""Layers that several families of models share."""
