"""Make the shared word table: ``python -m trainers.paper words --data DIR``.

A word's vector is a sum of five learned parts,

    P_n n(w) + P_g g(w) + s(w) + a(w) h(w) + r(w)

- n(w): the ConceptNet Numberbatch row of the word, else of its base form (``word_baseform.json``; a word's own row
  comes first, since some base forms are wrong), else 0. Rows have length 1.
- g(w): its GloVe 6B row, centred and scaled to length 1 (raw rows are about 5 long and would drown n), else 0.
- s(w): one learned vector for each kind of inflection when n(w) is the base form's: "runs" and "running" differ.
- h(w): its hashed character n-grams (``ngram_vector``), for words without a Numberbatch row; a(w) is one
  scale for words that only GloVe knows and one for unknown words.
- r(w): a residual for words seen at least ``MIN_COUNT`` times in the training pairs.

All of them are trained through the entailment loss of a light attentive convolution; the table holds their
sum, int8 with a scale a row. The classifier on top is discarded.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from core.data import DataError, read
from core.errors import RunError
from core.files import check_writable, whole_folder
from core.memory import keep_freed_memory
from core.models import build
from core.reading.batch import Batch
from core.reading.tokens import MAX_TOKENS, tokenize
from core.reading.word_table import WordTable, ngram_vector
from trainers.precision import add_precision, used_precision

NUMBERBATCH, GLOVE = "vectors/numberbatch_300d_41k", "vectors/glove6B_50d"
TRAIN = ("snli/snli_1.0_train_86k.jsonl", "snli/cad_revised_train.jsonl", "mnli/multinli_train_23k.jsonl")
DEV = "snli/snli_1.0_dev.jsonl"
LABELS = ("entailment", "neutral", "contradiction")
GLOVE_ROWS = 72_000
"""GloVe words taken by frequency; with Numberbatch's words and their inflected forms about 101,000 in all."""
MIN_COUNT = 2
OFTEN = 5
"""Training words of this count enter the table even when neither vector file has them ("rollerskating")."""
WEIGHTS = {"disco": 0.2}
"""Weight in the loss by the part of SNLI-86k that a pair's id names (1 elsewhere). The pairs named ``disco`` were
picked, not drawn: a model that gets 75 % of the other parts right gets 55 % of them."""
INFLECTIONS = ("s", "ing", "ed", "er", "est", "ly", "n", "other")
OWN, GLOVE_ONLY, UNKNOWN = 0, 1, 2

Pair = tuple[list[str], list[str], int, float]
Encoded = list[tuple[list[int], list[int], int, float]]


class Sources:
    """The two vector files side by side, looked up by word. Raises DataError when one is missing or misshapen."""

    def __init__(self, data: Path) -> None:
        self.numberbatch_words, self.numberbatch = _vectors(data / NUMBERBATCH)
        self.glove_words, glove = _vectors(data / GLOVE)
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
        """The table's words, most frequent first (GloVe's order), then those that only Numberbatch has."""
        words = {word for word in self.base if word in self.glove_row and self.meaning(word)[0] >= 0}
        words |= set(self.glove_words[:GLOVE_ROWS])
        words |= {word for word, count in counts.items() if count >= MIN_COUNT and word in self.glove_row}
        words |= {word for word, count in counts.items() if count >= OFTEN}
        words |= set(self.numberbatch_words)
        last = len(self.glove_words)
        return sorted(words, key=lambda word: (self.glove_row.get(word, last), word))


def inflection(form: str) -> int:
    """Number from 1 of the ending of an inflected form in ``INFLECTIONS``."""
    for i, ending in enumerate(INFLECTIONS[:-1]):
        if form.endswith(ending):
            return i + 1
    return len(INFLECTIONS)


def _vectors(folder: Path) -> tuple[list[str], np.ndarray]:
    try:
        words = (folder / "words.txt").read_text(encoding="utf-8").splitlines()
        vectors = np.load(folder / "vectors.npy", allow_pickle=False).astype(np.float32)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the word vectors in {folder.name} ({error}); see the README on data") from error
    if len(words) != len(vectors):
        raise DataError(f"{folder.name} has {len(words)} words but {len(vectors)} vectors; get both files again")
    return words, vectors


