"""Trainers of adaptive CNNs: single texts, word vectors that are trained, and what does not fit together."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch

from core.checkpoint import load
from core.data import read
from core.evaluation.encoding import Vocabulary
from core.explain import explain
from core.models import build
from core.reading.batch import Batch
from core.reading.reader import WordReader
from core.reading.tokens import tokenize
from core.reading.word_table import default_table
from trainers.__main__ import main
from trainers.trained_words import StartVectors, TrainedWords, random_table

SMALL = ["--set", "model.filters=8", "--set", "model.code=6", "--set", "warmup=2", "--device", "cpu"]


def test_trained_words_are_read_by_their_numbers() -> None:
    torch.manual_seed(0)
    vocabulary = Vocabulary()
    numbers = vocabulary.encode("the dog saw the man")
    table = random_table(vocabulary, 6, seed=3)
    vectors = vocabulary.matrix(WordReader(table))
    assert 0 < float(vectors.abs().max()) <= 0.00101 and not vectors[0].any()
    model = build("acnn", {"input_size": 6, "filters": 4, "code": 5, "embedding_dropout": 0.0}).eval()
    wrapped = TrainedWords(model, StartVectors(vectors), torch.arange(1, 5))
    logits = wrapped(Batch.of([torch.tensor(numbers)])).logits
    assert torch.equal(logits, model(Batch.of([vectors[torch.tensor(numbers)]])).logits)
    logits.sum().backward()
    assert wrapped.changes.grad is not None and not wrapped.changes.grad[0].any() and wrapped.changes.grad[1].any()
    inner, trained = wrapped.unwrapped(vocabulary, table, tuned=False)
    assert inner is model and trained.words == list(vocabulary.ids) and trained.beneath is None
    torch.testing.assert_close(trained.vectors(trained.words), vectors[1:], rtol=0, atol=1e-5)


def test_words_of_a_large_vocabulary_are_told_apart_in_mixed_precision() -> None:
    vocabulary = Vocabulary()
    numbers = torch.tensor(vocabulary.numbers(f"w{i}" for i in range(40_000)))
    model = build("acnn", {"input_size": 2, "filters": 1, "code": 1, "width": 1, "adaptivity": "none"}).eval()
    vectors = torch.stack([torch.arange(40_001.0) / 40_001, torch.zeros(40_001)], dim=1)
    wrapped = TrainedWords(model, StartVectors(vectors), numbers)
    with torch.autocast("cpu", torch.bfloat16):
        trace = wrapped(Batch.of([numbers[None, i] for i in range(40_000)])).trace
    assert len(trace.windows.values[:, 0, 0].unique()) == 40_000  # as floats in bfloat16 they were 1,181


def test_word_vectors_learn_with_the_model(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    learn = ["--set", "train_words=12", "--set", "lr=0.02", "--set", "epochs=30", "--set", "batch_size=20"]
    assert main(["train", "topic-acnn-paper", "--data", str(data), "--out", str(out), *SMALL, *learn]) == 0
    checkpoint = load(out)
    assert checkpoint.single and checkpoint.card["words"]["own"] and checkpoint.words.width == 12
    # They began within ±.001.
    assert float(checkpoint.words.vectors(["man", "dog"]).abs().max()) > 0.01
    accuracy = checkpoint.card["results"]["DBpedia-6k dev"]["accuracy"]
    assert accuracy > 0.3  # chance is 1 of 14
    capsys.readouterr()
    assert main(["evaluate", str(out), str(data / "dbpedia/dev_600.jsonl"), "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert scored["accuracy"] == pytest.approx(accuracy) and len(scored["classes"]) == 14
    assert explain(checkpoint, "man old park man").verdict in checkpoint.labels


def test_frequent_words_are_tuned_over_the_shared_table(data: Path, tmp_path: Path, capsys) -> None:
    out, copy = tmp_path / "run", tmp_path / "copy"
    learn = [
        "--set",
        "tune_words=35",
        "--set",
        "lr=0.02",
        "--set",
        "epochs=3",
        "--set",
        "batch_size=20",
        "--set",
        "model.word_dropout=0.1",
    ]
    assert main(["train", "topic-acnn", "--data", str(data), "--out", str(out), *SMALL, *learn]) == 0
    checkpoint, shared = load(out), default_table()
    texts = [{word.norm for word in tokenize(row.first)} for row in read(data / "dbpedia/train_6k.jsonl").rows]
    counts = Counter(word for text in texts for word in text)
    assert {*checkpoint.words.words} == {word for word, count in counts.items() if count >= 35}
    assert 0 < len(checkpoint.words) < len(counts)
    assert checkpoint.card["words"]["over"] == shared.sha256 != checkpoint.card["words"]["sha256"]
    tuned, others = [*checkpoint.words.words], ["woman", "zebra", "red-haired", "Qwertzuiop"]
    assert not torch.isclose(checkpoint.words.vectors(tuned), shared.vectors(tuned), atol=1e-3).all(1).any()
    assert torch.equal(checkpoint.words.vectors(others), shared.vectors(others))
    capsys.readouterr()
    assert main(["evaluate", str(out), str(data / "dbpedia/dev_600.jsonl"), "--json"]) == 0
    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert accuracy == pytest.approx(checkpoint.card["results"]["DBpedia-6k dev"]["accuracy"])
    shutil.copytree(out, copy)
    card = json.loads((copy / "card.json").read_text())
    (copy / "card.json").write_text(json.dumps({**card, "words": {**card["words"], "over": "0"}}))
    assert main(["evaluate", str(copy), str(data / "dbpedia/dev_600.jsonl")]) == 2
    assert "lie over a table other than the shared one: train it again" in capsys.readouterr().err
    vectors = ["--vectors", str(data / "vectors.txt")]
    assert main(["train", "topic-acnn", "--data", str(data), "--out", str(tmp_path / "no"), *vectors, *learn]) == 2
    assert "--vectors does not go with tune_words" in capsys.readouterr().err
    for change, problem in (("train_words=5", "leave one of them out"), ("linear=true", "neither vectors nor linear")):
        assert main(["train", "topic-acnn", "--data", str(data), "--set", change, *learn]) == 2
        assert problem in capsys.readouterr().err


def test_pairs_and_single_texts_are_not_mixed_up(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = ["--vectors", str(data / "vectors.txt")]
    out = tmp_path / "run"
    short = [*SMALL, *vectors, "--set", "epochs=1"]
    assert main(["train", "topic-acnn", "--data", str(data), "--out", str(out), *short]) == 0
    assert main(["evaluate", str(out), str(data / "sick/SICK_trial.txt")]) == 2
    assert "has pairs, but topic-acnn reads single texts" in capsys.readouterr().err
    (data / "dbpedia/pairs.tsv").write_text((data / "sick/SICK_trial.txt").read_text())
    wrong = ["--set", "dev={name: x, path: dbpedia/pairs.tsv}"]
    assert main(["train", "topic-acnn", "--data", str(data), "--out", str(tmp_path / "no"), *short, *wrong]) == 2
    assert "x has pairs, but roles names 1" in capsys.readouterr().err
    assert main(["train", "topic-acnn-paper", "--data", str(data), "--set", "linear=true"]) == 2
    assert "neither vectors nor linear" in capsys.readouterr().err
