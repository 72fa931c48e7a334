"""Train the shared word table: ``python -m trainers.paper words --data DIR``.

A word's vector is the sum of five learned parts,

    P_n n(w) + P_g g(w) + s(w) + a(w) h(w) + r(w)

- n(w): the ConceptNet Numberbatch row of the word, else of its base form (``word_baseform.json``; a word's own row
  takes precedence, since some base forms are wrong), else 0. Rows have norm 1.
- g(w): its GloVe 6B row, centred and normalised to length 1 (raw rows have norms of about 5 and would drown n), else 0.
- s(w): one learned vector for each kind of inflection if n(w) is the base form's: "runs" and "running" differ.
- h(w): its hashed character n-grams (``ngram_vector``), for words without a Numberbatch row; a(w) is one scale for
  words that only GloVe has and another for unknown words.
- r(w): a residual for words in at least two training texts.

All parts are trained on the entailment loss of a light attentive convolution (the recipe nli-attconv-light); the table
stores their sum, int8 with one scale per row. The classifier on top is discarded.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import RunError
from core.files import check_writable, json_text, whole_folder
from core.json_types import JsonObject
from core.reading.word_table import WordTable, ngram_vector
from trainers import loop
from trainers import recipe as recipes
from trainers.precision import add_precision
from trainers.recipe import Recipe
from trainers.set_up import Options
from trainers.trained_words import StartVectors, TrainedWords, random_table
from trainers.training_data import TrainingData, load_data
from trainers.vectors import words_and_vectors

NUMBERBATCH, GLOVE = "vectors/numberbatch_300d_41k", "vectors/glove6B_50d"
GLOVE_ROWS = 72_000
"""Number of GloVe words used, by frequency; with Numberbatch's words and their inflected forms about 101,000 in all."""
MIN_COUNT = 2
OFTEN = 5
"""Training words with at least this count enter the table even if neither vector file has them ("rollerskating")."""
SETTINGS: JsonObject = {
    "width": 160, "epochs": 3, "batch_size": 128, "lr": 2e-3, "residual_lr": 5e-4, "dropout": 0.1, "seed": 1,
}  # fmt: skip
"""Of the training; ``dropout``: on the projected words."""
INFLECTIONS = ("s", "ing", "ed", "er", "est", "ly", "n", "other")
OWN, GLOVE_ONLY, UNKNOWN = 0, 1, 2


class Sources:
    """The two vector files with lookups by word. Raises RunError if one is missing or malformed."""

    def __init__(self, data: Path) -> None:
        self.numberbatch_words, self.numberbatch = words_and_vectors(data / NUMBERBATCH)
        self.glove_words, rows = words_and_vectors(data / GLOVE)
        glove = rows.astype(np.float32)
        glove -= glove[:50_000].mean(0)
        self.glove = glove / np.maximum(np.linalg.norm(glove, axis=1, keepdims=True), 1e-6)
        self.numberbatch_row = {word: i for i, word in enumerate(self.numberbatch_words)}
        self.glove_row = {word: i for i, word in enumerate(self.glove_words)}
        self.base: dict[str, str] = json.loads((data / NUMBERBATCH / "word_baseform.json").read_text(encoding="utf-8"))

    def meaning(self, word: str) -> tuple[int, int]:
        """Numberbatch row of the word or of its base form (-1: none), and its inflection (0: its own row)."""
        if word in self.numberbatch_row:
            return self.numberbatch_row[word], 0
        base = self.base.get(word, "")
        return (self.numberbatch_row[base], inflection(word)) if base in self.numberbatch_row else (-1, 0)

    def choose(self, counts: Counter[str]) -> list[str]:
        """The table's words, most frequent first (GloVe's order), then those only in Numberbatch."""
        words = {word for word in self.base if word in self.glove_row and self.meaning(word)[0] >= 0}
        words |= set(self.glove_words[:GLOVE_ROWS])
        words |= {word for word, count in counts.items() if count >= MIN_COUNT and word in self.glove_row}
        words |= {word for word, count in counts.items() if count >= OFTEN}
        words |= set(self.numberbatch_words)
        last = len(self.glove_words)
        return sorted(words, key=lambda word: (self.glove_row.get(word, last), word))


def inflection(form: str) -> int:
    """Index from 1 in ``INFLECTIONS`` of an inflected form's ending."""
    for i, ending in enumerate(INFLECTIONS[:-1]):
        if form.endswith(ending):
            return i + 1
    return len(INFLECTIONS)


