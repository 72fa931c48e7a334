"""Linguistic features of a pair that need no training."""

import importlib
import threading

from core.errors import UserError

_ONE_AT_A_TIME = threading.Lock()


class LinguisticsError(UserError):
    """A feature cannot be computed."""


def import_nltk() -> None:
    """Imports all of nltk, which takes more than a second. Its modules import each other circularly, so two threads
    that import parts of it at once could see half-initialised modules: callers of any part call this first."""
    with _ONE_AT_A_TIME:
        importlib.import_module("nltk")
