"""The names of external models in ``PAIRLENS_GUESTS``, read without importing them."""

from __future__ import annotations

import os
import re
from pathlib import Path

VARIABLE = "PAIRLENS_GUESTS"


def called(folder: Path) -> str:
    """The name of a model: its folder's name, or in Hugging Face's cache its name on the hub; for a part of a model,
    both."""
    owner = folder.parent.parent.name
    if folder.parent.name == "snapshots" and owner.startswith("models--"):
        return owner.removeprefix("models--").replace("--", "/")
    if re.match(r"\d+_", folder.name) and os.path.lexists(folder.parent / "modules.json"):
        return f"{called(folder.parent)}/{folder.name}"
    return folder.name


def is_function(folder: Path) -> bool:
    """Whether this names a function instead of a folder."""
    return str(folder) in functions()


def functions() -> list[str]:
    """The functions in ``PAIRLENS_GUESTS``, each as ``module:factory``."""
    names = (name.strip() for name in os.environ.get(VARIABLE, "").split(","))
    return [name for name in dict.fromkeys(names) if name]
