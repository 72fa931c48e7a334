"""Explore: a verdict is corrected, the model adapted to it, and the page shows the changes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from app import own_models
from app.explore.changes import _ranked
from app.explore.corrections import read_uploaded
from app.page_state.explore import ExploreState
from app.pairs import Pair
from core.adaptation.corrections import MOST, Correction, from_lines, merged, put, to_csv, to_lines
from core.adaptation.fits import PULLS
from core.checkpoint import available, load_named
from core.checkpoint.unlisted import base_of, folder_of, new_name, remove, save_as
from core.data.dataset import DataError
from core.errors import UserError
from core.explain import explain
from core.files import FileError
from tests.app.desk_page import button, texts
from tests.app.made_up_models import make_checkpoint
from tests.app.pages import lines_of, open_file, open_view, query

WRONG = [
    Correction("a dog is outside", "a cat is outside", "contradiction"),
    Correction("a man is <b>cold</b>", "a woman is *cold*", "contradiction"),
    Correction("not for this model", "", "positive"),
]


@pytest.fixture
def adapted(own_desk, monkeypatch):
    """Explore with an adapted model; its maker is Ann."""
    monkeypatch.setattr(own_models, "maker", lambda: "browser of Ann")  # AppTest has no cookies
    link = {"model": "test-light", "first": WRONG[0].first, "second": WRONG[0].second}
    app = open_view("explore", **link, corrections=to_lines(WRONG))
    assert not app.exception and "1 correction of other classes or texts is not for this model" in texts(app)
    boxes = [box.proto.id for box in app.text_input]
    button(app, "Adapt the model").click().run()
    assert [box.proto.id for box in app.text_input][:2] == boxes, "what is typed meanwhile would be lost in a new box"
    return app


def test_an_adapted_model_is_selected_and_its_changes_are_shown(adapted, drawn, monkeypatch):
    name = query(adapted)["model"]
    assert not adapted.exception and base_of(name) == "test-light" and name not in list(available())
    model = load_named(name)
    assert model.card["title"] == "Test light + 2 corrections" and model.card["base"]["name"] == "test-light"
    answer = explain(model, WRONG[0].first, WRONG[0].second)
    shown = {one["label"]: one["p"] for one in drawn(adapted)["verdict"]["classes"]}
    assert shown["contradiction"] == pytest.approx(answer.probabilities[answer.labels.index("contradiction")], abs=1e-5)
    assert drawn(adapted)["verdict"]["correct"]["label"] == "contradiction"
    shown = [lines_of(table) for table in adapted.table]
    kinds = next(rows for rows in shown if " of " in rows[0][1])
    assert all(re.fullmatch(r"[^/:]+: .+ / .+", row[0]) for row in kinds), "a kind’s name needs an example"
    before = [explain(load_named("test-light"), one.first, one.second) for one in WRONG[:2]]
    stood = sum(one.labels[int(np.argmax(one.probabilities))] == "contradiction" for one in before)
    shown = rf" \({stood} did before\)" if stood else ""
    assert re.search(rf"\d of 2 corrections now stand{shown}\. Of our test pairs, \d+ of the \d+", texts(adapted))
    tables = [lines_of(table) for table in adapted.table]
    pairs = next(rows for rows in tables if any("a dog is outside" in row[0] for row in rows))
    assert len(pairs) == 2 and any("<b>cold</b>" in row[0] for row in pairs), "texts are shown verbatim"

    # The rows of a file, before and after.
    file = [
        Correction(first, second, "neutral") for first in ("a dog", "a man is cold") for second in ("a cat", "snow")
    ]
    tested = next(one for one in adapted.file_uploader if one.label == "Labelled pairs")
    tested.set_value(("rows.csv", to_csv(file).encode(), "text/csv")).run()
    base = load_named("test-light")
    right = [sum(explain(one, *pair.pair).verdict == "neutral" for pair in file) for one in (base, model)]
    before, now = (f"{100 * count / 4:.0f}\N{NO-BREAK SPACE}%" for count in right)
    assert re.search(rf"4 rows: {before} \([\d. –]+\) right before, {now} \(.*McNemar’s exact p = ", texts(adapted))

    # Another strength of the pull: the same model, refitted.
    slider = adapted.select_slider[0]
    before = model.card["adaptation"]["pull"]
    assert slider.options == [f"{step} of {len(PULLS)}" for step in range(1, len(PULLS) + 1)]
    other = next(value for value in ("0.3", "10") if float(value) != before)
    slider.set_value(other).run()
    assert not adapted.exception and query(adapted)["model"] == name
    assert load_named(name).card["adaptation"]["pull"] == float(other)

    # A disk that is full: a sentence without the server's folders, and the model as it was.
    def full(folder, *args, **named):
        raise FileError(f"{folder} cannot be written (No space left on device)")

    with monkeypatch.context() as patched:
        patched.setattr("core.checkpoint.adapted.save_adapted", full)
        assert not any(one.label == "Adapt the model" for one in adapted.button), "the same model again"
        box = next(box for box in adapted.selectbox if box.label.startswith("Right class of a dog"))
        box.set_value("neutral").run()
        button(adapted, "Adapt the model").click().run()
        assert not adapted.exception and query(adapted)["model"] == name
        assert "server’s disk is full" in str(drawn(adapted)["notices"])
        adapted.select_slider[0].set_value("1").run()
        assert not adapted.exception and "server’s disk is full" in str(drawn(adapted)["notices"])
        assert adapted.select_slider[0].value == other, "the slider shows the model’s pull"
        assert adapted.select_slider[0].proto.id == slider.proto.id, "a new widget would take the keyboard’s focus away"
    assert load_named(name).card["adaptation"]["pull"] == float(other)

    # Its maker finds it on top of the lists after a reload, too; the pull of a link's visitor makes another.
    again = open_view("explore", model="test-light")
    assert (
        next(box for box in again.selectbox if box.label == "Model").options[1].startswith("Test light + 2 corrections")
    )
    assert open_view("models").dataframe[0].value["title"][0].startswith("Test light + 2 corrections")
    monkeypatch.setattr(own_models, "maker", lambda: "browser of Bob")
    visitor = open_view("explore", model=name, first="a dog", second="a cat")
    visitor.select_slider[0].set_value("0.1").run()
    assert base_of(query(visitor)["model"]) == "test-light" and query(visitor)["model"] != name

    # A link opens it for a visitor who has none of it, and no list of theirs shows it to another.
    monkeypatch.setattr(own_models, "maker", lambda: "browser of Cleo")
    visitor = open_view("explore", model=name, first="a dog", second="a cat")
    assert (
        not visitor.exception
        and query(visitor)["model"] == name
        and "What changed" in [e.label for e in visitor.expander]
    )
    stranger = open_view("explore", model="test-light")
    assert not any("corrections" in option for box in stranger.selectbox for option in box.options)
    # So does a saved page: its file does not share the model as a link does, and this session does not know the model.
    open_file(stranger, ExploreState(model=name, texts=(Pair("a dog", "a cat"),)).to_file().encode())
    assert not stranger.exception and query(stranger)["model"] == name and not drawn(stranger)["notices"]
    compared = open_view("compare", **{"model": "test-light", "with": name})
    assert not compared.exception and query(compared)["with"] == name


def test_an_adapted_model_that_is_gone_gives_way_to_its_base(own_desk, drawn):
    app = open_view("explore", model=new_name("test-light"), first="a dog", second="a cat")
    assert query(app)["model"] == "test-light"
    gone = "The unlisted model of this link was only kept for a day; showing test-light."
    assert gone in drawn(app)["notices"]
    assert folder_of("test-light~" + "../" * 10) is None and folder_of("no-token") is None


def test_a_correction_is_changed_and_removed_and_a_file_brings_more(own_desk, drawn):
    link = {"model": "test-light", "first": WRONG[0].first, "second": WRONG[0].second}
    app = open_view("explore", **link, corrections=to_lines(WRONG[:2]))
    box = next(box for box in app.selectbox if box.label.startswith("Right class of a dog"))
    box.set_value("neutral").run()
    assert [one.label for one in from_lines(query(app)["corrections"])] == ["neutral", "contradiction"]
    next(one for one in app.button if one.key == "remove correction 0").click().run()
    assert from_lines(query(app)["corrections"]) == (WRONG[1],)
    assert read_uploaded("mine.csv", to_csv(WRONG[:2]).encode()) == WRONG[:2]
    assert read_uploaded("../mi\0ne .csv", to_csv(WRONG[:2]).encode()) == WRONG[:2]
    with pytest.raises(DataError):
        read_uploaded("mine.csv", b"\x00")
    # A spreadsheet's spelling of a class, spaces, other headers, and the same pair twice.
    names = {"0": "not an answer", "1": "An answer"}
    sheet = (
        "Asked;Replied;Right\n" + 'Who ""came""; then?;Ann  came then;an Answer\nWho went home?;Bob went home;0\n' * 4
    )
    sheet = sheet.replace('Who ""came""; then?', '"Who ""came""; then?"')
    found = read_uploaded("own.csv", sheet.encode(), names)
    assert {(*one.pair, one.label) for one in found} == {
        ('Who "came"; then?', "Ann  came then", "1"),
        ("Who went home?", "Bob went home", "0"),
    }
    meant = read_uploaded("own.csv", sheet.replace(";an Answer", ";Yes").replace(";0", ";no").encode(), names)
    assert [one.label for one in meant] == [one.label for one in found], "the words of a file for these classes"
    ranker = load_named("test-as")
    odds = [torch.tensor([[0.0, score] for score in scores]) for scores in ((2, 1, 0, 0), (1, 2, 0, 0))]
    rows = [Correction("who?", name, label) for name, label in (("Ann", "0"), ("Bob", "1"))]
    told = _ranked(ranker, [*rows, *(replace(row, first="why?", label="0") for row in rows)], odds)
    assert told.startswith("Questions with a right answer: 1.") and "MAP 50.0\u00a0% before, 100.0\u00a0% now" in told
    assert [one.label for one in merged((), found)[0]] == ["1", "0"] and not merged((), found)[1]
    spaced = Correction(" a dog  is outside", "a cat is outside ", "neutral")
    ((kept, other), told) = merged(WRONG[:2], [replace(spaced, label="entailment"), spaced])
    assert (kept, other) == (WRONG[1], spaced) and told == ["Another class further down counts for 1 row of the file."]
    many = [Correction(f"row {n}", "b", "c") for n in range(MOST + 3)]
    full, told = merged(WRONG[:2], many)
    assert full == (*WRONG[:2], *many[:-5]) and told == ["5 of 203 corrections left out, because the limit is 200."]
    with pytest.raises(UserError, match="at most 200 corrections"):
        put(full, WRONG[2])
    for content, says in ((b"sentence1,sentence2,label\na,b,\n", "no row of x.csv has a label: write"),
                          (b"one,two\na,b\nc,d\n", "call them sentence1, sentence2 and label")):  # fmt: skip
        with pytest.raises(DataError, match=says):
            read_uploaded("x.csv", content)
    for broken in ("[]", '["a", "b"]', "{", '["", "b", "c"]', "null"):
        assert from_lines(broken) is None
    assert "corrections" in " ".join(drawn(open_view("explore", **link, corrections="[]"))["notices"])


def test_a_model_is_saved_for_all_and_only_its_maker_renames_or_deletes_it(adapted, drawn, monkeypatch):
    name = query(adapted)["model"]
    for wrong, says in (("../x", "a name has up to 60 letters"), ("test-light", "there is a model named test-light")):
        box = next(box for box in adapted.text_input if box.label.startswith("Save it for all"))
        box.set_value(wrong)
        button(adapted, "Save the model").click().run()
        assert says in texts(adapted).replace("A name", "a name").replace("There is", "there is")
    next(box for box in adapted.text_input if box.label.startswith("Save it for all")).set_value("my-model")
    button(adapted, "Save the model").click().run()
    assert not adapted.exception and query(adapted)["model"] == "my-model" and "my-model" in list(available())
    saved = available()["my-model"]
    assert not (saved / "pairs.csv").exists() and load_named("my-model").card["title"] == "my-model"

    # What it changed is shown for a saved model, too, if its pairs were kept, to whoever opens it.
    saved_too = save_as(folder_of(name), "with-pairs", "", "nobody", with_pairs=True)
    visitor = open_view("explore", model="with-pairs", first="a dog", second="a cat")
    assert "What changed" in [one.label for one in visitor.expander] and "Of our test pairs" not in texts(visitor)
    remove(saved_too)
    # Its maker deletes it while another visitor types: that runs only a part of the page, which learns it late.
    with monkeypatch.context() as patched:
        listed = iter([{}])
        patched.setattr("app.pair_form.available", lambda: next(listed, available()))
        visitor = open_view("explore", model="test-light", first="a dog", second="a cat")
    assert not visitor.exception and "“test-light” has been deleted: choose another" in str(drawn(visitor)["notices"])

    # In her lists, the saved one is on top, and takes the place of the other.
    again = open_view("models")
    assert again.dataframe[0].value["title"][0] == "my-model"
    assert not any("2 corrections" in title for title in again.dataframe[0].value["title"])

    card = open_view("models", model=name)
    assert not [one for one in card.button if one.label == "Rename"], "a link alone does not make one its maker"
    (again,) = [one for one in card.get("page_link") if "Adapt again" in one.proto.label]
    assert "2 corrections" in again.proto.label and "a+dog+is+outside" in again.proto.query_string
    card.session_state["models made"] = {name}
    card.run()
    assert "Save the model" in [one.label for one in card.button]
    next(box for box in card.text_input if box.label == "Title").set_value("Unsaved, renamed")
    button(card, "Rename").click().run()
    assert not card.exception and load_named(name).card["title"] == "Unsaved, renamed"

    monkeypatch.setattr(own_models, "maker", lambda: "browser of Bob")
    other = open_view("models", model="my-model")
    assert not other.exception and "Adapted from" in str([lines_of(table) for table in other.table])
    assert not [one for one in other.button if one.label in ("Rename", "Delete it for everybody")]
    monkeypatch.setattr(own_models, "maker", lambda: "browser of Ann")
    other.run()
    (again,) = [one for one in other.get("page_link") if "Adapt again" in one.proto.label]
    assert again.proto.label.endswith("correct verdicts in Explore"), "it was adapted to no file"
    box, models = next(box for box in other.text_input if box.label == "Title"), other.selectbox[0].proto.id
    box.set_value("<i>Mine</i>")
    button(other, "Rename").click().run()
    assert not other.exception and load_named("my-model").card["title"] == "<i>Mine</i>"
    assert other.selectbox[0].proto.id != models, "the browser would send the old title, which is gone"
    button(other, "Delete it for everybody").click().run()
    assert not other.exception and "my-model" not in available()

    monkeypatch.setenv("PAIRLENS_SAVING", "off")
    for again in (open_view("models", model=name), open_view("explore", model=name, first="a dog", second="a cat")):
        assert not again.exception and "Save the model" not in [one.label for one in again.button]
        assert "Saving under a name is switched off on this server" in texts(again)


def test_a_corrected_text_is_called_a_text_and_its_class_by_its_name(own_desk, tmp_path, monkeypatch):
    config = {"input_size": 16, "hidden": 12, "classes": 5, "context": "intra"}
    moods = {"labels": [*"01234"], "roles": {"first": "text", "second": "", "judged": "text"}, "config": config}
    make_checkpoint(tmp_path, "test-moods", "Test moods", 1, task="text classification", typical_length={}, **moods)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    corrections = [Correction("a <i>dog</i> is cold", "", "4")]
    app = open_view("explore", model="test-moods", first=corrections[0].first, corrections=to_lines(corrections))
    button(app, "Adapt the model").click().run()
    name = query(app)["model"]
    assert not app.exception and load_named(name).card["title"] == "Test moods + 1 correction"
    table = next(one for one in app.table if "Corrected texts" in one.value.columns)
    assert lines_of(table)[-1][0] == "a <i>dog</i> is cold" and "The model shown is adapted to them." in texts(app)
    link = next(one.proto.label for one in app.get("page_link") if "Compare" in one.proto.label)
    assert link == "Compare both on this text"
    card = open_view("models", model=name)
    assert "1 text (very positive 1)" in str([lines_of(table) for table in card.table])
    assert not card.exception and "cannot be read" not in texts(card), "its pairs are not a table of results"
