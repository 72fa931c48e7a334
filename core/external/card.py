"""The card of an external model: Hugging Face's configuration plus the settings in ``pairlens.json``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from core.card import Card, RoleNames, problems
from core.errors import CheckpointError
from core.evidence import BOTH
from core.external.folder import (
    ADAPTER,
    CLASSIFIER,
    CONFIG,
    HEAD,
    MODULES,
    POOLING,
    SETTINGS,
    ST_SETTINGS,
    WEIGHTS,
    config_of,
    contents,
    files_of,
    has,
    home_of,
    names_in,
    object_of,
    parts_of,
    weights_of,
)
from core.external.headers import check_fits, check_indexed, shapes_of
from core.external.heads import sizes_of
from core.external.loading import NO_CLASSIFIER
from core.external.modules import BI_ENCODER as BI_ENCODER
from core.external.modules import CROSS_ENCODER as CROSS_ENCODER
from core.external.modules import ModuleLayout, activation_of, layout_of
from core.external.names import called
from core.external.settings import (
    ExternalSettings,
    add_settings,
    check,
    checked_settings,
    settings_of,
)
from core.external.towers import SIMILARITIES, similarity_of
from core.json_types import JsonMapping, JsonObject
from core.models.answers import IDENTITY, SIGMOID, SOFTMAX
from core.tasks import ENTAILMENT, TASKS, task_of_classes, texts_of
from core.wording import counted

BINARY = ("0", "1")
"""The classes of a bi-encoder with a fitted threshold, unless the user named them."""
MOST_CLASSES = 1000
"""More than any pair classifier has."""
_ACTIVATIONS = {"Sigmoid": SIGMOID, "Identity": IDENTITY, "Softmax": SOFTMAX}
_TOKENISER = ("tokenizer", "vocab", "merges", "spiece", "sentencepiece", "spm", "bpe", "tekken")
"""How the names of a tokeniser's files begin."""
_REFUSED = {
    "quantization_config": "is quantised: save it again in full precision",
    "quantization": "is quantised (MLX): save it again in full precision",
    "auto_map": "brings its own code, which is not run: use a model of an architecture that transformers has",
    "transformers_weights": "names its weights in config.json, which is not followed: call the file model.safetensors",
}
"""Keys of ``config.json`` that change how a model is read."""


def external_files(folder: Path) -> list[Path]:
    """The files of an external model, including ``pairlens.json`` and the trained classifier even if they do not exist
    yet."""
    return [*dict.fromkeys([folder / HEAD, folder / SETTINGS, *parts_of(folder)])]


def size_of(folder: Path) -> int:
    """Total bytes of the weight files; 0 if unknown."""
    try:
        return sum(path.stat().st_size for path in weights_of(folder))
    except (CheckpointError, OSError):
        return 0


def answer(folder: Path, task: str, labels: Sequence[str], second_first: bool = False) -> None:
    """Writes the user's answer to the model's ``pairlens.json``. Raises CheckpointError for invalid values, and
    FileError if the operating system refuses."""
    said = {"task": task, "labels": list(labels), "second_first": second_first}
    check(folder, checked_settings(folder, said), labels_of(folder))
    add_settings(folder, **said)


def named(card: Card, names: Sequence[str]) -> Card:
    """The card of an external model with these class names, in the order of the logits. Raises CheckpointError if their
    number is wrong or a name is repeated."""
    labels = [name.strip() for name in names]
    classes = len(card["labels"])
    if len(labels) != classes or len({label.lower() for label in labels}) < classes or not all(labels):
        raise CheckpointError(
            f"{card['name']} has {counted(classes, 'class', 'es')}, and {', '.join(names)[:100]!r} names "
            f"{len(set(labels) - {''})} different ones: give --class-names as many names, with commas between them"
        )
    task = task_of_classes(labels) or card["task"]
    first, second = TASKS[task].texts if task != card["task"] and task in TASKS else list(card["roles"].values())[:2]
    roles = RoleNames({"first": first, "second": second, "judged": BOTH})
    return cast(Card, {**card, "labels": labels, "task": task, "roles": roles, "asked": False})


