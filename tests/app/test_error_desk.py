"""The Error desk without a browser: its state, its parts, and one sentence for what cannot be."""

import gc
import json
import re
import tracemalloc
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.runtime.context import ContextProxy, StreamlitHeaders
from streamlit.testing.v1 import AppTest

from app.desk import drawing, measures, row_tags, rows
from app.page_state.error_desk import DeskState
from core.checkpoint import read_card
from core.data import read
from core.desk.annotations import Annotations
from core.desk.charts import CHOSEN
from core.desk.database import open_database
from tests.app.desk_page import button, figures, page, texts, write_as
from tests.app.pages import components, open_view, query, sentences
from tests.core.made_up_runs import ONE, ROWS, TWO, keep, made_up_run, predictions, stored, taxi, with_rows

pytestmark = pytest.mark.usefixtures("own_desk")


def test_without_a_run_the_page_asks_for_a_file():
    app = open_view("error_desk")
    assert not app.exception
    assert "Find out where models err" in texts(app)
    assert len(app.get("image")) == 1


def test_a_click_on_a_columns_name_sorts_up_then_down_then_as_in_the_file(monkeypatch):
    chosen = [""]
    monkeypatch.setattr(rows, "show", lambda sort: chosen.append(sort))
    monkeypatch.setattr(rows, "PAGE", SimpleNamespace())
    for column in ("id", "id", "id", "id", "A.p", "tags", "A.p"):
        rows.PAGE.state = DeskState(sort=chosen[-1])
        rows.sort_by(column)
    assert chosen == ["", "id", "-id", "", "id", "A.p", "-A.p"]


def test_the_line_on_a_run_says_how_many_rows_are_scored():
    def said(gold, judged, labelled=True):
        data = SimpleNamespace(name="x.csv")
        run = SimpleNamespace(dataset=data, rows=[0] * len(gold), gold=np.array(gold), labelled=labelled, models=())
        run.judged = np.array(judged, dtype=bool)
        return measures.summary(SimpleNamespace(run=run))

    assert said(["a", "b"], [1, 1]) == "x.csv: 2 rows"
    assert said(["a", "", "b"], [1, 0, 1]) == "x.csv: 3 rows · 2 of 3 rows have a label"
    assert said(["a", "c", "b"], [1, 0, 1]) == "x.csv: 3 rows · 2 of them scored"
    assert said(["1.5", "2"], [0, 0], labelled=False) == "x.csv: 2 rows", "grades are not scored one by one"


def test_bins_of_labels_that_several_classes_count_as_have_no_filter(tmp_path):
    run = made_up_run(tmp_path)
    rows = [replace(row, label="other" if row.label != "entailment" else row.label) for row in run.dataset.rows]
    counts_as = {"other": ("neutral", "contradiction")}
    joined = with_rows(run, rows, (replace(run.models[0], counts_as=counts_as),))
    every = np.ones(6, dtype=bool)
    assert all(measures.score_figures(run, 0, every)[-1].filters)
    assert joined.models[0].scale.several and not measures.score_figures(joined, 0, every)[-1].filters


def test_a_sample_is_predicted_and_opens_with_its_kinds(checkpoints, monkeypatch):
    app = open_view("error_desk")
    button(app, "Simple pairs (200)").click().run()
    job = "desk prediction of a sample"
    app.session_state[job].future.result(600) if job in app.session_state else None
    app.run()
    assert not app.exception and "simple_pairs.tsv: 200 rows" in texts(app)
    assert not sentences(app), "they are not training rows"
    patched = {"recipe": {"train": [{"name": "Simple", "path": "x/simple_pairs.tsv"}]}}
    monkeypatch.setattr("app.desk.open_run.read_card", lambda folder: read_card(folder) | patched)
    assert "was trained on Simple (simple_pairs.tsv)" in " ".join(sentences(open_view("error_desk", **query(app))))
    assert not app.get("image")
    address = query(app)
    app = open_view("error_desk", **address, filter="kind = negation")
    assert "21 of 200 rows" in texts(app)


