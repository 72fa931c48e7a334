"""Intervals, calibration, McNemar's test and agreement against values worked by hand or by another library."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, pearsonr

from core.card import Roles
from core.data import Dataset, Example
from core.data.labels import gold
from core.desk import charts, filters
from core.desk.against import Comparison
from core.desk.agreement import agreement, disagreements
from core.desk.columns import cells
from core.desk.file_state import RowState
from core.desk.run import Predictions
from core.desk.slices import Items
from core.evaluation import intervals
from core.evaluation.intervals import bootstrap_mean, paired_difference, wilson
from core.evaluation.reliability import mcnemar, reliability
from core.wording import counted, duration, percent, points, told_apart
from tests.core.made_up_runs import made_up_run, predictions, stored, table_of_cells, with_rows


@pytest.mark.parametrize(("right", "items"), [(0, 7), (3, 7), (81, 263), (10, 10)])
def test_wilsons_interval_is_scipys(right, items):
    expected = binomtest(right, items).proportion_ci(0.95, "wilson")
    assert wilson(right, items) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_interval_of_a_paired_difference():
    """Fagerland et al. (2014) report −.507 to −.026 for 1, 1, 7 and 12 pairs, subtracted the other way round. It is
    mirrored if the proportions change places, and contains the true difference as often as it should."""
    assert paired_difference(0, 0, 0, 0) == (-1, 1)
    assert paired_difference(10, 0, 0, 0) == pytest.approx((-0.2775, 0.2775), abs=1e-4)
    low, high = paired_difference(1, 1, 7, 12)
    assert (low, high) == pytest.approx((0.026, 0.507), abs=5e-4)
    assert paired_difference(1, 7, 1, 12) == pytest.approx((-high, -low))
    random, inside = np.random.default_rng(3), 0
    for counts in random.multinomial(60, [0.5, 0.2, 0.1, 0.2], 2000):
        low, high = paired_difference(*counts.tolist())
        inside += low <= -0.1 <= high
    assert 0.93 < inside / 2000 < 0.98


def test_intervals_of_nothing_and_of_equal_values():
    assert wilson(0, 0) == (0, 1)
    assert bootstrap_mean(np.array([])) == (0, 1)
    assert bootstrap_mean(np.full(9, 0.25)) == (0.25, 0.25)
    low, high = bootstrap_mean(np.array([0.0, 1.0] * 50))
    assert 0.39 < low < 0.42 and 0.58 < high < 0.61


def test_a_bootstrap_draws_one_sample_at_a_time(monkeypatch):
    monkeypatch.setattr(intervals, "RESAMPLES", 20)
    values = np.arange(100_000.0)
    tracemalloc.start()
    low, high = bootstrap_mean(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    drawn = np.random.default_rng(intervals.SEED).integers(0, len(values), (20, len(values)))
    assert [low, high] == np.percentile(values[drawn].mean(axis=1), [2.5, 97.5]).tolist()
    assert peak < 4 * values.nbytes


def test_calibration_error_by_hand():
    """Two predictions of 0.90 (one right) and two of 0.50 (both right): (2 · |.5 − .9| + 2 · |1 − .5|) / 4 = .45."""
    measured = reliability(np.array([0.9, 0.9, 0.5, 0.5]), np.array([True, False, True, True]))
    assert measured.ece == pytest.approx(0.45)
    assert [(b.items, b.accuracy) for b in measured.bins] == [(2, 1), (2, 0.5)]
    assert measured.bins[0].low == pytest.approx(7 / 15) and measured.bins[0].high == pytest.approx(8 / 15)
    assert reliability(np.array([1.0, 1.0]), np.array([True, True])).ece == 0
    # A bin holds its upper bound: 3/15 lies in the third.
    assert reliability(np.array([0.2]), np.array([True])).bins[0].high == pytest.approx(0.2)


def test_differences_are_in_points():
    told = {0.01: "1.0 percentage point", -0.1: "10 percentage points", 0.003: "0.3 percentage points"}
    assert {difference: points(difference) for difference in told} == told


def test_durations_and_equal_names_are_told_apart():
    told = {
        0.01: "0.1 s",
        0.94: "0.9 s",
        50: "50 s",
        89: "89 s",
        90: "2 minutes",
        5_300: "88 minutes",
        5_400: "2 hours",
    }
    assert {seconds: duration(seconds) for seconds in told} == told and duration(3_600 * 24) == "24 hours"
    names = {"abc": "x", "abd": "x", "abe": "y"}
    assert told_apart(names, 2) == {"abc": "x (ab)", "abd": "x (ab)", "abe": "y"}
    assert told_apart(names) == {"abc": "x (abc)", "abd": "x (abd)", "abe": "y"}


def test_a_bins_filter_selects_its_rows():
    confidence = np.array([0.2, 0.2, 0.4, 0.45, 0.6, 0.9, 1.0, 0.05])
    measured = reliability(confidence, np.ones(8, dtype=bool))
    table = table_of_cells({"p": cells(confidence.tolist(), "number")})
    drawn = charts.calibration("one", measured, "p")
    assert len(drawn.filters) > 5
    for expression, one, line in zip(drawn.filters, measured.bins, drawn.lines, strict=True):
        assert filters.rows_of(expression, table).sum() == one.items == int(line[2]), expression
    assert not charts.calibration("one", measured, "").filters


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.464, "46"), (0.046, "4.6"), (0.9961, "99.6"), (0.99951, "> 99.9"), (0.0004, "< 0.1"), (1, "100"), (0, "0")],
)
def test_a_probability_has_the_digits_it_deserves(share, said):
    assert percent(share) == f"{said}\u00a0%"


def test_things_are_counted_in_words():
    assert [counted(n, "row") for n in (0, 1, 2_000)] == ["0 rows", "1 row", "2,000 rows"]


def test_mcnemars_exact_test_by_hand():
    """Six rows apart, one for the first model: 2 · (1 + 6) / 2⁶ = 14/64."""
    first = np.array([True] * 3 + [True] + [False] * 5 + [False] * 2)
    second = np.array([True] * 3 + [False] + [True] * 5 + [False] * 2)
    test = mcnemar(first, second)
    assert (test.both, test.only_first, test.only_second, test.neither) == (3, 1, 5, 2)
    assert test.p == pytest.approx(14 / 64)
    assert mcnemar(first, first).p == 1


ROWS = [f"r{i}" for i in range(10)]


def rows_of(looked, tag, gave):
    """Build annotations from the rows that each annotator reviewed and tagged."""
    rows = {row: RowState() for rows in looked.values() for row in rows}
    for annotator, own in looked.items():
        for row in own:
            rows[row].looked.add(annotator)
            if row in gave[annotator]:
                rows[row].tags.setdefault(tag, set()).add(annotator)
    return rows


def test_cohens_kappa_by_hand():
    """Ten rows: both yes on 4, both no on 3, split 2 and 1: p_o = .7, p_e = .6·.5 + .4·.5 = .5, κ = .4."""
    rows = rows_of({"ann": ROWS, "bob": ROWS}, "other", {"ann": ROWS[:6], "bob": [*ROWS[:4], ROWS[9]]})
    (measured,) = agreement(["other", "unused"], rows)
    assert measured.kappa == pytest.approx(0.4) and measured.alpha is None
    assert (measured.rows, measured.given, measured.agreed) == (10, 7, 7)
    apart = disagreements(["other"], rows)
    assert [(d.row, d.gave, d.left_out) for d in apart] == [
        ("r4", ("ann",), ("bob",)),
        ("r5", ("ann",), ("bob",)),
        ("r9", ("bob",), ("ann",)),
    ]


def test_krippendorffs_alpha_with_missing_ratings_by_hand():
    """Three annotators, four rows: (1 1 1), (0 0 –), (1 0 1), (0 0 0). In the third row six ordered pairs over
    m − 1 = 2 give o_01 = 1 (and 1 the other way); n = 11, n_1 = 5, n_0 = 6: α = 1 − 10 · 1 / (6 · 5) = 2/3."""
    looked = {"a": ["w", "x", "y", "z"], "b": ["w", "x", "y", "z"], "c": ["w", "y", "z"]}
    (measured,) = agreement(["t"], rows_of(looked, "t", {"a": ["w", "y"], "b": ["w"], "c": ["w", "y"]}))
    assert measured.alpha == pytest.approx(2 / 3) and measured.kappa is None
    assert (measured.rows, measured.agreed) == (4, 3)


def test_meaningless_agreement_is_none():
    (measured,) = agreement(["t"], {"x": RowState({"t": {"a", "b"}}, {"a", "b"})})
    assert measured.kappa is None
    (measured,) = agreement(["t"], {"x": RowState({"t": {"a"}}, {"a"}), "y": RowState(looked={"b"})})
    assert measured.kappa is None and measured.rows == 0
    assert agreement(["t"], {}) == []


def test_grades_are_correlated_with_a_models_one_output(tmp_path):
    grades = ["1", "2.5", "-", "4", "5", "0.5"]
    run = made_up_run(tmp_path)
    rows = zip(run.dataset.rows, grades, strict=True)
    rows = tuple(replace(row, label=gold(grade), label_text=grade) for row, grade in rows)
    scores = np.array([[0.1], [0.3], [9.0], [0.2], [0.9], [-2.0]])
    one = predictions("one", scores, "c" * 64, ("score",))
    graded = with_rows(run, rows, (one, run.models[1]))
    known, given = graded.grades(0)
    assert known.tolist() == [1, 2.5, 4, 5, 0.5] and 9 not in given
    assert graded.grades(0, np.arange(6) < 3)[0].tolist() == [1, 2.5]
    assert graded.grades(1) is None and run.grades(0) is None, "three classes do not make a score"
    (_, pearson, low, high), (_, spearman, *_) = charts.correlation("one", known, given).lines
    assert charts.headline(graded, 0).startswith(f"Pearson r {pearson} ({low} – {high}), Spearman ρ {spearman} (")
    assert float(pearson) == pytest.approx(pearsonr(known, np.delete(scores[:, 0], 2)).statistic, abs=1e-3)
    assert float(spearman) == pytest.approx(0.9) and low[0] == "−" and float(pearson) < float(high)
    assert "all grades" in charts.correlation("one", np.ones(3), np.ones(3)).how


def test_answers_to_questions_are_ranked_within_theirs_and_rows_without_a_label_count_nowhere():
    """By hand: A ranks the right answer first and second, B second twice; c has no right answer and no rank."""
    given = (  # question, label, A's and B's probability that it is an answer
        ("b", None, 0.99, 0.0), ("a", "1", 0.9, 0.4), ("a", "0", 0.5, 0.6), ("b", "0", 0.8, 0.7), ("b", "1", 0.3, 0.2),
        ("a", "0", 0.1, 0.1), ("c", "0", 0.4, 0.9),
    )  # fmt: skip
    rows = tuple(
        Example(f"r{at}", f"who is {group}", f"it is {at}", label, group, label_text=label or "")
        for at, (group, label, *_) in enumerate(given)
    )
    known = "answer selection", Roles("question", "answer", "answer"), "1"
    models = tuple(
        Predictions(
            name,
            f"The {name}",
            sha256,
            ("0", "1"),
            *known,
            probabilities=np.array([[1 - one[at], one[at]] for one in given]),
        )
        for name, sha256, at in (("one", "a" * 64, 2), ("two", "b" * 64, 3))
    )
    run = stored(Dataset("asked", "", rows, sha256="0" * 64), models)
    items = [Items.of(run, model) for model in (0, 1)]
    assert [(one.ranks, one.rows.tolist(), one.scores.tolist()) for one in items] == [
        (True, [1, 3], [1.0, 0.5]), (True, [1, 3], [0.5, 0.5]),
    ]  # fmt: skip
    every = np.ones(len(rows), dtype=bool)
    compared = Comparison.of(run, 1, every)
    assert compared.scores == (0.75, 0.5) and compared.items == "2 questions" and compared.interval == (-0.5, 0.0)
    assert compared.difference(1).startswith("B − A = −25.0 percentage points (95 % interval: −50.0 to +0.0)")
    only = Comparison.of(run, 1, np.array([row.group == "a" for row in rows]))
    assert only.scores == (1.0, 0.5) and only.interval == (-0.5, -0.5) and only.items == "1 question"
    assert charts.headline(run, 0) == "MAP 0.7500 (0.5000 – 1.0000)"
    assert "MRR 0.7500 of 2 questions; 1 without a right answer left out" in charts.ranked(run, 0).how


def test_many_classes_have_a_list_of_errors_instead_of_a_matrix(tmp_path):
    run, labels = made_up_run(tmp_path), ("entailment", "neutral", "contradiction", *(f"class {n}" for n in range(297)))
    chances = np.zeros((6, 300))
    chances[range(6), [0, 5, 5, 5, 1, 2]] = 1
    run = with_rows(run, run.dataset.rows, (predictions("many", chances, "c" * 64, labels),))
    drawn = charts.confusion(run, 0, np.ones(6, dtype=bool), {name: name for name in labels})
    assert drawn.chart is None and drawn.lines[0] == ("contradiction", "class 2", "2", "100 %")
    assert [line[:3] for line in drawn.lines[1:]] == [
        ("entailment", "contradiction", "1"),
        ("neutral", "class 2", "1"),
    ]
    assert drawn.filters[0] == 'gold = "contradiction" and A = "class 2"'
