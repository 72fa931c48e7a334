"""Suggested names for numbered classes, based on simple pairs."""

import itertools

import numpy as np
import pytest

from core.external.suggestion import LABELS, fitted, plain_pairs, usual_labels

TASKS = [task for task, (labels, *_) in LABELS.items() if plain_pairs(task, len(labels))]
"""Those with plain pairs."""


def test_twenty_pairs_of_each_task_with_its_labels():
    assert {"entailment", "fact checking", "paraphrase", "answer selection"} <= {*TASKS}
    for task in TASKS:
        for labels in {usual_labels(task, len(names)) for names in LABELS[task]}:
            rows = plain_pairs(task, len(labels))
            assert {label for *_, label in rows} == set(labels)
            assert len(rows) == len(set(rows)) and (len(rows) == 20 or len(labels) == 2)
    assert not plain_pairs("paraphrase", 3) and not usual_labels("answer selection", 7)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_a_model_that_answers_by_other_numbers_is_seen_through(task, turned):
    labels = LABELS[task][0]
    rows = plain_pairs(task, len(labels))
    gold = {((second, first) if turned else (first, second)): label for first, second, label in rows}
    for order in itertools.permutations(labels):

        def ask(pairs, order=order):
            chances = np.full((len(pairs), len(order)), 0.1)
            for row, pair in zip(chances, pairs, strict=True):
                row[order.index(gold.get(pair, order[0]))] = 0.7
            return np.log(chances)

        right, wrong = (fitted(task, rows, labels, way, ask) for way in (turned, not turned))
        assert (right.labels, right.right, right.of) == (order, len(rows), len(rows))
        assert wrong.right < right.right
