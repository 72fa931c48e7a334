"""The training rows nearest to a pair: by the vector that the classifier reads, from an index that fits."""

import math

import numpy as np
import pytest

from core import neighbours
from core.evaluation.predict import prepare, unit_vectors
from core.models import REGISTRY
from core.neighbours import NeighboursError, TrainingRow, load, nearest, save
from tests.core.made_up import make_checkpoint
from tests.models import single

LABELS = ("entailment", "neutral", "contradiction")
TEXTS = [
    ("a dog plays in the snow", "a dog plays"),
    ("a man is cold", "the man is cold"),
    ("a man is cold", "the snow is cold"),
    ("the toy is red", "a toy"),
    ("the toy is red", "the dog is red"),
    ("a dog", "the dog is an animal"),
    ("the man", "a man is in the snow"),
]
ROWS = [TrainingRow(*texts, LABELS[i % 2], "made up") for i, texts in enumerate(TEXTS)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_NEIGHBOURS", str(tmp_path / "neighbours"))
    return tmp_path / "neighbours"


def vectors(checkpoint):
    return unit_vectors(prepare(checkpoint, [checkpoint.read(row.first, row.second) for row in ROWS]))


@pytest.mark.parametrize("architecture", sorted(name for name in REGISTRY if not single(name)))
def test_the_vector_is_the_one_that_the_classifier_reads(tmp_path, table, architecture):
    """The expected value is the classifier's input, recorded by a hook."""
    checkpoint = make_checkpoint(tmp_path / "x", table, architecture)
    inputs = []
    handle = checkpoint.model.classifier.register_forward_pre_hook(lambda module, given: inputs.append(given[0]))
    try:
        reading = checkpoint.read(*TEXTS[0])
        unit = unit_vectors(prepare(checkpoint, [reading]))[0]
    finally:
        handle.remove()
    expected = inputs[0][0].numpy()
    assert np.allclose(unit, expected / np.linalg.norm(expected), atol=1e-5)


def test_the_nearest_of_each_class_are_those_of_a_loop(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table)
    save(checkpoint, ROWS, vectors(checkpoint), 100, "")
    found = nearest(checkpoint, "a dog plays", "a toy")
    own = unit_vectors(prepare(checkpoint, [checkpoint.read("a dog plays", "a toy")]))[0].tolist()
    every = dict(zip(ROWS, vectors(checkpoint).astype(np.float16).tolist(), strict=True))
    assert list(found.by_label) == ["entailment", "neutral"], "no row is a contradiction"
    assert (found.searched, found.of) == (7, 100)
    for label, rows in found.by_label.items():
        cosines = {
            row: sum(a * b for a, b in zip(own, other, strict=True)) / math.hypot(*other)
            for row, other in every.items()
            if row.label == label
        }
        assert [one.row for one in rows] == sorted(cosines, key=lambda row: -cosines[row])[:5]
        assert all(math.isclose(one.cosine, cosines[one.row], abs_tol=1e-5) for one in rows)


def test_an_index_that_does_not_fit_is_one_sentence_with_the_command(tmp_path, table, folder):
    checkpoint = make_checkpoint(tmp_path / "tiny", table)
    command = "`python -m trainers neighbours tiny --data DATA`"
    with pytest.raises(NeighboursError, match="are not on this machine") as missing:
        load(checkpoint)
    assert command in str(missing.value)
    save(checkpoint, ROWS, vectors(checkpoint), 7, "")
    assert sorted(path.name for path in (folder / "tiny").iterdir()) == [
        "index.json",
        "rows.jsonl",
        "vectors.safetensors",
    ]
    other = make_checkpoint(tmp_path / "other" / "tiny", table, hidden=8)
    with pytest.raises(NeighboursError, match="made for another checkpoint of this name") as strange:
        load(other)
    assert command in str(strange.value)
    (folder / "tiny/rows.jsonl").write_text("{}")
    neighbours._load.cache_clear()
    with pytest.raises(NeighboursError, match="is damaged"):
        load(checkpoint)
