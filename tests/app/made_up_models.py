"""Small checkpoints of the models that the pages tell apart, untrained, with word tables and data of their own."""

from __future__ import annotations

import csv
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core import checkpoint
from core.checkpoint import Checkpoint
from core.data import read
from core.filter_map.map import FilterMap, codes_of, filter_sides
from core.json_types import JsonObject
from core.models import build
from core.reading.word_table import WordTable, default_table
from trainers.map import draw

WORDS = [
    "a", "an", "the", "is", "man", "woman", "dog", "cat", "animal", "toy", "snow", "cold", "weather", "outside",
    "playing", "jumping", "with", "not", "plastic", "bold", "smile",
]  # fmt: skip

IDENTICAL = {"precision": 0.8, "recall": 0.7, "f1": 0.7466, "aer": 0.2534}
ALIGNMENT = {
    "threshold": 0.25,
    "fixed_on": "RTE-2 dev",
    "results": {
        "RTE-2 dev": {
            "threshold": 0.25,
            "precision": 0.5,
            "recall": 0.25,
            "f1": 1 / 3,
            "aer": 2 / 3,
            "content_on_function": 0.125,
            "entropy": 0.5,
            "identical_words": IDENTICAL,
            "command": "python -m trainers align test",
        }
    },
}
"""The alignment results in a model's card."""


def make_checkpoint(folder: Path, name: str, title: str, seed: int, context: str = "extra", **more: Any) -> None:
    """An untrained light model with its own word table, so that no test needs the shipped files."""
    generator = torch.Generator().manual_seed(seed)
    words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    torch.manual_seed(seed)
    config: JsonObject = more.get("config") or {"input_size": 16, "hidden": 12, "classes": 3, "context": context}
    model = build("attconv-light", config)
    card = {
        "name": name,
        "title": title,
        "architecture": "attconv-light",
        "config": config,
        "task": "entailment",
        "labels": ["entailment", "neutral", "contradiction"],
        "licence": "CC0",
        "seed": seed,
        "roles": {"first": "premise", "second": "hypothesis", "judged": "hypothesis"},
        "results": {"SNLI dev": {"accuracy": 0.5, "macro_f1": 0.5, "items": 10}},
        "data": [{"name": "none", "rows": 0}],
        "epochs": [{"epoch": 1, "loss": 1.0, "snli_dev": 0.4}, {"epoch": 2, "loss": 0.9, "snli_dev": 0.5}],
        "training": {"seconds": 61, "device": "CPU", "command": "python -m trainers train test"},
        "typical_length": {"premise": 30, "hypothesis": 30},
        **more,
    }
    checkpoint.save(folder / name, model, card, words)


def make_phrases(
    folder: Path, name: str, title: str, task: str, pooling: str, k: int, shared: bool = False, **more: Any
) -> None:
    """An untrained phrase model for entailment or answer selection, with its own word table or the shared one."""
    words = default_table() if shared else None
    if words is None:
        generator = torch.Generator().manual_seed(4)
        words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    entailment = task == "entailment"
    torch.manual_seed(k)
    config: JsonObject = {
        "input_size": words.width,
        "hidden": 8,
        "classes": 3 if entailment else 2,
        "pooling": pooling,
        "k": k,
    }
    first, second = ("premise", "hypothesis") if entailment else ("question", "answer")
    result = {"accuracy": 0.5, "items": 10} if entailment else {"map": 0.61234, "mrr": 0.7, "items": 126}
    card = {
        "name": name,
        "title": title,
        "architecture": "phrases",
        "config": config,
        "task": task,
        "labels": ["entailment", "neutral", "contradiction"] if entailment else ["0", "1"],
        "licence": "CC0",
        "roles": {"first": first, "second": second, "judged": second},
        "seed": 1,
        "results": {f"{task} dev": result},
        "token_limits": {} if entailment else {"answer": 40},
        "words": {"name": words.name, "sha256": words.sha256},
        **more,
    }
    checkpoint.save(folder / name, build("phrases", config), card, None if shared else words)


def make_two_sided(folder: Path, name: str, title: str, shared: bool = False) -> None:
    """An untrained two-sided model, whose words find their like by their vectors alone, and else the null word."""
    words = default_table() if shared else None
    if words is None:
        generator = torch.Generator().manual_seed(1)
        words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    torch.manual_seed(2)
    config: JsonObject = {"input_size": words.width, "hidden": 12, "filters": 20, "classes": 3}
    card = {
        "name": name,
        "title": title,
        "architecture": "two-sided",
        "config": config,
        "task": "entailment",
        "labels": ["entailment", "neutral", "contradiction"],
        "licence": "CC0",
        "seed": 2,
        "roles": {"first": "premise", "second": "hypothesis", "judged": "both"},
        "words": {"name": words.name, "sha256": words.sha256},
    }
    checkpoint.save(folder / name, build("two-sided", config), card, None if shared else words)


TOPICS = {
    "film": "man woman smile playing jumping",
    "animal": "dog cat animal toy",
    "place": "snow cold weather outside",
}


