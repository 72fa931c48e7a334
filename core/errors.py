"""Errors the user can fix: shown as one sentence, exit status 2, no traceback."""

from __future__ import annotations


class UserError(ValueError):
    """An error the user can fix; the message is one sentence with the problem and the remedy."""


class RecipeError(UserError):
    """The recipe or ``--set`` cannot be used."""


class RunError(UserError):
    """The run cannot start, resume or be evaluated as requested."""


class DeskError(UserError):
    """The error desk rejects the operation."""


class CheckpointError(UserError):
    """The folder has no usable checkpoint."""


class UnnamedClassesError(CheckpointError):
    """The model's classes are only numbered: the user must name them."""


def said(error: BaseException) -> str:
    """An external error in one line: its type and message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200].rstrip(": ")