def external_card(folder: Path) -> Card:
    """The card of a folder in Hugging Face's format. Raises CheckpointError with the problem in one sentence."""
    layout = _checked_layout(folder)
    pair = layout.architecture == BI_ENCODER
    config, settings = config_of(layout.home), settings_of(folder)
    trained = pair and has(folder, HEAD)
    known = BINARY if pair else _labels(folder, layout, config)
    _check_weights(folder, layout.home, config, 0 if layout.pooling else len(known))
    check(folder, settings, settings.labels if trained else known)
    own: JsonObject = _of_pair(folder, settings) if pair else _of_cross(folder, config, settings, len(known))
    score = own["activation"] != SOFTMAX if pair else len(known) == 1
    named = () if pair and score else settings.labels
    labels = named or ((own["similarity"],) if pair and score else _score(known) if score else known)
    task = settings.task or task_of_classes(labels) or ("paraphrase" if pair else "")
    asked = not (task or score)
    roles: Sequence[str] = (
        (settings.roles or TASKS[task].texts) if task else texts_of("similarity" if score else ENTAILMENT)
    )
    lowered = tuple(label.lower() for label in labels)
    card = {
        "name": called(folder),
        "title": settings.title or called(folder),
        "architecture": layout.architecture,
        "config": {"classes": len(labels), **own},
        "task": task or ("similarity" if score else ENTAILMENT),
        "labels": list(labels if asked or len(set(lowered)) < len(lowered) else lowered),
        "roles": {"first": roles[0], "second": roles[1], "judged": BOTH},
        "words": {"sha256": "", "name": "its own pieces"},
        "licence": settings.licence or "not stated: see the model’s own page",
        "notes": settings.notes,
        "sha256": fingerprint(folder),
        "guest": str(config.get("model_type", "transformer"))[:80],
        "asked": asked,
        "second_first": settings.second_first,
        **settings.measured,
    }
    if wrong := problems(card):
        raise CheckpointError(f"{called(folder)}/{SETTINGS} is damaged ({', '.join(wrong)}): fix or remove it")
    return cast(Card, card)


def _checked_layout(folder: Path) -> ModuleLayout:
    """The layout of a folder. Raises CheckpointError, naming what the folder holds instead, for anything but a text
    classifier or, in sentence-transformers' layout, an encoder."""
    home = home_of(folder)
    if has(home, ADAPTER):
        base = str(object_of(home, ADAPTER).get("base_model_name_or_path") or "another model")[:80]
        raise CheckpointError(
            f"{called(folder)} is a PEFT adapter on {base}, not a complete model: merge both (merge_and_unload), "
            "save the result"
        )
    layout = layout_of(folder)
    if not has(home, CONFIG):
        weights_of(folder)  # reports the files found instead
    config = config_of(home)
    for key, what in _REFUSED.items():
        if config.get(key):
            raise CheckpointError(f"{called(folder)} {what}")
    if not layout.pooling:
        _check_classifier(folder, config)
    return layout


def _check_classifier(folder: Path, config: JsonMapping) -> None:
    named = config.get("architectures")
    names = [str(one)[:80] for one in named] if isinstance(named, list) else []
    if not names or any(name.endswith(CLASSIFIER) for name in names):
        return
    files = files_of(folder)
    if not has(files, MODULES) and any(has(files, name) for name in (POOLING, ST_SETTINGS)):
        raise CheckpointError(f"{called(folder)} has lost its {MODULES}: copy the model again, all its files")
    raise CheckpointError(f"{called(folder)} is a {names[0]}, not a classifier of pairs: {NO_CLASSIFIER}")


def _check_weights(folder: Path, home: Path, config: JsonMapping, classes: int) -> None:
    """Raises CheckpointError if the weights are of another model than the configuration, judged by their headers, or
    the tokeniser is missing."""
    shapes = shapes_of(weights_of(folder))
    check_indexed(home, shapes)
    check_fits(home, config, shapes, classes)
    if not any(name.startswith(_TOKENISER) for name in names_in(home)):
        raise CheckpointError(f"{called(home)} has no tokeniser: copy the model again, all its files")


def _activation_of(folder: Path, config: JsonMapping, classes: int) -> str:
    """The activation for logits of this many classes, from sentence-transformers' configuration, else from
    transformers' ``problem_type``. Raises CheckpointError for unknown values."""
    problem = config.get("problem_type")
    if problem not in (None, "single_label_classification", "multi_label_classification", "regression"):
        raise CheckpointError(
            f"config.json of {called(folder)} has a problem_type that is not known: {str(problem)[:60]!r}"
        )
    said, theirs = activation_of(files_of(folder), config)
    if said is None and theirs and classes == 1:
        return SIGMOID  # as that library reads it
    if said is not None:
        found = _ACTIVATIONS.get(str(said).rpartition(".")[2])
        if found is None or (found == SOFTMAX and classes == 1):
            raise CheckpointError(
                f"{called(folder)} is read through {str(said)[:80]}, which is not known here: use Identity, Sigmoid or "
                "Softmax"
            )
        if found != IDENTITY or classes == 1:
            return found
    if problem == "regression" and classes > 1:
        raise CheckpointError(
            f"{called(folder)} answers with {classes} scores of a pair (problem_type regression): use a model with one "
            "score or with classes"
        )
    if problem == "multi_label_classification":
        return SIGMOID
    return IDENTITY if classes == 1 else SOFTMAX


