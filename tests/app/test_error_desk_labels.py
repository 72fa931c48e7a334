"""Labels on the Error desk without a browser: from a file without labels to decided ones."""

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from safetensors.numpy import save_file

from app.desk import all_tags, labels, open_run, suggesting
from core.data import read
from core.desk import run_folder, source, store, suggestions
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.file_state import Decision, FileState, RowState
from core.desk.label_check import _state
from core.desk.labelling import Labelling
from core.desk.table import RunTable
from tests.app.desk_page import button, figures, texts, write_as
from tests.app.pages import components, open_view, query
from tests.core.made_up_runs import ONE, predictions

pytestmark = pytest.mark.usefixtures("own_desk")
ROWS = ["the app crashes", "please add a dark mode", "how do I log in?", "<b>it</b> is slow"]


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text("id,text\n" + "".join(f"t{n},{text}\n" for n, text in enumerate(ROWS, start=1)))
    return read(path, labelled=False)


def opened(dataset, name, view="labels"):
    return write_as(open_view("error_desk", file=dataset.sha256[:16], view=view), name)


def press(app, label):
    button(app, label).click()
    app.run()
    assert not app.exception
    return app


def test_two_people_label_a_file_without_labels_and_a_third_decides(tickets):
    store.keep_rows(tickets)
    annotations, file = Annotations(open_database()), tickets.sha256
    ann = opened(tickets, "Ann")
    assert "Which classes can a row have?" in texts(ann) and "the app crashes" in texts(ann)
    assert "Show the file’s label" not in [box.label for box in ann.checkbox]
    next(box for box in ann.text_area if box.label.startswith("Add classes")).set_value("bug\nwish\n bug \n")
    press(ann, "Add")
    assert annotations.state(file).classes == {1: "bug", 2: "wish"}
    press(ann, "bug")
    assert query(ann)["row"] == "t2" and "You labelled 1 of 4 rows" in texts(ann)
    ann.text_area[0].set_value("dark is a wish").run()
    press(ann, "wish")
    press(ann, "Skip")
    assert "&lt;b&gt;it&lt;/b&gt; is slow" in texts(ann)
    press(ann, "Unsure")
    assert query(ann)["row"] == "t3", "what was left for later comes last"
    assert "You labelled 3 of 4 rows, 1 left for later" in texts(ann)
    press(ann, "Previous")
    assert query(ann)["row"] == "t4" and button(ann, "Take back")
    press(ann, "Take back")
    press(ann, "bug")
    press(ann, "wish")
    assert "No row is left to label." in texts(ann) and "4 of 4" in texts(ann)
    assert {key: row.labels["Ann"] for key, row in annotations.state(file).rows.items()} == {
        "t1": "bug",
        "t2": "wish",
        "t3": "wish",
        "t4": "bug",
    }
    (kept,) = [data for data in components(ann) if "places" in data]
    assert {place["name"] for place in kept["places"]} == {"row t1", "row t2", "row t3", "row t4"}

    bob = opened(tickets, "Bob")
    assert "Ann" not in texts(bob) and "dark is a wish" not in texts(bob)
    press(bob, "bug")
    press(bob, "bug")
    press(bob, "wish")
    assert "Agreement by class" in figures(bob) and "Labels to decide: 1" in texts(bob)
    assert "Ann: wish – “dark is a wish”" in texts(bob) and "Bob: bug" in texts(bob)

    cleo = opened(tickets, "Cleo")
    assert "Disagreements" not in texts(cleo)
    next(one for one in cleo.toggle if one.label.startswith("Decide")).set_value(True).run()
    assert "Labels to decide: 1" in texts(cleo) and button(cleo, "Unsure").disabled
    decide = [one for one in cleo.button if (one.key or "").startswith("desk decide") and one.label == "wish"]
    decide[0].click().run()
    assert not cleo.exception and "Labels to decide" not in texts(cleo)
    assert annotations.state(file).row("t2").decided == ("wish", "Cleo")
    again = open_view("error_desk", file=file[:16], view="labels", row="t2")
    press(write_as(again, "Cleo"), "Take back the decision")
    assert annotations.state(file).row("t2").decided is None and "Labels to decide: 1" in texts(again)
    Labelling(open_database()).decide("Cleo", file, "t2", 2)
    cleo.run()
    next(one for one in cleo.segmented_control if one.label == "Show").set_value("rows").run()
    assert not cleo.exception and "No model has predicted this file" in texts(cleo)
    next(one for one in cleo.segmented_control if one.label == "Show").set_value("files").run()
    assert not cleo.exception


