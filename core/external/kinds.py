"""Checks from its configuration that a transformers folder is a text classifier."""

from __future__ import annotations

from pathlib import Path

from core.errors import CheckpointError
from core.external.folder import ADAPTER, CONFIG, MODULES, config_of, files_of, has, home_of, object_of, weights_of
from core.external.names import called
from core.json_types import JsonMapping
from core.models.answers import IDENTITY, SIGMOID, SOFTMAX

_CLASSIFIER = "ForSequenceClassification"
_REMEDY = "give one whose architecture ends in ForSequenceClassification"
_ACTIVATIONS = {"Sigmoid": SIGMOID, "Identity": IDENTITY, "Softmax": SOFTMAX}
_REFUSED = {
    "quantization_config": "is quantised: save it again in full precision",
    "auto_map": "brings its own code, which is not run: use a model of an architecture that transformers has",
    "transformers_weights": "names its weights in config.json, which is not followed: call the file model.safetensors",
}
"""Keys of ``config.json`` that change how a model is read."""


def check_kind(folder: Path) -> None:
    """Raises CheckpointError, naming what the folder holds instead, for anything but a text classifier or, in
    sentence-transformers' layout, an encoder."""
    home = home_of(folder)
    if has(home, ADAPTER):
        base = str(object_of(home, ADAPTER).get("base_model_name_or_path") or "another model")[:80]
        raise CheckpointError(
            f"{called(folder)} is a PEFT adapter on {base}, not a complete model: merge both (merge_and_unload), "
            "save the result"
        )
    if not has(home, CONFIG):
        weights_of(folder)  # reports the files found instead
    config = config_of(home)
    for key, what in _REFUSED.items():
        if config.get(key):
            raise CheckpointError(f"{called(folder)} {what}")
    if not has(files_of(folder), MODULES):
        _check_classifier(folder, config)


def _check_classifier(folder: Path, config: JsonMapping) -> None:
    named = config.get("architectures")
    names = [str(one)[:80] for one in named] if isinstance(named, list) else []
    if not names or any(name.endswith(_CLASSIFIER) for name in names):
        return
    raise CheckpointError(f"{called(folder)} is a {names[0]}, not a classifier of pairs: {_REMEDY}")


def no_classifier(folder: Path, kind: str) -> str:
    """The message for an architecture without a classifier in transformers."""
    return f"{called(folder)} is a {kind[:60]} model, for which transformers has no classifier of texts: {_REMEDY}"


def activation_of(folder: Path, config: JsonMapping, classes: int) -> str:
    """The activation for logits of this many classes, from sentence-transformers' configuration, else from
    transformers' ``problem_type``. Raises CheckpointError for unknown values."""
    problem = config.get("problem_type")
    if problem not in (None, "single_label_classification", "multi_label_classification", "regression"):
        raise CheckpointError(
            f"config.json of {called(folder)} has a problem_type that is not known: {str(problem)[:60]!r}"
        )
    theirs = config.get("sentence_transformers")
    said = theirs.get("activation_fn") if isinstance(theirs, dict) else None
    said = said or config.get("sbert_ce_default_activation_function")
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
