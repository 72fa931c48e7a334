"""An adapted checkpoint: another classifier on the features of a base, as a folder of a few kilobytes.

The folder holds ``classifier.safetensors`` (``weight [C, F]`` and ``bias [C]``, float32; ``learned [P]``, int64: hashes
of the pairs it was adapted to, by which the desk recognises training rows without their texts) and ``card.json``, which
names the base. Loading it loads the base, whose tensors it shares.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from core.card import Card
from core.checkpoint.checkpoint import Checkpoint, FilesState
from core.checkpoint.files import CARD_VERSION, CLASSIFIER, files_state, read_card
from core.checkpoint.learned import NAME, tensor_of
from core.checkpoint.memory import loaded
from core.checkpoint.unlisted import PAIRS as PAIRS
from core.checkpoint.unlisted import checksum, folder_of, remove_old
from core.errors import CheckpointError
from core.files import FileError, json_text, read_bounded, read_json, whole_folder
from core.json_types import JsonMapping
from core.reading.word_table import file_sha256

LARGEST = 64 << 20
"""Size limit of a classifier, in bytes."""
KEPT = (
    "name", "title", "architecture", "config", "task", "labels", "roles", "words", "licence", "token_limits",
    "typical_length", "guest", "second_first", "ranked_by", "parameters", "data",
)  # fmt: skip
"""The fields that an adapted card copies from its base's: everything that the classifier does not change. Measurements
are not copied."""


def adapted_card(base: Checkpoint, **changes: object) -> Card:
    """The card of a checkpoint adapted from ``base``, or from one adapted itself, with these ``changes``."""
    card = base.card
    origin = card.get("base") or {"name": name_of(base.folder), "sha256": card["sha256"], "title": card["title"]}
    kept = {key: card[key] for key in KEPT if key in card}  # type: ignore[literal-required]
    return cast(Card, {"schema_version": CARD_VERSION, **kept, "base": origin, **changes})


def name_of(folder: Path) -> str:
    """The name by which a folder is available, or else its path."""
    from core.checkpoint import available  # imported here because it imports this package

    listed = {path.resolve(): name for name, path in available().items()}
    return listed.get(folder.resolve(), str(folder.resolve()))


def origin_of(base: Checkpoint) -> Checkpoint:
    """The checkpoint itself, or the base of an adapted one."""
    stored = base.card.get("base")
    return base if stored is None else loaded(_folder(stored["name"], base.name))


def with_classifier(base: Checkpoint, weight: Tensor, bias: Tensor, card: Card, folder: Path) -> Checkpoint:
    """The base with another classifier (``weight [C, F]``, ``bias [C]``), not saved yet. Raises CheckpointError if it
    does not fit, UserError if the base has no classifier that could be replaced."""
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)
    model = base.model.with_output_layer(layer.requires_grad_(False)).eval()
    settings = {key: value for key, value in vars(model.config).items() if key in card["config"]}
    card = cast(Card, {**card, "config": {**card["config"], **settings, "classes": len(card["labels"])}})
    return replace(base, name=card["name"], folder=folder, model=model, card=card)


def save_adapted(
    folder: Path, checkpoint: Checkpoint, pairs: str = "", learned: Sequence[tuple[str, str]] = ()
) -> Checkpoint:
    """Writes an adapted checkpoint and returns it as it loads. ``learned``: the pairs it was adapted to, to recognise
    them; ``pairs``: the same as a CSV file to keep with it (:data:`PAIRS`). Raises FileError."""
    layer = checkpoint.model.output_layer
    assert layer is not None, "an adapted checkpoint has a classifier"
    with whole_folder(folder, last="card.json") as scratch:
        tensors = {"weight": layer.weight.data, "bias": layer.bias.data}
        if learned:
            tensors[NAME] = tensor_of(learned)
        (scratch / CLASSIFIER).write_bytes(save(tensors))
        if pairs:
            (scratch / PAIRS).write_text(pairs, encoding="utf-8")
        card: JsonMapping = {**checkpoint.card, "sha256": file_sha256(scratch / CLASSIFIER)}
        (scratch / "card.json").write_text(json_text(card), encoding="utf-8")
    return loaded(folder)


def save_unlisted(
    name: str, checkpoint: Checkpoint, pairs: str = "", learned: Sequence[tuple[str, str]] = (), maker: str = ""
) -> Checkpoint:
    """Writes an adapted checkpoint under an unlisted ``name`` for a day; see :func:`save_adapted`. ``maker``: the key
    of the visitor who finds it in lists. Raises CheckpointError, without the folder on the server, if it cannot be
    written: then nothing changes."""
    remove_old()
    folder = folder_of(name)
    if folder is None:
        raise CheckpointError(f"{name[:60]} cannot be the name of a folder: rename its base to letters and digits")
    try:
        card = cast(Card, {**checkpoint.card, "name": name, **({"maker": checksum(maker)} if maker else {})})
        return save_adapted(folder, replace(checkpoint, card=card), pairs, learned)
    except FileError as error:
        raise CheckpointError(
            "the adapted model cannot be written, perhaps because the server’s disk is full: free space on it, and "
            "adapt again"
        ) from error


def load_adapted(folder: Path, state: FilesState, card: Card) -> Checkpoint:
    """Loads an adapted checkpoint on its base. Raises CheckpointError with one sentence: the problem and the remedy."""
    base = loaded(_folder(card["base"]["name"], folder.name))
    if base.card["sha256"] != card["base"]["sha256"]:
        raise CheckpointError(
            f"{folder.name} was adapted from other weights of {base.name} than those here: adapt it again, or put the "
            "old weights back"
        )
    try:
        content = read_bounded(folder / CLASSIFIER, LARGEST)
        weights = load(content)
    except Exception as error:
        raise CheckpointError(f"{folder.name}/{CLASSIFIER} cannot be read: copy the folder again") from error
    if file_sha256(folder / CLASSIFIER) != card["sha256"]:
        raise CheckpointError(f"{folder.name}/{CLASSIFIER} does not match its card's checksum: copy the folder again")
    weight, bias = weights.get("weight"), weights.get("bias")
    classes = len(card["labels"])
    fits = weight is not None and bias is not None and weight.dim() == 2 and weight.shape[0] == classes == len(bias)
    if not fits or weight is None or bias is None or not (weight.isfinite().all() and bias.isfinite().all()):
        raise CheckpointError(f"{folder.name}/{CLASSIFIER} does not fit its card: copy the folder again")
    old = base.model.output_layer
    if old is not None and old.in_features != weight.shape[1]:
        raise CheckpointError(f"{folder.name}/{CLASSIFIER} does not fit {base.name}: adapt it again")
    return replace(with_classifier(base, weight.float(), bias.float(), card, folder), state=state)


def base_state(folder: Path, state: FilesState) -> FilesState:
    """The state of the files of an adapted checkpoint's base; empty if it is missing."""
    try:
        return files_state(_base_folder(folder, state))
    except CheckpointError:
        return ()


@functools.lru_cache(maxsize=256)
def _base_folder(folder: Path, state: FilesState) -> Path:
    """The folder of the base named on a card. Cached, because every list of models needs it."""
    try:
        card = read_json(folder / "card.json", LARGEST)
        name = card["base"]["name"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder.name}/card.json does not name a base") from error
    return _folder(str(name), folder.name)


def _folder(name: str, adapted: str) -> Path:
    from core.checkpoint import available  # imported here because it imports this package

    folder = available().get(name, Path(name))
    if (folder / CLASSIFIER).exists():  # it could even be the same folder
        raise CheckpointError(f"{adapted} names an adapted checkpoint as its base: adapt it again from {name[:100]}'s")
    try:
        read_card(folder)
    except CheckpointError:
        raise CheckpointError(
            f"{adapted} was adapted from {Path(name).name}, which is not here: copy that checkpoint too"
        ) from None
    return folder
