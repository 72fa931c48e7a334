"""The training loop, written to be read from top to bottom.

    train(recipe, data, words, options) -> the finished checkpoint's card

Lightning Fabric handles devices, precision and multiple processes; everything else is here. The checkpoint holds the
running mean (EMA) of the weights from the best epoch on dev.
"""

from __future__ import annotations

import copy
import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import RunError
from core.evaluation.encoding import Encoded, plan
from core.evaluation.predict import probabilities
from core.evaluation.scores import summary
from core.json_types import JsonObject
from core.models import build
from core.models.features import PairFeatures
from core.progress import bar
from core.reading.batch import Batch, Side
from core.reading.reader import WordReader
from core.reading.word_table import WordTable, default_table
from trainers import card, resume
from trainers.finished import card_of, finish
from trainers.kept_epochs import KeptEpochs
from trainers.precision import used_precision
from trainers.processes import check_agreement
from trainers.progress_reporter import ProgressReporter, ServerGoneError, StopAskedError
from trainers.recipe import Recipe
from trainers.resume import Progress
from trainers.row_chances import RowChances
from trainers.set_up import (
    Options,
    check_settings,
    class_weights,
    make_optimizer,
    schedule,
    start,
    start_from,
)
from trainers.teaching import targets, teachers_of
from trainers.trained_words import StartVectors, TrainedWords, frequent
from trainers.training_data import TrainingData

if TYPE_CHECKING:
    from tqdm import tqdm


