"""Linguistic features of a pair that need no training."""

import importlib
import threading

from core.errors import UserError

_ONE_AT_A_TIME = threading.Lock()


class LinguisticsError(UserError):
    """A feature that cannot be computed."""


def import_nltk() -> None:
    """Import all of nltk, which takes more than a second. Its modules import each other in a circle, so that two
    threads which import parts of it at once would find some half made: callers of any part call this first."""
    with _ONE_AT_A_TIME:
        importlib.import_module("nltk")