def test_the_rows_with_the_confusion_matrix(kept_run):
    app = page(kept_run)
    assert not app.exception
    assert "A The one 66.7" in texts(app) and "6 of 6 rows" in texts(app)
    assert "Confusion of The one" in figures(app)
    assert app.dataframe[0].value["B"].tolist()[1] == "entailment"
    assert app.dataframe[0].proto.row_height > 60  # lower rows show a single line of a text
    usual = app.dataframe[0].proto
    app.toggle[0].set_value(True).run()
    large = app.dataframe[0].proto
    assert large.row_height == 1.5 * usual.row_height
    assert large.id != usual.id, "the browser measures the letters of a table once: this is another one"


def test_a_filter_that_cannot_be_read_is_underlined_where_it_is_wrong(kept_run):
    app = page(kept_run, filter="A.right and goldd = x")
    assert not app.exception
    assert "<mark>goldd</mark>" in texts(app)
    assert any("did you mean gold?" in sentence for sentence in sentences(app)) and "6 of 6 rows" in texts(app)


def test_a_filter_that_leaves_no_row_says_why_and_ones_own_columns_are_in_the_link(kept_run):
    app = page(kept_run, columns="gap = len(hypothesis) - len(premise)\nx = 1", filter="gap > 0 and gold = netral")
    assert not app.exception and "0 of 6 rows" in texts(app)
    (notes,) = sentences(app)
    assert "did you mean neutral?" in notes and "without it, 3 rows would be left" in notes and "“x = 1”" in notes
    app.text_area[0].set_value("gap = len(premise)").run()
    assert query(app)["columns"] == "gap = len(premise)" and "“x = 1”" not in " ".join(sentences(app))
    shown = figures(page(kept_run, view="slices", columns="short = hypothesis.words < 4"))
    assert "short: yes" in shown and "No slice has enough right and wrong answers for a test." in shown


def test_a_filter_and_an_order_hold_for_the_table(kept_run):
    app = page(kept_run, filter="not A.right", sort="-A.p")
    assert app.dataframe[0].value["id"].tolist() == ["1n", "1c#2"]
    app = page(kept_run, filter="not A.right", sort="A.p")
    assert app.dataframe[0].value["id"].tolist() == ["1c#2", "1n"]


def test_the_chosen_order_is_in_the_address(kept_run):
    app = page(kept_run, filter="not A.right")
    order = next(box for box in app.selectbox if box.label == "Order")
    order.set_value("-A.p").run()
    assert query(app)["sort"] == "-A.p" and app.dataframe[0].value["id"].tolist() == ["1n", "1c#2"]


def test_a_run_that_is_opened_from_the_list_has_its_models_in_its_order(kept_run):
    app = open_view("error_desk")
    next(box for box in app.selectbox if box.label == "Run").set_value(kept_run.dataset.sha256[:16]).run()
    assert query(app)["models"] == f"{ONE[:16]}.{TWO[:16]}" and "A The one" in texts(app)


def test_a_row_opens_with_its_texts_escaped_and_links_to_its_pair(kept_run):
    app = page(kept_run, row="2n")
    assert not app.exception
    assert "=SUM(A1) &lt;b&gt;toy&lt;/b&gt;" in texts(app) and "neutral</b> 60" in texts(app)
    assert "telephone" not in texts(app)
    assert texts(app).count(", right") + texts(app).count(", wrong") == 2
    button(app, "Next row").click().run()
    assert query(app)["row"] == "2e"


def test_a_row_is_right_or_wrong_only_for_models_that_know_its_label(tmp_path):
    run = made_up_run(tmp_path)
    foreign = predictions("two", [[0.8, 0.1, 0.1]] * 6, TWO, labels=("yes", "no", "unknown"))
    keep(stored(run.dataset, (run.models[0], foreign)))
    app = page(run, row="1e")
    assert "B: The two" in texts(app) and texts(app).count(", right") == 1 and ", wrong" not in texts(app)
    assert button(app, "Previous row").disabled and not button(app, "Next row").disabled


