"""The errors that a person can mend: shown as one sentence, exit status 2, no traceback."""

from __future__ import annotations

from core.checkpoint import CheckpointError
from core.filter_map import FilterMapError
from core.linguistics import LinguisticsError
from core.models import ConfigError
from core.words import WordTableError
from trainers.data import DataError


class RecipeError(ValueError):
    """A recipe or ``--set`` that cannot be used; one sentence with the remedy."""


class RunError(ValueError):
    """A run that cannot start, go on or be scored as asked; one sentence with the remedy."""


MENDABLE = (
    CheckpointError, ConfigError, DataError, FilterMapError, LinguisticsError, RecipeError, RunError, WordTableError,
)  # fmt: skip
