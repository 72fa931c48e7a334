"""Logits of many rows equal explain's, in the rows' order, and the shared model stays on its device."""

import pytest
import torch

from core.data import Dataset, Example
from core.evaluation.predict import logits, predict, prepare_rows, read_rows
from core.explain import explain
from tests.core.made_up import make_checkpoint

PAIRS = [("a dog plays in the snow", "an animal"), ("toy", "the red toy is cold"), ("a man , a dog .", "run")]


@pytest.mark.parametrize("architecture", ["attconv-light", "phrases", "adaqa"])
def test_many_rows_at_once_are_the_rows_one_by_one(tmp_path, table, architecture):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, architecture)
    logits = predict(checkpoint, (checkpoint.read(*pair) for pair in PAIRS))
    for row, pair in zip(logits, PAIRS, strict=True):
        assert row.tolist() == pytest.approx(explain(checkpoint, *pair, records=()).logits, abs=1e-5)


@pytest.mark.parametrize("architecture", ["attconv-light", "acnn", "adaqa"])
def test_the_fast_path_for_words_gives_the_same_logits(tmp_path, table, architecture):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, architecture)
    rows = [*PAIRS, ("a " * 300, "It's an animal, isn't it?"), ("\u200b", "Ünder the\x1cred snow")]
    dataset = Dataset("", "", tuple(Example(str(i), *pair, None) for i, pair in enumerate(rows)))
    assert torch.equal(logits(prepare_rows(checkpoint, dataset)), predict(checkpoint, read_rows(checkpoint, dataset)))


def test_single_texts_and_rows_without_a_word_are_read(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "acnn")
    logits = predict(checkpoint, [checkpoint.read(text) for text in ("a dog", "\u200b", "snow")])
    assert logits.shape == (3, 3) and torch.isfinite(logits).all()


def test_another_device_gets_a_copy_of_the_model(tmp_path, table):
    """On torch's device without memory, which can compute everything but the numbers themselves."""
    checkpoint = make_checkpoint(tmp_path / "tiny", table)
    with pytest.raises(NotImplementedError, match="meta"):
        predict(checkpoint, [checkpoint.read(*PAIRS[0])], "meta")
    assert {weights.device.type for weights in checkpoint.model.parameters()} == {"cpu"}