def test_a_class_is_renamed_while_another_page_labels_and_deals_are_kept(tickets, monkeypatch):
    monkeypatch.setattr("core.desk.table.features_of", None)  # of a million rows they take a minute
    store.keep_rows(tickets)
    store.keep_rows(replace(tickets, sha256="f" * 64))  # a later file with the same name and number of rows
    labelling, annotations, file = Labelling(open_database()), Annotations(open_database()), tickets.sha256
    labelling.add_classes("Ann", file, ["bug", "wish"])
    annotations.deal("Ann", file, ["Ann", "Bob"], 1)
    ann, bob = opened(tickets, "Ann"), opened(tickets, "Bob")
    labelling.rename_class("Bob", file, 1, "defect")
    shown = next(box for box in ann.selectbox if box.label == "Run")
    assert shown.options == [f"tickets.csv (4) ({start})" for start in ("ffffff", file[:6])]  # Streamlit goes by these
    (kept,) = [data for data in components(ann) if "places" in data]
    press(ann, "bug")
    assert query(ann)["file"] == file[:16]
    # What the browser kept of the click is what the log has now, though its name is another one.
    (shown,) = [data for data in components(ann) if "places" in data]
    marks = {place["name"]: place["marks"]["Your label"] for place in shown["places"]}
    assert marks["row t1"] == kept["places"][0]["controls"][0]["value"] is not None
    assert "defect" in [one.label for one in ann.button] and "bug" not in [one.label for one in ann.button]
    assert [row.labels for row in annotations.state(file).rows.values()] == [{"Ann": "defect"}]
    assert "You labelled 1 of 2 rows" in texts(ann) and "You labelled 0 of 2 rows" in texts(bob)
    labelling.remove_class("Bob", file, 2)
    bob_before = query(bob)
    press(bob, "wish")
    assert "removed since" in texts(bob) and query(bob) == bob_before
    model = predictions("one", [[0.6, 0.4]] * 4, ONE, ("bug", "wish"))
    run_folder.save(tickets, (model,), store.folder_of(file))
    bob.run()
    assert not bob.exception and query(bob)["models"] == ONE[:16], "the page continues once the file has been predicted"
    assert "You labelled 0 of 2 rows" in texts(bob)


def test_the_next_row_follows_the_one_labelled_and_those_left_for_later_come_last(monkeypatch):
    queue, answered, later = np.array([4, 2, 0, 3, 1]), np.zeros(5, dtype=bool), np.zeros(5, dtype=bool)
    monkeypatch.setattr(labels, "_queue", lambda opened: queue)
    monkeypatch.setattr(labels, "_answered", lambda opened: (answered.copy(), later.copy()))
    monkeypatch.setattr(labels.suggesting, "choose", lambda opened, left: None)
    later[4] = True
    assert [labels._next(None, after) for after in (None, 2, 1, 3)] == [2, 0, 2, 1]
    answered[[0, 1, 3]] = True
    assert [labels._next(None, after) for after in (None, 1, 2)] == [2, 2, 4]
    answered[[2, 4]] = True
    assert labels._next(None, None) is None


@pytest.mark.parametrize(("own", "shown"), [({}, ["Bob"]), ({"Bob": "bug"}, ["Ann", "Bob"]), (None, ["Ann", "Bob"])])
def test_whoever_labels_blind_sees_of_a_rows_history_their_own_part(monkeypatch, own, shown):
    told, page = [], MagicMock()
    monkeypatch.setattr(labels, "st", page)
    monkeypatch.setattr(labels, "annotator", SimpleNamespace(name=lambda: "Bob"))
    monkeypatch.setattr(labels, "history", lambda opened, events: told.extend(event.author for event in events))
    state = FileState({"t1": RowState(labels=own or {})}, blind_as_set=own is not None)
    events = [SimpleNamespace(author=by) for by in ("Ann", "Bob")]
    log = SimpleNamespace(history=lambda file, key: events)
    labels._note_and_history(SimpleNamespace(state=state, file="f", annotations=log), "t1")
    assert told == shown


