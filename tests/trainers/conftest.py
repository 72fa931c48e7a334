"""Made-up data in the official layouts: the hypothesis gives the class away, so that a small model can learn it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

WORDS = [
    "man", "dog", "woman", "child", "red", "blue", "runs", "sleeps", "eats", "jumps", "park", "house", "water", "ball",
    "happy", "tall", "old", "young",
]  # fmt: skip
SETS = {
    "snli/snli_1.0_train_86k.jsonl": 96, "snli/cad_revised_train.jsonl": 8, "mnli/multinli_train_23k.jsonl": 8,
    "wanli/wanli_15k.jsonl": 8, "snli/snli_1.0_dev.jsonl": 24, "mnli/multinli_dev_matched.jsonl": 10,
}  # fmt: skip


def pair(source: random.Random, number: int) -> dict[str, str]:
    """A premise of random words; its own words for entailment, "not" for contradiction, others for neutral."""
    premise = [source.choice(WORDS) for _ in range(source.randint(3, 9))]
    label = ("entailment", "neutral", "contradiction")[number % 3]
    other = [source.choice(WORDS) for _ in range(3)]
    hypothesis = {"entailment": premise[:3], "contradiction": ["not", *premise[:2]], "neutral": ["maybe", *other]}[
        label
    ]
    sides = {"sentence1": " ".join(premise), "sentence2": " ".join(hypothesis)}
    return {"gold_label": label, **sides, "pairID": str(number)}


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny products gain nothing from a second thread, and lose much where the cores are busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with every file that a recipe names, and vectors.txt (16 numbers a word)."""
    folder, source = tmp_path_factory.mktemp("data"), random.Random(0)
    for name, rows in SETS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(pair(source, i)) + "\n" for i in range(rows)))
    (folder / "sick").mkdir()
    (folder / "sick/SICK_trial.txt").write_text(
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
        "1\ta man runs\ta man eats\t3\tNEUTRAL\n2\ta man runs\ta man runs\t5\tENTAILMENT\n"
    )
    rows = [[word, *(f"{source.gauss(0, 1):.4f}" for _ in range(16))] for word in [*WORDS, "not", "maybe", "a"]]
    (folder / "vectors.txt").write_text("".join(" ".join(row) + "\n" for row in rows))
    return folder