def test_a_row_asks_how_its_words_affect_the_models_that_are_here(kept_run, monkeypatch):
    def asked(app):
        return [one for data in components(app) if data.get("view") == "rowEffects" for one in data["models"]]

    assert asked(page(kept_run, row="2n")) == [], "no checkpoint has their checksums"
    monkeypatch.setattr("app.desk.row_effects.checkpoint_named", lambda model: {TWO: "test-light"}.get(model.sha256))
    app = page(kept_run, row="2n")
    assert not app.exception
    row = next(row for row in kept_run.dataset.rows if row.id == "2n")
    (one,) = asked(app)
    assert one["letter"] == "B" and one["names"]["neutral"] == "neutral"
    assert one["question"] == {"model": "test-light", "first": row.first, "second": row.second}


def test_opened_rows_leave_nothing_behind(tmp_path):
    """The session's memory, and Python's in total, grow by less than 30 kB over eight rows, once the widgets' 20 slots
    are in use. One of up to three rounds has to show it, because other tests' threads may end in the others; a leak
    shows in all."""
    data = read(taxi(tmp_path, ROWS * 12))
    chances = np.tile(np.array([0.7, 0.2, 0.1], dtype=np.float32), (len(data.rows), 1))
    keep(stored(data, (predictions("one", chances, "a" * 64),)))
    app = open_view("error_desk", file=data.sha256[:16], models="a" * 16, row="1e")

    def opened(rows):
        for _ in range(rows):
            button(app, "Next row").click().run()
        gc.collect()
        return len(app.session_state._state.filtered_state), tracemalloc.get_traced_memory()[0]

    left = []
    tracemalloc.start()
    try:
        held, before = opened(24)
        while not left or (left[-1] >= 30_000 and len(left) < 3):
            slots, after = opened(8)
            left.append(after - before)
            before = after
    finally:
        tracemalloc.stop()
    assert not app.exception and slots == held
    assert left[-1] < 30_000, f"{left} bytes"


def test_tags_are_given_and_undone_under_ones_name(kept_run):
    annotations = Annotations(open_database())
    annotations.give("Bob", kept_run.dataset.sha256, "2n", "other")
    annotations.blind("Bob", kept_run.dataset.sha256, False)
    app = write_as(page(kept_run, row="2n"), "Ann")
    assert not app.exception and "other: Bob" in texts(app)

    def pills():
        return next(group for group in app.button_group if group.label == "Tags")

    shown = pills().proto.id
    pills().set_value(["misled by noise", "other"]).run()
    assert pills().proto.id == shown, "the browser keeps it, and a click that comes before the answer is not lost"
    tags = annotations.state(kept_run.dataset.sha256).row("2n").tags
    assert tags == {"other": {"Ann", "Bob"}, "misled by noise": {"Ann"}}
    next(area for area in app.text_area if area.label == "Note").set_value("why?").run()
    assert annotations.state(kept_run.dataset.sha256).row("2n").notes == {"Ann": "why?"}
    undo = next(one for one in app.button if one.label == "Undo" and not one.disabled)
    undo.click().run()
    assert annotations.state(kept_run.dataset.sha256).row("2n").notes == {} and pills().proto.id == shown
    button(app, "misled by noise").click().run()
    assert pills().proto.id != shown and pills().value == ["other"]
    assert "name" not in app.query_params and "Ann" not in json.dumps(dict(app.query_params))


def test_what_others_said_is_hidden_until_a_row_is_done(kept_run):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    annotations.give("Bob", file, "2n", "other")
    annotations.note("Bob", file, "2n", "secret")
    assert "Bob" not in texts(page(kept_run, row="2n")), "without a name"
    assert "0 of 6 rows" in texts(page(kept_run, filter="tags = other"))
    app = write_as(page(kept_run, row="2n"), "Ann")
    next(group for group in app.button_group if group.label == "Tags").set_value(["misled by noise"]).run()
    assert "Bob" not in texts(app) and "Ann: row 2n: gave" in texts(app)
    assert app.session_state["desk state"][1].row("2n").looked == {"Ann"}, "of which the page's files are made"
    next(box for box in app.checkbox if box.label == "Done").check().run()
    assert not app.exception and "other: Bob" in texts(app) and "Note of Bob: secret" in texts(app)
    assert "Bob: row 2n: gave" in texts(app)
    assert "1 of 6 rows" in texts(write_as(page(kept_run, filter="tags = other"), "Ann"))


