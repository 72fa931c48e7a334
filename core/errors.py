"""Errors that the user can fix: shown as one sentence, exit status 2, no traceback."""

from __future__ import annotations


class UserError(ValueError):
    """An error that the user can fix; the message is one sentence with the problem and the remedy."""


class RecipeError(UserError):
    """A recipe or ``--set`` that cannot be used."""


class RunError(UserError):
    """A run that cannot start, go on or be scored as asked."""


class DeskError(UserError):
    """An operation that the error desk refuses."""


class CheckpointError(UserError):
    """A folder that holds no usable checkpoint."""


class UnnamedClassesError(CheckpointError):
    """A model whose classes are only numbered: the user has to name them."""


def said(error: BaseException) -> str:
    """A stranger's error in one line: its type and what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200].rstrip(": ")
