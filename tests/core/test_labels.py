"""Labels of data files: what means no gold label, what a label means, and how classes count as one label."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from core.command_line import joined
from core.data import DataError, read
from core.data.labels import Scale, gold, graded, key, mismatch, proposed, question, task_of
from core.desk import charts, store
from core.desk.exchange import to_csv, to_json
from core.desk.filters import rows_of
from core.desk.run_folder import load
from core.desk.table import open_table
from core.errors import DeskError
from core.evaluation.scores import correlations
from tests.core.made_up_runs import LABELS, ONE, keep, predictions, save, stored

NLI = ("entailment", "neutral", "contradiction")
TWO = ("entailment", "not_entailment")
HANS = [("a dog ran", "a dog ran", "entailment"), ("a dog ran", "a cat ran", "non-entailment")]


@pytest.mark.parametrize("text", ["-1", " -1.0 ", "-", "", "Unlabelled", "N/A", "none", "NaN", "no_label", "-1."])
def test_texts_that_mean_no_gold_label(text):
    assert gold(text) is None


def test_labels_are_compared_without_case_spaces_and_zeros():
    assert [key(text) for text in (" Neutral ", "NOT  ENOUGH INFO", "1.0", "01", "0.50", "-2", "1e3", "1.0.0")] == [
        *("neutral", "not enough info", "1", "1", "0.5", "-2", "1e3", "1.0.0")
    ]
    assert Scale(NLI, {}).of(["neutral", None, "x"]).tolist() == [1, -1, -1]
    assert Scale(("0", "1"), {}).of([gold(" 1.0")]).tolist() == [1]


@pytest.mark.parametrize(
    ("label", "labels", "classes", "found"),
    [
        ("non-entailment", ["entailment"], NLI, ("neutral", "contradiction")),
        ("not_entailment", ["entailment"], NLI, ("neutral", "contradiction")),
        ("Not entailed", ["entailed"], NLI, ("neutral", "contradiction")),
        ("no", ["yes"], NLI, ("neutral", "contradiction")),
        ("no", ["yes", "unknown"], NLI, ("contradiction",)),
        ("unknown", ["yes", "no"], NLI, ("neutral",)),
        ("FALSE", ["true"], NLI, ("neutral", "contradiction")),
        ("neutral", ["entails"], NLI, ("neutral", "contradiction")),
        ("neutral", ["entails", "contradicts"], NLI, ("neutral",)),
        *((text, [], NLI, ("entailment",)) for text in ("entails", "Entailed", "e", "YES", "supports", "SUPPORTED")),
        *((text, [], NLI, ("contradiction",)) for text in ("contradictory", "contradicts", "c", "REFUTES", "refuted")),
        *((text, ["c"], NLI, ("neutral",)) for text in ("n", "not_enough_info", "NEI", "undetermined")),
        ("contradiction", ["neutral"], TWO, ("not_entailment",)),
        ("neutral", ["contradiction"], TWO, ("not_entailment",)),
        ("refutes", [], ("true", "false", "not enough info"), ("false",)),
        *((text, [], ("0", "1"), ("1",)) for text in ("duplicate", "relevant", "Paraphrase", "yes", "TRUE", "right")),
        *((text, [], ("0", "1"), ("0",)) for text in ("not_duplicate", "non-paraphrase", "irrelevant", "no", "false")),
        ("1", [], ("duplicate", "not duplicate"), ("duplicate",)),
        ("0", [], ("not_equivalent", "equivalent"), ("not_equivalent",)),
        *((text, ["0", "1", "2"], NLI, ()) for text in ("0", "1", "2", "maybe", "duplicate")),
        ("n", ["e"], NLI, ("neutral",)),
        ("entailment", [], ("0", "1"), ()),
        ("0", ["1"], TWO, ()),
        ("yes", [], ("LABEL_0", "LABEL_1"), ()),
    ],
)
def test_classes_are_proposed_by_meaning_and_never_by_position(label, labels, classes, found):
    every = [key(text) for text in (label, *labels)]
    assert proposed(every[0], every, classes) == found
    assert proposed(every[0], every, classes[::-1]) in (found, found[::-1])


def test_a_question_has_the_options_that_answer_it_or_lists_the_classes():
    asked = question("rte.tsv", ["entailment", "not_entailment"], ["not_entailment"], "mine", NLI)
    assert "add --label not_entailment=neutral,contradiction (" in asked
    # SciTail's neutral is a class, but it is all that does not follow.
    asked = question("scitail.tsv", ["entails", "neutral"], ["entails"], "mine", NLI)
    assert "--label entails=entailment --label neutral=neutral,contradiction" in asked
    asked = question("x.csv", ["0", "1", "2"], ["0", "1", "2"], "mine", NLI)
    assert "--label 0=CLASS --label 1=CLASS --label 2=CLASS" in asked and "entailment, neutral, contradiction" in asked
    asked = question("x.csv", ["not enough info"], ["not enough info"], "mine", NLI)
    assert "--label 'not enough info=neutral" in asked
    assert " and 8 more" in question("x.csv", [], [f"label {i}" for i in range(20)], "mine", NLI)


def test_probabilities_of_classes_that_count_as_one_label_are_added():
    scale = Scale(NLI, {"non-entailment": ("contradiction", "neutral"), "odd": ()})
    assert scale.names == ("entailment", "non-entailment") and scale.several
    chances = np.array([[0.4, 0.35, 0.25], [0.6, 0.3, 0.1]])
    assert scale.sums(chances).round(6).tolist() == [[0.4, 0.6], [0.6, 0.4]]
    assert scale.of_classes(chances.argmax(1)).tolist() == [0, 0]
    assert scale.of(["entailment", "non-entailment", "odd", None]).tolist() == [0, 1, -1, -1]
    # A class that is only a part of another label's answer is not a label.
    assert scale.unknown(["entailment", "odd", "neutral"]) == ["neutral"]
    same = Scale(TWO, {"neutral": ("not_entailment",), "contradiction": ("not_entailment",)})
    assert (same.names, same.several) == (TWO, False)
    assert same.of(["neutral", "contradiction", "entailment"]).tolist() == [1, 1, 0]
    scitail = Scale(NLI, {"entails": ("entailment",), "neutral": ("neutral", "contradiction")})
    assert scitail.names == ("entailment", "neutral") and not scitail.unknown(["entails", "neutral"])


def test_numbers_are_classes_only_if_all_of_them_are():
    """In grades from 1 to 5, 1 is not the class 1; what the user says of a number holds."""
    scale, five = Scale(("wrong", "right"), {}, "right"), ["1", "2", "3", "4", "5"]
    assert scale.unknown(five) == five and scale.unknown(["0", "1"]) == [] and scale.unknown(["1", "x"]) == ["x"]
    assert scale.of(["0", "1"]).tolist() == [0, 1] and Scale(("r", "w"), {}, "r").of(["0", "1"]).tolist() == [1, 0]
    assert Scale(("0", "1"), {}, "1").of(["0", "1"]).tolist() == [0, 1]
    mapped = Scale(("wrong", "right"), {"1": ("wrong",), "3": ("right",)}, "right")
    assert mapped.unknown(["0", "1", "2", "3"]) == ["0", "2"] and mapped.of(["1", "3"]).tolist() == [0, 1]
    assert graded(five, five) and not graded(["0", "1"]) and not graded(["1", "2"], ["1", "2"])
    assert graded(["0.5", "1"]) and not graded(["0.5", "x"])


def test_classes_that_would_count_as_two_labels_are_refused():
    with pytest.raises(DataError, match="counts as both no and neutral"):
        Scale(NLI, {"no": ("neutral", "contradiction"), "neutral": ("neutral",)})
    with pytest.raises(DataError, match="'maybe' is not a class: the classes are"):
        Scale(NLI, {"x": ("maybe",)})


@pytest.mark.parametrize(
    ("content", "task"),
    [
        ("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t1\t2\ta?\tb?\t1\n", "paraphrase"),
        ("1\ta?\tb?\t7\n0\tc?\td?\t8\n", "paraphrase"),
        ("premise,hypothesis,label\na,b,0\n", "entailment"),
        ("sentence1,sentence2,label\na,b,1\n", ""),
        ("sentence1,sentence2,label\na,b,not_entailment\n", "entailment"),
        ("index\tquestion\tsentence\tlabel\n0\ta?\tb\tnot_entailment\n", "entailment"),
        ("question,answer,label\na?,b,1\n", "answer selection"),
        ('{"claim": "a", "evidence": ["b"], "label": "SUPPORTS"}\n', "fact checking"),
    ],
)
def test_the_task_of_a_file_follows_from_its_layout_or_labels(tmp_path, content, task):
    (tmp_path / "x").write_text(content)
    data = read(tmp_path / "x")
    assert task_of(data.labels, data.task) == task


def test_a_model_of_another_task_is_warned_of():
    assert "is a data set for paraphrase" in mismatch("q.tsv", "paraphrase", "as-adaqa", "answer selection")
    assert mismatch("q.tsv", "paraphrase", "mine", "paraphrase") == ""
    assert mismatch("q.tsv", "", "mine", "paraphrase") == mismatch("q.tsv", "paraphrase", "mine", "my own task") == ""


def test_values_that_begin_with_a_minus_belong_to_the_option_before_them():
    assert joined(["evaluate", "m", "--label", "-1=neutral", "--json", "--rows", "5"]) == [
        *("evaluate", "m", "--label=-1=neutral", "--json", "--rows", "5")
    ]
    assert joined(["--label=a=b", "-h", "-"]) == ["--label=a=b", "-h", "-"]


def run_of(folder, rows, chances, **more):
    path = folder / "x.csv"
    lines = [",".join(row) for row in [("premise", "hypothesis", "label"), *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = replace(predictions("one", chances, ONE), **more)
    return stored(read(path, labelled=False), (model,))


def test_whether_a_row_without_gold_label_is_right_is_unknown(tmp_path):
    rows = [("a", "b", "Neutral "), ("a", "c", "-1"), ("a", "d", "contradiction"), ("a", "e", "unlabelled")]
    run = run_of(tmp_path, rows, [[0.05, 0.94, 0.01], [0.92, 0.04, 0.04], [0.93, 0.03, 0.04], [0.1, 0.2, 0.7]])
    known = open_table(run, known=lambda word: True)

    def kept(text):
        return np.flatnonzero(rows_of(text, known)).tolist()

    assert kept("not A.right and A.p > 90%") == [2] and kept("A.right") == [0]
    assert kept("not (A.right and A.p > 0)") == [2] and kept("A.right or A.p > 90%") == [0, 1, 2]
    assert kept("A.right = no") == kept("A.right != yes") == [2]
    assert kept("A != gold") == [2] and kept("not gold contains neut") == [2]
    assert kept("not A.p_gold > 50%") == [2] and kept("gold not in (neutral)") == [2]
    assert kept('gold = ""') == [1, 3] and kept('gold != ""') == kept('not gold in ("")') == [0, 2]
    assert known.ordered(np.ones(4, dtype=bool), "A.right", largest_first=True).tolist() == [0, 2, 1, 3]
    drawn = charts.classes(run, 0, np.ones(4, dtype=bool), dict(zip(LABELS, LABELS, strict=True))).how
    assert "2 of 4 rows have a label" in drawn and "Accuracy 50.0" in drawn
    assert run.dataset.summary().endswith("2 of 4 rows have a label")


def test_a_file_with_two_labels_is_scored_whole_on_the_desk(tmp_path):
    chances = [[0.9, 0.05, 0.05], [0.4, 0.35, 0.25]]
    mapped = {"non-entailment": ("neutral", "contradiction")}
    plain, run = (run_of(tmp_path, HANS, chances, counts_as=own) for own in ({}, mapped))
    assert not plain.labelled and plain.unknown == ["non-entailment"]
    assert run.labelled and run.right(0).tolist() == [True, True]
    assert run.models[0].predicted.tolist() == ["entailment", "entailment"]
    known = open_table(run, known=lambda word: True)
    shown = known.take(np.arange(2), ["A.label", "A.p_gold"]).to_pydict()
    assert shown == {"A.label": ["entailment", "non-entailment"], "A.p_gold": [0.9, 0.6]}
    names = {name: name for name in run.models[0].scale.names}
    every = np.ones(2, dtype=bool)
    assert "first: accuracy 50.0" in charts.classes(run, 0, every, names).how
    cell = 'gold = "non-entailment" and A.label = "non-entailment"'
    assert any(cell in expression for expression in charts.confusion(run, 0, every, names).filters)
    assert rows_of(cell, known).tolist() == [False, True]
    save(run, tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.models[0].counts_as == mapped and again.right(0).tolist() == [True, True]


def test_exports_have_the_files_own_labels(tmp_path):
    from core.desk.file_state import FileState

    run = run_of(tmp_path, [("a", "b", "Entails"), ("a", "c", "-1.0"), ("a", "d", "ENTAILS")], [[0.8, 0.1, 0.1]] * 3)
    save(run, tmp_path / "run")
    again = load(tmp_path / "run")
    assert [*again.dataset.rows] == [*run.dataset.rows] and again.gold.tolist() == ["Entails", "", "Entails"]
    state, every = FileState({}), np.ones(3, dtype=bool)
    assert [row["gold"] for row in json.loads(to_json(again, state, every))["rows"]] == ["Entails", None, "Entails"]
    written = to_csv(open_table(again, known=bool), every).splitlines()
    assert [line.split(",")[3] for line in written] == ["gold", "Entails", "", "Entails"]


def test_models_that_read_other_rows_of_a_file_are_not_put_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    run = run_of(tmp_path, HANS, [[0.8, 0.1, 0.1]] * 2)
    keep(run)
    fewer = replace(run.dataset, rows=(run.dataset.rows[0],))
    keep(stored(fewer, (predictions("two", [[0.8, 0.1, 0.1]], "c" * 64),)))
    with pytest.raises(DeskError, match="no such run: predict the file again"):
        store.open_run(run.dataset.sha256, [ONE, "c" * 64])


def test_correlations_of_graded_labels():
    gold_grades, made = np.array([0.4, 5.0, 2.2, 3.1, 1.0]), np.array([0.1, 0.9, 0.2, 0.8, 0.3])
    found = correlations(gold_grades, made)
    assert found["pearson"] == pytest.approx(np.corrcoef(gold_grades, made)[0, 1])
    assert found["spearman"] == pytest.approx(0.9) and found["items"] == 5
    for name in ("pearson", "spearman"):
        low, high = found[f"{name}_interval_95"]
        assert -1 <= low < found[name] < high <= 1
        variance = (1 + (name == "spearman") * found[name] ** 2 / 2) / 2
        assert np.arctanh((low, high)) == pytest.approx(
            np.arctanh(found[name]) + norm.ppf((0.025, 0.975)) * variance**0.5
        )
    assert correlations(gold_grades, np.ones(5))["pearson"] is None
