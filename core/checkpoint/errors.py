"""What is wrong with a checkpoint."""

from __future__ import annotations

from core.errors import MendableError


class CheckpointError(MendableError):
    """A folder that holds no usable checkpoint; the message is one sentence with the remedy."""
