"""Scores against hand-worked cases and independent definitions."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from core.evaluation.scores import (
    accuracy_and_f1,
    classification,
    question_kind,
    ranking,
)
from core.reading.tokens import tokenize


def by_definition(relevant: list[bool], scores: list[float]) -> tuple[float, float]:
    """AP and RR of one question: mean over all orders that are sorted by score (ties in every order)."""
    precisions, reciprocals = [], []
    for order in itertools.permutations(range(len(scores))):
        ranked = [scores[i] for i in order]
        if ranked != sorted(ranked, reverse=True):
            continue
        marks = [relevant[i] for i in order]
        hits = [place for place, mark in enumerate(marks, start=1) if mark]
        precisions.append(sum(Fraction(n, place) for n, place in enumerate(hits, start=1)) / len(hits))
        reciprocals.append(Fraction(1, hits[0]))
    return float(sum(precisions) / len(precisions)), float(sum(reciprocals) / len(reciprocals))


def test_map_and_mrr_by_hand() -> None:
    # Question a: right answers at places 1 and 3: AP (1/1 + 2/3) / 2, RR 1. Question b: place 2: AP 1/2, RR 1/2.
    groups = ["a", "b", "a", "a", "b", "c"]
    relevant = [True, False, False, True, True, False]
    found = ranking(groups, relevant, [0.9, 0.8, 0.5, 0.3, 0.1, 0.7])
    assert found.map == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert found.mrr == pytest.approx(0.75)
    assert (found.questions, found.skipped) == (2, 1)


def test_map_and_mrr_agree_with_scikit_learn_and_with_trec_evals_definition() -> None:
    random = np.random.default_rng(4)
    groups, relevant, scores = [], [], []
    for question in range(60):
        size = int(random.integers(1, 12))
        groups += [f"q{question}"] * size
        relevant += (random.random(size) < 0.3).tolist()
        scores += random.permutation(size).astype(float).tolist()  # no ties: there the definitions part
    found = ranking(groups, relevant, scores)
    precisions, reciprocals = [], []
    for question in dict.fromkeys(groups):
        at = [i for i, group in enumerate(groups) if group == question]
        right = np.array([relevant[i] for i in at])
        if not right.any():
            continue
        precisions.append(average_precision_score(right, [scores[i] for i in at]))
        order = sorted(at, key=lambda i: -scores[i])
        reciprocals.append(1 / (1 + next(place for place, i in enumerate(order) if relevant[i])))
    assert found.map == pytest.approx(np.mean(precisions)) and found.mrr == pytest.approx(np.mean(reciprocals))
    assert (found.questions, found.questions + found.skipped) == (len(precisions), 60)


def test_ties_count_as_the_mean_over_their_orders() -> None:
    source = random.Random(0)
    for _ in range(60):
        size = source.randint(1, 6)
        relevant = [source.random() < 0.5 for _ in range(size)]
        relevant[source.randrange(size)] = True
        scores = [source.choice([0.1, 0.5, 0.9]) for _ in range(size)]
        found = ranking(["q"] * size, relevant, scores)
        assert (found.map, found.mrr) == pytest.approx(by_definition(relevant, scores))


def test_no_question_with_a_right_answer() -> None:
    found = ranking(["a", "b"], [False, False], [0.5, 0.4])
    assert (found.map, found.mrr, found.questions, found.skipped) == (0.0, 0.0, 0, 2)


def test_classification_by_hand() -> None:
    gold, predicted = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 2])
    found = classification(gold, predicted, ["e", "n", "c"])
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["classes"]["e"] == pytest.approx({"precision": 1.0, "recall": 2 / 3, "f1": 0.8, "items": 3})
    assert found["classes"]["n"]["f1"] == pytest.approx(0.5)
    assert found["macro_f1"] == pytest.approx((0.8 + 0.5 + 2 / 3) / 3)
    assert found["confusion"]["gold_by_predicted"] == [[2, 1, 0], [0, 1, 1], [0, 0, 1]]


def test_macro_f1_leaves_out_classes_that_never_occur() -> None:
    assert accuracy_and_f1(np.array([0, 1]), np.array([0, 1])) == (1.0, 1.0)
    assert classification(np.array([0, 1]), np.array([0, 1]), ["e", "n", "c"])["macro_f1"] == 1.0


def test_questions_count_for_their_first_question_word() -> None:
    asked = [
        "Who wrote what",
        "Who wrote what",
        "name the place where it is",
        "name it",
        "How, when?",
        "Whatever is it",
    ]
    kinds = [question_kind(token.norm for token in tokenize(text)) for text in asked]
    assert kinds == ["who", "who", "where", "other", "how", "other"]