class TrainedTable(nn.Module):
    """The sum of parts above for V words: ``ids [...] -> vectors [..., D]``; id 0 is the pad."""

    n: Tensor
    g: Tensor
    h: Tensor
    kinds: Tensor
    endings: Tensor
    seen: Tensor

    def __init__(self, words: Sequence[str], sources: Sources, counts: Counter[str], width: int) -> None:
        super().__init__()
        size = len(words) + 1
        features = {"n": np.zeros((size, 300), np.float32), "g": np.zeros((size, 50), np.float32)}
        h = np.zeros((size, width), np.float32)
        kinds, endings, seen = (np.zeros(size, np.int64) for _ in range(3))
        for i, word in enumerate(words, start=1):
            row, endings[i] = sources.meaning(word)
            if row >= 0:
                features["n"][i] = sources.numberbatch[row]
            if word in sources.glove_row:
                features["g"][i] = sources.glove[sources.glove_row[word]]
            kinds[i] = OWN if row >= 0 else GLOVE_ONLY if word in sources.glove_row else UNKNOWN
            if kinds[i] != OWN:
                h[i] = ngram_vector(word, width)
            seen[i] = counts[word] >= MIN_COUNT
        for name, value in {**features, "h": h, "kinds": kinds, "endings": endings, "seen": seen}.items():
            self.register_buffer(name, torch.from_numpy(value), persistent=False)
        self.meaning, self.distribution = nn.Linear(300, width, bias=False), nn.Linear(50, width, bias=False)
        for layer, gain in ((self.meaning, 1.3), (self.distribution, 0.6)):
            nn.init.orthogonal_(layer.weight, gain)
        self.ending = nn.Parameter(torch.randn(len(INFLECTIONS) + 1, width) * 0.02)
        self.residual = nn.Embedding(size, width, sparse=True)
        nn.init.zeros_(self.residual.weight)
        self.spelling = nn.Parameter(torch.tensor([0.0, 0.5, 0.7]))

    def rows(self, ids: Tensor) -> Tensor:
        """Vectors ``[N, D]`` of ids ``[N]``."""
        kinds = self.kinds[ids]
        spelling = self.spelling[kinds] * (kinds != OWN)
        out = self.meaning(self.n[ids]) + self.distribution(self.g[ids]) + spelling[:, None] * self.h[ids]
        out = out + self.ending[self.endings[ids]] * (self.endings[ids] > 0)[:, None]
        out = out + self.residual(ids) * self.seen[ids][:, None]
        rows: Tensor = out * (ids > 0)[:, None]
        return rows

    def forward(self, ids: Tensor) -> Tensor:
        unique, inverse = torch.unique(ids, return_inverse=True)
        return F.embedding(inverse, self.rows(unique))


def run(options: argparse.Namespace) -> int:
    """Train and write the table; returns the exit status."""
    out = Path(options.out)
    check_writable(out, "--out", folder=True)
    if (out / "words.safetensors").exists() and not options.overwrite:
        raise RunError(f"{out} holds a word table; give another --out, or --overwrite to replace it")
    keep_freed_memory()
    precision = used_precision(options.precision, "cpu")
    torch.manual_seed(options.seed)
    data, start = Path(options.data), time.time()
    sources = Sources(data)
    train, dev = [_pairs(data / name) for name in TRAIN], _pairs(data / DEV)
    flat = [pair for part in train for pair in part]
    counts = Counter(norm for first, second, *_ in flat for norm in (*first, *second))
    words = sources.choose(counts)
    more = sorted({norm for first, second, *_ in [*flat, *dev] for norm in (*first, *second)} - set(words))
    table = TrainedTable([*words, *more], sources, counts, options.width)
    ids = {word: i for i, word in enumerate([*words, *more], start=1)}
    dropouts = {"embedding_dropout": options.dropout, "dropout": options.dropout}
    net = build("attconv-light", {"input_size": options.width, **dropouts})
    curve = _train(table, net, _encode(flat, ids), _encode(dev, ids), precision, options)
    table.eval()
    with torch.no_grad():
        vectors = table.rows(torch.arange(1, len(words) + 1))
    made = WordTable.from_vectors(words, vectors, float(table.spelling[UNKNOWN].detach()), f"nli-{options.width}")
    with whole_folder(out, last="card.json") as scratch:
        _write_card(scratch, made, made.save(scratch), precision, options, curve, time.time() - start)
    print(f"{len(words):,} words x {options.width} -> {out}")
    return 0


def _pairs(path: Path) -> list[Pair]:
    def side(text: str) -> list[str]:
        return [token.norm for token in tokenize(text)[:MAX_TOKENS]]

    pairs = [
        (side(row.first), side(row.second), LABELS.index(row.label), WEIGHTS.get(row.id.rsplit("-", 1)[0], 1.0))
        for row in read(path).rows
        if row.label in LABELS
    ]
    return [pair for pair in pairs if pair[0] and pair[1]]


def _encode(pairs: Sequence[Pair], ids: dict[str, int]) -> Encoded:
    return [
        ([ids[w] for w in first], [ids[w] for w in second], label, weight) for first, second, label, weight in pairs
    ]


