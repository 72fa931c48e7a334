"""The card of a model from elsewhere: what Hugging Face's configuration says, and what ``pairlens.json`` adds."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from core.card import Card, problems
from core.errors import CheckpointError
from core.evidence import BOTH
from core.files import read_json
from core.guests.heads import sizes_of
from core.guests.hub import called
from core.guests.settings import (
    SETTINGS,
    TASKS,
    GuestSettings,
    add_settings,
    check,
    checked_settings,
    settings_of,
    task_of,
)
from core.json_types import JsonMapping, JsonObject

ARCHITECTURE = "cross-encoder"
BI_ENCODER = "bi-encoder"
MODULES = "modules.json"
"""What sentence-transformers writes beside the parts of a model of its own."""
HEAD = "pairlens-head.safetensors"
"""The classifier of a bi-encoder that was trained here."""
ALIKE = ("0", "1")
"""The classes of a bi-encoder without a trained classifier, unless they are named."""
LARGEST_CONFIG = 4 << 20


def is_guest(folder: Path) -> bool:
    """Whether a folder is in Hugging Face's format, or in sentence-transformers'."""
    try:
        if (folder / "card.json").is_file():
            return False
        return any((folder / name).is_file() for name in ("config.json", MODULES))
    except OSError:  # what reads its card says what is wrong
        return False


def guest_card(folder: Path) -> Card:
    """The card of a folder in Hugging Face's format, read again when one of its files has changed. Raises
    CheckpointError with what is wrong in one sentence."""
    card = _card(folder, tuple(map(_stamp, guest_files(folder))))
    if isinstance(card, str):
        raise CheckpointError(card)
    return card.copy()


def weights_of(folder: Path) -> list[Path]:
    """The files of the weights, in the order of their names."""
    return [path for path in sorted(_home(folder).glob("*.safetensors")) if path.name != HEAD]


def guest_files(folder: Path) -> list[Path]:
    """The files that make a guest."""
    named = (folder / name for name in (MODULES, HEAD, SETTINGS))
    return [*named, _home(folder) / "config.json", _home(folder) / "tokenizer.json", *weights_of(folder)]


def modules_of(folder: Path) -> list[JsonObject]:
    """What ``modules.json`` lists. Raises CheckpointError for what is no list of steps with types and paths."""
    try:
        steps = read_json(folder / MODULES)
        return [{"type": str(step["type"]), "path": str(step["path"])} for step in steps]
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"{called(folder)}/{MODULES} is no list of steps: copy the model again") from None


def _home(folder: Path) -> Path:
    """The folder of the transformer, which in sentence-transformers' layout may be a subfolder."""
    if (folder / "config.json").is_file() or not (folder / MODULES).is_file():
        return folder
    with contextlib.suppress(CheckpointError, IndexError):
        return folder / str(modules_of(folder)[0]["path"])
    return folder


def size_of(folder: Path) -> int:
    """Bytes of the weights' files."""
    return sum(path.stat().st_size for path in weights_of(folder))


def answer(folder: Path, task: str, labels: Sequence[str], second_first: bool = False) -> None:
    """Write what a person said of a guest into its ``pairlens.json``. Raises CheckpointError for what cannot be, and
    FileError where the operating system refuses."""
    said = {"task": task, "labels": list(labels), "second_first": second_first}
    check(folder, checked_settings(folder, said), _labels(_config(folder)))
    add_settings(folder, **said)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_mtime_ns, now.st_size


@functools.lru_cache(maxsize=64)
def _card(folder: Path, *changed: object) -> Card | str:
    """The card, or what is wrong in one sentence."""
    try:
        return _read(folder)
    except CheckpointError as error:
        return str(error)


