"""Stores features of fixed pairs on disk, so that a restarted server need not compute them again.

A file is named after the base's weights and the pairs. Features also depend on the code, which is checked by computing
some of them again (:class:`core.adaptation.features.GradualFeatures`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from core.card import Card
from core.files import FileError, whole_file

MOST_FILES = 60
"""Number of most recently used files that are kept: a wide base's take some megabytes."""
_NAME = "features"


class Store:
    """A folder of such files; with None, nothing is stored."""

    folder: Path | None = None

    def file(self, card: Card, pairs: Sequence[tuple[str, str]]) -> Path | None:
        """The file with a base's features of these pairs. An adapted checkpoint uses its base's file."""
        if self.folder is None:
            return None
        known = json.dumps([(card.get("base") or card)["sha256"], pairs])
        return self.folder / f"{hashlib.sha256(known.encode()).hexdigest()[:32]}.safetensors"

    def read(self, file: Path | None, rows: int) -> Tensor | None:
        """The features ``[N, F]`` in a file; None unless it has features of ``rows`` pairs."""
        if file is None:
            return None
        with contextlib.suppress(OSError, SafetensorError, KeyError):
            features = load_file(file)[_NAME]
            if features.ndim == 2 and len(features) == rows:
                file.touch()
                return features
        return None

    def write(self, file: Path | None, features: Tensor) -> None:
        """Stores features ``[N, F]``, and deletes the least recently used files. A full disk is not an error."""
        if file is None or self.folder is None:
            return
        with contextlib.suppress(FileError, OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(file) as scratch:
                save_file({_NAME: features.contiguous()}, scratch)
            files = sorted(self.folder.glob("*.safetensors"), key=lambda one: one.stat().st_mtime, reverse=True)
            for old in files[MOST_FILES:]:
                old.unlink(missing_ok=True)


STORE = Store()
"""The server's (:mod:`app.preloading` names its folder)."""
