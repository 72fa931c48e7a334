"""Sets up a run: its options, and the recipe's settings applied to model and data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightning_fabric
import torch
from torch import Tensor, nn

from core.allocator import keep_freed_memory
from core.errors import RunError
from core.models import PairModel
from core.models.base import Regularised
from core.reading.word_table import WordTable
from trainers import linear
from trainers.options import pick_device
from trainers.precision import AUTO, used_precision
from trainers.processes import started
from trainers.recipe import OPTIMIZERS, Recipe
from trainers.teaching import needed


@dataclass(frozen=True)
class Options:
    """How a run is executed; everything that determines its result is in the recipe."""

    out: Path
    device: str = "auto"
    precision: str = AUTO
    """The requested precision (:mod:`trainers.precision`)."""
    devices: int = 1
    """Processes on this machine, unless torchrun sets their number."""
    threads: int = 0
    """CPU threads per process; 0: all available ones, divided among the processes here."""
    resume: bool = False
    save_every: int = 500
    """Steps between two saved states."""
    keep_epochs: int = 0
    """Number of last epochs whose weights are kept as separate models (:mod:`core.checkpoint.epochs`)."""
    server: int = 0
    """Process id of the server that watches the training (:mod:`trainers.progress_reporter`)."""
    command: str = ""
    """The command that repeats the run, for the card."""


def start(options: Options) -> lightning_fabric.Fabric:
    """Lightning Fabric, launched with the requested device, precision and processes. Raises RunError."""
    keep_freed_memory()
    device = pick_device(options.device).type
    devices, machines = started(options.devices)
    if device == "cuda" and devices > torch.cuda.device_count():
        raise RunError(f"{devices} GPUs requested, {torch.cuda.device_count()} available; request fewer")
    used = used_precision(options.precision, device)
    precision: Any = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}[used]
    fabric = lightning_fabric.Fabric(
        accelerator=device,
        devices=devices,
        num_nodes=machines,
        precision=precision,
        strategy="ddp" if devices * machines > 1 else "auto",
    )
    fabric.launch()
    if options.threads:
        torch.set_num_threads(options.threads)  # again, because launching several processes divides the threads
    return fabric


def start_from(recipe: Recipe, model: nn.Module, words: WordTable, out: Path) -> None:
    """Copies the weights of the recipe's ``init`` into the model of a run in ``out``, the classifier's only with
    ``init_classifier``. Raises RunError if the two do not match."""
    if not recipe.init:
        return
    source = needed(recipe.init, out)
    if source.words.words != words.words or not torch.equal(source.words.codes, words.codes):
        raise RunError(f"init: {recipe.init} reads another word table; choose another checkpoint")
    if recipe.init_classifier and source.labels != recipe.labels:
        raise RunError(f"init_classifier: {recipe.init} has other classes; leave init_classifier out")
    left_out = ("extra_",) if recipe.init_classifier else ("classifier.", "extra_")
    own = model.state_dict()
    for name, value in source.model.state_dict().items():
        if name.startswith(left_out):
            continue
        if name not in own or own[name].shape != value.shape:
            raise RunError(f"init: {recipe.init} has weights {name} that this model lacks; give both the same sizes")
        own[name].copy_(value)


def check_settings(recipe: Recipe, model: PairModel) -> None:
    """Raises RunError if a recipe requires something the model lacks."""
    if recipe.diversity and not isinstance(model, Regularised):
        raise RunError(f"diversity: {recipe.architecture} has no such regularizer; leave diversity out")
    if recipe.linear and not isinstance(getattr(model, "classifier", None), nn.Linear):
        raise RunError(f"linear: {recipe.architecture} has no linear classifier to replace; leave linear out")
    if recipe.linear_classifier and recipe.linear_classifier not in linear.NAMES:
        raise RunError(f"linear_classifier names {recipe.linear_classifier!r}; known: {'; '.join(linear.NAMES)}")


def make_optimizer(recipe: Recipe, model: nn.Module, fused: bool) -> torch.optim.Optimizer:
    """The recipe's optimizer for all weights of the model. A fused one unscales 16-bit gradients inside its step, after
    clipping, so 16-bit training uses the unfused one."""
    kind = getattr(torch.optim, OPTIMIZERS[recipe.optimizer])
    # One kernel for all weights: unfused Adam takes a third of a training step of the advanced model on a CPU.
    made: torch.optim.Optimizer = kind(model.parameters(), lr=recipe.lr, weight_decay=recipe.weight_decay, fused=fused)
    return made


def schedule(recipe: Recipe, step: int, steps: int) -> float:
    """The learning rate at a step relative to the recipe's: linear warm-up, then constant or cosine decay. The warm-up
    takes a third of all steps at most: on little data, a recipe's own might not end before the training does."""
    rise = min(1.0, (step + 1) / (min(recipe.warmup, steps // 3) + 1))
    if recipe.schedule == "constant":
        return rise
    return rise * 0.5 * (1 + math.cos(math.pi * step / max(1, steps)))


def class_weights(recipe: Recipe, labels: Tensor, weights: Tensor) -> Tensor:
    """Weight of each class in the loss, ``[C]``: 1, or balanced so that all classes have the same total weight (rows
    count by their ``weights [N]``; rows without a label, -1, do not count)."""
    classes = len(recipe.labels)
    if recipe.class_weights == "none":
        return torch.ones(classes)
    known = labels >= 0
    sums = torch.bincount(labels[known], weights[known], minlength=classes).float()
    return sums.sum() / (classes * sums.clamp_min(1e-9))
