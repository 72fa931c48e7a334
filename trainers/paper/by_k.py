"""Evaluate a phrase model under k-min and k-max pooling by k, without retraining.

    python -m trainers.paper by-k te-phrases-kmin DATA/sick/SICK_trial.txt --card "SICK trial"
    python -m trainers.paper by-k as-phrases-kmax DATA/wikiqa/WikiQA-dev.tsv --card "WikiQA dev"

Only the selection of phrases changes (Yin & Schütze 2017, figure 6, trains a model for each k: `python -m trainers
sweep` does that), so the pooling and k used in training have an advantage. The score is accuracy, or MAP on questions
with candidate answers. --card writes the scores to the card, for the lesson on phrases.
"""

from __future__ import annotations

import argparse
import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.card import right_class
from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset, read
from core.errors import RunError
from core.evaluation.predict import check_texts, logits, prepare_rows
from core.evaluation.scores import summary
from core.json_types import JsonObject
from core.models.phrases.model import KS, PhraseMatcher
from trainers.card import report
from trainers.commands import as_typed
from trainers.options import add_options, check_labels, scale_of
from trainers.tables import text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper by-k`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a dev set that the model was not trained on")
    add_options(parser, "--card", "--json")


def run(args: argparse.Namespace) -> int:
    """Evaluate, print, and write the card if requested. Raises RunError for a model that does not select k phrases."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    if not isinstance(checkpoint.model, PhraseMatcher):
        raise RunError(f"{checkpoint.name} does not choose among phrases: give a model such as te-phrases-kmin")
    command = as_typed("trainers.paper by-k", checkpoint.name, args.file.name, **args.given)
    return report(checkpoint, args, "by_k", {**by_k(checkpoint, read(args.file)), "command": command}, _table)


def _table(scores: JsonObject) -> str:
    """The scores as text."""
    rows = [
        {"k": k, "k-min": f"{least:.4f}", "k-max": f"{most:.4f}"}
        for k, least, most in zip(KS, scores["kmin"], scores["kmax"], strict=True)
    ]
    return f"{scores['measure']} of {scores['items']:,} items\n{text(rows)}"


def by_k(checkpoint: Checkpoint, data: Dataset) -> JsonObject:
    """The ``measure`` (accuracy or map) under ``kmin`` and ``kmax`` for each k in KS, and its number of ``items``.
    Raises RunError for labels that are not the model's classes."""
    check_texts(checkpoint, data)
    scale = scale_of(checkpoint, {})
    check_labels(checkpoint, scale, data.name, data.labels)
    ready, model = prepare_rows(checkpoint, data), copy.deepcopy(checkpoint.model)
    ready = replace(ready, checkpoint=replace(checkpoint, model=model))
    gold = scale.of([row.label for row in data.rows])
    groups = [row.group or "" for row in data.rows] if data.ranking else None

    def scored(pooling: str, k: int) -> dict[str, float]:
        model.config = replace(model.config, pooling=pooling, k=k)
        return summary(gold, np.asarray(model.answers.chances(logits(ready))), groups, right_class(checkpoint.card))

    found = {pooling: [scored(pooling, k) for k in KS] for pooling in ("kmin", "kmax")}
    (measure, _), *_ = found["kmin"][0].items()
    values = {pooling: [scores[measure] for scores in of_k] for pooling, of_k in found.items()}
    return {"measure": measure, "items": found["kmin"][0]["items"], **values}
