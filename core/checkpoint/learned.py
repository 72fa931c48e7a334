"""Hashes of the pairs that a visitor's model was trained on, by which the desk recognises them without their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from core.checkpoint.files import CLASSIFIER
from core.files import read_bounded

NAME = "learned"
"""The tensor of hashes, int64 ``[P]``, in an adapted checkpoint's classifier or in a trained one's :data:`FILE`."""
FILE = "learned.safetensors"
_LARGEST = 64 << 20


def pair_hashes(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """A hash of each pair of texts, int64 ``[N]``, which ignores spaces around them."""
    digests = (
        hashlib.blake2b(f"{first.strip()}\0{second.strip()}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for first, second in pairs
    )
    return np.frombuffer(b"".join(digests), dtype="<i8")


def tensor_of(pairs: Iterable[tuple[str, str]]) -> torch.Tensor:
    """The hashes of these pairs to store, each once, ascending."""
    return torch.from_numpy(np.unique(pair_hashes(pairs)))


def write(folder: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Writes the hashes into the folder of a trained checkpoint. Raises OSError."""
    (folder / FILE).write_bytes(save({NAME: tensor_of(pairs)}))


def learned_hashes(folder: Path) -> np.ndarray:
    """The hashes stored with the checkpoint in a folder, int64; none if there are none, or they cannot be read."""
    for name in (CLASSIFIER, FILE):
        try:
            return load(read_bounded(folder / name, _LARGEST))[NAME].numpy()
        except (OSError, ValueError, KeyError, SafetensorError):
            continue
    return np.empty(0, dtype=np.int64)
