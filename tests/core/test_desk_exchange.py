"""The desk's exports: neutralised formulas, a complete report."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from core.data import Picked, read
from core.desk import charts
from core.desk.against import against
from core.desk.agreement import agreement
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.exchange import tags_to_csv, to_csv, to_json
from core.desk.file_state import RowState
from core.desk.filters import rows_of
from core.desk.findings import Finding
from core.desk.report import report
from core.desk.slices import scored
from core.desk.table import open_table, with_tags
from core.evaluation.reliability import reliability
from core.explain import explain
from core.spreadsheet import csv_text, neutral, original
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import LABELS, ONE, ROWS, TWO, made_up_run, stored, with_rows

ALL = np.ones(6, dtype=bool)
NAMES = dict(zip(LABELS, LABELS, strict=True))


@pytest.fixture
def annotations(database):
    return Annotations(open_database())


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1+1", "-a", "@x", "\tx", "\rx", "'x", "''=x", "plain", "", "a=b", "'-"]
)
def test_formulas_are_neutral_and_come_back_unchanged(text):
    cell = neutral(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell.removeprefix("'") == original(cell) == text


@pytest.mark.parametrize("text", ["-", "--", "-1", "-0.5", "-2E-07"])
def test_dashes_and_numbers_compute_nothing_and_stay(text):
    assert neutral(text) == original(text) == text
    assert original(f"'{text}") == text, "an apostrophe that marks a text in a spreadsheet"
    assert original("'Tis the season.") == "'Tis the season.", "a row that somebody added by hand"


@pytest.mark.parametrize("text", ["a dog\r=1+1", "a\nb", "a\r\nb", 'a "dog"', "a,b", "-", "'", "\t=1"])
def test_a_text_stays_in_its_cell(text):
    table = csv_text(["text", "n"], [[text, -1]])
    # As a spreadsheet divides it, for which a bare carriage return ends a row, too.
    assert [[cell.removeprefix("'") for cell in row] for row in csv.reader(io.StringIO(table, newline=""))] == [
        ["text", "n"],
        [text, "-1"],
    ]
    assert "\r" not in re.sub(r'"[^"]*"', "", table)


def test_rows_go_out_with_predictions_tags_and_the_files_columns(run, annotations):
    file = run.dataset.sha256
    annotations.give("Ann", file, "2n", "other")
    annotations.note("Ann", file, "2n", "=cmd()")
    state = annotations.state(file)
    known = with_tags(open_table(run, known=bool), run, state)
    written = to_csv(known, ALL)
    lines = list(csv.DictReader(io.StringIO(written)))
    assert written.splitlines()[0].split(",") == list(known.columns), "the names of filters"
    assert len(lines) == 6 and lines[4]["hypothesis"] == "'=SUM(A1) <b>toy</b>"
    assert (lines[4]["tags"], lines[4]["notes"], lines[4]["genre"]) == ("other", "Ann: =cmd()", "fiction")
    said = [lines[1][name] for name in ("A", "B", "A.right", "B.right", "A.p_contradiction", "gold")]
    assert said == ["contradiction", "entailment", "True", "False", "0.7", "contradiction"]
    assert lines[0]["general_q2"] == "-"
    whole = json.loads(to_json(run, state, run.right(0)))
    assert [row["id"] for row in whole["rows"]] == ["1e", "1c", "2n", "2e"]
    assert [row["models"][1]["predicted"] for row in whole["rows"]] == [
        run.models[1].predicted[at] for at in (0, 1, 4, 5)
    ]
    assert whole["rows"][2] == {
        "id": "2n",
        "premise": "the toy is red",
        "hypothesis": "=SUM(A1) <b>toy</b>",
        "gold": "neutral",
        "columns": {"negation_logic": "0", "general_q2": "-", "genre": "fiction"},
        "models": [
            {"name": "A", "model": "one", "predicted": "neutral", "p": dict(zip(LABELS, (0.2, 0.6, 0.2), strict=True))},
            {
                "name": "B",
                "model": "two",
                "predicted": "entailment",
                "p": dict(zip(LABELS, (0.5, 0.3, 0.2), strict=True)),
            },
        ],
        "tags": ["other"],
        "given": {"other": ["Ann"]},
        "settled": {},
        "notes": {"Ann": "=cmd()"},
    }
    assert [model["sha256"] for model in whole["models"]] == [ONE, TWO] and whole["sha256"] == file


def test_the_export_reads_back_as_the_data_it_came_from(tmp_path, annotations):
    texts = [("- Two dogs run.", "+ They move."), ("=1+1", "'- quoted"), ("'Tis cold.", "-"), ("A man.", "@home")]
    rows = [
        (*pair, label, "007", "-", f"{n}", "x") for n, (pair, label) in enumerate(zip(texts, LABELS * 2, strict=False))
    ]
    run = made_up_run(tmp_path, rows)
    exported = to_csv(open_table(run, known=bool), np.ones(4, dtype=bool))
    (tmp_path / "rows.csv").write_text(exported)
    read_back = read(tmp_path / "rows.csv", labelled=False)
    assert [(row.first, row.second, row.label) for row in read_back.rows] == [
        (*pair, label) for pair, label in zip(texts, LABELS * 2, strict=False)
    ]
    assert [row.id for row in read_back.rows] == [*run.keys]
    again = open_table(stored(read_back, run.models), known=bool)
    assert to_csv(again, np.ones(4, dtype=bool)) == exported, (
        "the columns of the file, and those that the desk computes"
    )
    picked = read(tmp_path / "rows.csv", columns=Picked("hypothesis", label="gold"))
    assert [row.first for row in picked.rows] == [second for _, second in texts]
    (tmp_path / "rows.json").write_text(to_json(run, annotations.state(run.dataset.sha256), np.ones(4, dtype=bool)))
    assert [(row.first, row.second) for row in read(tmp_path / "rows.json").rows] == texts


@pytest.mark.parametrize("names", ["question,answer", "question 1,question 2", "turn,rumour", "text"])
def test_exports_of_all_models_read_back(tmp_path, names):
    cells = ",".join(["Who?", "'-Me."][: names.count(",") + 1])
    (tmp_path / "x.csv").write_text(f"id,{names},gold,held_back\na,{cells},1,True\nb,{cells},0,False\n")
    data = read(tmp_path / "x.csv")
    assert data.ranking == (names == "question,answer")
    row = data.rows[0]
    assert (row.id, row.first, row.second, row.label) == ("a", "Who?", "" if data.single else "-Me.", "1")
    assert data.single == (names == "text") and [*row.columns] == ["held_back"]


def test_codes_that_look_like_numbers_keep_every_digit(tmp_path):
    ids = ["1234567890123456789", "1234567890123456788", "1234567890123456790"]
    columns = {
        "zip": ["007", "7", "010"],
        "tweet": ids,
        "version": ["1.1", "1.10", "2"],
        "grouped": ["1_000", "2_000", "3"],
        "phone": ["+491", "+492", "+493"],
        "half": ["0.50", "1.25", ""],
    }
    run = made_up_run(tmp_path, ROWS[:3])
    rows = [
        replace(row, columns={name: own[i] for name, own in columns.items()}) for i, row in enumerate(run.dataset.rows)
    ]
    table = open_table(with_rows(run, rows), known=bool)
    assert [name for name in columns if table.columns[name].kind == "number"] == ["half"]
    for filtered, rows_left in [
        (f"tweet = {ids[0]}", [0]),
        ("zip = 007", [0]),
        ("version = 1.10", [1]),
        ("half > 0.6", [1]),
        ("half = 0.5", [0]),
    ]:
        assert np.flatnonzero(rows_of(filtered, table)).tolist() == rows_left, filtered
    lines = [*csv.DictReader(io.StringIO(to_csv(table, np.ones(3, dtype=bool))))]
    assert {name: [original(line[name]) for line in lines] for name in columns} == columns


def test_tags_go_out_by_row_and_annotator(run, annotations):
    file = run.dataset.sha256
    annotations.add_tag("Ann", "=evil|tag")
    annotations.give("Ann", file, "1e", "=evil/tag")
    annotations.give("Ann", file, "1e", "other")
    annotations.look("Bob", file, "1c#2")
    annotations.note("Bob", file, "1e", "-1\r@x")
    annotations.settle("Cleo", file, "1e", "other", False)
    annotations.settle("Cleo", file, "2n", "other", True)
    lines = list(csv.reader(io.StringIO(tags_to_csv(run, annotations.state(file)), newline="")))
    assert lines == [
        ["id", "annotator", "tags", "note", "settled", "label", "decided_label", "decided_by"],
        ["1e", "Ann", "'=evil/tag | other", "", "other: no", "", "", ""],
        ["1e", "Bob", "", "'-1\r@x", "other: no", "", "", ""],
        ["1c#2", "Bob", "", "", "", "", "", ""],
        ["2n", "", "", "", "other: yes", "", "", ""],
    ]
    known = with_tags(open_table(run, known=bool), run, annotations.state(file))
    rows = {line["id"]: line for line in csv.DictReader(io.StringIO(to_csv(known, ALL), newline=""))}
    assert (rows["1e"]["tags"], rows["1e"]["settled"]) == ("'=evil/tag", "other: no")
    assert (rows["2n"]["tags"], rows["2n"]["settled"]) == ("other", "other: yes")


@pytest.mark.slow
def test_a_report_says_how_many_rows_have_a_label(run):
    rows = [replace(row, label=None) if at < 2 else row for at, row in enumerate(run.dataset.rows)]
    assert "; 4 of 6 rows have a label" in report(with_rows(run, rows), "", [], [], [], "all rows")


def test_the_report_is_one_file_with_everything_escaped_and_its_attention(run, tmp_path, table):
    known = open_table(run, known=lambda word: True)
    scores = scored(run, 0, known)
    drawn = [
        charts.confusion(run, 0, ALL, NAMES),
        charts.classes(run, 0, ALL, NAMES),
        charts.calibration("The <one>", reliability(run.models[0].probabilities.max(1), run.right(0)), "A.p"),
        charts.slices("The one", scores, "accuracy"),
        against(run, 1, ALL),
        charts.agreements(agreement(["<t>"], {"1e": RowState({"<t>": {"a"}}, {"a", "b"})}), "tag"),
    ]
    checkpoint = make_checkpoint(tmp_path / "tiny", table)
    row = run.dataset.rows[4]
    people = RowState({"<i>": {"<u>"}}, {"<u>"}, {"<u>": "<s>note</s>"})
    example = 4, people, [explain(checkpoint, row.first, row.second)]
    said = [(Finding("A is <right>.", "", (4,)), "http://desk/error-desk?filter=not+A.right"), (Finding("No.", ""), "")]
    text = report(
        run, "--ink: black;", said, [("Scores", drawn), ("Nothing", [])], [example], "all rows", ["A <knew> it."]
    )
    assert "<p>A &lt;knew&gt; it.</p>" in text
    assert "<b>toy</b>" not in text and "&lt;b&gt;toy" in text
    assert '<a href="http://desk/error-desk?filter=not+A.right">A is &lt;right&gt;.</a>' in text
    assert ">2n:</span> “the toy is red” “=SUM(A1) &lt;b&gt;toy&lt;/b&gt;” " in text
    assert "label neutral, A neutral 60\u00a0%, B entailment 50\u00a0%" in text and "<dd>B: The two (two," in text
    text = text.replace("http://desk/", "")
    for sign in (
        "<right>",
        "<t>",
        "<i>",
        "<u>",
        "<s>",
        "<one>",
        "<script",
        "http://",
        "https://",
        "src=",
        "@import",
        "Nothing",
    ):
        assert sign not in text, sign
    assert "Rows: the hypothesis; columns: the premise" in text  # the attention as a table
    assert "McNemar" in text and "ECE" in text and "gold label <b>neutral</b>" in text
    assert text.count("<svg") == 3 and text.count("<tbody") >= len(drawn), "each chart has its numbers as a table"


def test_the_numbers_of_a_cell_are_on_two_lines(run):
    chart = charts.confusion(run, 0, ALL, NAMES).chart.to_dict()
    (cells,) = chart["datasets"].values()
    assert cells[0]["shown"] == "2\n100 %" and chart["layer"][1]["mark"]["lineBreak"] == "\n"


@pytest.mark.slow
def test_the_names_of_columns_do_not_overlap_in_a_report(run):
    shown = str(charts.confusion(run, 0, ALL, NAMES).svg())
    places = re.findall(
        r'<text text-anchor="middle" transform="translate\(([\d.]+),-[\d.]+\)"[^>]*>([a-z]+)</text>', shown
    )
    at = {name: float(x) for x, name in places}
    assert at["contradiction"] - at["neutral"] > 80 and at["neutral"] - at["entailment"] > 80


def test_a_share_of_no_rows_is_a_dash(run):
    rows = run.gold != "contradiction"
    shares = {label: line for label, *line, _ in charts.classes(run, 0, rows, NAMES).lines}
    # Model one calls none of these rows contradiction; model two none of the rows of entailment and neutral, either.
    assert shares["contradiction"] == ["–", "–", "–"] and shares["neutral"] == ["100.0\u00a0%", *shares["neutral"][1:]]
    assert shares["neutral"][1] == "50.0\u00a0%"
    wrong = run.gold == "neutral"
    shares = {label: line for label, *line, _ in charts.classes(run, 0, wrong, NAMES).lines}
    assert shares["entailment"] == ["0.0\u00a0%", "–", "0.0\u00a0%"]
    cells = [line for line in charts.confusion(run, 0, wrong, NAMES).lines if line[0] == "entailment"]
    assert [share for *_, share in cells] == ["–", "–", "–"]


def test_the_calibration_of_selected_rows_is_labelled(run):
    measured = reliability(run.models[0].probabilities.max(1), run.right(0))
    assert charts.CHOSEN in charts.calibration("The one", measured, "A.p", chosen=True).how
    assert charts.CHOSEN not in charts.calibration("The one", measured, "A.p").how


def test_the_confusion_matrix_counts_by_hand(run):
    named = charts.confusion(run, 0, ALL, NAMES | {"neutral": "1: maybe"})
    assert sum(line[0] == "1: maybe" for line in named.lines) == 3
    assert 'gold = "neutral"' in " ".join(named.filters), "filters have the file's labels"
    figure = charts.confusion(run, 0, ALL, NAMES)
    counts = {expression: int(line[2]) for expression, line in zip(figure.filters, figure.lines, strict=True)}
    assert counts['gold = "neutral" and A = "entailment"'] == 1
    assert counts['gold = "entailment" and A = "entailment"'] == 2
    assert counts['gold = "contradiction" and A = "entailment"'] == 1
    assert sum(counts.values()) == 6