def _score(labels: Sequence[str]) -> tuple[str, ...]:
    """The name of the only output."""
    return ("score",) if labels[0].startswith("LABEL_") else tuple(labels)


def _of_cross(folder: Path, config: JsonMapping, settings: ExternalSettings, classes: int) -> JsonObject:
    layers, heads = sizes_of(config)
    for what, count in (("layers", layers), ("heads", heads)):
        if type(count) is not int or not 0 <= count < 10_000:
            raise CheckpointError(
                f"config.json of {called(folder)} has an implausible number of {what}: copy the model again"
            )
    activation = _activation_of(folder, config, classes)
    sizes = {"layers": layers, "heads": heads, "head": settings.head, "activation": activation}
    return {**sizes, **_agreement(settings.alignment)}


def _of_pair(folder: Path, settings: ExternalSettings) -> JsonObject:
    trained = has(folder, HEAD)
    unit = SIMILARITIES[similarity_of(files_of(folder))][0]
    fitted = {"threshold": settings.threshold, "scale": settings.scale, "trained": trained}
    return {
        **fitted,
        "activation": SOFTMAX if trained or settings.threshold is not None else IDENTITY,
        "similarity": unit,
    }


def _agreement(alignment: JsonObject | None) -> JsonObject:
    """The result of `python -m trainers align --heads` for the best head, preferably on a set that was not used to
    choose it; empty if unreadable, which the card check reports."""
    try:
        heads, results = (alignment or {})["heads"], (alignment or {})["results"]
        name = next((name for name in results if name != alignment["fixed_on"]), alignment["fixed_on"])  # type: ignore[index]
        return {"measured": heads["head"], "f1": results[name]["f1"]}
    except (KeyError, TypeError):
        return {}


def fingerprint(folder: Path) -> str:
    """Identifies the model: SHA-256 of the configuration and of the first and last megabyte of each weight file, as
    reading a large one in full would take a minute."""
    digest = hashlib.sha256(contents(home_of(folder), CONFIG))
    further = [path for path in parts_of(folder) if path.name == WEIGHTS]
    for path in dict.fromkeys([*weights_of(folder), *further, *([folder / HEAD] if has(folder, HEAD) else [])]):
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(f"{path.name} {size}".encode() + file.read(1 << 20))
            file.seek(max(0, size - (1 << 20)))
            digest.update(file.read(1 << 20))
    return digest.hexdigest()


def labels_of(folder: Path) -> tuple[str, ...]:
    """The class names in the order of the logits. Raises CheckpointError unless they are valid names."""
    layout = layout_of(folder)
    return _labels(folder, layout, config_of(layout.home))


def _labels(folder: Path, layout: ModuleLayout, config: JsonMapping) -> tuple[str, ...]:
    named = config.get("id2label")
    if layout.scores and not (isinstance(named, dict) and len(named) == layout.scores):
        return tuple(f"LABEL_{number}" for number in range(layout.scores))
    if named is None or named == {}:
        count = config.get("num_labels", 2)  # config.json omits the default names for two classes
        labels = [f"LABEL_{number}" for number in range(count)] if _is_count(count) else []
    else:
        labels = _in_order(named)
    if not labels:
        raise CheckpointError(
            f"config.json of {called(folder)} names no classes (1 to {MOST_CLASSES}, each with its own name): fix its "
            "id2label"
        )
    return tuple(labels)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 < value <= MOST_CLASSES


def _in_order(named: object) -> list[str]:
    """Names in the order of their keys; empty unless keys are numbers and names differ."""
    if not isinstance(named, dict) or len(named) > MOST_CLASSES:
        return []
    try:
        pairs = sorted((int(number), label) for number, label in named.items())
    except (ValueError, TypeError):
        return []
    labels = [str(label) for _, label in pairs if isinstance(label, str | int | float)]
    return labels if len(set(labels)) == len(named) and all(map(str.strip, labels)) else []
