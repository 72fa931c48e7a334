"""The desk's exports and imports: neutralised and restored formulas, listed conflicts, a complete report."""

import csv
import io
import json
import re

import numpy as np
import pytest
import sqlalchemy as sa

from core.data.lines import text_of
from core.desk import charts
from core.desk.agreement import agreement
from core.desk.annotations import Annotations, Marked, RowState
from core.desk.database import open_database
from core.desk.exchange import plan, read_tags, tags_to_csv, to_csv, to_json
from core.desk.filters import rows_of
from core.desk.report import ReportedRow, report
from core.desk.slices import scored
from core.desk.table import open_table
from core.errors import DeskError
from core.evaluation.reliability import mcnemar, reliability
from core.explain import explain
from core.spreadsheet import csv_text, neutral, restored
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import LABELS, made_up_run

ALL = np.ones(6, dtype=bool)
NAMES = dict(zip(LABELS, LABELS, strict=True))


@pytest.fixture
def run(tmp_path):
    return made_up_run(tmp_path)


@pytest.fixture
def annotations(database):
    return Annotations(open_database())


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "'x", "''=x", "plain", "", "a=b", "-"])
def test_formulas_are_neutral_and_come_back_unchanged(text):
    cell = neutral(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert restored(cell) == text


@pytest.mark.parametrize("text", ["a dog\r=1+1", "a\nb", "a\r\nb", 'a "dog"', "a,b", "-", "'", "\t=1"])
def test_a_text_stays_in_its_cell(text):
    table = csv_text(["text", "n"], [[text, -1]])
    # As a spreadsheet divides it, for which a bare carriage return ends a row, too.
    assert [[restored(cell) for cell in row] for row in csv.reader(io.StringIO(table, newline=""))] == [
        ["text", "n"],
        [text, "-1"],
    ]
    assert "\r" not in re.sub(r'"[^"]*"', "", table)


def test_a_note_with_a_bare_carriage_return_comes_back_in(run, annotations):
    file = run.dataset.sha256
    annotations.give("Ann", file, "1e", "other")
    annotations.note("Ann", file, "1e", "why\r=1+1")
    state = annotations.state(file)
    (line,) = read_tags(tags_to_csv(run, state), "")
    assert line.note == state.row("1e").notes["Ann"] and "=1+1" in line.note


def test_rows_go_out_with_predictions_tags_and_the_files_columns(run, annotations):
    file = run.dataset.sha256
    annotations.give("Ann", file, "2n", "other")
    annotations.note("Ann", file, "2n", "=cmd()")
    state = annotations.state(file)
    lines = list(csv.DictReader(io.StringIO(to_csv(run, state, ALL))))
    assert len(lines) == 6 and lines[4]["second"] == "'=SUM(A1) <b>toy</b>"
    assert (lines[4]["tags"], lines[4]["notes"], lines[4]["genre"]) == ("other", "Ann: =cmd()", "fiction")
    assert (lines[1]["predicted"], lines[1]["predicted2"], lines[1]["p_contradiction"]) == (
        "contradiction",
        "entailment",
        "0.7",
    )
    assert lines[0]["general_q2"] == "'-"
    whole = json.loads(to_json(run, state, run.right(0)))
    assert [row["id"] for row in whole["rows"]] == ["1e", "1c", "2n", "2e"]
    assert whole["rows"][2]["second"] == "=SUM(A1) <b>toy</b>" and whole["rows"][2]["given"] == {"other": ["Ann"]}


def test_tags_go_out_and_come_back_in(run, annotations):
    file = run.dataset.sha256
    annotations.add_tag("Ann", "=evil|tag")
    annotations.give("Ann", file, "1e", "=evil/tag")
    annotations.give("Ann", file, "1e", "other")
    annotations.look("Bob", file, "1c#2")
    annotations.note("Bob", file, "1e", "-1\n@x")
    before = annotations.state(file)
    text = tags_to_csv(run, before)
    cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
    assert not [cell for cell in cells if cell.startswith(("=", "-", "@"))]
    reads_as = {tag.name.casefold(): tag.name for tag in annotations.taxonomy()}
    same = plan(run, before, reads_as, read_tags(text, ""))
    assert (same.new, same.conflicts, same.strange, same.new_tags) == ((), (), (), ())
    for change in annotations.history(file):
        annotations.undo("Ann", change.id)
    empty = annotations.state(file)
    assert not empty.rows
    planned = plan(run, empty, reads_as, read_tags(text, ""))
    annotations.take("Ann", file, planned.new_tags, planned.new)
    assert annotations.state(file) == before


def test_conflicts_are_listed_and_nothing_is_overwritten(run, annotations):
    file = run.dataset.sha256
    annotations.give("Ann", file, "1e", "other")
    text = "id,tags,note\n1e,misled by noise,\n1c,OTHER | new one,a note\nnobody,other,\n2e,,\n"
    state = annotations.state(file)
    reads_as = {tag.name.casefold(): tag.name for tag in annotations.taxonomy()}
    lines = read_tags("\ufeff" + text, "Ann")
    planned = plan(run, state, reads_as, lines)
    assert planned.strange == ("nobody",) and planned.new_tags == ("new one",)
    (conflict,) = planned.conflicts
    assert (conflict.marked.row, conflict.tags) == ("1e", {"other"})
    annotations.take("Ann", file, planned.new_tags, planned.new)
    state = annotations.state(file)
    assert state.rows == {
        "1e": RowState({"other": {"Ann"}}, {"Ann"}),
        "1c": RowState({"other": {"Ann"}, "new one": {"Ann"}}, {"Ann"}, {"Ann": "a note"}),
        "2e": RowState(looked={"Ann"}),
    }
    again = plan(run, state, reads_as | {"new one": "new one"}, lines)
    annotations.take("Ann", file, again.new_tags, [conflict.marked])
    assert annotations.state(file).row("1e").tags == {"misled by noise": {"Ann"}}


def test_an_import_is_whole_or_not_at_all_and_each_of_its_changes_can_be_undone(run, annotations):
    file = run.dataset.sha256
    annotations.add_tag("Bob", "irony")
    annotations.give("Ann", file, "1e", "irony")
    annotations.merge_tags("Bob", "irony", "other")
    annotations.note("Ann", file, "1e", "old")
    before, history = annotations.state(file), annotations.history()
    taxonomy = {tag.name.casefold(): tag.name for tag in annotations.taxonomy()}
    lines = read_tags("id,tags,note\n1e,misled by noise,new\n1c,other | fresh,\n1c,misled by noise,\n2n,,\n", "Ann")
    planned = plan(run, before, taxonomy, lines)
    with pytest.raises(DeskError, match="no tag 'gone since'"):
        annotations.take("Ann", file, planned.new_tags, [*lines, Marked("2e", "Ann", frozenset({"gone since"}), "")])
    assert annotations.state(file) == before and annotations.history() == history
    annotations.add_tag("Bob", "Fresh")  # somebody was quicker
    annotations.take("Ann", file, planned.new_tags, lines)
    state = annotations.state(file)
    assert state.rows == {
        "1e": RowState({"misled by noise": {"Ann"}}, {"Ann"}, {"Ann": "new"}),
        "1c": RowState({tag: {"Ann"} for tag in ("other", "Fresh", "misled by noise")}, {"Ann"}),
        "2n": RowState(looked={"Ann"}),
    }
    changes = annotations.history()[: -len(history) - 1]
    assert [(change.subject.row, change.subject.kind, change.before, change.value) for change in reversed(changes)] == [
        ("1e", "tag", "yes", None),
        ("1e", "tag", None, "yes"),
        ("1e", "note", "old", "new"),
        ("1c", "tag", None, "yes"),
        ("1c", "tag", None, "yes"),
        ("1c", "tag", None, "yes"),
        ("2n", "looked", None, "yes"),
    ]
    for change in changes:
        annotations.undo("Bob", change.id)
    assert annotations.state(file) == before


def test_an_import_is_one_transaction_however_many_lines_it_has(run, annotations):
    lines = [Marked(key, f"annotator of {n}", frozenset({"other"}), "why") for key in run.keys for n in "abc"]
    planned = plan(run, annotations.state(run.dataset.sha256), {"other": "other"}, lines)
    commits = []

    def committed(connection):
        commits.append(connection)

    sa.event.listen(sa.Engine, "commit", committed)
    try:
        annotations.take("Ann", run.dataset.sha256, planned.new_tags, planned.new)
    finally:
        sa.event.remove(sa.Engine, "commit", committed)
    assert len(commits) == 1 and len(annotations.state(run.dataset.sha256).row("1e").looked) == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no columns"),
        ("id,label\n1,2\n", "no columns"),
        ("id,tags\n1\n", "line 2"),
        ("id,tags\n1,other\n", "type your name"),
    ],
)
def test_a_file_that_is_none_of_tags_is_one_sentence(text, why):
    with pytest.raises(DeskError, match=why):
        read_tags(text, "")


