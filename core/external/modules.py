"""The layout in which sentence-transformers writes a model: the kind of model, and the settings of its modules.

``modules.json`` lists the modules, each in a folder: the transformer, pooling of token states into one vector
(``1_Pooling``) and further layers (``2_Dense``). Bi-encoders have always been written so, cross-encoders since version
5.4: a transformer with its own classifier, or one whose pooled vector goes through layers to scores. A setting that
changes an answer and is not applied here is rejected by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from core.errors import CheckpointError
from core.external.folder import (
    MODULES,
    ST_SETTINGS,
    WEIGHTS,
    check_files,
    files_of,
    has,
    modules_of,
    object_of,
    without_safetensors,
)
from core.external.headers import plain_name, shapes_of
from core.external.names import called
from core.json_types import JsonObject

CROSS_ENCODER, BI_ENCODER = "cross-encoder", "bi-encoder"
LEAST_PIECES = 8
"""A model with a shorter limit cannot read a pair of texts."""
POOLINGS = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken")
"""In the order in which versions before 5.4 concatenate several."""
ACTIVATIONS: Mapping[str, type[torch.nn.Module]] = {
    kind.__name__: kind
    for kind in (torch.nn.Identity, torch.nn.Tanh, torch.nn.ReLU, torch.nn.GELU, torch.nn.SiLU, torch.nn.Sigmoid)
}
"""Activations of a Dense module by name."""
_OLD_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_LAYERS = ("Dense", "LayerNorm", "Normalize", "Dropout")
_OF_TEXTS = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
"""Names of the file with the settings for reading texts; the first that exists is used."""
_NEUTRAL = (
    "__version__", "model_type", "prompts", "default_prompt_name", "similarity_fn_name", "activation_fn",
    "keep_in_fp32_modules", "requirements", "truncate_dim",
)  # fmt: skip
"""Settings that are applied, or do not change an answer."""
_OTHER_KINDS = {
    "SparseEncoder": "a sparse encoder (SPLADE), which gives each text a weight per word of its vocabulary",
    "SpladePooling": "a sparse encoder (SPLADE), which gives each text a weight per word of its vocabulary",
    "MultiVectorEncoder": "a multi-vector encoder (ColBERT), which compares a vector per token",
    "ColBERT": "a multi-vector encoder (ColBERT), which compares a vector per token",
    "StaticEmbedding": "a table of static embeddings, without a transformer",
    "LogitScore": "a language model that scores a pair by its next word (LogitScore), not a classifier",
    "CLIPModel": "a CLIP model of images and texts",
    "Router": "a router, which encodes queries and documents by different modules",
    "Asym": "a router, which encodes queries and documents by different modules",
    "WordEmbeddings": "a model of word embeddings, without a transformer",
    "BoW": "a bag-of-words model, without a transformer",
}
"""Unsupported models of sentence-transformers, by their type or by one of their modules."""
_AS_FUNCTION = "call it from a function (docs/guests.md)"


@dataclass(frozen=True)
class Layer:
    """A layer after pooling, of vectors with this many ``inputs`` (0: not known) and ``outputs``."""

    kind: str
    folder: Path
    inputs: int
    outputs: int
    activation: str = ""
    bias: bool = True
    residual: bool = False

    def weights(self) -> dict[str, torch.Tensor]:
        """Its weights by the names of its parameters."""
        check_files(self.folder)
        named = {plain_name(name): value for name, value in load_file(self.folder / WEIGHTS).items()}
        return {name.removeprefix("norm."): value for name, value in named.items()}


@dataclass(frozen=True)
class ModuleLayout:
    """A model as its files describe it. ``home``: the transformer's folder; ``limit``: maximum number of pieces;
    ``prompt``: prefix of each text, in a cross-encoder of the first text; ``pooling``: empty if the transformer
    classifies pairs itself; ``scores``: number of scores of a cross-encoder's last layer."""

    architecture: str
    home: Path
    lower: bool = False
    limit: int | None = None
    prompt: str = ""
    pooling: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    scores: int = 0