def test_a_filters_rows_are_tagged_at_once_and_tags_by_key(kept_run):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    annotations.define_tag("Ann", "other", "<b>none of these</b>")
    app = write_as(page(kept_run, filter="not A.right", row="1n"), "Ann")
    assert "other: &lt;b&gt;none of these&lt;/b&gt;" in texts(app)
    next(box for box in app.selectbox if box.label == "Tag for all rows").set_value("other").run()
    button(app, "Give it to 2 rows").click().run()
    assert {key: row.tags for key, row in annotations.state(file).rows.items()} == {
        "1n": {"other": {"Ann"}},
        "1c#2": {"other": {"Ann"}},
    }
    button(app, "Take yours back").click().run()
    assert annotations.state(file).rows == {}
    button(app, "misled by noise").click().run()  # the browser presses it for the key 5
    assert annotations.state(file).row("1n").tags == {"misled by noise": {"Ann"}}
    app = write_as(page(kept_run, view="tags"), "Ann")
    next(box for box in app.selectbox if box.label == "Tag").set_value("other").run()
    next(area for area in app.text_area if area.label == "Definition").set_value("").run()
    button(app, "Define").click().run()
    assert not app.exception and all(not tag.definition for tag in annotations.taxonomy())
    assert "Ann: deleted the definition of “other”" in unescape(texts(app))


def test_rows_are_dealt_out_evenly(kept_run):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    annotations.deal("Ann", file, ["Ann", "Bob", "Cleo"], 2)
    counts = [texts(page(kept_run, filter=f"dealt = {name}")).count("4 of 6 rows") for name in ("Ann", "bob", "Cleo")]
    assert counts == [1, 1, 1] and "2 of 6 rows" in texts(page(kept_run, filter="dealt = Ann and dealt = Bob"))
    app = write_as(page(kept_run, view="tags"), "Ann")
    assert "Dealt now: 6 rows to Ann, Bob, Cleo, each row to 2." in texts(app)
    next(box for box in app.text_input if box.label.startswith("People")).set_value("Ann")
    button(app, "Deal 6 rows").click().run()
    assert any("each row to as many as there are at most" in sentence for sentence in sentences(app))
    next(box for box in app.number_input if box.label == "People for each row").set_value(1)
    button(app, "Deal 6 rows").click().run()
    assert not app.exception and "6 of 6 rows" in texts(page(kept_run, filter="dealt = Ann"))
    app = write_as(page(kept_run, view="tags", filter="genre = fiction"), "Ann")
    next(box for box in app.text_input if box.label.startswith("People")).set_value("Xaver, Yves ,Xaver,")
    button(app, "Deal 3 rows").click().run()
    confirmed = unescape(" ".join(sentences(app)))
    assert '3 rows dealt to Xaver, Yves, each row to 2: the filter dealt = "Xaver" shows' in confirmed
    assert "Dealt now: 3 rows to Xaver, Yves, each row to 2." in texts(app)
    assert "3 of 6 rows" in texts(page(kept_run, filter="dealt = Yves and genre = fiction"))
    assert "3 of 6 rows" in texts(page(kept_run, filter='dealt = ""'))


def test_the_login_name_replaces_a_typed_name(kept_run, monkeypatch):
    monkeypatch.setenv("PAIRLENS_USER_HEADER", "X-Remote-User")
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("x-remote-user", "Ann <b>")]))
    app = page(kept_run, row="2n")
    assert not app.exception and "Signed in as" in texts(app) and "Ann &lt;b&gt;" in texts(app)
    assert not any(one.label == "Your name" for one in app.text_input)
    next(group for group in app.button_group if group.label == "Tags").set_value(["other"]).run()
    assert Annotations(open_database()).state(kept_run.dataset.sha256).row("2n").tags == {"other": {"Ann <b>"}}


