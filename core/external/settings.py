"""Optional settings in ``pairlens.json`` in an external model's folder, in addition to Hugging Face's configuration::

    {"title": "RoBERTa large, MNLI", "task": "entailment", "labels": ["contradiction", "neutral", "entailment"],
     "roles": ["premise", "hypothesis"], "second_first": false, "head": "7.4"}

``labels`` in the order of the logits; ``second_first``: the model reads the second text before the first; ``head``: the
attention head shown first (:mod:`core.layers.heads`). For a bi-encoder, ``threshold`` is the similarity from which
two texts count as paraphrases, and ``scale`` the slope of the log-odds. ``package``: the installed package that has the
model's files instead of this folder. The file also holds measured figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from core.errors import CheckpointError
from core.external.folder import SETTINGS as SETTINGS
from core.external.folder import has, json_of
from core.external.names import called
from core.files import json_text, write_whole
from core.json_types import JsonObject, checked, setting
from core.layers.heads import MEAN, ROLLOUT, parse_head
from core.tasks import TASKS


@dataclass(frozen=True)
class Package:
    """The Python package that holds the model's files, and the SHA-256 of some of them."""

    name: str
    sha256: dict[str, str]


@dataclass(frozen=True)
class MeasuredFigures:
    """Measured figures, in the same form as on a card."""

    results: JsonObject | None = None
    alignment: JsonObject | None = None
    faithfulness: JsonObject | None = None
    people: JsonObject | None = None
    pointing: JsonObject | None = None
    suites: JsonObject | None = None
    calibration: JsonObject | None = None


@dataclass(frozen=True)
class ExternalSettings(MeasuredFigures):
    """The settings of ``pairlens.json``."""

    title: str = ""
    task: str = ""
    labels: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    second_first: bool = False
    head: str = MEAN
    threshold: float | None = None
    scale: float = setting(10.0, above=0)
    package: Package | None = None
    licence: str = ""
    notes: str = ""
    """Remarks by the model's owner, for its card."""

    @property
    def measured(self) -> JsonObject:
        """Measured figures by their names on a card."""
        values = {field.name: getattr(self, field.name) for field in fields(MeasuredFigures)}
        return {name: value for name, value in values.items() if value}


def settings_of(folder: Path) -> ExternalSettings:
    """The settings of a model. Raises CheckpointError if the file is invalid."""
    return checked_settings(folder, _values(folder))


def checked_settings(folder: Path, values: object) -> ExternalSettings:
    """Validates these values as settings. Raises CheckpointError."""
    try:
        return checked(values if isinstance(values, dict) else {"": values}, ExternalSettings)
    except ValueError as error:
        raise CheckpointError(f"{called(folder)}/{SETTINGS} cannot be used ({error}): fix or remove it") from error


def check(folder: Path, settings: ExternalSettings, labels: Sequence[str]) -> None:
    """Raises CheckpointError if the settings do not fit a model with these classes."""
    problem = ""
    if settings.labels and len(settings.labels) != len(labels):
        problem = f"it names {len(settings.labels)} labels for {len(labels)} classes"
    elif len(set(settings.labels)) < len(settings.labels):
        problem = "its labels must be different names"
    elif settings.task and settings.task not in TASKS and not settings.roles:
        problem = f"its task must be one of {', '.join(TASKS)}, or have roles, the names of its two texts"
    elif parse_head(settings.head) is None:
        problem = f"its head must be as 7.4 (layer 7, head 4), {MEAN} or {ROLLOUT}"
    elif settings.roles and (len(set(settings.roles)) != 2 or not all(settings.roles)):
        problem = "its roles must be two different names"
    if problem:
        raise CheckpointError(f"{called(folder)}/{SETTINGS} cannot be used ({problem}): fix or remove it")


def add_settings(folder: Path, **more: object) -> None:
    """Writes these settings to ``pairlens.json``, leaving the rest unchanged. Raises CheckpointError for unknown
    settings, and FileError if the operating system refuses."""
    values = {**_values(folder), **more}
    checked_settings(folder, values)
    write_whole(folder / SETTINGS, json_text(values))


def _values(folder: Path) -> Any:
    if not has(folder, SETTINGS):
        return {}
    try:
        return json_of(folder, SETTINGS)
    except CheckpointError:
        raise CheckpointError(f"{called(folder)}/{SETTINGS} is not readable JSON: fix or remove it") from None
