"""The headers of weight files: names and shapes of the tensors, and whether they match the configuration."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors import safe_open

from core.errors import CheckpointError
from core.external.folder import INDEX, check_regular, has, object_of, reading
from core.external.heads import sizes_of
from core.external.names import called
from core.json_types import JsonMapping, JsonObject
from core.wording import counted

Shapes = Mapping[str, Sequence[int]]
"""The shapes of tensors by name."""
_WRAPPERS = frozenset({"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
"""Prefixes that DataParallel, torch.compile, FSDP and activation checkpointing add to the wrapped module's names."""
_WIDTHS = ("hidden_size", "d_model", "n_embd", "dim", "emb_dim")
_INNER_WIDTHS = ("intermediate_size", "encoder_ffn_dim", "d_ff", "hidden_dim", "ffn_dim", "n_inner", "d_inner")
_TABLES = {
    "position_embeddings.weight": ("max_position_embeddings", (0, 2)),
    "token_type_embeddings.weight": ("type_vocab_size", (0,)),
}
"""Tables by the end of their names: the setting that is their number of rows, and how many more they may have (two in
Nyströmformer, MRA and YOSO)."""
HEADS = ("classifier", "score", "classification_head", "logits_proj", "sequence_summary", "pre_classifier", "head")
"""How the names of a pair classifier's weights begin."""


def plain_name(name: str) -> str:
    """A tensor's name without the prefixes of wrappers around a module, at any depth."""
    return ".".join(part for part in name.split(".") if part not in _WRAPPERS)


def shapes_of(files: Sequence[Path]) -> dict[str, list[int]]:
    """The shapes of the tensors in weight files by :func:`plain_name`, read from their headers alone."""
    found: dict[str, list[int]] = {}
    for file in files:
        check_regular(file.parent, file.name)
        with reading(file.parent, file.name), safe_open(file, framework="np") as opened:
            for name in opened.keys():  # noqa: SIM118 (no mapping)
                if plain_name(name) in found:
                    raise CheckpointError(
                        f"{called(file.parent)} has two tensors for {plain_name(name)[:80]}: save the model again, "
                        "without its wrapper"
                    )
                found[plain_name(name)] = opened.get_slice(name).get_shape()
    return found


def check_indexed(home: Path, shapes: Shapes) -> None:
    """Raises CheckpointError if an index names a tensor that no file has."""
    named = object_of(home, INDEX).get("weight_map") if len(shapes) and has(home, INDEX) else None
    lacking = next((name for name in named or () if plain_name(name) not in shapes), None)
    if lacking is not None:
        raise CheckpointError(
            f"the weight files of {called(home)} lack {lacking[:80]}, which {INDEX} names: copy the model again"
        )


def check_fits(home: Path, config: JsonMapping, shapes: Shapes, classes: int = 0) -> None:
    """Raises CheckpointError if the weights have other sizes than the configuration, or no classifier of this many
    ``classes`` (0: none is needed). Loading checks every tensor; this takes no time, so that a list of models can say
    which ones do not open."""
    if problem := next(_misfits(config, shapes), None):
        raise CheckpointError(
            f"the weights of {called(home)} do not fit its config.json ({problem}): copy the model again, both files"
        )
    heads = {name: shape for name, shape in shapes.items() if name.startswith(HEADS)}
    others = (shape for name, shape in shapes.items() if "embed" not in name and not _places(name))
    if not classes or any(shape[:1] == [classes] for shape in heads.values() or others):
        return
    if not heads:
        raise CheckpointError(without_classifier(home, "a classifier"))
    last = heads[max(heads)]
    raise CheckpointError(
        f"the weights of {called(home)} do not fit its config.json ({counted(classes, 'class', 'es')} there, "
        f"{last[0] if last else 'none'} in the weights): fix its id2label"
    )


def without_classifier(home: Path, lacking: str) -> str:
    """The message for a transformer without the weights of a classifier."""
    return (
        f"{called(home)} is an encoder without a classifier (its weights lack {lacking[:80]}): give one that was "
        "trained on pairs, or train it (`python -m trainers finetune`)"
    )


def _misfits(config: JsonMapping, shapes: Shapes) -> Iterator[str]:
    """The mismatch between the configuration and the weights, in words."""
    sizes = {size for shape in shapes.values() for size in shape}
    rows = {shape[0] for shape in shapes.values() if len(shape) > 1}
    free = "emb_dim" in config or any("expert" in key for key in config)  # XLM and experts have their own inner widths
    wanted: tuple[tuple[Sequence[str], Callable[[int], bool]], ...] = (
        (("vocab_size",), lambda value: value in rows),
        (_WIDTHS, lambda value: value in sizes),
        (() if free else _INNER_WIDTHS, lambda value: value in sizes or 2 * value in sizes),
    )
    for keys, has_size in wanted:  # some configurations have others' keys, too
        said = [key for key in keys if _is_size(config.get(key))]
        if said and not any(has_size(config[key]) for key in said):
            yield f"{said[0]} {config[said[0]]:,}, which no tensor has"
    for name, shape in shapes.items():
        for end, (key, more) in _TABLES.items():
            if f".{name}".endswith(f".{end}") and _is_size(config.get(key)) and shape[0] - config[key] not in more:
                yield f"{key} {config[key]:,}, and {shape[0]:,} in the weights"
    layers, lists = sizes_of(config)[0], _lists(shapes)
    if _is_size(layers) and "num_hidden_groups" not in config and lists and layers not in lists:
        yield f"{counted(layers, 'layer')}, and {max(lists)} in the weights"


def _is_size(value: object) -> bool:
    return type(value) is int and value > 0


def _places(name: str) -> list[int]:
    """Where the parts of a name are numbers."""
    return [place for place, part in enumerate(name.split(".")) if part.isdigit()]


def _lists(shapes: Shapes) -> set[int]:
    """The lengths of the lists of layers."""
    members: dict[str, set[str]] = {}
    for name in shapes:
        parts = name.split(".")
        for place in _places(name)[:1]:
            members.setdefault(".".join(parts[:place]), set()).add(parts[place])
    return {len(numbers) for prefix, numbers in members.items() if re.search(r"layer|block|\bh$|attentions", prefix)}


def check_plausible(home: Path, config: JsonObject, shapes: Shapes) -> None:
    """Raises CheckpointError if the configuration describes a larger model than its weights allow: checked before
    anything is built, because 100,000 layers would take minutes and a table of 10¹² words all memory."""
    largest = max((size for shape in shapes.values() for size in shape), default=0)
    numbers = sum(map(math.prod, shapes.values()))
    for key, value in _integers(config):
        limit = len(shapes) if "layer" in key else numbers if "posit" in key or "length" in key else None
        if limit is None:
            counts = key.startswith(("num_", "n_", "d_")) or key.endswith(("_size", "_dim", "_heads", "dim", "_labels"))
            limit = max(8 * largest, 1 << 16) if counts else None
        if limit is not None and abs(value) > max(limit, 512):
            raise CheckpointError(
                f"config.json of {called(home)} says {key} {value:,}, more than its weights can have: copy the model "
                "again"
            )


def _integers(value: Any, key: str = "") -> list[tuple[str, int]]:
    """All integers in a JSON value, each with its nearest enclosing key."""
    if isinstance(value, dict):
        return [pair for name, one in value.items() if not name.endswith(("_id", "_ids", "2id", "2label"))
                for pair in _integers(one, name)]  # fmt: skip
    if isinstance(value, list):
        return [pair for one in value for pair in _integers(one, key)]
    return [(key, int(value))] if type(value) in (int, float) and math.isfinite(value) else []