class Logits(nn.Module):
    """The model without its trace: tensors in, tensors out, as DDP requires."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: list[Tensor], masks: list[Tensor], judged: str, extra: Tensor | None) -> Tensor:
        """Logits ``[B, C]`` for the sides of a :class:`core.reading.batch.Batch`."""
        first, *contexts = (Side(*side) for side in zip(words, masks, strict=True))
        logits: Tensor = self.model(Batch(first, tuple(contexts), judged, extra)).logits
        return logits


def train(recipe: Recipe, data: TrainingData, words: WordTable, options: Options, own_words: bool) -> JsonObject:
    """Train, keep the best epoch, evaluate it and write the checkpoint folder. Returns its card.

    Raises RunError if the device, precision or saved state is unsuitable.
    """
    run = ready(recipe, data, words, options)
    run.enter()
    run.fit()
    return finish(run, own_words)


def ready(
    recipe: Recipe, data: TrainingData, words: WordTable, options: Options, start_words: StartVectors | None = None
) -> TrainingRun:
    """A run before its first step: model, running mean and optimizer on the device. ``start_words``: creates the
    initial vectors for a recipe with ``tune_words``, instead of a table of that width. Raises RunError."""
    fabric = start(options)
    precision = used_precision(options.precision, fabric.device.type)
    torch.manual_seed(recipe.seed)
    config = {**recipe.model, "input_size": words.width, "classes": len(recipe.labels)}
    built = build(recipe.architecture, config)
    check_settings(recipe, built)
    start_from(recipe, built, words, options.out)
    if data.train.extra is not None and isinstance(built, PairFeatures):
        built.standardise(data.train.extra)
    model: nn.Module = built
    if recipe.trains_words:
        trained = torch.arange(1, len(data.vocabulary.ids) + 1)
        if recipe.tune_words:
            trained = frequent(data.train, recipe.tune_words)
        start_words = start_words or StartVectors(data.vocabulary.matrix(WordReader(words)))
        model = TrainedWords(built, start_words, trained)
    average = copy.deepcopy(model).requires_grad_(False).to(fabric.device)
    net: nn.Module = Logits(model)
    optimizer: Any = make_optimizer(recipe, model, fused=precision != "16")
    net, optimizer = fabric.setup(net, optimizer)
    run = TrainingRun(fabric, recipe, data, words, options, precision, model, average, net, optimizer)
    # Each process draws different dropout masks; loading teachers draws numbers, too, unless they are in memory.
    torch.manual_seed(recipe.seed + 1000 * fabric.global_rank)
    return run


@dataclass
class TrainingRun:
    """A run between steps: its state (weights, moments, progress) and everything needed to continue."""

    fabric: Any
    recipe: Recipe
    data: TrainingData
    words: WordTable
    options: Options
    precision: str
    """The precision of the run (:func:`trainers.precision.used_precision`)."""
    model: nn.Module
    average: nn.Module
    """The running mean of the model."""
    net: nn.Module
    """The model wrapped for training: compiled, or distributed."""
    optimizer: Any

    def __post_init__(self) -> None:
        recipe, data, device = self.recipe, self.data, self.fabric.device
        self.train_set = data.train.to(device)
        self.epoch_set = self.train_set
        """The training rows as used in this epoch."""
        self.dev_set = data.dev.to(device)
        # A model with trained vectors reads word ids.
        self.vectors = None if recipe.trains_words else data.vocabulary.matrix(WordReader(self.words)).to(device)
        self.best = {name: value.clone() for name, value in self.average.state_dict().items()}
        self.teachers = teachers_of(recipe, self.options.out)
        self.targets = targets(recipe, data.train_rows, data.taught, self.teachers).to(device)  # [N, C]
        by_class = class_weights(recipe, data.train.labels, data.train.weights).to(device)
        self.weights = self.train_set.weights * (self.targets @ by_class)  # [N]
        self.steps = len(self.batches(0)) * recipe.epochs
        self.loss = torch.zeros((), dtype=torch.float64, device=device)
        learnt_from = " ".join([data.fingerprint, *(teacher.card["sha256"] for teacher in self.teachers)])
        self.fingerprint = functools.partial(card.fingerprint, recipe, learnt_from, self.words, self.fabric.world_size)
        self.progress = Progress(self.fingerprint(self.precision))
        most = self.options.keep_epochs
        if most and (isinstance(self.average, TrainedWords) or self.words is not default_table()):
            most = 0  # a word table per epoch would take many times the weights' space
        self.kept_epochs = KeptEpochs(self.options.out, most)
        total = functools.partial(self.fabric.all_reduce, reduce_op="sum")
        self.row_chances = RowChances(self.options.out, data, recipe.labels, total, device)
        self.reporter = ProgressReporter(self.options.out, self.options.server) if self.options.server else None

    def batches(self, epoch: int) -> list[np.ndarray]:
        """The batches of an epoch, the same in all processes."""
        return plan(self.train_set, self.recipe.batch_size, [self.recipe.seed, epoch])

    def rows_of(self, epoch: int) -> Encoded:
        """The training rows for an epoch: some without their full stop or with other names, sampled again."""
        recipe, rows, full_stop = self.recipe, self.train_set, self.data.vocabulary.ids.get(".")
        if recipe.drop_full_stops and full_stop is not None:
            drawn = np.random.default_rng([recipe.seed, epoch, 1]).random(len(rows)) < recipe.drop_full_stops
            rows = rows.without_last(full_stop, drawn)
        if recipe.other_names:
            rows = rows.with_other_names(recipe.other_names, np.random.default_rng([recipe.seed, epoch, 2]))
        return rows

    def enter(self) -> None:
        """Starts from the beginning, or resumes from the saved state. Raises RunError if the processes disagree."""
        saved = resume.read(self.options.out, self.fingerprint, self.precision) if self.options.resume else None
        check_agreement(self.fabric, self.progress.fingerprint, saved[0].step if saved else 0)
        if saved is None:
            if self.fabric.is_global_zero:
                self.kept_epochs.clear()
                self.row_chances.clear()
            return
        self.progress, tensors = saved
        self.model.load_state_dict(_part(tensors, "model."))
        self.average.load_state_dict(_part(tensors, "average."))
        self.best = {name: value.to(self.fabric.device) for name, value in _part(tensors, "best.").items()}
        resume.restore_optimizer(self.optimizer, tensors)
        self.loss.copy_(tensors["loss"])
        self.row_chances.resume(tensors.get("row_chances"), first=self.fabric.is_global_zero)
        # Cloned: torch reads a row as if it were the first one, and then finds no state or crashes.
        torch.set_rng_state(tensors["random.cpu"][self.fabric.global_rank].clone())
        if "random.cuda" in tensors and self.fabric.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"][self.fabric.global_rank].clone())
        self.fabric.print(f"resuming in epoch {self.progress.epoch + 1} after {self.progress.step:,} steps")

    def keep(self) -> None:
        """Saves the state; called by every process, written by the first."""
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"average.{k}": v for k, v in self.average.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        tensors |= resume.optimizer_tensors(self.optimizer)
        tensors["loss"] = self.fabric.all_reduce(self.loss.clone(), reduce_op="mean")
        tensors["row_chances"] = self.row_chances.state()
        tensors["random.cpu"] = self._gathered(torch.get_rng_state())
        if self.fabric.device.type == "cuda":
            tensors["random.cuda"] = self._gathered(torch.cuda.get_rng_state())
        if self.fabric.is_global_zero:
            resume.write(self.options.out, self.progress, tensors)

    def _gathered(self, state: Tensor) -> Tensor:
        rows = torch.zeros(self.fabric.world_size, len(state), dtype=torch.int32, device=self.fabric.device)
        rows[self.fabric.global_rank] = state.to(rows)
        gathered: Tensor = self.fabric.all_reduce(rows, reduce_op="sum")
        return gathered.to(torch.uint8).cpu()

    def fit(self) -> None:
        """Runs the remaining epochs, or as many as patience allows. A NaN loss, or a user's stop, ends training with
        the best epoch so far; raises RunError if it happens in the first epoch."""
        try:
            while self.progress.epoch < self.recipe.epochs and not self.stopped_early():
                if not self.one_epoch():
                    self.end_early("the loss became NaN", f"; lower lr (it is {self.recipe.lr:g})")
                    return
        except StopAskedError:
            self.end_early("stopped")
        except ServerGoneError:
            self.keep()
            raise RunError("the server has ended; --resume continues this training") from None
        finally:
            if self.reporter is not None:
                self.reporter.close()

    def end_early(self, why: str, remedy: str = "") -> None:
        """Prints why training ends with the best epoch so far. Raises RunError if there is none."""
        epoch, best = self.progress.epoch + 1, self.progress.best_epoch
        if not best:
            raise RunError(f"{why} in epoch {epoch}{remedy or ', before there was an epoch to keep'}")
        self.fabric.print(f"{why} in epoch {epoch}: epoch {best} is kept{remedy}")

    def one_epoch(self) -> bool:
        """Trains the rest of the current epoch, evaluates on dev and saves the state; returns false, without recording
        or saving anything, if the loss or the scores are NaN."""
        batches, progress = self.batches(self.progress.epoch), self.progress
        self.epoch_set = self.rows_of(progress.epoch)
        world, started = self.fabric.world_size, time.perf_counter()
        with self.bar(batches) as shown:
            for rows in batches[progress.batch :]:
                self.net.train()
                self.step(rows)
                progress.batch += 1
                progress.step += 1
                shown.update(len(rows))
                self.report(progress.seconds + time.perf_counter() - started)
                if progress.step % 20 == 0:
                    mean = self.loss.item() / progress.batch
                    shown.set_postfix(loss=f"{mean:.4f}", refresh=False)
                    # All processes must stop together, so several check the loss only after the epoch.
                    if world == 1 and not math.isfinite(mean):
                        return False
                if progress.batch % self.options.save_every == 0 and progress.batch < len(batches):
                    progress.seconds, started = progress.seconds + time.perf_counter() - started, time.perf_counter()
                    self.keep()
        scores = self.dev_scores()
        loss = float(self.fabric.all_reduce(self.loss.float(), reduce_op="mean")) / max(1, len(batches))
        progress.seconds += time.perf_counter() - started
        if scores is None or not math.isfinite(loss):
            return False
        self.note(loss, scores)
        progress.epoch, progress.batch = progress.epoch + 1, 0
        self.loss.zero_()
        self.row_chances.end_epoch(progress.epoch, write=self.fabric.is_global_zero)
        if self.fabric.is_global_zero:
            self.kept_epochs.add(self.average, progress.epoch, lambda: card_of(self, {self.recipe.dev.name: scores}))
        self.keep()
        self.report(progress.seconds)
        return True

    def report(self, seconds: float) -> None:
        """Reports progress to a server that watches this training. Raises StopAskedError and ServerGoneError."""
        if self.reporter is not None:
            self.reporter.report(self.progress, self.recipe.epochs, self.steps, seconds)

    def step(self, rows: np.ndarray) -> None:
        """One optimizer step on these rows, which the processes divide, and an update of the running mean: averaging
        their gradients gives the gradient over all rows."""
        recipe, step, rank, world = self.recipe, self.progress.step, self.fabric.global_rank, self.fabric.world_size
        whole = torch.from_numpy(rows).to(self.train_set.labels.device)
        weights = self.weights[whole]  # [B]
        total = weights.sum()
        own, weights = rows[rank::world], weights[rank::world]
        shared = len(own)
        if not shared:  # a process without rows would leave the others waiting
            own, weights = rows[:1], weights.new_zeros(1)
        batch, labels = self.epoch_set.batch(own, self.vectors)
        at = torch.from_numpy(own).to(labels.device)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.lr * schedule(recipe, step, self.steps)
        sides = (batch.first, *batch.contexts)
        logits = self.net([side.words for side in sides], [side.mask for side in sides], batch.judged, batch.extra)
        self.row_chances.record(at[:shared], logits[:shared])
        losses = F.cross_entropy(logits, self.targets[at], reduction="none")
        loss = world * torch.dot(losses, weights) / total
        if recipe.diversity:
            loss = loss + recipe.diversity * self.model.regulariser()  # type: ignore[operator]
        self.optimizer.zero_grad(set_to_none=True)
        self.fabric.backward(loss)
        if recipe.clip:
            self.fabric.clip_gradients(self.net, self.optimizer, max_norm=recipe.clip, error_if_nonfinite=False)
        self.optimizer.step()
        # Early on, the mean forgets faster, so that it does not remember the random initialisation.
        decay = min(recipe.ema, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - decay)
            self.loss += loss.detach()

    def dev_scores(self) -> dict[str, float] | None:
        """Scores of the running mean on dev (:func:`core.evaluation.scores.summary`), None if a probability is NaN; the
        processes divide the work."""
        rank, world = self.fabric.global_rank, self.fabric.world_size
        share, classes = slice(rank, None, world), len(self.recipe.labels)
        chances = probabilities(self.average, self.dev_set, self.vectors, classes, share=share)
        if world > 1:
            # Rows of other processes are NaN here, and so are all rows of a diverged model, which then sum to 0.
            chances = torch.nan_to_num(chances).float().to(self.fabric.device)
            chances = self.fabric.all_reduce(chances, reduce_op="sum").cpu()
        if not torch.allclose(chances.sum(1), torch.ones((), dtype=chances.dtype), atol=1e-3):
            return None
        return summary(self.data.dev.labels.numpy(), chances.numpy(), self.data.dev.groups, self.recipe.right_class)

    def note(self, loss: float, scores: dict[str, float]) -> None:
        """Records the epoch in the history, and keeps its weights if it is the best so far (or simply the last)."""
        progress, key = self.progress, card.slug(self.recipe.dev.name)
        (_, first), (second_name, second), *_ = scores.items()
        record = {"epoch": progress.epoch + 1, "loss": round(loss, 4), key: first, f"{key}_{second_name}": second}
        progress.history.append({**record, "seconds": round(progress.seconds, 1)})
        if first > progress.best or self.recipe.keep == "last":
            progress.best, progress.best_epoch = first, progress.epoch + 1
            self.best = {name: value.clone() for name, value in self.average.state_dict().items()}
        self.fabric.print(
            f"epoch {record['epoch']}: loss {loss:.4f}, {self.recipe.dev.name} {first:.2%}"
            f"{' (best)' if progress.best_epoch == record['epoch'] else ''}, {progress.seconds:,.0f} s"
        )

    def stopped_early(self) -> bool:
        """Whether dev has not improved for as many epochs as the recipe's patience allows."""
        return 0 < self.recipe.patience <= self.progress.epoch - self.progress.best_epoch

    def bar(self, batches: Sequence[np.ndarray]) -> tqdm[NoReturn]:
        """A progress bar over the pairs of all epochs, with pairs per second and time left."""
        progress = self.progress
        an_epoch = sum(map(len, batches))
        done = progress.epoch * an_epoch + sum(map(len, batches[: progress.batch]))
        what = f"epoch {progress.epoch + 1}/{self.recipe.epochs}"
        return bar(an_epoch * self.recipe.epochs, "pair", what, done=done, shown=self.fabric.is_global_zero)


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
