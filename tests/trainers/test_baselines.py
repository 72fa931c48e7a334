"""Baselines without a network on pairs."""

import numpy as np
import pytest

from trainers.paper.baselines import of_pairs, overlaps, skipped


def test_n_grams_may_leave_out_one_word():
    assert skipped(["a", "b", "c"], 2) == {("a", "b"), ("b", "c"), ("a", "c")}
    assert skipped(["a", "b", "c", "d"], 3) == {("a", "b", "c"), ("b", "c", "d"), ("a", "c", "d"), ("a", "b", "d")}
    assert skipped(["a"], 2) == set()


def test_overlap_is_the_share_of_each_texts_n_grams():
    row = overlaps([("A man runs fast", "a man sleeps"), ("a", "b")])
    assert row[0, :2] == pytest.approx([2 / 3, 2 / 4])
    assert row[0, 2:4] == pytest.approx([1 / 3, 1 / 5])  # "a man"
    assert not row[1].any()


def test_each_baseline_of_pairs_learns_what_it_can_see():
    source = np.random.default_rng(0)
    words = [f"word{i}" for i in range(30)]
    texts, labels = [], []
    for i in range(200):
        first = list(source.choice(words, 6, replace=False))
        texts.append((" ".join(first), " ".join(first[:3] if i % 3 else list(source.choice(words, 3)))))
        labels.append("same" if i % 3 else "other")
    accuracy = {name: (fitted(texts) == np.array(labels)).mean() for name, fitted in of_pairs(texts, np.array(labels))}
    assert accuracy["majority class"] == pytest.approx(133 / 200, abs=0.01)
    assert accuracy["n-gram overlap"] > 0.95
    assert 0 < accuracy["TF-IDF, MLP"] < 1


def test_the_mlp_reads_the_words_of_both_texts():
    texts = [(f"{'red' if i % 2 else 'blue'} car", f"{'cat' if i % 3 else 'dog'} runs") for i in range(600)]
    labels = np.array(["yes" if i % 2 and i % 3 else "no" for i in range(600)])
    predict = dict(of_pairs(texts, labels))["TF-IDF, MLP"]
    assert (predict(texts) == labels).mean() == 1
