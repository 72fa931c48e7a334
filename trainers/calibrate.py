"""Calibrate a ranker's scores to probabilities on a dev set, and write the result to the checkpoint's card.

    python -m trainers calibrate as-adaqa DATA/wikiqa/WikiQA-dev.tsv --card "WikiQA dev"
    python -m trainers calibrate my-minilm DATA/quora/train_18k.tsv --card "Quora train"

The card gets slope and bias of the log-odds (Platt scaling) and the log-loss before and after; the Explore page uses it
to show candidate answers to a question. The order of candidates is unchanged. For an external bi-encoder, whose cosine
is not a probability, it fits the threshold and the scale in pairlens.json, on a set with both classes.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch

from core.card import ranked_by, right_class
from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset, read
from core.data.labels import Scale
from core.errors import RunError
from core.evaluation import calibration
from core.evaluation.predict import check_texts, predict, read_rows
from core.external.bi_encoder import BiEncoder
from core.external.card import BINARY
from core.external.settings import settings_of
from core.wording import percent
from trainers.card import add_to_card
from trainers.commands import as_typed
from trainers.options import add_options, check_labels, columns, mapped, mismatch, named_by, scales_of
from trainers.tally import right_answers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers calibrate`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a dev set of questions with candidate answers")
    parser.add_argument("--card", metavar="NAME", required=True, help="name of the set on the card")
    add_options(parser, "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Predict, fit, write. Raises RunError for a model or a file that does not rank answers."""
    checkpoint, named = open_checkpoint(args.checkpoint, args.class_names), mapped(args.counts_as)
    data = read(args.file, named=named_by([checkpoint], named), columns=columns(args.columns))
    similar = isinstance(checkpoint.model, BiEncoder)
    # A cosine without a threshold has one class; calibration gives it two.
    classes = tuple(settings_of(checkpoint.folder).labels or BINARY) if similar else checkpoint.labels
    scale = Scale(classes, named, classes[-1]) if similar else scales_of([checkpoint], named)[0]
    check_texts(checkpoint, data)
    check_labels(checkpoint, scale, data.name, data.labels, ranking=True)
    if warning := mismatch(data.name, data.labels, data.task, checkpoint):
        print(f"warning: {warning}", file=sys.stderr)
    data = replace(data, rows=tuple(row for row in data.rows if named.get(row.label or "", True)))
    if similar:
        return _fit_cosine(checkpoint, data, scale, args)
    place, right = right_class(checkpoint.card), right_answers(data, ranked_by(checkpoint.card), scale)
    if place is None or len(checkpoint.labels) != 2 or not any(right) or all(right):
        raise RunError(
            f"{checkpoint.name} and {data.name} do not rank right answers among wrong ones: give a ranker and a set of "
            "questions with candidate answers"
        )
    logits = predict(checkpoint, read_rows(checkpoint, data), torch.device("cpu")).double()
    log_odds = (logits[:, place] - logits[:, 1 - place]).tolist()
    slope, bias = calibration.fit(log_odds, right)
    if slope <= 0:
        raise RunError(f"{checkpoint.name} ranks wrong answers of {data.name} above right ones: choose another model")
    before, after = (calibration.log_loss(log_odds, right, *fitted) for fitted in ((), (slope, bias)))
    add_to_card(
        checkpoint.folder,
        calibration={
            "slope": slope,
            "bias": bias,
            "fixed_on": args.card,
            "pairs": len(right),
            "right": sum(right),
            "log_loss": {"model": before, "calibrated": after},
            "command": as_typed("trainers calibrate", checkpoint.name, args.file.name, **args.given),
        },
    )
    print(
        f"{checkpoint.name} on {args.card}: {sum(right):,} of {len(right):,} answers are right; "
        f"σ({slope:.3f} · log-odds {bias:+.3f}), log-loss {before:.4f} → {after:.4f}"
    )
    return 0


def _fit_cosine(checkpoint: Checkpoint, data: Dataset, scale: Scale, args: argparse.Namespace) -> int:
    """Fits the cosine at which both classes are equally probable, and the slope of the log-odds there. Raises RunError
    for a trained classifier, and for a file without both classes."""
    config, right = checkpoint.model.config, right_answers(data, scale.classes[-1], scale)
    if config.trained or not any(right) or all(right):
        raise RunError(
            f"{checkpoint.name} has no threshold to fit on {data.name}: give a model that judges by its cosine, and a "
            "set with pairs of both classes"
        )
    logits = predict(checkpoint, read_rows(checkpoint, data)).double()
    fitted = config.threshold is not None
    cosines = ((logits[:, 1] - logits[:, 0]) / config.scale + config.threshold if fitted else logits[:, 0]).tolist()
    slope, bias = calibration.fit(cosines, right)
    if slope <= 0:
        raise RunError(f"{checkpoint.name} finds unlike pairs of {data.name} more similar than like ones: try another")
    threshold = -bias / slope
    add_to_card(checkpoint.folder, threshold=threshold, scale=slope)
    verdicts = [(cosine > threshold) == similar for cosine, similar in zip(cosines, right, strict=True)]
    print(
        f"{checkpoint.name} on {args.card}: {sum(right):,} of {len(right):,} pairs are similar; "
        f"σ({slope:.2f} · (cosine - {threshold:.3f})) judges {percent(sum(verdicts) / len(verdicts))} of them right"
    )
    return 0