def _read(folder: Path) -> Card:
    pair = (folder / MODULES).is_file()
    if pair:
        modules_of(folder)
    config, settings = _config(folder), settings_of(folder)
    known = settings.labels or ALIKE if pair else _labels(config)
    labels = settings.labels or known
    check(folder, settings, known if (folder / HEAD).is_file() or not pair else ALIKE)
    task = settings.task or task_of(labels) or ("paraphrase" if pair else "")
    if not weights_of(folder):
        raise CheckpointError(without_safetensors(folder))
    unknown = not task
    roles = settings.roles or TASKS[task or "entailment"]
    lowered = tuple(label.lower() for label in labels)
    card = {
        "name": called(folder),
        "title": settings.title or called(folder),
        "architecture": BI_ENCODER if pair else ARCHITECTURE,
        "config": {"classes": len(labels), **(_of_pair(folder, settings) if pair else _of_cross(config, settings))},
        "task": task or "entailment",
        "labels": list(labels if unknown or len(set(lowered)) < len(lowered) else lowered),
        "roles": {"first": roles[0], "second": roles[1], "judged": BOTH},
        "words": {"sha256": "", "name": "its own pieces"},
        "licence": settings.licence or "not stated: see the model’s own page",
        "notes": settings.notes,
        "sha256": fingerprint(folder),
        "guest": str(config.get("model_type", "transformer")),
        "asked": unknown,
        "second_first": settings.second_first,
        **settings.measured,
    }
    if wrong := problems(card):
        raise CheckpointError(f"{called(folder)}/{SETTINGS} is damaged ({', '.join(wrong)}): mend or remove it")
    return cast(Card, card)


def _of_cross(config: JsonMapping, settings: GuestSettings) -> JsonObject:
    layers, heads = sizes_of(config)
    return {"layers": layers, "heads": heads, "head": settings.head, **_agreement(settings.alignment)}


def _of_pair(folder: Path, settings: GuestSettings) -> JsonObject:
    return {"threshold": settings.threshold, "scale": settings.scale, "trained": (folder / HEAD).is_file()}


def _agreement(alignment: JsonObject | None) -> JsonObject:
    """What `python -m trainers align --heads` measured of the best head, on the set that did not choose it where there
    is one; nothing where that cannot be read, which the check of the card says."""
    try:
        heads, results = (alignment or {})["heads"], (alignment or {})["results"]
        name = next((name for name in results if name != alignment["fixed_on"]), alignment["fixed_on"])  # type: ignore[index]
        return {"measured": heads["head"], "f1": results[name]["f1"], "random_95": heads["random_95"][name]}
    except (KeyError, TypeError):
        return {}


def fingerprint(folder: Path) -> str:
    """What distinguishes this model from others: SHA-256 of the configuration and of the first and last megabyte of
    each file of weights, as a large one would take a minute to read in full."""
    digest = hashlib.sha256((_home(folder) / "config.json").read_bytes())
    for path in [*weights_of(folder), *([folder / HEAD] if (folder / HEAD).is_file() else [])]:
        size = path.stat().st_size
        with path.open("rb") as file:
            digest.update(f"{path.name} {size}".encode() + file.read(1 << 20))
            file.seek(max(0, size - (1 << 20)))
            digest.update(file.read())
    return digest.hexdigest()


def _config(folder: Path) -> JsonObject:
    file = _home(folder) / "config.json"
    try:
        config = read_json(file) if file.stat().st_size <= LARGEST_CONFIG else None
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict):
        raise CheckpointError(f"{called(folder)}/config.json is no readable JSON: copy the model again")
    return config


def _labels(config: JsonMapping) -> tuple[str, ...]:
    """The names of the classes in the order of the logits."""
    named = config.get("id2label")
    if isinstance(named, dict) and named:
        try:
            return tuple(str(label) for _, label in sorted((int(number), label) for number, label in named.items()))
        except ValueError:
            pass
    # The default names of transformers: with two classes config.json leaves them out.
    return ("LABEL_0", "LABEL_1")


def without_safetensors(folder: Path) -> str:
    if any(folder.glob("*.bin")):
        return (
            f"{called(folder)} has its weights in a pickle (*.bin), which could run any code when it is read: where "
            "you trust it, let Hugging Face’s library convert it with `python -c 'from transformers import "
            'AutoModelForSequenceClassification as M; M.from_pretrained("FOLDER").save_pretrained("FOLDER")\'`'
        )
    return f"{called(folder)} has no *.safetensors: copy the model again, with its weights"
