"""Rows are divided so that no text is on both sides."""

from __future__ import annotations

import random

import numpy as np
import pytest

from core.data import DataError
from core.data.split import Parts, parts


def texts(pairs: list[tuple[str, str]], rows: np.ndarray) -> set[str]:
    return {text for row in rows for text in pairs[row]}


def check(pairs: list[tuple[str, str]], found: Parts, least: float) -> None:
    """Every row is in one part, no text on both sides, and at least this share of the rows is trained on."""
    rows = np.concatenate([found.train, found.held_out, found.left_out])
    assert sorted(rows.tolist()) == [*range(len(pairs))]
    assert not texts(pairs, found.train) & texts(pairs, found.held_out)
    assert len(found.train) >= least * len(pairs) and len(found.held_out) >= 0.1 * len(pairs)


def test_no_text_is_on_both_sides() -> None:
    source = random.Random(0)
    shapes = {
        "three hypotheses for each premise": [(f"premise {i // 3}", f"hypothesis {i}") for i in range(300)],
        "text of a first side on the second of another": [(f"{i}", f"{i + 1 if i % 4 else i}") for i in range(100)],
        "the same pair again": [(f"a {i % 40}", f"b {i % 40}") for i in range(200)],
    }
    for pairs in shapes.values():
        found = parts(pairs)
        check(pairs, found, 0.75)
        assert not len(found.left_out) and len(found.held_out) == pytest.approx(0.2 * len(pairs), abs=4)
    connected = {
        "a chain": [(f"text {i}", f"text {i + 1}") for i in range(300)],
        "each of 300 texts with one of 30": [(f"text {i}", f"description {i % 30}") for i in range(300)],
        "a filler": [(f"{i}", f"{i + 1 if i % 4 else 'none'}") for i in range(99)],
        "texts paired at random": [(f"a {source.randrange(99)}", f"b {source.randrange(99)}") for _ in range(250)],
    }
    for pairs in connected.values():
        check(pairs, parts(pairs), 0.4)


def test_a_rows_part_depends_on_its_texts_alone() -> None:
    pairs = [(f"Premise {i // 2}.", f"hypothesis {i}") for i in range(100)]
    held_out = parts(pairs, 0.3, seed=1).held_out
    backwards = parts(pairs[::-1], 0.3, seed=1).held_out
    assert {pairs[row] for row in held_out} == {pairs[::-1][row] for row in backwards}
    assert {*held_out.tolist()} != {*parts(pairs, 0.3, seed=2).held_out.tolist()}
    spelled = [(f"premise {i // 2}" if i % 2 else f"Premise {i // 2}.", f"hypothesis {i}") for i in range(100)]
    assert np.array_equal(parts(spelled, 0.3, seed=1).held_out, held_out)


def test_each_label_has_its_share_and_keeps_rows_to_train_on() -> None:
    labels = ["frequent"] * 80 + ["rare"] * 19 + ["once"]
    found = parts([(f"text {i}", "") for i in range(100)], labels=labels)
    assert sorted(labels[row] for row in found.held_out) == ["frequent"] * 16 + ["rare"] * 4


@pytest.mark.parametrize("pairs", [[], [("a", "b")], [("", "")] * 3, [(f"text {i}", "always") for i in range(20)]])
def test_rows_that_cannot_be_divided(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(DataError, match=r"cannot be divided .*; give held-out rows in a file"):
        parts(pairs)
