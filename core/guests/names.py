"""What models from elsewhere are named by: ``PAIRLENS_GUESTS``, read without importing what it names."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PAIRLENS_GUESTS"
HUB = "hub:"
"""What the name of a model of Hugging Face's hub begins with."""
INSTALL = "install them with `make guests`, or `pip install -r requirements-guests.txt`"


def functions() -> tuple[str, ...]:
    """The names in ``PAIRLENS_GUESTS`` that stand for functions, each ``module:factory``."""
    return tuple(name for name in _names() if not name.startswith(HUB))


def of_hub() -> tuple[str, ...]:
    """Those that stand for models of a hub, each ``hub:ORG/NAME``."""
    return tuple(name for name in _names() if name.startswith(HUB))


def is_function(folder: Path) -> bool:
    """Whether this is the name of a function in the place of a folder."""
    return str(folder) in functions()


def _names() -> list[str]:
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return [name for name in dict.fromkeys(names) if name]