def test_exports_have_every_decision_and_of_blind_labels_those_that_are_shown():
    decided = RowState(labels={"Ann": "bug", "Cleo": "wish"}, decision=Decision("bug", "Dora"))
    state = FileState({"t1": decided, "t2": RowState(labels={"Ann": "bug"})}, blind_as_set=True)
    asked = SimpleNamespace(version=("f", "m", 0, "Bob"), file="f", annotations=SimpleNamespace(state={"f": state}.get))
    rows = open_run.OpenRun.exported.fget(asked).rows
    assert [*rows] == ["t1"] and (rows["t1"].labels, rows["t1"].decided) == ({}, Decision("bug", "Dora"))


def test_a_guess_is_stored_only_for_the_row_that_was_suggested_and_is_not_labelled(monkeypatch):
    monkeypatch.setattr(suggesting, "fitted", lambda opened: SimpleNamespace(guess={0: 7, 1: 8}.get, labels=30))
    monkeypatch.setattr(suggesting, "annotator", SimpleNamespace(name=lambda: "Ann"))
    state = FileState({"a": RowState(labels={"Bob": "bug"}), "b": RowState(labels={"Ann": "bug"})})
    asked = SimpleNamespace(run=SimpleNamespace(keys=["a", "b"]), state=state)
    for key, place, stored in (("a", 0, (7, True, 30)), ("b", 0, None), ("b", 1, None)):
        session = {suggesting._NEXT: suggesting.Suggested(key, random=True)}
        monkeypatch.setattr(suggesting, "st", SimpleNamespace(session_state=session))
        assert suggesting.guess(asked, place) == stored


def test_names_are_separated_by_commas_or_by_semicolons():
    assert all_tags.names_in(" Ann, Bo ,,Ann ") == ["Ann", "Bo"]
    assert all_tags.names_in("Doe, Ann; Bo;") == ["Doe, Ann", "Bo"]


def test_an_untouched_switch_writes_nothing(monkeypatch):
    seen, written, values = [], [], {"hide": False}
    monkeypatch.setattr(open_run.st, "toggle", lambda *of, **options: seen.append(options))
    monkeypatch.setattr(open_run.st, "session_state", values)
    monkeypatch.setattr(open_run, "attempt", lambda change: change())
    open_run.switch("Hide", False, "hide", written.append)
    seen[0]["on_change"]()  # as Streamlit does for a widget that a run cut short had not drawn
    assert not written
    values["hide"] = True
    seen[0]["on_change"]()
    assert written == [True]


