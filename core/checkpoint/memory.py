"""Loaded checkpoints, shared by all threads."""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path

from core.allocator import return_freed_memory
from core.checkpoint.checkpoint import Checkpoint
from core.checkpoint.files import CheckpointError, files_state, format_of, load
from core.shared_cache import SharedCache


def loaded(folder: Path) -> Checkpoint:
    """The checkpoint of a folder, reread if one of its files has changed or it was evicted: the most recently used ones
    stay, up to ``PAIRLENS_MEMORY_MB`` megabytes of weights and word tables. Raises CheckpointError; a checkpoint that
    failed to load is not tried again until one of its files changes."""
    _CHECKPOINTS.most = memory_limit()
    checkpoint = _CHECKPOINTS((folder, files_state(folder)), lambda: _checkpoint_or_error(folder))
    if isinstance(checkpoint, CheckpointError):
        raise type(checkpoint)(str(checkpoint))
    return checkpoint


def is_loaded(folder: Path) -> bool:
    """Whether :func:`loaded` has the checkpoint of a folder, or a cached error for it, without reading a file."""
    return (folder, files_state(folder)) in _CHECKPOINTS


def _checkpoint_or_error(folder: Path) -> Checkpoint | CheckpointError:
    try:
        return load(folder)
    except CheckpointError as error:
        if _by_the_system(error) or not format_of(folder).lasting:  # its service may be back later
            raise
        return error


def _by_the_system(error: BaseException | None) -> bool:
    """Whether the error came from the operating system and may be temporary."""
    return error is not None and (isinstance(error, OSError) or _by_the_system(error.__cause__))


def memory_limit() -> float:
    """Memory limit for loaded checkpoints, in bytes. Raises CheckpointError unless ``PAIRLENS_MEMORY_MB`` is a
    number."""
    text = os.environ.get("PAIRLENS_MEMORY_MB") or "300"
    with contextlib.suppress(ValueError):
        if float(text) > 0:
            return float(text) * 1e6
    raise CheckpointError(f"PAIRLENS_MEMORY_MB must be a number of megabytes, got {text[:40]!r}")


def memory_of(checkpoint: Checkpoint) -> int:
    """Bytes of a loaded checkpoint: weights and buffers, plus its word table unless it is the shared one."""
    tensors = itertools.chain(checkpoint.model.parameters(), checkpoint.model.buffers())
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    own = checkpoint.card["words"].get("own")
    # A word takes about 200 bytes as text and in the dictionary of rows.
    return size + (checkpoint.words.codes.numel() + 200 * len(checkpoint.words) if own else 0)


def _size(checkpoint: Checkpoint | CheckpointError) -> int:
    return memory_of(checkpoint) if isinstance(checkpoint, Checkpoint) else 1000


_CHECKPOINTS: SharedCache[Checkpoint | CheckpointError] = SharedCache(0, _size, return_freed_memory)
"""Loaded checkpoints, by folder and version of its files."""