def test_a_change_that_another_tab_has_undone_is_not_undone_again(kept_run):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    annotations.give("Bob", file, "2n", "other")
    annotations.blind("Bob", file, False)
    app = write_as(page(kept_run, row="2n"), "Ann")
    annotations.undo("Bob", annotations.history(file, "2n")[0].id)
    annotations.give("Bob", file, "2n", "other")
    button(app, "Undo").click().run()
    assert not app.exception
    assert any("undone already" in sentence for sentence in sentences(app)) and "other: Bob" in texts(app)


def test_a_name_that_another_tab_takes_out_is_gone_from_the_page_and_its_files(kept_run):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    annotations.give("Zacharias", file, "2n", "other")
    annotations.note("Zacharias", file, "2n", "why?")
    annotations.blind("Zacharias", file, False)
    app = page(kept_run, row="2n")
    assert "other: Zacharias" in texts(app)
    annotations.remove_name("Zacharias")
    app.run()
    assert "Zacharias" not in texts(app) and "other: annotator 1" in texts(app)
    state = app.session_state["desk state"][1]
    assert state.row("2n").notes == {"annotator 1": "why?"}, "of which the page's files are made"


def test_the_report_has_its_rows_after_loading_again_and_for_others(kept_run):
    app = write_as(page(kept_run, row="2n"), "Ann")
    next(box for box in app.checkbox if box.label == "In the report").check().run()
    assert "Ann: row 2n: put it into the report" in texts(app)
    other = page(kept_run, row="2n")
    chosen = next(box for box in other.checkbox if box.label == "In the report")
    assert chosen.value and chosen.disabled and "put it into the report" in texts(other)
    assert re.search("and 1 rows? with (its|their) attention", texts(page(kept_run, view="files")))
    next(box for box in write_as(other, "Bob").checkbox if box.label == "In the report").uncheck().run()
    assert Annotations(open_database()).state(kept_run.dataset.sha256).reported == ()
    app.run()
    assert not next(box for box in app.checkbox if box.label == "In the report").value


def test_scores_slices_and_models_compared(kept_run):
    assert "Calibration of The one" in figures(page(kept_run, view="scores"))
    drawn = figures(page(kept_run, view="slices", of="2"))
    assert "Slices of The two" in drawn and "negation_logic" in drawn
    assert CHOSEN not in figures(page(kept_run, view="scores"))
    assert CHOSEN in figures(page(kept_run, view="scores", filter="not A.right"))
    drawn = figures(page(kept_run, view="against"))
    assert "McNemar" in drawn and "Only A (The one) 2" in drawn and "Predictions differ 3" in drawn
    assert "A (The one) 66.7\u00a0%, B (The two) 50.0\u00a0%; B − A = −16.7 percentage points (95 % interval:" in drawn


def test_models_are_compared_on_the_filtered_rows_and_a_lines_rows_are_those_it_counts(kept_run):
    app = page(kept_run, view="against", filter="negation_logic = 1")
    drawn = figures(app)
    assert "Accuracy in 2 rows: A (The one) 50.0" in drawn and "Only A (The one) 1" in drawn and "p = 1.0000" in drawn
    with pytest.MonkeyPatch.context() as patch:
        shown = []
        patch.setattr("app.desk.drawing.show", lambda **values: shown.append(values["filter"]))
        patch.setattr("streamlit.session_state", {"table": {"selection": {"rows": [0]}}})
        drawing._line("table", "negation_logic = 1", ["A.right and not B.right"])
    (expression,) = shown
    assert expression == "(negation_logic = 1) and (A.right and not B.right)"
    assert "1 of 6 rows" in texts(page(kept_run, filter=expression))
    assert "0 rows" not in figures(page(kept_run, view="against", filter="gold = nothing"))


