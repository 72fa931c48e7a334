"""The state of an unfinished run in one safetensors file, replaced atomically: a killed run loses at most a few steps.

Tensors (weights, running means, optimizer moments, random number generators) and, in the file's JSON header, counters
and history. Nothing is ever unpickled.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from core.card import Card
from core.checkpoint import read_card
from core.errors import RunError
from core.files import parse_json, whole_file
from core.json_types import JsonObject
from trainers.precision import PRECISIONS
from trainers.recipe import Recipe, from_dict

FILE = "resume.safetensors"
_FORMAT = "pairlens-resume-1"


@dataclass
class Progress:
    """The progress of a run."""

    fingerprint: str
    """Identifies everything that determines the weights: recipe, data, words, processes, precision."""
    epoch: int = 0
    batch: int = 0
    """Number of finished batches in this epoch."""
    step: int = 0
    seconds: float = 0.0
    """Total training time, including earlier sessions."""
    history: list[JsonObject] = field(default_factory=list)
    best: float = -1.0
    """Best dev score (accuracy, or MAP)."""
    best_epoch: int = 0


def write(folder: Path, progress: Progress, tensors: dict[str, Tensor]) -> None:
    """Writes the state, replacing the old one. Raises FileError, keeping the old one, if the disk is full."""
    folder.mkdir(parents=True, exist_ok=True)
    meta = {"format": _FORMAT, "progress": json.dumps(dataclasses.asdict(progress))}
    with whole_file(folder / FILE) as scratch:
        # Copies: safetensors rejects tensors that share memory, and the run keeps changing these.
        save_file({name: value.detach().cpu().clone() for name, value in tensors.items()}, scratch, metadata=meta)


def read(folder: Path, fingerprint: Callable[[str], str], precision: str) -> tuple[Progress, dict[str, Tensor]] | None:
    """The saved state if it has this ``fingerprint`` at its precision, or None if none has been saved yet.

    Raises RunError if the file is damaged or belongs to a run with another precision, other settings or data.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            meta: dict[str, str] = file.metadata() or {}
            if meta.get("format") != _FORMAT:
                raise RunError(f"{folder.name}/{FILE} is of another version; delete it and train again")
            progress = Progress(**parse_json(meta["progress"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(f"{folder.name}/{FILE} is damaged; delete it and train again") from None
    begun = next((each for each in (precision, *PRECISIONS) if fingerprint(each) == progress.fingerprint), None)
    if begun is None:
        raise RunError(
            f"the unfinished run in {folder.name} has another recipe, data, word table or number of processes; call it "
            "with the same ones, or give another --out"
        )
    if begun != precision:
        raise RunError(
            f"the unfinished run in {folder.name} was begun at precision {begun}, and here it would go on at "
            f"{precision}; add --precision {begun}, or give another --out"
        )
    return progress, tensors


def finished(folder: Path, recipe: Recipe) -> Card | None:
    """The card of this recipe's run in the folder, None if it is missing or unfinished.

    Raises RunError if the folder holds a finished run with other settings.
    """
    if (folder / FILE).is_file() or not (folder / "card.json").is_file():
        return None
    card = read_card(folder)
    if from_dict(card["recipe"]) != recipe:
        raise RunError(f"{folder.name} holds a run of other settings; give another --runs folder, or delete it")
    return card


def optimizer_tensors(optimizer: Optimizer) -> dict[str, Tensor]:
    """The optimizer's moments and step counts as named tensors (learning rates follow from the step)."""
    out: dict[str, Tensor] = {}
    for index, values in optimizer.state_dict()["state"].items():
        for key, value in values.items():
            out[f"optimizer.{index}.{key}"] = value if isinstance(value, Tensor) else torch.tensor(value)
    return out


def restore_optimizer(optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restores the tensors from :func:`optimizer_tensors`."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
