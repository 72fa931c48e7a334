"""Tags, labels and notes go to another desk or a changed file, with a count of what did not match."""

import json
from dataclasses import replace

import pytest

from core.desk import transfer
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.file_state import Decision
from core.desk.labelling import Labelling
from core.desk.transfer import BY_ID, BY_TEXTS
from core.errors import DeskError
from tests.core.made_up_runs import ROWS, made_up_run, with_rows


def test_annotations_move_to_a_changed_file_and_to_another_desk(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", f"sqlite:///{tmp_path / 'one.sqlite3'}")
    engine, run = open_database(), made_up_run(tmp_path)
    annotations, labelling, file = Annotations(engine), Labelling(engine), run.dataset.sha256
    labelling.add_classes("Ann", file, ["entailment", "neutral"])
    labelling.label("Ann", file, "1e", 1)
    labelling.label("Bob", file, "1e", 2)
    labelling.label("Bob", file, "2e", "unsure")
    labelling.decide("Cleo", file, "1e", 2)
    annotations.add_tag("Ann", "irony")
    annotations.define_tag("Ann", "irony", "says the opposite")
    annotations.give("Ann", file, "1n", "irony")
    annotations.give("Bob", file, "2n", "other")
    annotations.settle("Cleo", file, "2n", "other", False)
    annotations.note("Bob", file, "1n", "why")
    annotations.look("Bob", file, "1c")
    state = annotations.state(file)
    saved = transfer.to_text(transfer.whole(run, state, annotations.taxonomy()))
    assert json.loads(saved)["withheld"] == 0
    hidden = transfer.whole(run, state.seen_by("Ann", decisions=True), annotations.taxonomy())
    assert hidden.withheld > 0 and {row.decided for row in hidden.rows} == {None, ("neutral", "Cleo")}

    # The rows in another order with other ids, one of them changed, in a file of another checksum.
    changed = [replace(row, id=f"new {n}") for n, row in enumerate(reversed(run.dataset.rows))]
    changed[-1] = replace(changed[-1], first="another dog plays")
    later = with_rows(run, changed)
    later = replace(later, dataset=replace(later.dataset, sha256="9" * 64))
    monkeypatch.setenv("PAIRLENS_DB", f"sqlite:///{tmp_path / 'two.sqlite3'}")
    other = open_database()
    Annotations(other).note("Bob", "9" * 64, "new 3", "another note")
    Annotations(other).remove_name("Bob")
    assert not transfer.matches(later, transfer.from_text(saved).rows, BY_ID)
    outcome = transfer.bring_in(other, "Dan", later, transfer.from_text(saved), BY_TEXTS)
    assert (outcome.rows, outcome.unmatched, outcome.new) == (4, 1, ["entailment", "neutral", "irony"])
    assert "4 of 5 rows matched" in outcome.sentence() and "1 did not match" in outcome.sentence()
    new = Annotations(other).state("9" * 64)
    assert new.row("new 3").tags == {"irony": {"Ann"}} and new.row("new 3").notes["Bob"] == "why"
    assert new.row("new 0").unsure == {"Bob"} and new.row("new 1").settled == {"other": False}
    assert next(tag for tag in Annotations(other).taxonomy() if tag.name == "irony").definition == "says the opposite"

    outcome = transfer.bring_in(other, "Dan", run, transfer.from_text(saved), BY_ID)
    assert (outcome.rows, outcome.unmatched) == (5, 0)
    brought = Annotations(other).state(file)
    assert brought.row("1e").labels == {"Ann": "entailment", "Bob": "neutral"}
    assert brought.row("1e").decision == Decision("neutral", "Cleo") and brought.classes == state.classes
    again = transfer.bring_in(other, "Dan", run, transfer.from_text(saved), BY_ID)
    assert (again.marks, again.kept) == (0, 0), "nothing is written twice"
    Labelling(other).label("Ann", file, "1e", 2)
    again = transfer.bring_in(other, "Dan", run, transfer.from_text(saved), BY_ID)
    assert (again.marks, again.kept) == (0, 1) and Annotations(other).state(file).row("1e").labels["Ann"] == "neutral"
    event = Annotations(other).history(file, "1n")[-1]
    assert event.author == "Dan", "the log names the importer"


def test_rows_of_the_same_texts_are_matched_in_order(tmp_path):
    run = made_up_run(tmp_path, [ROWS[0], ROWS[0], ROWS[1]])
    marks = [transfer.RowMarks(f"x{n}", (ROWS[0][0], ROWS[0][1])) for n in range(3)]
    assert transfer.matches(run, marks, BY_TEXTS) == {0: "1e", 1: "1e#2"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "PairLens annotations", "rows": 3}', "[" * 100_000, "\0"])
def test_another_file_is_one_sentence(text):
    with pytest.raises(DeskError, match="does not hold annotations"):
        transfer.from_text(text)


def test_unknown_people_classes_and_rows_are_added_or_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", f"sqlite:///{tmp_path / 'own.sqlite3'}")
    run, engine = made_up_run(tmp_path), open_database()
    keys, texts = run.keys.tolist(), ("a dog plays in the snow", "a dog plays")
    known = {"id": keys[0], "texts": texts, "labels": {"Zoe": "brand new", "": "brand new", "Ann": "=cmd|x"}}
    rows = [known | {"decided": ["=1+1", "Zoe"]}, {"id": "nowhere", "texts": ["x", "y"], "labels": {"Zoe": "yes"}}]
    names = [f"class {number}" for number in range(80)]
    facts = {"format": "PairLens annotations", "file": "f", "sha256": "0" * 64, "withheld": 0, "tags": {}}
    given = transfer.from_text(json.dumps(facts | {"classes": ["brand new", *names], "rows": rows}))
    told = transfer.bring_in(engine, "Ann", run, given, BY_ID).sentence()
    assert "1 of 2 rows matched, 1 mark written; 1 did not match" in told
    assert "added: brand new, class 0, class 1" in told and "and 42 more" in told and len(told) < 500
    assert "people removed here, or without a name, left out: “”" in told
    state = Annotations(engine).state(run.dataset.sha256)
    assert state.row(keys[0]).labels == {"Zoe": "brand new"} and state.row(keys[0]).decision is None
    assert len(state.classes) == 50 and [*state.rows] == [keys[0]]