def test_a_filter_is_saved_as_a_slice_that_filters_and_the_export_know(kept_run):
    app = write_as(page(kept_run, filter="hypothesis contains nobody"), "Ann")
    next(box for box in app.text_input if box.label == "Name of the slice").set_value("nobody")
    button(app, "Save").click().run()
    assert any("the slice would be empty" in sentence for sentence in sentences(app))
    app = write_as(page(kept_run, filter="negation and gold = contradiction"), "Ann")
    next(box for box in app.text_input if box.label == "Name of the slice").set_value("<i>denied</i>")
    button(app, "Save").click().run()
    assert not app.exception and not sentences(app)
    app = page(kept_run, view="slices")
    saved = next(frame.value for frame in app.dataframe if "rows" in frame.value and "slice" in frame.value)
    assert saved.iloc[0].tolist()[:5] == ["<i>denied</i>", "2", "50.0\u00a0%", "9.5\u00a0% – 90.5\u00a0%", "−25.0"]
    assert "Found slices of The one" in texts(app)
    assert "2 of 6 rows" in texts(page(kept_run, filter="`slice.<i>denied</i>`"))
    app = write_as(app, "Bob")
    next(box for box in app.selectbox if box.label == "Slice").set_value("<i>denied</i>").run()
    button(app, "Delete it").click().run()
    assert "No slice is saved" in texts(app) and "Bob: slice <i>denied</i>: deleted" in unescape(texts(app))
    button(app, "Undo").click().run()
    assert "Saved slices" in texts(app)