def _batches(data: Encoded, size: int, order: random.Random) -> Iterator[tuple[Batch, Tensor, Tensor]]:
    """Batches of like length in random order: word numbers, labels, weights."""
    shuffled = order.sample(range(len(data)), len(data))
    batches: list[list[int]] = []
    for at in range(0, len(data), size * 50):
        block = sorted(shuffled[at : at + size * 50], key=lambda i: (len(data[i][1]), len(data[i][0])))
        batches += [block[k : k + size] for k in range(0, len(block), size)]
    order.shuffle(batches)
    for rows in batches:
        first, second = ([torch.tensor(data[i][side]) for i in rows] for side in (0, 1))
        labels, weights = (torch.tensor([data[i][column] for i in rows]) for column in (2, 3))
        yield Batch.of(first, second), labels, weights


def _train(
    table: TrainedTable, net: nn.Module, train: Encoded, dev: Encoded, precision: str, options: argparse.Namespace
) -> list[dict[str, float]]:
    dense = [*(p for n, p in table.named_parameters() if n != "residual.weight"), *net.parameters()]
    optimizer = torch.optim.AdamW(dense, lr=options.lr, weight_decay=0.0, fused=True)
    # Only the rows of a batch's words are touched: a dense step over 100,000 residuals would cost more than the rest.
    sparse = torch.optim.SparseAdam([table.residual.weight], lr=options.residual_lr)
    shares = torch.tensor([sum(weight for *_, label, weight in train if label == k) for k in range(len(LABELS))])
    class_weights = shares.sum() / (len(LABELS) * shares)
    steps, step, curve = options.epochs * math.ceil(len(train) / options.batch_size), 0, []
    for epoch in range(options.epochs):
        table.train(), net.train()
        batches = _batches(train, options.batch_size, random.Random(options.seed * 1000 + epoch))
        total = 0.0
        for batch, labels, weights in tqdm(
            batches, total=steps // options.epochs, desc=f"epoch {epoch + 1}", unit="batch"
        ):
            rate = min(1.0, (step + 1) / 300) * (0.5 * (1 + math.cos(math.pi * step / steps)) + 1e-3)
            optimizer.param_groups[0]["lr"] = options.lr * rate
            sparse.param_groups[0]["lr"] = options.residual_lr * rate
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
                logits = net(batch.embedded(table)).logits
            weights = weights * class_weights[labels]
            loss = (F.cross_entropy(logits.float(), labels, reduction="none") * weights).sum() / weights.sum()
            optimizer.zero_grad(), sparse.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(dense, 5.0)
            optimizer.step(), sparse.step()  # type: ignore[no-untyped-call]
            step, total = step + 1, total + float(loss.detach()) * len(labels)
        accuracy = _accuracy(table, net, dev)
        curve.append({"epoch": epoch + 1, "loss": round(total / len(train), 4), "snli_dev": round(accuracy, 4)})
        print(curve[-1], flush=True)
    return curve


@torch.inference_mode()
def _accuracy(table: TrainedTable, net: nn.Module, dev: Encoded) -> float:
    table.eval(), net.eval()
    right = sum(
        int((net(batch.embedded(table)).logits.argmax(1) == labels).sum())
        for batch, labels, _ in _batches(dev, 256, random.Random(0))
    )
    return right / len(dev)


def _write_card(
    out: Path,
    made: WordTable,
    sha256: str,
    precision: str,
    options: argparse.Namespace,
    curve: list[dict[str, float]],
    seconds: float,
) -> None:
    settings = {
        k: getattr(options, k) for k in ("width", "epochs", "batch_size", "lr", "residual_lr", "dropout", "seed")
    }
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
        "settings": settings,
        "epochs": curve,
        "training": {
            "seconds": round(seconds),
            "threads": torch.get_num_threads(),
            "precision": precision,
            "precision_asked": options.precision,
            "torch": torch.__version__,
            "command": "python -m trainers.paper words --data DATA "
            + " ".join(f"--{k.replace('_', '-')} {v}" for k, v in settings.items()),
        },
    }
    (out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``python -m trainers.paper words``; the defaults are those of the shipped table."""
    parser.add_argument("--data", required=True, help="the data folder (vectors/, snli/, mnli/)")
    parser.add_argument("--out", default="runs/words", help="folder to write words.safetensors and card.json to")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace a table there: no checkpoint made on it can be read any more"
    )
    parser.add_argument("--width", type=int, default=160, help="numbers a word")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--residual-lr", type=float, default=5e-4)
    parser.add_argument("--dropout", type=float, default=0.1, help="on the projected words")
    add_precision(parser, ("32", "bf16"))
    parser.add_argument("--seed", type=int, default=1)
