"""Average the weights of two checkpoints, one of which was trained on from the other.

    python -m trainers average runs/second nli-two-sided-before --share 0.2 --data DATA --out runs/averaged

Training on new data takes from what was right before; the mean of the weights before and after keeps more of both than
either (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", section 3). Both checkpoints must have one
architecture, settings, classes and word table. The averaged one is scored on the recipe's dev and report data and has
the card of the first, with what it was averaged with.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
from pathlib import Path

import numpy as np

from core.checkpoint import Checkpoint, open_checkpoint
from core.checkpoint.files import round_weights, save
from core.errors import RunError
from core.evaluation.predict import classify
from core.evaluation.probe import CARD_KEYS, SUITES, figures, probe
from core.evaluation.scores import summary
from core.json_types import JsonObject
from trainers.options import add_options, pick_device
from trainers.recipe import from_dict
from trainers.training_data import read_source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers average`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="the checkpoint that was trained on")
    parser.add_argument("other", metavar="OTHER", help="the one it goes back to, or another run from there")
    parser.add_argument("--share", type=float, default=0.5, help="the other one's share of the mean (default: 0.5)")
    parser.add_argument("--data", type=Path, required=True, help="the data folder, to score it on the recipe's sets")
    parser.add_argument("--out", type=Path, required=True, help="folder of the new checkpoint")
    add_options(parser, "--device")


def run(args: argparse.Namespace) -> int:
    """Average, score and write."""
    if not 0 < args.share < 1:
        raise RunError(f"--share must lie between 0 and 1, got {args.share:g}")
    checkpoint, other = open_checkpoint(args.checkpoint), open_checkpoint(args.other)
    if "recipe" not in checkpoint.card:
        raise RunError(f"the card of {checkpoint.name} has no recipe, so it cannot be scored: give two trained here")
    averaged = average(checkpoint, other, args.share)
    recipe, device = from_dict(checkpoint.card["recipe"]), pick_device(args.device)
    results = {}
    for source in (recipe.dev, *recipe.report):
        dataset = read_source(args.data, source)
        gold = np.array([averaged.labels.index(row.label) for row in dataset.rows if row.label is not None])
        results[source.name] = summary(gold, classify(averaged, dataset, device))
        print(f"{source.name}: accuracy {results[source.name]['accuracy']:.2%}")
    suites = {CARD_KEYS[suite]: figures(probe(averaged, device, suite)) for suite in SUITES if "probe" in averaged.card}
    with_ = {"name": other.name, "sha256": other.card["sha256"], "share": args.share}
    card = {name: value for name, value in averaged.card.items() if name not in ("alignment", "faithfulness")}
    own_words = averaged.words if averaged.card["words"].get("own") else None
    save(args.out, averaged.model, {**card, **suites, "results": results, "averaged_with": with_}, own_words)
    print(f"written: {args.out}")
    return 0


def average(checkpoint: Checkpoint, other: Checkpoint, share: float) -> Checkpoint:
    """A checkpoint whose weights are (1 - share) · the first's + share · the other's, as stored. Raises RunError for
    checkpoints that differ in more than weights and dropout."""
    differences = [key for key in ("architecture", "labels", "words") if checkpoint.card[key] != other.card[key]]
    if _settings(checkpoint) != _settings(other):
        differences.append("config")
    if differences:
        raise RunError(f"{checkpoint.name} and {other.name} differ in {differences[0]}; give two of one architecture")
    model = copy.deepcopy(checkpoint.model)
    theirs = other.model.state_dict()
    model.load_state_dict(
        {name: (1 - share) * value + share * theirs[name] for name, value in checkpoint.model.state_dict().items()}
    )
    round_weights(model)
    return dataclasses.replace(checkpoint, model=model.eval())


def _settings(checkpoint: Checkpoint) -> JsonObject:
    """The settings that define a model, including the defaults of an old card."""
    settings = dataclasses.asdict(checkpoint.model.config)
    return {name: value for name, value in settings.items() if not name.endswith("dropout")}
