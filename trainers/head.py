"""Train a classifier on the vectors of an external bi-encoder, to judge pairs instead of its cosine.

    python -m trainers head my-minilm DATA/snli/snli_1.0_train_86k.jsonl --dev DATA/snli/snli_1.0_dev.jsonl

A logistic regression on (u, v, |u - v|) (Reimers and Gurevych 2019, section 3.1) by scikit-learn; the model itself is
not changed. The classifier is saved in the model's folder, and its classes in pairlens.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from core.checkpoint import open_checkpoint
from core.data import Dataset, read
from core.errors import RunError
from core.evaluation.predict import check_texts, read_rows
from core.external.bi_encoder import Apart, BiEncoder, pair_features
from core.external.checkpoint import ExternalCheckpoint
from core.external.folder import HEAD
from core.external.settings import TASKS, add_settings, task_of
from core.files import whole_file
from core.wording import percent
from trainers.options import add_options, columns, mapped
from trainers.training_data import sample


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers head`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file to train on")
    parser.add_argument("--dev", metavar="FILE", type=Path, help="a data file to score it on")
    parser.add_argument("--rows", type=int, default=0, help="sample size (default: all rows of FILE)")
    parser.add_argument("--strength", type=float, default=1.0, metavar="C", help="scikit-learn's C (default: 1)")
    parser.add_argument("--task", choices=tuple(TASKS), help="default: implied by the labels, else the model's")
    add_options(parser, "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Read both texts of each row, fit, score and write. Raises RunError for another model than a bi-encoder."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    if not isinstance(checkpoint, ExternalCheckpoint) or not isinstance(checkpoint.model, BiEncoder):
        raise RunError(f"{checkpoint.name} is not an external bi-encoder: choose one, with vectors to classify")
    named = mapped(args.counts_as)
    if any(len(names) != 1 for names in named.values()):
        raise RunError("each --label names one class here: the head learns the classes by these names")
    names, picked = {label: own for label, (own,) in named.items()}, columns(args.columns)
    train = sample(read(args.file, mapped=named, columns=picked).relabelled(names), args.rows)
    check_texts(checkpoint, train)
    if len(train.labels) < 2:
        raise RunError(f"{train.name} has only one class: give a file with at least two")
    weight, bias = fitted(vectors(checkpoint, train), [row.label or "" for row in train.rows], train.labels, args)
    with whole_file(checkpoint.folder / HEAD) as scratch:
        save_file({"weight": weight, "bias": bias}, scratch)
    task = args.task or task_of(train.labels) or checkpoint.card["task"]
    add_settings(checkpoint.folder, labels=list(train.labels), task=task)
    told = f"{checkpoint.name}: trained on {len(train.rows):,} rows of {train.name}"
    if args.dev:
        dev = read(args.dev, mapped=named, columns=picked).relabelled(names)
        predicted = (vectors(checkpoint, dev) @ weight.T + bias).argmax(1).tolist()
        right = [train.labels[best] == row.label for best, row in zip(predicted, dev.rows, strict=True)]
        told += f", right on {percent(sum(right) / len(right))} of {len(right):,} rows of {dev.name}"
    print(told)
    return 0


@torch.inference_mode()
def vectors(checkpoint: ExternalCheckpoint, data: Dataset) -> torch.Tensor:
    """(u, v, |u - v|) of each row, ``[N, 3 E]``."""
    readings = list(read_rows(checkpoint, data))
    out: torch.Tensor | None = None
    for rows, batch in checkpoint.batches(readings):
        assert isinstance(checkpoint.model, BiEncoder) and isinstance(batch, Apart)
        (_, u), (_, v) = checkpoint.model.tower(batch.first), checkpoint.model.tower(batch.second)
        if out is None:
            out = torch.empty(len(readings), 3 * u.shape[1])
        out[rows] = pair_features(u, v)
    if out is None:
        raise RunError(f"{data.name} has no rows: give another file")
    return out


def fitted(
    features: torch.Tensor, gold: Sequence[str], labels: Sequence[str], args: argparse.Namespace
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights ``[C, F]`` and biases ``[C]`` of a logistic regression."""
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    fit = LogisticRegression(C=args.strength, max_iter=500).fit(features.numpy(), gold)
    weight, bias = fit.coef_, fit.intercept_
    if len(labels) == 2:  # scikit-learn has the second class's log-odds alone
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    order = [list(fit.classes_).index(label) for label in labels]
    return torch.tensor(weight[order]).float(), torch.tensor(bias[order]).float()