def make_filters(folder: Path, name: str, title: str, map: bool = True, **settings: Any) -> Checkpoint:
    """An untrained model that makes filters: of single texts, or with ``adaptivity`` of questions and answers. With
    a small ``map`` of made-up texts."""
    generator = torch.Generator().manual_seed(5)
    words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    pairs, labels = "adaptivity" in settings, list(TOPICS)
    torch.manual_seed(6)
    config = {"input_size": 16, "projection": 8, "filters": 7, "code": 6, "classes": 2 if pairs else 3, **settings}
    architecture = "adaqa" if pairs else "acnn"
    card = {
        "name": name,
        "title": title,
        "architecture": architecture,
        "config": config,
        "licence": "CC0",
        "seed": 1,
        "task": "answer selection" if pairs else "text classification",
        "labels": ["0", "1"] if pairs else labels,
        "roles": {"first": "question", "second": "answer", "judged": "answer"}
        if pairs
        else {"first": "text", "second": "", "judged": "text"},
        "results": {"test dev": {"accuracy": 0.5, "items": 10}},
        "data": [{"name": "made up", "rows": 45}],
    }
    checkpoint.save(folder / name, build(architecture, config), card, words)
    loaded = checkpoint.load(folder / name)
    if map:
        make_map(loaded, make_data(folder / "data", pairs))
    return loaded


def make_data(folder: Path, pairs: bool) -> Path:
    """A table of 45 made-up texts with titles, or of 45 questions and answers."""
    source, topics, rows = random.Random(7), list(TOPICS), []
    for i in range(45):
        topic = topics[i % 3]
        first, second = (" ".join(source.choices(TOPICS[topic].split(), k=6)) for _ in range(2))
        rows.append((f"row {i}", first, second, i % 2) if pairs else (f"row {i}", f"**Row** <b>{i}</b>", first, topic))
    file = folder / ("qa/pairs.csv" if pairs else "topics/texts.csv")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        second, third = ("question", "answer") if pairs else ("title", "text")
        csv.writer(out).writerows([("id", second, third, "label"), *rows])
    return file


def make_map(model: Checkpoint, file: Path) -> None:
    """The checkpoint's map of the file, as `python -m trainers map` makes it, after few iterations."""
    dataset = read(file)
    drawn = draw(model, dataset, filter_sides(model), 90, seed=0, titles=model.single)
    codes = np.concatenate([codes_of(model, [text], item.side) for item, text in drawn])
    about = {"data": {"file": file.name, "sha256": dataset.sha256}}
    made = FilterMap.fit(model, [item for item, _ in drawn], codes, perplexity=5, iterations=(50, 50), about=about)
    made.save(model.folder / "map")


def make_all(folder: Path) -> None:
    """Two good checkpoints (one whose title is Markdown), one that reads the hypothesis alone, one that reads each
    evidence sentence of a claim separately, two phrase models, those that make filters (with and without a map), and
    broken ones. The folder ``data`` next to them has the maps' reference texts."""
    make_checkpoint(folder, "test-light", "Test light", 1, alignment=ALIGNMENT)
    make_checkpoint(folder, "test-other", "**Other** <b>:smile:</b>", 2)
    make_checkpoint(folder, "test-alone", "Test alone", 3, context="none")
    make_checkpoint(
        folder,
        "test-with-evidence",
        "Test claims",
        1,
        task="fact checking",
        labels=["supports", "refutes", "unknown"],
        roles={"first": "claim", "second": "evidence", "judged": "claim"},
        config={"input_size": 16, "hidden": 12, "classes": 3, "context": "each"},
    )
    make_two_sided(folder, "test-two-sided", "Test two-sided")
    make_phrases(folder, "test-te", "Test entailment phrases", "entailment", "kmin", 5)
    make_phrases(folder, "test-as", "Test answer phrases", "answer selection", "kmax", 6)
    make_filters(folder, "test-topics", "Test topics")
    make_filters(folder, "test-qa", "Test questions and answers", adaptivity="two-way")
    make_filters(folder, "test-qa-one-way", "Test one way", adaptivity="one-way")
    make_filters(
        folder, "test-qa-bare", "Test without a map", map=False, adaptivity="self", matching="multi-perspective"
    )
    make_filters(folder, "test-qa-fixed", "Test fixed filters", map=False, adaptivity="none")
    shutil.copytree(folder / "test-topics", folder / "test-map-truncated")
    (folder / "test-map-truncated" / "map" / "map.safetensors").write_bytes(b"short")
    for whole, broken in (("test-light", "test-truncated"), ("test-te", "test-te-truncated")):
        shutil.copytree(folder / whole, folder / broken)
        weights = folder / broken / "weights.safetensors"
        weights.write_bytes(weights.read_bytes()[:200])
    (folder / "test-foreign").mkdir()
    (folder / "test-foreign" / "card.json").write_text('{"model_type": "bert"}')
    (folder / "test-no-json").mkdir()
    (folder / "test-no-json" / "card.json").write_bytes(b"\x80\x04pickle")