def layout_of(folder: Path) -> ModuleLayout:
    """The layout of an external model's folder. Raises CheckpointError, which names what the folder holds instead, in
    one sentence."""
    files = files_of(folder)
    if not has(files, MODULES):
        return ModuleLayout(CROSS_ENCODER, files, prompt=prompts_of(files)[0])
    steps = modules_of(files)
    kinds = [step["type"].rpartition(".")[2] for step in steps]
    homes = [files / step["path"] for step in steps]
    said = object_of(files, ST_SETTINGS)
    other = next((name for name in (str(said.get("model_type")), *kinds) if name in _OTHER_KINDS), None)
    if other is not None:
        raise CheckpointError(f"{called(folder)} is {_OTHER_KINDS[other]}: {_AS_FUNCTION}")
    refuse_others(files, ST_SETTINGS, {key: value for key, value in said.items() if key not in _NEUTRAL})
    cross = said.get("model_type") == "CrossEncoder"
    lower, limit, task = _how_texts_are_read(files, homes[0]) if kinds[0] == "Transformer" else (False, None, "")
    prompt, _ = prompts_of(files)
    if kinds == ["Transformer"] and (cross or task == _CLASSIFIES):
        return ModuleLayout(CROSS_ENCODER, homes[0], lower, limit, prompt)
    if kinds[:2] != ["Transformer", "Pooling"] or {*kinds[2:]} - {*_LAYERS} or task == _CLASSIFIES:
        raise CheckpointError(
            f"{called(folder)} has modules that PairLens does not know ({', '.join(kinds)[:100]}): use a model of "
            f"Transformer, Pooling, {', '.join(_LAYERS[:-1])} and {_LAYERS[-1]}, or {_AS_FUNCTION}"
        )
    pooling, width = _pooling(files, homes[1], prompt)
    layers, scores = _layers(files, list(zip(kinds[2:], homes[2:], strict=True)), width)
    if cross and not scores:
        raise CheckpointError(
            f"{called(folder)} is a cross-encoder without a layer of scores (module_output_name): {_AS_FUNCTION}"
        )
    if scores:
        return ModuleLayout(CROSS_ENCODER, homes[0], lower, limit, prompt, pooling, layers, scores)
    return ModuleLayout(BI_ENCODER, homes[0], lower, limit, prompt, pooling, (*layers, *_truncated(files, said)))


_CLASSIFIES = "sequence-classification"
_TASKS = {"feature-extraction": "last_hidden_state", _CLASSIFIES: "logits"}
"""The transformer's tasks that are read, and the output of each that is used."""


def _how_texts_are_read(files: Path, home: Path) -> tuple[bool, int | None, str]:
    """Whether texts are lower-cased, the maximum number of pieces, and the transformer's task (empty if not named)."""
    name = next((name for name in _OF_TEXTS if has(home, name)), _OF_TEXTS[0])
    said = object_of(home, name)
    limit, lower = said.pop("max_seq_length", None), said.pop("do_lower_case", False)
    if limit is not None and (type(limit) is not int or limit < LEAST_PIECES):
        raise CheckpointError(f"{called(files)}/{name} has a max_seq_length that cannot be: fix it")
    if type(lower) is not bool:
        raise CheckpointError(f"{called(files)}/{name} must have true or false as do_lower_case: fix it")
    task, modalities = str(said.pop("transformer_task", "") or ""), said.pop("modality_config", None)
    for neutral in ("module_output_name", "unpad_inputs"):
        said.pop(neutral, None)
    refuse_others(files, name, said)
    if task and task not in _TASKS:
        raise CheckpointError(f"{called(files)} is a transformer for {task[:60]}, not for pairs: {_AS_FUNCTION}")
    if modalities is not None and not _reads_text(modalities, task):
        raise CheckpointError(
            f"{called(files)} does not read plain texts but {', '.join(map(str, modalities))[:60]} "
            f"(modality_config): {_AS_FUNCTION}"
        )
    return lower, limit, task


def _reads_text(modalities: Any, task: str) -> bool:
    """Whether texts are read unchanged; with a ``message``, sentence-transformers puts them into a chat template."""
    text = modalities.get("text") if isinstance(modalities, dict) and "message" not in modalities else None
    expected = {"method": "forward", "method_output_name": _TASKS[task or "feature-extraction"]}
    return isinstance(text, dict) and expected.items() <= text.items()


def refuse_others(files: Path, name: str, said: Mapping[str, Any]) -> None:
    """Raises CheckpointError if a settings file has a setting that would have to be applied."""
    other = next((key for key, value in said.items() if value not in (None, {}, [], False, "")), None)
    if other is not None:
        raise CheckpointError(
            f"{called(files)}/{name} sets {other[:60]}, which PairLens does not apply: remove that line if the answers "
            f"do not depend on it, else {_AS_FUNCTION}"
        )


def activation_of(files: Path, config: Mapping[str, Any]) -> tuple[object, bool]:
    """The name of the activation that sentence-transformers applies to a cross-encoder's scores, None if none is saved;
    and whether that library wrote the model."""
    said, theirs = object_of(files, ST_SETTINGS), config.get("sentence_transformers")
    old = theirs.get("activation_fn") if isinstance(theirs, dict) else None
    name = said.get("activation_fn") or old or config.get("sbert_ce_default_activation_function")
    return name, isinstance(theirs, dict) or said.get("model_type") == "CrossEncoder"


def similarity_name(files: Path) -> str:
    """The name of the similarity a bi-encoder was trained with."""
    name = str(object_of(files, ST_SETTINGS).get("similarity_fn_name") or "cosine")
    known = {"dot_score": "dot", "cos_sim": "cosine", "euclidean_sim": "euclidean", "manhattan_sim": "manhattan"}
    return known.get(name, name)