def test_disagreements_are_shown_without_labels_too(kept_run):
    rows = tuple(replace(row, label=None) for row in kept_run.dataset.rows)
    keep(replace(kept_run, dataset=replace(kept_run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models=f"{ONE[:16]}.{TWO[:16]}", view="against")
    assert not app.exception and "There are no scores" in texts(app)
    assert "Predictions differ 3" in figures(app) and "McNemar" not in figures(app)


def test_the_desks_labels_are_plain_english(kept_run):
    assert "Click a row to open it; click a column name to sort." in texts(page(kept_run))
    assert "Slices use all rows, whatever the filter." in texts(page(kept_run, view="slices", filter="A.right"))
    app = page(kept_run, view="files")
    assert next(one for one in app.button_group if one.label == "Show").options[-1] == "Export"


def test_a_probability_above_99_9_percent_is_not_100(kept_run):
    one, two = kept_run.models
    sure = replace(one, probabilities=np.tile(np.array([0.9996, 0.0003, 0.0001], dtype=np.float32), (6, 1)))
    keep(replace(kept_run, models=(sure, two)))
    app = page(kept_run, row="1e")
    assert app.dataframe[0].value["A.p"].tolist()[0] == "> 99.9\u00a0%" and "&gt; 99.9\u00a0%" in texts(app)


def test_agreement_and_unsettled_rows(kept_run):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    for row in ("1e", "1c"):
        annotations.give("Ann", file, row, "other")
    annotations.give("Bob", file, "1e", "other")
    annotations.look("Bob", file, "1c")
    annotations.look("Ann", file, "2n")
    annotations.look("Bob", file, "2n")
    app = write_as(page(kept_run, view="tags"), "Cleo")
    assert not app.exception and "Agreement by tag" not in figures(app), "Cleo has not done these rows"
    next(one for one in app.toggle if one.label.startswith("Hide others")).set_value(False).run()
    assert "1c: “other” – Ann gave it, Bob did not" in texts(app) and "“no dog plays”" in texts(app)
    assert "Agreement by tag" in figures(app) and "any tag 2" in figures(app) and "other 2" in figures(app)
    assert "2 of 6 rows" in texts(write_as(page(kept_run, filter='tags != ""'), "Cleo"))
    assert "Disagreements to settle: 1 of 1" in texts(app)
    (place,) = next(data for data in components(app) if "places" in data)["places"]
    assert place["name"] == "row 1c" and place["marks"]["Your decision about “other”"] is None
    assert [control["value"] for control in place["controls"]] == ["yes", "no"]
    button(app, "Yes").click().run()
    assert annotations.state(file).row("1c").settled == {"other": True}
    assert "Disagreements to settle: 0 of 1" in texts(app)


def test_a_run_with_unknown_labels_says_that_it_has_no_scores(kept_run):
    rows = (*[*kept_run.dataset.rows][:5], replace(kept_run.dataset.rows[5], label="maybe", label_text="Maybe"))
    keep(replace(kept_run, dataset=replace(kept_run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models=ONE[:16], view="scores")
    assert not app.exception and "There are no scores" in texts(app)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({"file": "d" * 16, "models": "a" * 16}, "predict the file again"),
        ({"file": "../../etc"}, "without them: file."),
        ({"file": "d" * 16, "models": "x.y"}, "without them: models."),
    ],
)
def test_a_link_to_a_missing_run_or_row_gets_one_sentence(link, why):
    app = open_view("error_desk", **link)
    assert not app.exception
    assert any(why in sentence for sentence in sentences(app))


def test_a_database_that_cannot_be_used_is_one_sentence(kept_run, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", "mysql://secret@host/x")
    app = page(kept_run)
    assert not app.exception
    (sentence,) = sentences(app)
    assert "PAIRLENS_DB is not the address" in sentence and "secret" not in sentence


def test_a_row_whose_id_no_database_can_hold_opens_and_says_so(kept_run):
    rows = (replace(kept_run.dataset.rows[0], id="x" * 6000), *[*kept_run.dataset.rows][1:])
    keep(replace(kept_run, dataset=replace(kept_run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models="a" * 16, row="x" * 6000)
    assert not app.exception and "a dog plays in the snow" in texts(app)
    assert any("takes 6,000 bytes" in sentence for sentence in sentences(app))


def test_the_state_goes_through_the_address():
    state = DeskState("a" * 16, ("b" * 16, "c" * 16), "slices", 'gold = "x" and p > 90%', "-p", "1c#2", 2, "x = p")
    again, problems = DeskState.from_parameters(state.to_parameters(), {})
    assert again == state and problems == []
    long = DeskState("a" * 16, ("b" * 16,), filter="x" * 1990)
    assert "filter" not in long.address() and long.address()["file"] == "a" * 16
    # Another file's filter and row mean nothing.
    assert state.updated(file="d" * 16) == DeskState("d" * 16, ("b" * 16, "c" * 16))


def test_the_history_says_each_change_in_words():
    annotations, file = Annotations(open_database()), "f" * 64
    annotations.give("Ann", file, "1", "other")
    annotations.note("Ann", file, "1", "a {note}")
    annotations.save_slice("Ann", file, "long", "len(premise) > 9")
    annotations.add_tag("Ann", "new")
    annotations.rename_tag("Ann", "new", "newer")
    annotations.merge_tags("Ann", "newer", "other")
    annotations.blind("Ann", file, False)
    annotations.undo("Ann", annotations.history(limit=1)[0].id)
    annotations.look("Ann", file, "1")
    annotations.remove_name("Ann")
    said = [row_tags.sentence(event).partition(": ")[2] for event in reversed(annotations.history())]
    assert said == [
        "row 1: gave “other”",
        "row 1: wrote “a {note}”",
        "slice long: saved as len(premise) > 9",
        "added “new”",
        "renamed “new” to “newer”",
        "merged “newer” into another",
        "set blind: no, undone",
        "set blind: automatic (undoing)",
        "row 1: marked it as done",
        "removed the name of annotator 1",
    ]


def test_every_kind_of_sentence_is_escaped():
    def script():
        from app import page_style
        from app.desk.open_run import lines

        text = "<img src=x> **b**"
        for draw in (page_style.heading, page_style.hint, page_style.note):
            draw(text)
        page_style.notice([text])
        page_style.terms([(text, text)])
        lines([text])

    app = AppTest.from_function(script).run(timeout=60)
    bodies = [element.proto.body for element in app.get("html")]
    assert not app.exception and len(bodies) == 6
    assert all("&lt;img src=x&gt; **b**" in body and "<img" not in body for body in bodies)
