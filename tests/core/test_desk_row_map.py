"""The map of rows: vectors, positions and nearest rows in the run's folder, filters by a selection; duplicates."""

from dataclasses import replace

import numpy as np
import pytest

from core.checkpoint import load_named, read_card
from core.data import Example
from core.desk import row_map, store
from core.desk.filters import rows_of
from core.desk.row_map import RowMap, around, drawn, map_job, stored, vectors_of, with_maps
from core.desk.slices import slices
from core.desk.table import open_table
from core.evaluation.predict import forward_passes, prepare_rows
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import keep, made_up_run, predictions, with_rows


@pytest.fixture
def run(tmp_path, table, monkeypatch):
    """A stored run of 18 rows by an installed checkpoint."""
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    monkeypatch.setenv("PAIRLENS_RUNS", str(tmp_path / "desk"))
    make_checkpoint(tmp_path / "own/tiny", table)
    small = made_up_run(tmp_path)
    rows = tuple(
        replace(row, id=f"{row.id} {i}", second=f"{row.second}{' a dog' * i}")
        for i in range(3)
        for row in small.dataset.rows
    )
    sha256 = read_card(tmp_path / "own/tiny")["sha256"]
    chances = np.tile(small.models[0].probabilities, (3, 1))
    made = replace(small, dataset=replace(small.dataset, rows=rows), models=(predictions("tiny", chances, sha256),))
    keep(made)
    return store.open_run(made.dataset.sha256, [sha256])


def test_the_map_is_kept_and_the_nearest_rows_have_the_largest_cosine(run, monkeypatch):
    monkeypatch.setattr(row_map, "MOST_ROWS", 15)
    monkeypatch.setattr(row_map, "_ITERATIONS", (25, 25))
    assert stored(run, 0) is None
    job, seen = map_job(run, 0, "tiny"), []
    progress = job.progress
    monkeypatch.setattr(job, "progress", lambda done: (seen.append(done), progress(done)))
    job.run()
    assert not job.problem and job.done == job.rows == 15 and seen == sorted(seen)
    known = stored(run, 0)
    assert known.rows.tolist() == drawn(run).tolist() == sorted(known.rows.tolist()) and len(known.rows) == 15
    checkpoint = load_named("tiny")
    dataset = replace(run.dataset, rows=tuple(run.dataset.rows))
    features = np.zeros((18, known.vectors.shape[1]))
    for numbers, output in forward_passes(prepare_rows(checkpoint, dataset)):
        features[numbers.numpy()] = output.features.numpy()
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    assert np.abs(features[known.rows] - known.vectors).max() < 1e-3
    (missing, *_) = set(range(18)) - set(known.rows.tolist())
    assert known.vector_of(missing) is None
    vector = vectors_of(checkpoint, [run.dataset.rows[missing]])[0]
    near = known.nearest(vector, missing)
    best = np.sort(features[known.rows] @ features[missing])[::-1][:5]
    assert [cosine for _, cosine in near] == pytest.approx(best.tolist(), abs=2e-3)
    inside = int(known.rows[3])
    assert inside not in [row for row, _ in known.nearest(known.vector_of(inside), inside)]
    again = map_job(run, 0, "tiny")
    again.run()
    assert (stored(run, 0).positions == known.positions).all()


def test_near_rows_are_told_by_their_place_in_the_file():
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1], [0.8, 0.6]], np.float16)
    known = RowMap(np.array([2, 5, 6, 9]), vectors, np.zeros((4, 2), np.float32))
    near = known.nearest(np.array([1.0, 0.0]), 2)
    assert [row for row, _ in near] == [9, 5, 6]
    assert [cosine for _, cosine in near] == pytest.approx([0.8, 0.6, 0], abs=1e-3)
    assert known.vector_of(5).tolist() == vectors[1].tolist() and known.vector_of(1) is None


def test_a_selection_becomes_a_filter_that_holds_all_of_it(run, monkeypatch):
    random = np.random.default_rng(0)
    known = RowMap(np.arange(18), np.zeros((18, 2), np.float16), random.normal(0, 30, (18, 2)).astype(np.float32))
    shown = with_maps(open_table(run, known=bool), [known])
    assert rows_of(around(run, known, 0, [2, 5]), shown).nonzero()[0].tolist() == [2, 5]
    selected = np.flatnonzero(known.positions[:, 0] > -20).tolist()
    monkeypatch.setattr(row_map, "_LISTED", 3)
    expression = around(run, known, 0, selected)
    assert "A.map_x" in expression and len(expression) < 1000
    assert rows_of(expression, shown).nonzero()[0].tolist() == selected


def test_what_cannot_be_mapped_gets_one_sentence(run, tmp_path):
    small = made_up_run(tmp_path)
    job = map_job(small, 0, "tiny")
    job.run()
    assert "needs at least 10 rows" in job.problem
    other = map_job(replace(run, models=(replace(run.models[0], sha256="b" * 64),)), 0, "tiny")
    other.run()
    assert "is not the one that predicted this run" in other.problem
    job = map_job(run, 0, "tiny")
    job.cancel()
    job.run()
    assert not job.problem and stored(run, 0) is None


def test_near_duplicates_and_those_with_another_label_are_slices(tmp_path):
    run = made_up_run(tmp_path)
    texts = [
        ("A dog plays.", "it is cold", "entailment"),
        ("the dog plays", "It is cold!", "neutral"),
        ("a dog plays", "it is", "neutral"),
        ("a man is here", "he is", "neutral"),
        ("A man is here", "he is", "neutral"),
        ("A man is here", "he is", None),
    ]
    rows = tuple(Example(str(i), *text) for i, text in enumerate(texts))
    table = open_table(
        with_rows(run, rows),
        known=bool,
    )
    assert rows_of("near_duplicate", table).tolist() == [True, True, False, True, True, True]
    assert rows_of("label_conflict", table).tolist() == [True, True, False, False, False, False]
    assert ("duplicate with another label", 2) in [(one.dimension, one.rows) for one in slices(table)]


def test_rows_that_are_all_the_same_get_one_sentence_and_no_map(run):
    made = with_rows(run, [replace(run.dataset.rows[0], id=str(i)) for i in range(18)])
    job = map_job(made, 0, "tiny")
    job.run()
    assert job.problem == "A map needs at least 10 rows that tiny tells apart, and taxi.tsv has 1."
    assert stored(made, 0) is None
