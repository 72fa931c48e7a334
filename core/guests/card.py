"""The card of a model from elsewhere: what Hugging Face's configuration says, and what ``pairlens.json`` adds to it.

``pairlens.json`` beside the model, all of it optional::

    {"title": "RoBERTa large, MNLI", "task": "entailment", "labels": ["contradiction", "neutral", "entailment"],
     "roles": ["premise", "hypothesis"], "second_first": false, "head": "7.4"}

``labels`` in the order of the logits; ``second_first``: the model reads the second text before the first; ``head``:
whose attention is shown first (:mod:`core.guests.heads`).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.checkpoint.errors import CheckpointError
from core.evidence import BOTH
from core.files import read_json, whole_file
from core.guests.heads import MEAN
from core.json_types import checked

SETTINGS = "pairlens.json"
ARCHITECTURE = "cross-encoder"
TASKS: Mapping[str, tuple[str, str]] = {
    "entailment": ("premise", "hypothesis"),
    "fact checking": ("claim", "evidence"),
    "answer selection": ("question", "answer"),
    "paraphrase": ("question 1", "question 2"),
}
"""By task the names of both texts."""
_ENTAILMENT = ("entailment", "neutral", "contradiction")
_USUAL: Mapping[str, Sequence[set[str]]] = {
    "entailment": (set(_ENTAILMENT), {"entailment", "not_entailment"}, {"entailment", "contradiction"}),
    "fact checking": ({"supports", "refutes", "not enough info"}, {"supports", "refutes"}),
    "paraphrase": ({"duplicate", "not duplicate"}, {"paraphrase", "not paraphrase"}, {"equivalent", "not_equivalent"}),
}
"""Names of classes that say what the task is."""
LARGEST_CONFIG = 4 << 20


@dataclass(frozen=True)
class GuestSettings:
    """What ``pairlens.json`` may say."""

    title: str = ""
    task: str = ""
    labels: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    second_first: bool = False
    head: str = MEAN
    alignment: dict[str, Any] | None = None
    """What `python -m trainers align` measured, as a card has it."""
    results: dict[str, Any] | None = None


def is_guest(folder: Path) -> bool:
    """Whether a folder is in Hugging Face's format."""
    return (folder / "config.json").is_file() and not (folder / "card.json").is_file()


def guest_card(folder: Path) -> dict[str, Any]:
    """The card of a folder in Hugging Face's format, read again when one of its files has changed. Raises
    CheckpointError with what is wrong in one sentence."""
    card = _card(folder, tuple(_stamp(folder / name) for name in ("config.json", SETTINGS)), _weights_stamp(folder))
    if isinstance(card, str):
        raise CheckpointError(card)
    return dict(card)


def weights_of(folder: Path) -> list[Path]:
    """The files of the weights, in the order of their names."""
    return sorted(folder.glob("*.safetensors"))


def guest_files(folder: Path) -> list[Path]:
    """The files that make a guest."""
    return [folder / "config.json", folder / SETTINGS, folder / "tokenizer.json", *weights_of(folder)]


def size_of(folder: Path) -> int:
    """Bytes of the weights' files."""
    return sum(path.stat().st_size for path in weights_of(folder))


def needs_asking(folder: Path) -> tuple[str, ...]:
    """The names of a guest's classes where they do not say what they mean, such as LABEL_0; else empty."""
    config, settings = _config(folder), _settings(folder)
    labels = _labels(config)
    return () if settings.labels or _task(labels) else labels


def answer(folder: Path, task: str, labels: Sequence[str], second_first: bool = False) -> None:
    """Write what a person said of a guest into its ``pairlens.json``. Raises CheckpointError for what cannot be, and
    FileError where the operating system refuses."""
    kept = read_json(folder / SETTINGS) if (folder / SETTINGS).is_file() else {}
    said = {**kept, "task": task, "labels": list(labels), "second_first": second_first}
    _check(folder, _settings_of(folder, said), _labels(_config(folder)))
    write_settings(folder, said)


def write_settings(folder: Path, values: Mapping[str, Any]) -> None:
    """Write ``pairlens.json`` whole. Raises FileError where the operating system refuses."""
    with whole_file(folder / SETTINGS) as scratch:
        scratch.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_mtime_ns, now.st_size


def _weights_stamp(folder: Path) -> tuple[tuple[int, int] | None, ...]:
    return tuple(map(_stamp, weights_of(folder)))


