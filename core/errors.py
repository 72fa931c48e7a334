"""The errors that a person can mend: shown as one sentence, exit status 2, no traceback."""

from __future__ import annotations


class UserError(ValueError):
    """What a person can mend; the message is one sentence that says what is wrong and what to do."""


class RecipeError(UserError):
    """A recipe or ``--set`` that cannot be used."""


class RunError(UserError):
    """A run that cannot start, go on or be scored as asked."""


class DeskError(UserError):
    """What the error desk cannot do."""


class CheckpointError(UserError):
    """A folder that holds no usable checkpoint."""


class UnnamedClassesError(CheckpointError):
    """A model whose classes are only numbered: somebody has to say what they mean."""


def said(error: BaseException) -> str:
    """A stranger's error in one line: its type and what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200].rstrip(": ")
