"""Adapts a checkpoint to a user's own pairs: a new classifier on its features, fitted in seconds."""

from core.adaptation.adapt import adapt as adapt
