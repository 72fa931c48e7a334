"""A small made-up word table and checkpoints on top of it, so that no test needs the shipped files or real data."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import torch

from core.checkpoint import Checkpoint, load, save
from core.data.dataset import Dataset, Example
from core.evaluation.predict import logits, prepare_rows
from core.models import REGISTRY, build
from core.reading.word_table import WordTable
from tests.models import single

WORDS = ["a", "an", "the", "dog", "animal", "frisbee", "toy", "snow", "cold", "plays", "in", ".", ",", "red", "haired"]
WORDS += ["man", "is", "run", "telemundo"]
PAIRS = [
    ("A Danish boy runs.", "A Swedish boy runs."),
    ("A man sells a red coat.", "A man sells a green coat."),
    ("Two women sing.", "Two people sing."),
    ("A dog sleeps.", "A dog sleeps in a basket."),
    ("The door is open.", "The door is closed."),
    ("A child eats soup.", "A child eats."),
]
OWN = ["same", "other", "same", "other", "other", "same"]
"""Pairs to adapt a model to, and their labels."""


def make_table() -> WordTable:
    torch.manual_seed(3)
    return WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 24), unknown_scale=5.0, name="made-up")


def make_card(table: WordTable, architecture: str, config: dict, judged: str = "hypothesis") -> dict:
    return {
        "name": "tiny",
        "title": "A tiny model",
        "architecture": architecture,
        "config": config,
        "task": "entailment",
        "labels": ["entailment", "neutral", "contradiction"],
        "roles": {"first": "premise", "second": "hypothesis", "judged": judged},
        "words": {"name": table.name, "sha256": table.sha256},
        "licence": "Apache-2.0",
        "typical_length": {"premise": 30, "hypothesis": 20},
    }


def make_checkpoint(
    folder: Path, table: WordTable, architecture: str = "attconv-light", judged: str = "second", **settings
) -> Checkpoint:
    """A fresh model of any architecture, saved and loaded; ``judged`` is "first", "second" or "both"."""
    torch.manual_seed(5)
    generated = {"filters": 12, "code": 6, "projection": 10, "classes": 3}
    known = {field.name for field in dataclasses.fields(REGISTRY[architecture].config)}
    sizes = generated if generated.keys() <= known else {name: 12 for name in ("hidden",) if name in known}
    config = {"input_size": table.width, **sizes, **settings}
    card = make_card(table, architecture, config)
    card["roles"]["judged"] = card["roles"].get(judged, judged)
    if single(architecture):
        card["roles"] = {"first": "text", "second": "", "judged": "text"}
    model = build(architecture, config)
    card["labels"] = card["labels"][: model.config.classes]
    save(folder, model, card, words=table)
    return load(folder)


def answered(checkpoint: Checkpoint, pairs: Sequence[tuple[str, str]] = tuple(PAIRS)) -> torch.Tensor:
    """The logits of these pairs, ``[N, C]``."""
    rows = tuple(Example(str(number), *pair, None) for number, pair in enumerate(pairs))
    return logits(prepare_rows(checkpoint, Dataset("", "", rows)))


def change_card(folder: Path, **changes) -> None:
    """Writes other values of these keys on a checkpoint's card."""
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({**card, **changes}))


def truncate(folder: Path, name: str = "weights.safetensors") -> None:
    """Cuts off the end of a checkpoint's file."""
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])