def prompts_of(files: Path) -> tuple[str, Mapping[str, str]]:
    """The default prompt, a prefix of each text (empty if there is none), and all prompts by name, without empty
    ones."""
    said = object_of(files, ST_SETTINGS)
    prompts: object = said.get("prompts") or {}
    name = said.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(isinstance(one, str) for one in prompts.values()):
        raise CheckpointError(f"{called(files)}/{ST_SETTINGS} has prompts that are not texts by name: fix it")
    if name is not None and (not isinstance(name, str) or name not in prompts):
        raise CheckpointError(
            f"{called(files)}/{ST_SETTINGS} has no prompt {str(name)[:60]!r}: fix its default_prompt_name"
        )
    return "" if name is None else prompts[name], {name: prompt for name, prompt in prompts.items() if prompt}


def _pooling(files: Path, home: Path, prompt: str) -> tuple[tuple[str, ...], int]:
    """The poolings, in the order in which they are concatenated, and the width of their vector (0: not known)."""
    config = object_of(home, "config.json")
    mode = config.get("pooling_mode")
    asked = [mode] if isinstance(mode, str) else mode if isinstance(mode, list) else []
    asked = [way.removesuffix("_tokens") for one in asked for way in str(one).split("+")]
    asked = asked or [way for key, way in _OLD_KEYS.items() if config.get(key)]
    if (
        not asked
        or {*asked} - {*POOLINGS}
        or any(key.startswith("pooling_mode_") and key not in _OLD_KEYS and value for key, value in config.items())
    ):
        raise CheckpointError(
            f"{called(files)} pools in a way that PairLens does not know: use one of {', '.join(POOLINGS)}, or "
            f"{_AS_FUNCTION}"
        )
    if prompt and config.get("include_prompt") is False:
        raise CheckpointError(
            f"{called(files)} leaves its prompt out of the pooling (include_prompt), which PairLens does not: "
            f"{_AS_FUNCTION}"
        )
    width = config.get("embedding_dimension", config.get("word_embedding_dimension"))
    return tuple(asked), len(asked) * width if type(width) is int else 0


def _layers(files: Path, modules: Sequence[tuple[str, Path]], width: int) -> tuple[tuple[Layer, ...], int]:
    """The layers that change a vector of ``width`` numbers, and the number of scores of the last one."""
    layers: list[Layer] = []
    vector, scores = "sentence_embedding", 0
    for kind, home in modules:
        if kind == "Dropout":
            continue
        config = object_of(home, "config.json") if has(home, "config.json") else {}
        read = config.get("module_input_name") or vector
        written = config.get("module_output_name") or read
        if read != vector or scores or written not in (vector, "scores"):
            raise CheckpointError(
                f"{called(files)}/{home.name} reads {str(read)[:40]} and writes {str(written)[:40]}, which PairLens "
                f"does not follow: {_AS_FUNCTION}"
            )
        layer = Layer(kind, home, width, width) if kind == "Normalize" else _trained(files, kind, home, config)
        if width and layer.inputs != width:
            raise CheckpointError(
                f"{called(files)}/{home.name} takes {layer.inputs} numbers and gets {width}: copy the model again"
            )
        layers.append(layer)
        width, scores = layer.outputs, layer.outputs if written == "scores" else 0
    return tuple(layers), scores


def _trained(files: Path, kind: str, home: Path, config: JsonObject) -> Layer:
    """A layer with weights, after a look at their shapes."""
    if not has(home, WEIGHTS):
        library = "sentence_transformers import SentenceTransformer"
        raise CheckpointError(f"{called(files)}: {without_safetensors(home, library)}")
    shapes = shapes_of([home / WEIGHTS])
    activation = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f"{called(files)}/{home.name} has the activation {activation[:40]}, which PairLens does not know: "
            f"{_AS_FUNCTION}"
        )
    shape = shapes.get("norm.weight" if kind == "LayerNorm" else "linear.weight", [])
    if len(shape) != (1 if kind == "LayerNorm" else 2):
        raise CheckpointError(
            f"{called(files)}/{home.name} does not have the weights of a {kind}: copy the model again"
        )
    residual = bool(config.get("use_residual"))
    return Layer(kind, home, shape[-1], shape[0], activation, "linear.bias" in shapes, residual)


def _truncated(files: Path, said: Mapping[str, Any]) -> tuple[Layer, ...]:
    """The truncation of vectors to their first numbers (Matryoshka), if it is set."""
    most = said.get("truncate_dim")
    if most is None:
        return ()
    if type(most) is not int or most < 1:
        raise CheckpointError(f"{called(files)}/{ST_SETTINGS} has a truncate_dim that cannot be: fix it")
    return (Layer("Truncate", files, 0, most),)