def test_the_report_is_one_file_with_everything_escaped_and_its_attention(run, tmp_path, table):
    known = open_table(run, known=lambda word: True)
    scores = scored(run, 0, known)
    parts = [score.slice for score in scores[:3]]
    drawn = [
        charts.confusion(run, 0, ALL, NAMES),
        charts.classes(run, 0, ALL, NAMES),
        charts.calibration("The <one>", reliability(run.models[0].probabilities.max(1), run.right(0)), "p"),
        charts.slices("The one", scores, "accuracy"),
        charts.against(run, 0, 1, mcnemar(run.right(0), run.right(1))),
        charts.agreements(agreement(["<t>"], {"1e": RowState({"<t>": {"a"}}, {"a", "b"})})),
        charts.tags_by_slice(parts, [{"<t>": 4}] * len(parts)),
    ]
    checkpoint = make_checkpoint(tmp_path / "tiny", table)
    row = run.dataset.rows[4]
    example = ReportedRow("2n", 4, [explain(checkpoint, row.first, row.second)], ["<i>"], [("<u>", "<s>note</s>")])
    text = report(run, "--ink: black;", [("Scores", drawn), ("Nothing", [])], [example], "all rows")
    assert "<b>toy</b>" not in text and "&lt;b&gt;toy" in text
    for sign in ("<t>", "<i>", "<u>", "<s>", "<one>", "<script", "http://", "https://", "src=", "@import", "Nothing"):
        assert sign not in text, sign
    assert "Rows: the hypothesis; columns: the premise" in text  # the attention as a table
    assert "McNemar" in text and "ECE" in text and "gold label <b>neutral</b>" in text
    assert text.count("<svg") == 4 and text.count("<tbody") >= len(drawn), "each chart has its numbers as a table"


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
    assert charts.CHOSEN in charts.calibration("The one", measured, "p", chosen=True).how
    assert charts.CHOSEN not in charts.calibration("The one", measured, "p").how