def test_labels_to_check_are_a_slice_in_order_and_the_corrected_file_is_written(tmp_path, monkeypatch):
    path = tmp_path / "pairs.csv"
    lines = [f"{text},it is {n},{'yes' if n else 'No'}" for n, text in enumerate(ROWS)]
    path.write_text("\n".join(["premise,hypothesis,Gold Label", *lines]) + "\n")
    data = read(path, labelled=False)
    data = replace(data, source=source.source_of(data, path))
    store.keep_rows(data)
    source.keep(data)
    run = store.open_run(data.sha256)
    save_file({"p": np.array([0.9, 0.2, 0.1, 0.8])}, run.folder / "label-check.safetensors", {"state": _state(run)})
    app = opened(data, "Ann")
    next(one for one in app.button if one.key == "desk classes of the file").click().run()
    assert "Line 2" in texts(app) and "Row line" not in texts(app)
    assert Annotations(open_database()).state(data.sha256).classes == {1: "No", 2: "yes"}
    assert texts(app).count("<dt>premise</dt>") == texts(app).count("<dt>hypothesis</dt>") == 1
    press(app, "No")  # of a row that is none of them
    Labelling(open_database()).decides("Dora", data.sha256, True)  # she labels none, so none is dealt to her
    press(app, "Open the labels to check")
    assert query(app)["filter"] == "`slice.labels to check`" and query(app)["sort"] == "label_p"
    assert "You labelled 0 of 1 row where" in texts(app) and "how do I log in?" in texts(app)
    Labelling(open_database()).label("Ann", data.sha256, str(run.keys[0]), None)
    assert "label of the file" not in texts(app)
    next(box for box in app.checkbox if box.label == "Show the file’s label").check().run()
    assert "label of the file" in texts(app)
    people = next(box for box in app.text_input if (box.key or "").startswith("desk suspects dealt"))
    assert people.value == "Ann"
    people.set_value("Ann, Bob, Cleo").run()
    press(app, "Deal out the labels to check")
    state = Annotations(open_database()).state(data.sha256)
    assert state.hands == (("Ann", "Bob"), ("Ann", "Cleo"), ("Bob", "Cleo")) and state.dealt_rows(4).tolist()[2]
    assert state.dealt_rows(4).sum() == 1 and "1 row dealt to Ann, Bob, Cleo, each row to 2" in texts(app)
    with monkeypatch.context() as patched:
        patched.setattr(RunTable, "masks", None)
        patched.setattr(RunTable, "ordered", None)
        press(app, "No")  # needs no pass over all rows for the slice, the filter or the order
    assert Annotations(open_database()).state(data.sha256).row("line 4").labels == {"Ann": "No"}
    app = opened(data, "Ann", view="files")
    press(app, "Write the corrected file")
    made = app.session_state["desk corrected"][1]
    written = made.content.decode().splitlines()
    assert made.suffix == ".csv" and written[0] == "premise,hypothesis,Gold Label,label_before,label_by"
    assert written[3] == "how do I log in?,it is 2,No,yes,Ann"
    assert any(one.label == "Everything (JSON)" for one in app.get("download_button"))
    # Adapting a model to the corrected file takes no detour over a download.
    press(app, "Adapt a model to it, under New run")
    assert not app.exception and "1 label decided by people, 1 changed" in texts(app)
    assert next(box for box in app.radio if box.label == "What to do with this file?").value.startswith("Adapt")
    assert app.query_params.get("file") is None


def test_a_model_that_learns_from_the_labels_suggests_the_next_row(tmp_path):
    classes = [n % 2 for n in range(30)]
    path = tmp_path / "many.csv"
    outside = "".join(f"x{n},a row that the model has not read {n}\n" for n in range(3))
    path.write_text("id,text\n" + outside + "".join(f"r{n},text {n}\n" for n in range(30)))
    data = read(path, labelled=False)
    store.keep_rows(data)
    run, file = store.open_run(data.sha256), data.sha256
    features = np.array([[own + n / 100, -own] for n, own in enumerate(classes)], dtype=np.float16)
    features[25] = 0.5, -0.5
    arrays = {"rows": np.arange(3, 33), "features": features}
    save_file(arrays, run.folder / "label-features.safetensors", {"texts": store.header(file).texts})
    labelling, annotations = Labelling(open_database()), Annotations(open_database())
    labelling.add_classes("Ann", file, ["even", "odd"])
    for n in range(19):
        labelling.label("Ann", file, f"r{n}", 1 + classes[n])
    app = opened(data, "Ann")
    assert "1 more label until the first suggestion" in texts(app)
    next(one for one in app.toggle if one.label == "Suggest the next row").set_value(True).run()
    assert "Row r19" in texts(app), "the next one that the model can learn from"
    press(app, "odd" if classes[19] else "even")
    for _, future in suggestions.BACKGROUND._running.values():
        future.result()
    app.run()
    press(app, "even")
    assert query(app)["row"] == "r25", "the row that the model is least sure of"
    assert "The model’s guess" not in texts(app)
    next(one for one in app.toggle if one.label == "Show the model’s guess").set_value(True).run()
    assert "The model’s guess" in texts(app)
    press(app, "odd")
    ((guess, random, labels),) = [row.guesses["Ann"] for row in annotations.state(file).rows.values() if row.guesses]
    assert guess in ("even", "odd") and not random and labels == 20
    # With more of them, its accuracy is drawn by the number of labels.
    for n, row in enumerate(annotations.state(file).rows):
        labelling.label("Bob", file, row, 1 + classes[n % 30], (1, n < 12, 20 + n))
    bob = opened(data, "Bob")
    assert "Accuracy by number of labels" in figures(bob) and "95 % interval" in figures(bob)
    assert bob.get("vega_lite_chart") and not bob.exception
