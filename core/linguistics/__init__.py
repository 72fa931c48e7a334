"""Linguistic features of a pair that need no training."""

from core.errors import MendableError


class LinguisticsError(MendableError):
    """A feature that cannot be computed."""