def test_a_bin_of_the_calibration_is_a_filter_of_its_rows(run):
    figure = charts.calibration("The one", reliability(run.models[0].probabilities.max(1), run.right(0)), "p")
    known = open_table(run, known=lambda word: True)
    for (*_, count), expression in zip(figure.lines, figure.filters, strict=True):
        assert rows_of(expression, known).sum() == int(count)


def test_the_confusion_matrix_counts_by_hand(run):
    named = charts.confusion(run, 0, ALL, NAMES | {"neutral": "1: maybe"})
    assert sum(line[0] == "1: maybe" for line in named.lines) == 3
    assert 'gold = "neutral"' in " ".join(named.filters), "filters have the file's labels"
    figure = charts.confusion(run, 0, ALL, NAMES)
    counts = {expression: int(line[2]) for expression, line in zip(figure.filters, figure.lines, strict=True)}
    assert counts['gold = "neutral" and predicted = "entailment"'] == 1
    assert counts['gold = "entailment" and predicted = "entailment"'] == 2
    assert counts['gold = "contradiction" and predicted = "entailment"'] == 1
    assert sum(counts.values()) == 6


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_tags_are_read_as_a_spreadsheet_saves_them(delimiter, encoding):
    table = "id,tags,note\r\n1e,müde | noise,“schön”\r\n".replace(",", delimiter)
    (line,) = read_tags(text_of(table.encode(encoding)), "Ann")
    assert (line.row, line.tags, line.note) == ("1e", {"müde", "noise"}, "“schön”")
