"""Findings: their numbers match the rows that their filters keep."""

import re
from dataclasses import replace

import pytest

from core.desk.filters import rows_of
from core.desk.findings import findings
from core.desk.found_slices import FoundSlice, Search
from core.desk.slices import Slice, SliceScore
from core.desk.table import open_table
from core.evaluation.intervals import wilson
from tests.core.made_up_runs import ONE, made_up_run, predictions, stored, with_rows
from tests.core.test_desk_slices import planted


@pytest.mark.slow
def test_a_finding_counts_the_rows_of_its_filter():
    run = planted(lambda text: "zebra" in text and "7" in text)
    table = open_table(run, known=bool)
    score, error, *slices = found = findings(run, table)
    for finding in found:
        kept = rows_of(finding.expression, table)
        assert len(finding.examples) == 3 and all(kept[place] for place in finding.examples), finding.sentence
    share = 100 * run.right(0).mean()
    assert score.sentence.startswith(f"The score of A (The one) in 2,000 rows: {share:.1f}\u00a0% right (")
    count = int(re.search(r": ([\d,]+) of", error.sentence)[1])
    assert count == rows_of(error.expression, table).sum() > 0
    assert slices and "points lower than in all other rows (q < 0.001; held-back half)" in slices[0].sentence
    assert not run.right(0)[[*slices[0].examples]].any(), "what is lower there is shown by errors"
    for finding in slices:
        count = int(re.search(r"n = ([\d,]+)", finding.sentence)[1].replace(",", ""))
        assert count == rows_of(finding.expression, table).sum(), finding.sentence


def test_the_most_frequent_error_has_its_share_its_interval_and_its_rows(tmp_path):
    run = made_up_run(tmp_path)
    chances = [[0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]]
    labels = ["entailment", "neutral", "neutral", "contradiction", "neutral", None]
    both = zip(run.dataset.rows, labels, strict=True)
    rows = [replace(row, label=label, label_text=label or "") for row, label in both]
    run = with_rows(run, rows, (predictions("one", chances, ONE), run.models[1]))
    table = open_table(run, known=bool)
    error = findings(run, table)[1]
    low, high = (f"{100 * bound:.1f}" for bound in wilson(2, 3))
    assert error.sentence.replace("\u00a0", " ") == (
        "The most frequent error of A (The one) is to predict entailment where the label is neutral: 2 of 3 errors, "
        f"66.7 % ({low} % – {high} %)."
    )
    assert {*error.examples} == {2, 4} == {*rows_of(error.expression, table).nonzero()[0].tolist()}


def test_slices_come_by_weight_those_of_most_rows_later_and_those_of_predictions_last(tmp_path, monkeypatch):
    run = made_up_run(tmp_path)

    def one(dimension, expression, weight, score=0.2):
        known = SliceScore(Slice(dimension, "x", expression, 2), 2, score, 0.1, 0.9, 0.5, weight, 0.01, 0.01)
        return FoundSlice(known, known, holds=expression != "not negation")

    confirmed = (
        one("negation", "negation", 1),
        one("most", 'id != "1e"', 5),
        one("prediction of A", "A = contradiction", 9, score=0.9),
        one("gold label", "gold = neutral", 3),
        one("not held", "not negation", 8, score=0.9),
    )
    nothing = Search((), 1, 1, 1)
    monkeypatch.setattr(
        "core.desk.findings.search", lambda run, model, table: nothing if model else Search(confirmed, 5, 3, 3)
    )
    told = [one.sentence for one in findings(run, open_table(run, known=bool)) if "held_back" in one.expression]
    assert [said.split(":")[0] for said in told] == ["Gold label", "Negation", "Most", "Prediction of A"]
    assert "30.0 points lower" in told[0] and "40.0 points higher" in told[3]


@pytest.mark.slow
def test_overlapping_slices_and_complements_are_one_finding_of_all_models():
    base = planted(lambda text: "zebra" in text)
    kinds = [{"kind": "wild" if "zebra" in row.second else "tame"} for row in base.dataset.rows]
    rows = tuple(replace(row, columns=own) for row, own in zip(base.dataset.rows, kinds, strict=True))
    other = replace(base.models[0], model="two", title="The two", sha256="b" * 64)
    run = stored(replace(base.dataset, rows=rows), (base.models[0], other))
    slices = [one for one in findings(run, open_table(run, known=bool)) if "held_back" in one.expression]
    (finding,) = slices
    assert finding.sentence.count("the accuracy of A (The one) is") == finding.sentence.count("B (The two) is") == 1
    assert "Much the same rows: " in finding.sentence and "zebra" in finding.sentence and "kind: " in finding.sentence
    assert "tame" not in finding.sentence and "lower" in finding.sentence, "the complement says the same"


@pytest.mark.slow
def test_models_are_compared_and_a_run_without_labels_has_no_findings(tmp_path):
    run = made_up_run(tmp_path)
    table = open_table(run, known=bool)
    against = findings(run, table)[-1]
    assert against.sentence.replace("\u00a0", " ") == (
        "A (The one) scores 66.7 % and B (The two) 50.0 % in 6 rows; B − A = −16.7 percentage points (95 % interval: "
        "−55.9 to +31.5). Only A is right in 2 rows, only B in 1 (McNemar’s exact test: p = 1.0000)."
    )
    assert rows_of(against.expression, table).sum() == 3
    rows = tuple(replace(row, label=None) for row in run.dataset.rows)
    assert findings(with_rows(run, rows), table) == []


@pytest.mark.slow
def test_a_column_with_backticks_in_its_name_can_be_filtered_and_searched():
    run = planted(lambda text: "zebra" in text)
    rows = [replace(row, columns={"a `b` c": f"{i % 3}x"}) for i, row in enumerate(run.dataset.rows)]
    run = with_rows(run, rows)
    table = open_table(run, known=bool)
    assert findings(run, table) and rows_of("`a 'b' c` = \"1x\"", table).sum() > 0