@functools.lru_cache(maxsize=64)
def _card(folder: Path, *changed: Any) -> dict[str, Any] | str:
    """The card, or what is wrong in one sentence."""
    try:
        return _read(folder)
    except CheckpointError as error:
        return str(error)


def _read(folder: Path) -> dict[str, Any]:
    config, settings = _config(folder), _settings(folder)
    labels = settings.labels or _labels(config)
    _check(folder, settings, _labels(config))
    task = settings.task or _task(labels)
    if not weights_of(folder):
        raise CheckpointError(_no_safetensors(folder))
    unknown = not task
    roles = settings.roles or TASKS[task or "entailment"]
    lowered = tuple(label.lower() for label in labels)
    return {
        "name": folder.name,
        "title": settings.title or folder.name,
        "architecture": ARCHITECTURE,
        "config": {
            "classes": len(labels),
            "layers": int(config.get("num_hidden_layers") or 1),
            "heads": int(config.get("num_attention_heads") or 1),
            "head": settings.head,
        },
        "task": task or "entailment",
        "labels": list(labels if unknown or len(set(lowered)) < len(lowered) else lowered),
        "roles": {"first": roles[0], "second": roles[1], "judged": BOTH},
        "words": {"sha256": "", "name": "its own pieces"},
        "licence": "not stated: see the model’s own page",
        "sha256": fingerprint(folder),
        "guest": str(config.get("model_type", "transformer")),
        "asked": unknown,
        "second_first": settings.second_first,
        **{name: value for name in ("alignment", "results") if (value := getattr(settings, name))},
    }


def fingerprint(folder: Path) -> str:
    """What tells this model from others, SHA-256 of the configuration and of the first and last megabyte of each file
    of weights: all of a large one would take a minute to read."""
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    for path in weights_of(folder):
        size = path.stat().st_size
        with path.open("rb") as file:
            digest.update(f"{path.name} {size}".encode() + file.read(1 << 20))
            file.seek(max(0, size - (1 << 20)))
            digest.update(file.read())
    return digest.hexdigest()


def _config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    try:
        config = read_json(file) if file.stat().st_size <= LARGEST_CONFIG else None
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict):
        raise CheckpointError(f"{folder.name}/config.json is no readable JSON: copy the model again")
    return config


def _settings(folder: Path) -> GuestSettings:
    file = folder / SETTINGS
    if not file.is_file():
        return GuestSettings()
    try:
        values = read_json(file)
    except (OSError, ValueError):
        raise CheckpointError(f"{folder.name}/{SETTINGS} is no readable JSON: mend or remove it") from None
    return _settings_of(folder, values)


def _settings_of(folder: Path, values: Any) -> GuestSettings:
    try:
        return checked(values if isinstance(values, dict) else {"": values}, GuestSettings)
    except ValueError as error:
        raise CheckpointError(f"{folder.name}/{SETTINGS} cannot be used ({error}): mend or remove it") from error


def _check(folder: Path, settings: GuestSettings, labels: Sequence[str]) -> None:
    """Raises CheckpointError for settings that do not fit the model."""
    problem = ""
    if settings.labels and len(settings.labels) != len(labels):
        problem = f"it names {len(settings.labels)} labels for {len(labels)} classes"
    elif len(set(settings.labels)) < len(settings.labels):
        problem = "its labels must be different names"
    elif settings.task and settings.task not in TASKS:
        problem = f"its task must be one of {', '.join(TASKS)}"
    elif settings.roles and (len(set(settings.roles)) != 2 or not all(settings.roles)):
        problem = "its roles must be two different names"
    if problem:
        raise CheckpointError(f"{folder.name}/{SETTINGS} cannot be used ({problem}): mend or remove it")


def _labels(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the classes in the order of the logits."""
    named = config.get("id2label")
    if isinstance(named, dict) and named:
        try:
            return tuple(str(label) for _, label in sorted((int(number), label) for number, label in named.items()))
        except ValueError:
            pass
    # What transformers writes where nobody named them: two of them, which config.json leaves out.
    return ("LABEL_0", "LABEL_1")


def _task(labels: Sequence[str]) -> str:
    """The task that these names of classes belong to, empty where none is known."""
    names = {label.lower() for label in labels}
    return next((task for task, usual in _USUAL.items() if names in usual), "")


def _no_safetensors(folder: Path) -> str:
    if any(folder.glob("*.bin")):
        return (
            f"{folder.name} has its weights in a pickle (*.bin), which could run any code when it is read: where you "
            f"trust it, convert it with `python -m trainers convert {folder.name}`"
        )
    return f"{folder.name} has no *.safetensors: copy the model again, with its weights"
