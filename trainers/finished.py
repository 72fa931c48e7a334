"""The end of a training: its best epoch is rounded, perhaps given another classifier, evaluated and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from core.card import ranked_by
from core.checkpoint import save
from core.checkpoint.files import round_weights
from core.evaluation.encoding import Encoded
from core.evaluation.predict import feature_vectors, probabilities
from core.evaluation.scores import summary
from core.json_types import JsonObject
from core.models import PairModel
from core.reading.reader import WordReader
from core.reading.tokens import MAX_TOKENS
from trainers import card, linear, resume
from trainers.teaching import needed
from trainers.trained_words import TrainedWords, fold

if TYPE_CHECKING:
    from trainers.loop import TrainingRun


def finish(run: TrainingRun, own_words: bool) -> JsonObject:
    """Rounds the best epoch's weights to float16, evaluates them, writes the folder and deletes the state."""
    written: JsonObject = {}
    if run.fabric.is_global_zero:
        run.average.load_state_dict(_kept_weights(run))
        round_weights(run.average)
        classifiers = _choose_classifier(run) if run.recipe.linear else {}
        if own_words:
            if isinstance(run.average, TrainedWords):
                tuned = run.recipe.tune_words > 0
                run.average, run.words = run.average.unwrapped(run.data.vocabulary, run.words, tuned)
            run.average, run.words = fold(run.average, run.words)  # type: ignore[arg-type]
            run.vectors = run.data.vocabulary.matrix(WordReader(run.words)).to(run.fabric.device)
        results = {}
        for name, data in {run.recipe.dev.name: run.data.dev, **run.data.report}.items():
            chances = probabilities(run.average, data.to(run.fabric.device), run.vectors, len(run.recipe.labels))
            results[name] = summary(data.labels.numpy(), chances.numpy(), data.groups, run.recipe.right_class)
            if run.recipe.task == "fact checking":
                results[name] |= _with_evidence(run, data, chances)
        text = card_of(run, results) | classifiers
        written = save(run.options.out, run.average, text, run.words if own_words else None)
        run.kept_epochs.finish()
        run.row_chances.finish(run.progress.epoch)
        (run.options.out / resume.FILE).unlink(missing_ok=True)
    run.fabric.barrier()
    return written


def _kept_weights(run: TrainingRun) -> dict[str, Tensor]:
    """The best epoch's weights, or their weighted mean with the weights of the recipe's ``init``."""
    share = run.recipe.init_share
    if not share:
        return run.best
    start = needed(run.recipe.init, run.options.out).model.state_dict()
    return {name: torch.lerp(value, start[name].to(value), share) for name, value in run.best.items()}


def card_of(run: TrainingRun, results: Mapping[str, object]) -> JsonObject:
    """The checkpoint's card without the fields added by :func:`core.checkpoint.save` (checksum, sizes, version)."""
    recipe, data, progress = run.recipe, run.data, run.progress
    assert isinstance(run.average, PairModel)
    first, second = recipe.roles if len(recipe.roles) == 2 else (*recipe.roles, "")
    sides = dict(zip(recipe.roles, data.train.lengths, strict=True))
    return {
        "name": recipe.name,
        "title": recipe.title,
        "architecture": recipe.architecture,
        "config": dataclasses.asdict(run.average.config),
        "task": recipe.task,
        "labels": list(recipe.labels),
        "ranked_by": ranked_by({"labels": list(recipe.labels)}) if data.dev.groups else None,
        "roles": {"first": first, "second": second, "judged": recipe.judged},
        "words": {"name": run.words.name, "sha256": run.words.sha256},
        "licence": recipe.licence,
        "notes": recipe.notes,
        "paper": recipe.paper,
        "recipe": recipe.to_dict(),
        "seed": recipe.seed,
        "data": list(data.listed),
        "token_limits": recipe.token_limits,
        "init": recipe.init and {"name": recipe.init, "sha256": needed(recipe.init, run.options.out).card["sha256"]},
        "teachers": [
            {"name": Path(name).name, "sha256": teacher.card["sha256"]}
            for name, teacher in zip(recipe.teachers, run.teachers, strict=True)
        ],
        "epochs": progress.history,
        "best_epoch": progress.best_epoch,
        "results": results,
        "typical_length": {role: int(np.percentile(lengths, 99)) for role, lengths in sides.items()},
        "training": {
            "seconds": round(progress.seconds, 1),
            "steps": progress.step,
            "device": card.device_name(run.fabric.device),
            "processes": run.fabric.world_size,
            "threads": torch.get_num_threads(),
            "precision": run.precision,
            "precision_asked": run.options.precision,
            "torch": torch.__version__,
            "command": run.options.command,
        },
    }


def _with_evidence(run: TrainingRun, data: Encoded, chances: Tensor) -> dict[str, float]:
    """Accuracy on claims with annotated evidence (all classes but the last), and the share of claims whose evidence
    is truncated."""
    own = data.labels < len(run.recipe.labels) - 1
    right = (chances.argmax(1) == data.labels)[own].double().mean()
    limit = run.recipe.token_limits.get(run.recipe.roles[-1], MAX_TOKENS)
    cut = (data.lengths[-1] >= limit).mean() if data.contexts else 0.0
    return {"accuracy_with_evidence": float(right), "evidence_cut": float(cut)}


def _choose_classifier(run: TrainingRun) -> dict[str, object]:
    """Gives the best epoch's model the classifier that is best on dev (section 4.1 of Yin & Schütze 2017).

    Returns its name and the dev scores of all candidates, for the card.
    """
    dev, train, device = run.data.dev, run.data.train, run.fabric.device
    gold, required = dev.labels.numpy(), run.recipe.linear_classifier
    own: nn.Linear = run.average.classifier  # type: ignore[assignment]
    candidates = [linear.NamedLinear("network", own.weight.detach().cpu(), own.bias.detach().cpu())]
    features = feature_vectors(run.average, run.train_set, run.vectors)
    if required != "network":
        candidates += linear.fitted(features, train.labels, train.weights, required)
    seen = feature_vectors(run.average, run.dev_set.to(device), run.vectors)
    right = run.recipe.right_class
    scores = {c.name: summary(gold, c.probabilities(seen), dev.groups, right) for c in candidates}
    name = required or max(scores, key=lambda name: next(iter(scores[name].values())))
    classifier = next(c for c in candidates if c.name == name)
    with torch.no_grad():
        own.weight.copy_(classifier.weight)
        own.bias.copy_(classifier.bias)
    return {"classifier": name, "classifiers": scores}