class SummedParts(StartVectors):
    """The sum of the parts above except r(w), where ``table`` is h."""

    n: Tensor
    g: Tensor
    kinds: Tensor
    endings: Tensor

    def __init__(self, words: Sequence[str], sources: Sources, width: int, scale: float) -> None:
        size = len(words) + 1
        n, g, h = (np.zeros((size, columns), np.float32) for columns in (300, 50, width))
        kinds, endings = np.zeros(size, np.int64), np.zeros(size, np.int64)
        for i, word in enumerate(words, start=1):
            row, endings[i] = sources.meaning(word)
            if row >= 0:
                n[i] = sources.numberbatch[row]
            if word in sources.glove_row:
                g[i] = sources.glove[sources.glove_row[word]]
            kinds[i] = OWN if row >= 0 else GLOVE_ONLY if word in sources.glove_row else UNKNOWN
            if kinds[i] != OWN:
                h[i] = ngram_vector(word, width)
        super().__init__(torch.from_numpy(h))
        self.scale = scale
        for name, value in {"n": n, "g": g, "kinds": kinds, "endings": endings}.items():
            self.register_buffer(name, torch.from_numpy(value), persistent=False)
        self.meaning, self.distribution = nn.Linear(300, width, bias=False), nn.Linear(50, width, bias=False)
        for layer, gain in ((self.meaning, 1.3), (self.distribution, 0.6)):
            nn.init.orthogonal_(layer.weight, gain)
        self.ending = nn.Parameter(torch.randn(len(INFLECTIONS) + 1, width) * 0.02)
        self.spelling = nn.Parameter(torch.tensor([0.0, 0.5, 0.7]))

    def forward(self, numbers: Tensor) -> Tensor:
        unique, inverse = torch.unique(numbers, return_inverse=True)
        kinds, endings = self.kinds[unique], self.endings[unique]
        spelling = self.spelling[kinds] * (kinds != OWN)
        rows = self.meaning(self.n[unique]) + self.distribution(self.g[unique]) + spelling[:, None] * self.table[unique]
        rows = rows + self.ending[endings] * (endings > 0)[:, None]
        return F.embedding(inverse, rows * (unique > 0)[:, None])


def run(options: argparse.Namespace) -> int:
    """Train and write the table; returns the exit status."""
    out = Path(options.out)
    check_writable(out, "--out", folder=True)
    if (out / "words.safetensors").exists() and not options.overwrite:
        raise RunError(f"{out} holds a word table; give another --out, or --overwrite to replace it")
    recipe, width = _recipe(), SETTINGS["width"]
    torch.manual_seed(recipe.seed)
    sources, data = Sources(Path(options.data)), load_data(recipe, Path(options.data))
    words = sources.choose(_counts(data))
    every = [*data.vocabulary.ids, *(word for word in words if word not in data.vocabulary.ids)]
    parts = SummedParts(every, sources, width, SETTINGS["residual_lr"] / SETTINGS["lr"])
    with tempfile.TemporaryDirectory() as folder:
        settings = Options(Path(folder), "cpu", options.precision)
        trained = loop.ready(recipe, data, random_table(data.vocabulary, width, recipe.seed), settings, parts)
        trained.fit()
    assert isinstance(trained.model, TrainedWords)
    number = {word: i for i, word in enumerate(every, start=1)}
    with torch.no_grad():
        vectors = trained.model.vectors(torch.tensor([number[word] for word in words]))
    made = WordTable.from_vectors(words, vectors, float(parts.spelling[UNKNOWN].detach()), f"nli-{width}")
    with whole_folder(out, last="card.json") as scratch:
        _write_card(scratch, made, made.save(scratch), trained, options.precision)
    print(f"{len(words):,} words x {width} -> {out}")
    return 0


def _recipe() -> Recipe:
    """The light model's recipe, without keys that training ignores."""
    recipe = recipes.load("nli-attconv-light")
    model = recipe.model | dict.fromkeys(("embedding_dropout", "dropout"), SETTINGS["dropout"])
    own = {name: SETTINGS[name] for name in ("epochs", "batch_size", "lr", "seed")}
    return dataclasses.replace(recipe, model=model, report=(), tune_words=2, ema=0, **own)


def _counts(data: TrainingData) -> Counter[str]:
    """How often each word occurs in the training pairs."""
    flat = torch.cat([texts.flat for texts in (data.train.first, *data.train.contexts)])
    counts = torch.bincount(flat, minlength=len(data.vocabulary.ids) + 1)[1:]
    return Counter(dict(zip(data.vocabulary.ids, counts.tolist(), strict=True)))


def _write_card(out: Path, made: WordTable, sha256: str, trained: loop.TrainingRun, precision: str) -> None:
    card = {
        "name": made.name,
        "sha256": sha256,
        "words": len(made),
        "width": made.width,
        "licence": "CC BY-SA 4.0",
        "made_from": [
            {"name": "ConceptNet Numberbatch, 41,353 English rows of 300", "licence": "CC BY-SA 4.0"},
            {"name": "GloVe 6B, 50 dimensions, the 200,000 most frequent words", "licence": "PDDL"},
            {"name": "SNLI-86k", "licence": "CC BY-SA 4.0"},
            {"name": "SNLI revised pairs (Kaushik et al.)", "licence": "Apache-2.0"},
            {"name": "MultiNLI-23k", "licence": "OANC and others"},
        ],
        "settings": SETTINGS,
        "epochs": trained.progress.history,
        "training": {
            "seconds": round(trained.progress.seconds),
            "threads": torch.get_num_threads(),
            "precision": trained.precision,
            "precision_asked": precision,
            "torch": torch.__version__,
            "command": "python -m trainers.paper words --data DATA",
        },
    }
    (out / "card.json").write_text(json_text(card), encoding="utf-8")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``python -m trainers.paper words``."""
    parser.add_argument("--data", required=True, help="the data folder (vectors/, snli/, mnli/)")
    parser.add_argument("--out", default="runs/words", help="folder to write words.safetensors and card.json to")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace a table there: no checkpoint made on it can be read any more"
    )
    add_precision(parser, ("32", "bf16"))
