"""The errors that a person can mend: shown as one sentence, exit status 2, no traceback."""

from __future__ import annotations

from core.checkpoint import CheckpointError
from core.data import DataError
from core.files import FileError
from core.filter_map.map import FilterMapError
from core.linguistics.features import LinguisticsError
from core.models import ConfigError
from core.reading.word_table import WordTableError


class RecipeError(ValueError):
    """A recipe or ``--set`` that cannot be used; one sentence with the remedy."""


class RunError(ValueError):
    """A run that cannot start, go on or be scored as asked; one sentence with the remedy."""


MENDABLE = (
    CheckpointError, ConfigError, DataError, FileError, FilterMapError, LinguisticsError, RecipeError, RunError,
    WordTableError,
)  # fmt: skip
