"""Labels to check: out-of-fold probabilities, folds without a common text, changed labels found, the desk's column."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.adaptation.label_check import area_under, injected, of_features
from core.data.split import folds
from core.desk import label_check
from core.desk.filters import rows_of
from core.desk.leakage import without_leaks
from core.desk.table import open_table
from core.errors import UserError
from tests.core.made_up_runs import made_up_run, with_rows


def test_rows_with_a_common_text_are_in_one_fold():
    pairs = [(f"text {n // 3}", f"other {n}") for n in range(60)] + [("Text, 7", "x y"), ("OTHER 59", "text 2")]
    found = folds(pairs, 5)
    assert [len({*found[n : n + 3].tolist()}) for n in range(0, 60, 3)] == [1] * 20
    assert found[60] == found[21] and found[61] == found[59] == found[6]
    assert np.bincount(found).max() <= 15 and len({*found.tolist()}) == 5
    # All rows are connected by one second text: first texts stay together.
    hub = [(f"text {n // 2}", "none") for n in range(50)]
    found = folds(hub, 5)
    assert np.bincount(found).tolist() == [10] * 5 and all(found[n] == found[n + 1] for n in range(0, 50, 2))


def test_changed_labels_are_found_and_the_area_is_counted_by_hand():
    random = np.random.default_rng(3)
    classes = random.integers(3, size=300)
    features = torch.tensor(np.eye(3)[classes] * 2 + random.normal(size=(300, 3)) / 2, dtype=torch.float32)
    pairs, labels = [(f"a {n}", f"b {n}") for n in range(300)], [f"class {n}" for n in classes]
    noise = injected(features, pairs, labels, 0.1)
    assert (noise.rows, noise.changed) == (300, 30) and noise.auc > 0.97 and noise.share > 0.7
    assert injected(features[torch.randperm(300)], pairs, labels, 0.1).auc < 0.75, "features without meaning"
    assert area_under(np.array([1, 2]), np.array([2, 3, 0])) == pytest.approx((2 + 1.5) / 6)
    for some, named in ((pairs[:40], labels[:40]), (pairs, ["one"] * 300)):
        with pytest.raises(UserError, match="50 labelled rows or more with two labels"):
            of_features(features[: len(some)], some, named)
    rare = ["rare", *labels[1:]]
    assert of_features(features, pairs, rare)[0] == 0, "the other folds lack its label"


def test_the_probabilities_are_a_column_of_these_labels_that_no_slice_may_use(tmp_path, monkeypatch):
    run = made_up_run(tmp_path)
    chances = [0.9, 0.01, 0.5, 0.2, 0.8, 0.7]
    monkeypatch.setattr(label_check, "load_named", lambda name: None)
    monkeypatch.setattr(label_check, "check_texts", lambda *of: None)
    monkeypatch.setattr(label_check, "label_probabilities", lambda *of: np.array(chances))
    assert label_check.stored(run) is None
    job = label_check.check_job(run, "some")
    job.work(job)
    found = label_check.stored(run)
    table = label_check.with_label_check(open_table(run, known=bool), found)
    assert np.flatnonzero(rows_of(label_check.suspects(found), table)).tolist() == [1]
    assert np.flatnonzero(rows_of("label_p < 30%", table)).tolist() == [1, 3]
    assert "label_p" not in without_leaks(run, 0, table).columns
    other = with_rows(run, [replace(row, label="neutral", label_text="neutral") for row in run.dataset.rows])
    shutil.copy(run.folder / "label-check.safetensors", other.folder)
    assert label_check.stored(other) is None, "the labels are other ones"
