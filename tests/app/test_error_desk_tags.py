"""Tags on the Error desk: given, dealt out, hidden from others, undone, with their history."""

import json
from dataclasses import replace
from html import unescape

import pytest
from streamlit.runtime.context import ContextProxy, StreamlitHeaders

from app.desk import row_tags
from core.desk.annotations import Annotations
from core.desk.database import open_database
from tests.app.desk_page import button, figures, page, texts, write_as
from tests.app.pages import components, open_view, sentences
from tests.core.made_up_runs import ONE, TWO, keep

pytestmark = pytest.mark.usefixtures("own_desk")


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


def test_disagreements_are_shown_without_labels_too(kept_run):
    rows = tuple(replace(row, label=None) for row in kept_run.dataset.rows)
    keep(replace(kept_run, dataset=replace(kept_run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models=f"{ONE[:16]}.{TWO[:16]}", view="against")
    assert not app.exception and "There are no scores" in texts(app)
    assert "Predictions differ 3" in figures(app) and "McNemar" not in figures(app)


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


def test_a_database_that_cannot_be_used_is_one_sentence(kept_run, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", "mysql://secret@host/x")
    app = page(kept_run)
    assert not app.exception
    (sentence,) = sentences(app)
    assert "PAIRLENS_DB is not the address" in sentence and "secret" not in sentence


def test_a_row_whose_id_no_database_can_store_opens_with_a_note(kept_run):
    rows = (replace(kept_run.dataset.rows[0], id="x" * 6000), *[*kept_run.dataset.rows][1:])
    keep(replace(kept_run, dataset=replace(kept_run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models="a" * 16, row="x" * 6000)
    assert not app.exception and "a dog plays in the snow" in texts(app)
    assert any("takes 6,000 bytes" in sentence for sentence in sentences(app))


def test_the_history_describes_each_change_in_words():
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
