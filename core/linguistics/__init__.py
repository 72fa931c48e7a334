"""Linguistic features of a pair that need no training."""

from core.errors import UserError
from core.lazy import import_alone


class LinguisticsError(UserError):
    """A feature cannot be computed."""


def import_nltk() -> None:
    """Imports all of nltk, which takes more than a second."""
    import_alone("nltk")
