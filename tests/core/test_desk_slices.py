"""Saved slices, and slices found by a search: their tests against scipy's, and planted differences."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency, false_discovery_control

from core.data import Dataset, Example
from core.desk import found_slices, slice_tables
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.exchange import to_csv
from core.desk.filters import FilterError, rows_of
from core.desk.formulas import with_formulas
from core.desk.found_slices import search
from core.desk.run_folder import load
from core.desk.slices import Items, Slice, SliceScore, adjusted, saved, scored, with_slices
from core.desk.table import open_table
from core.errors import DeskError
from tests.core.made_up_runs import LABELS, made_up_run, predictions, save, stored, with_rows


def test_a_slice_is_saved_for_everyone_deleted_and_restored(database):
    annotations = Annotations(open_database())
    annotations.save_slice("Ann", "f" * 64, " long `ones` ", "hypothesis.words > 10")
    annotations.save_slice("Ann", "f" * 64, "1e", "not A.right")
    annotations.give("Ann", "f" * 64, "1e", "other")
    assert annotations.state("f" * 64).slices == {"long 'ones'": "hypothesis.words > 10", "1e": "not A.right"}
    assert annotations.state("e" * 64).slices == {}
    assert [event.subject.kind for event in annotations.history("f" * 64, "1e")] == ["tag"]
    annotations.save_slice("Bob", "f" * 64, "1e", "")
    assert [*annotations.state("f" * 64).slices] == ["long 'ones'"]
    (deleted, *_) = annotations.slice_history("f" * 64)
    annotations.undo("Ann", deleted.id)
    assert annotations.state("f" * 64).slices["1e"] == "not A.right"
    with pytest.raises(DeskError, match="a slice needs a name: type one"):
        annotations.save_slice("Ann", "f" * 64, " ", "A.right")


def test_slices_are_columns_and_may_be_made_from_others(tmp_path):
    run = made_up_run(tmp_path)
    save(run, tmp_path / "run")
    run = load(tmp_path / "run")
    filters = {"both": "`slice.a b` and A.right", "a b": "negation", "gone": "goldd = x", "rest": "not slice.both"}
    table, masks, errors = with_slices(open_table(run, known=bool), filters)
    assert {name: np.flatnonzero(mask).tolist() for name, mask in masks.items()} == {
        "both": [1],
        "a b": [1, 3],
        "rest": [0, 2, 3, 4, 5],
    }
    assert rows_of("slice.rest and A.right", table).tolist() == [True, False, False, False, True, True]
    lines = list(csv.DictReader(io.StringIO(to_csv(table, masks["a b"]))))
    assert [(line["id"], line["slice.both"], line["A.right"]) for line in lines] == [
        ("1c", "True", "True"),
        ("1c#2", "False", "False"),
    ]
    assert "There is no column “goldd”" in str(errors["gone"]) and len(errors) == 1
    with pytest.raises(FilterError, match=r"There is no saved slice “a_b”: did you mean `slice\.a b`\?"):
        rows_of("slice.a_b", table)
    with pytest.raises(FilterError, match="There is no saved slice “hypothesi”: see the list under “Slices”"):
        rows_of("slice.hypothesi", table)
    scores = saved(run, 0, masks | {"nothing": np.zeros(6, dtype=bool)})
    # Model one is right on rows 0, 1, 4 and 5.
    assert {name: (one.items, one.score, one.outside) for name, one in scores.items()} == {
        "both": (1, 1, 0.6),
        "a b": (2, 0.5, 0.75),
        "rest": (5, 0.6, 1),
    }
    assert np.isnan(scores["both"].q), "one row is too few for a test"


def test_differences_are_tested_as_in_scipy():
    right = np.arange(400) % 10 < 7
    items = Items(np.arange(400), right.astype(float), ranks=False)
    counts, totals = np.array([100, 50, 3]), np.array([55, 40, 3])
    p = items.p_values(counts, totals)
    for place in range(2):
        inside = [totals[place], counts[place] - totals[place]]
        table = [inside, [280 - inside[0], 120 - inside[1]]]
        known = chi2_contingency(table, correction=False)
        # With variances of samples: χ² · (I - 1) / I.
        assert p[place] == pytest.approx(chi2_of(known.statistic * 399 / 400), rel=1e-9)
    assert np.isnan(p[2])
    scored = [items.scored(None, int(count), float(total), None) for count, total in zip(counts, totals, strict=True)]
    q = [score.q for score in adjusted(scored)]
    assert q[:2] == pytest.approx(false_discovery_control(p[:2])) and np.isnan(q[2])


def chi2_of(statistic):
    from scipy.stats import chi2

    return chi2.sf(statistic, 1)


def planted(wrong, rows=2000):
    """A run whose only model is wrong on most rows where ``wrong(second)`` and on one of ten others. A column repeats
    the label: together with the prediction it would tell which rows are wrong."""
    random = np.random.default_rng(5)
    plain = [f"plain{letter}" for letter in "abcdefghijklmnop"]
    words = random.choice(plain, (rows, 4)).tolist()
    for word, share in (("zebra", 0.4), ("7", 0.4)):
        for own in words:
            own += [word if random.random() < share else random.choice(plain)]
    seconds = [" ".join(own) for own in words]
    errs = [random.random() < (0.7 if wrong(text) else 0.1) for text in seconds]
    gold = random.integers(0, 3, rows)
    labels = [LABELS[i] for i in gold]
    examples = tuple(
        Example(f"r{i}", "a text", text, label, columns={"annotated": label})
        for i, (text, label) in enumerate(zip(seconds, labels, strict=True))
    )
    chances = 0.1 + 0.7 * np.eye(3)[(gold + np.array(errs)) % 3]
    return stored(Dataset("rows", "", examples, sha256="0" * 64), (predictions("one", chances, "a" * 64),))


def test_the_halves_depend_on_ids_alone():
    run = planted(lambda text: False, 500)
    models = [replace(model, probabilities=model.probabilities[100:200]) for model in run.models]
    few = with_rows(run, [*run.dataset.rows][100:200], models)
    assert run.held_back[100:200].tolist() == few.held_back.tolist()
    assert 200 < run.held_back.sum() < 300


@pytest.mark.slow
def test_a_search_finds_what_holds_on_the_held_back_half():
    run = planted(lambda text: "zebra" in text and "7" in text)
    table = open_table(run, known=bool)
    done = search(run, 0, table)
    assert done.searched + done.held_back == 2000 and done.held_back == run.held_back.sum()
    best = done.found[0]
    assert best.holds and best.held_back.score < 0.5 < best.held_back.outside
    inside = rows_of(best.searched.slice.expression, table)
    planted_rows = np.array(["zebra" in row.second and "7" in row.second for row in run.dataset.rows])
    assert (inside == planted_rows).all(), best.searched.slice.expression
    assert best.held_back.items == (inside & run.held_back).sum()
    order = [(not one.holds, -one.held_back.weight) for one in done.found]
    assert order == sorted(order), "by what was not searched"


@pytest.mark.slow
def test_a_search_takes_whole_words_as_the_filter_does():
    run = planted(lambda text: "zebra" in text)
    endings = ("there is ham", "he isn't in the hamlet", "it is not my t-shirt", "I cannot see the shirt")
    rows = tuple(replace(row, second=f"{row.second} {endings[i % 4]}") for i, row in enumerate(run.dataset.rows))
    run = with_rows(run, rows)
    table, places = open_table(run, known=bool), np.arange(len(rows))
    words = {
        part.value: (part, mask) for part, mask in found_slices._words(run, table, places) if "hyp" in part.dimension
    }
    assert {"ham", "hamlet", "shirt", "t-shirt", "is", "not", "cannot", "zebra"} <= words.keys()
    assert (
        words["ham"][1].sum() == words["shirt"][1].sum() == len(rows) / 4 and words["not"][1].sum() == 3 * len(rows) / 4
    )
    for part, mask in words.values():
        assert (rows_of(part.expression, table) == mask).all(), part.expression
        assert part.rows == mask.sum()


def test_two_slices_make_one_if_it_is_lower_than_both_and_not_between_them():
    rows = np.arange(800)
    masks = np.array([rows < 400, (rows >= 200) & (rows < 600)])
    for right, found in (((40, 120, 190, 140), []), ((160, 20, 190, 140), [[0, 1]])):
        scores = np.concatenate([np.arange(200) < count for count in right]).astype(float)
        pairs, counts, totals = found_slices._pairs(Items(rows, scores, ranks=False), masks, masks)
        assert pairs.tolist() == found
        assert (counts.tolist(), totals.tolist()) == (([200], [right[1]]) if found else ([], []))


@pytest.mark.slow
def test_a_search_finds_nothing_in_noise():
    run = planted(lambda text: False)
    done = search(run, 0, open_table(run, known=bool))
    assert done.tested > 20 and not any(one.holds for one in done.found)


@pytest.mark.slow
def test_a_found_slice_holds_only_in_the_same_direction():
    """Rows with the word zebra are harder in the searched half, and as much easier in the held-back one."""
    base = planted(lambda text: False)
    random = np.random.default_rng(7)
    zebra = np.array(["zebra" in row.second for row in base.dataset.rows])
    wrong = random.random(len(zebra)) < np.where(zebra != base.held_back, 0.7, 0.2)
    gold = np.array([LABELS.index(row.label) for row in base.dataset.rows])
    chances = 0.1 + 0.7 * np.eye(3)[(gold + wrong) % 3]
    run = stored(base.dataset, (predictions("one", chances, "a" * 64),))
    found = [one for one in search(run, 0, open_table(run, known=bool)).found if one.searched.slice.value == "zebra"]
    assert found and not any(one.holds for one in found)
    assert all(one.held_back.q < 0.001 and one.held_back.score > one.held_back.outside for one in found)


@pytest.mark.slow
def test_columns_that_reveal_the_answer_explain_nothing():
    base = planted(lambda text: "zebra" in text)
    right, codes = base.right(0), {label: str(9 - place) for place, label in enumerate(LABELS)}
    other = np.random.default_rng(2).random(len(right)) < np.where(right, 0.9, 0.3)
    chances = np.where(other[:, None], base.models[0].probabilities, np.roll(base.models[0].probabilities, 1, axis=1))
    examples = tuple(
        replace(
            row,
            columns={
                "code": codes[row.label],
                "outcome": "A" if right[i] else "none",
                "bert_correct": str(bool(other[i])),
                "genre": "wild" if "zebra" in row.second else "tame",
            },
        )
        for i, row in enumerate(base.dataset.rows)
    )
    models = (base.models[0], predictions("two", chances, "b" * 64))
    run = stored(replace(base.dataset, rows=examples), models)
    formulas = "both = A.right and B.right\nsure = B.p > 0.5\nhit = outcome = A\nseven = hypothesis has word 7"
    table, notes = with_formulas(open_table(run, known=bool), formulas)
    assert notes == []
    for model, allowed in ((0, "prediction of A"), (1, "prediction of B")):
        found = search(run, model, table).found
        text = " ".join(f"{one.searched.slice.dimension}: {one.searched.slice.value}" for one in found)
        assert "genre: wild" in text or "genre: tame" in text
        leaks = ("code", "outcome", "bert_correct", "both", "sure", "hit", "gold", "prediction of")
        assert not [leak for leak in leaks if leak in text.replace(allowed, "")], text
        listed = {score.slice.dimension for score in scored(run, model, table)}
        assert {"gold label", "genre", "seven", allowed} <= listed
        assert listed.isdisjoint({"both", "sure", "bert_correct", f"prediction of {'BA'[model]}"})


@pytest.mark.slow
def test_a_predicted_class_and_a_slice_with_one_label_are_no_finding():
    base = planted(lambda text: True)
    run = with_rows(base, [replace(row, second=f"{row.second} {row.label}") for row in base.dataset.rows])
    found = [one.searched.slice.expression for one in search(run, 0, open_table(run, known=bool)).found]
    assert not [one for one in found if re.search(r'A = "\w+" and .*has word "(entail|neutral|contra)', one)]


def test_tables_of_slices_tell_each_number_in_its_column():
    nan = float("nan")
    low = SliceScore(Slice("genre", "x", "genre = x", 9), 8, 0.25, 0.125, 0.5, 0.75, 1.4, 0.01, 0.0004)
    high = replace(low, slice=replace(low.slice, value="y"), score=0.875, q=0.25, items=1_234)
    alone = replace(low, outside=nan, q=nan)
    filters = {"first": "a = 1", "gone": "b = ", "none": "c", "all": "d"}
    errors = {"gone": FilterError("Wrong.", 0, 1)}
    rows = {"first": 1_009, "none": 0, "all": 7}
    scores = {"A": {"first": low, "all": alone}, "B": {"first": high}}
    drawn = slice_tables.saved_slices(filters, rows, scores, errors, "accuracy")
    plain = [tuple(cell.replace("\u00a0", " ") for cell in line) for line in drawn.lines]
    none = ("–",) * 4
    of_low, of_high = ("25.0 %", "12.5 % – 50.0 %", "−50.0", "< 0.001"), ("87.5 %", "12.5 % – 50.0 %", "+12.5", "0.250")
    assert plain == [
        ("first", "1,009", *of_low, *of_high),
        ("gone", "–", *none, *none),
        ("none", "0", *none, *none),
        ("all", "7", *of_low[:2], "–", "–", *none),
    ]
    assert drawn.filters == ["a = 1", "b = ", "c", "d"] and drawn.head[5:7] == ("q (A)", "accuracy (B)")
    assert drawn.how.endswith(" “gone” cannot be read: Wrong. No row is in “none”.")
    both = found_slices.FoundSlice(low, high, True), found_slices.FoundSlice(high, low, False)
    found = found_slices.Search(both, 3, 5, 4)
    (first, second), how = (drawn := slice_tables.found_slices("A", found, 9, "accuracy", "rows", 5)).lines, drawn.how
    assert (*first[:3], *first[5:]) == ("yes", "genre: x", "1,234", "+12.5", "0.250", "−50.0")
    assert (*second[:3], *second[5:]) == ("no", "genre: y", "8", "−50.0", "< 0.001", "+12.5")
    assert "Of 3 slices, 2 differ" in how and "1 of these hold" in how and "(5, chosen" in how and "half (4)" in how
