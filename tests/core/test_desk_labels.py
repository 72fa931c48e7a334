"""Labels by people in SQLite and PostgreSQL: one class a row and person, blindness, decisions, agreement, columns."""

import csv
import io
import json

import numpy as np
import pytest

from core.desk.agreement import label_agreement, label_disagreements
from core.desk.annotations import Annotations
from core.desk.charts import agreements
from core.desk.classes import SKIPPED, UNSURE
from core.desk.database import open_database
from core.desk.exchange import tags_to_csv, to_csv, to_json
from core.desk.file_state import Decision
from core.desk.filters import rows_of
from core.desk.labelling import Labelling
from core.desk.table import open_table, with_tags
from core.errors import DeskError
from tests.core.made_up_runs import made_up_run
from tests.core.write_tags import FILE

CLASSES = ["bug", "wish", "question"]


@pytest.fixture
def annotations(database):
    return Annotations(open_database())


@pytest.fixture
def labelling(annotations):
    labelling = Labelling(annotations._engine)
    labelling.add_classes("Ann", FILE, CLASSES)
    return labelling


def labels(annotations, row="1"):
    return annotations.state(FILE).row(row).labels


def test_a_row_has_one_class_of_each_annotator_that_can_be_undone(annotations, labelling):
    labelling.label("Ann", FILE, "1", 1)
    labelling.label("Bob", FILE, "1", 1)
    labelling.label("Ann", FILE, "1", 3)
    assert annotations.state(FILE).classes == {1: "bug", 2: "wish", 3: "question"}
    assert labels(annotations) == {"Ann": "question", "Bob": "bug"}
    latest = annotations.history(FILE, "1")[0]
    assert (latest.author, latest.subject.kind, latest.before, latest.value) == ("Ann", "label", "bug", "question")
    annotations.undo("Bob", latest.id)
    assert labels(annotations) == {"Ann": "bug", "Bob": "bug"}
    labelling.label("Ann", FILE, "1", UNSURE)
    labelling.label("Bob", FILE, "1", SKIPPED)
    row = annotations.state(FILE).row("1")
    assert (row.labels, row.unsure, row.skipped, row.reviewers) == ({}, {"Ann"}, {"Bob"}, {"Ann"})
    labelling.label("Ann", FILE, "1", None)
    labelling.label("Bob", FILE, "1", None)
    assert not annotations.state(FILE).rows
    assert not annotations.history(FILE, "2"), "a row whose id is a class's number has only its own history"


def test_a_class_is_renamed_and_removed_while_others_label(annotations, labelling):
    labelling.label("Bob", FILE, "1", 1)
    labelling.rename_class("Ann", FILE, 1, " defect ")
    labelling.label("Bob", FILE, "2", 1)
    labelling.add_classes("Ann", FILE, ["Defect", "Wish", "praise"])
    assert annotations.state(FILE).classes == {1: "defect", 2: "wish", 3: "question", 4: "praise"}
    assert labels(annotations) == labels(annotations, "2") == {"Bob": "defect"}
    with pytest.raises(DeskError, match="rows have this class"):
        labelling.remove_class("Ann", FILE, 1)
    labelling.label("Bob", FILE, "3", 3)
    given = annotations.history(FILE, "3")[0]
    labelling.label("Bob", FILE, "3", None)
    taken = annotations.history(FILE, "3")[0]
    labelling.remove_class("Ann", FILE, 3)
    for change in (lambda: labelling.label("Bob", FILE, "4", 3), lambda: annotations.undo("Bob", taken.id)):
        with pytest.raises(DeskError, match="removed since"):
            change()
    assert given.value == annotations.history(FILE, "3")[-1].value == "question", "the history knows its name"
    labelling.add_classes("Ann", FILE, ["other"])
    assert annotations.state(FILE).classes[5] == "other", "its number is not used again"
    for name, why in [("", "needs a name"), ("=1+1", "formula"), ("WISH", "already")]:
        with pytest.raises(DeskError, match=why):
            labelling.rename_class("Ann", FILE, 1, name)
    with pytest.raises(DeskError, match="50 classes"):
        labelling.add_classes("Ann", FILE, [f"class {n}" for n in range(60)])


def test_labels_of_others_are_hidden_until_the_row_is_labelled(annotations, labelling):
    for row, own in (("1", 1), ("2", 2), ("3", 3)):
        labelling.label("Ann", FILE, row, own)
    labelling.label("Bob", FILE, "1", 2)
    labelling.label("Bob", FILE, "2", SKIPPED)
    annotations.note("Ann", FILE, "2", "why")
    state = annotations.state(FILE)
    assert state.blind("Bob") and state.reviewed == {"Ann": 3, "Bob": 1}
    seen = state.seen_by("Bob")
    assert {key: row.labels for key, row in seen.rows.items()} == {"1": {"Ann": "bug", "Bob": "wish"}, "2": {}}
    assert not seen.row("2").notes and seen.withheld == 2
    assert label_disagreements(seen.rows) == ["1"]
    labelling.decides("Cleo", FILE, True)
    with pytest.raises(DeskError, match="you decide on the labels of others"):
        labelling.label("Cleo", FILE, "1", 1)
    assert annotations.state(FILE).seen_by("Cleo").withheld == 0, "who decides sees all"
    labelling.decide("Cleo", FILE, "1", 3)
    labelling.decide("Cleo", FILE, "2", 3)
    state = annotations.state(FILE)
    assert state.row("1").decided == Decision("question", "Cleo") and not label_disagreements(state.rows)
    assert state.row("3").decided == Decision("question", "Ann"), "all who labelled it agree"
    assert state.seen_by("Bob").row("2").decision is None
    assert state.seen_by("Bob", decisions=True).row("2").decision == Decision("question", "Cleo")
    taken_back = annotations.history(FILE, "1")[0]
    annotations.undo("Ann", taken_back.id)
    assert annotations.state(FILE).row("1").decided is None
    labelling.decides("Cleo", FILE, False)
    labelling.label("Cleo", FILE, "1", 1)
    assert annotations.state(FILE).row("1").votes == {"bug": 2, "wish": 1}


def test_agreement_over_all_classes_and_by_class(annotations, labelling):
    assert label_agreement(annotations.state(FILE).rows) == []
    for row, (ann, bob) in enumerate([(1, 1), (1, 2), (2, 2), (3, 3), (1, 1)]):
        labelling.label("Ann", FILE, str(row), ann)
        labelling.label("Bob", FILE, str(row), bob)
    labelling.label("Ann", FILE, "alone", 1)
    labelling.label("Bob", FILE, "alone", UNSURE)
    rows = annotations.state(FILE).rows
    whole, bug, *_ = label_agreement(rows)
    # Po = 4/5; Pe = (3·2 + 1·2 + 1·1) / 25 = .36
    assert (whole.name, whole.rows, whole.agreed, whole.alpha) == ("all classes", 5, 4, None)
    assert whole.kappa == pytest.approx((0.8 - 0.36) / 0.64)
    # bug or not: Po = 4/5; Pe = (3·2 + 2·3) / 25 = .48
    assert (bug.name, bug.given, bug.agreed) == ("bug", 3, 4) and bug.kappa == pytest.approx((0.8 - 0.48) / 0.52)
    assert label_disagreements(rows) == ["1", "alone"]
    shown = agreements(label_agreement(rows), "class")
    assert shown.how.startswith("Of 5 rows that at least two annotators labelled.") and shown.head[-2:] == (
        "all agree",
        "κ",
    )
    assert shown.lines[0] == ("all classes", "5", "4", "0.69"), "no empty column for α"
    labelling.label("Cleo", FILE, "1", 1)
    measured = label_agreement(annotations.state(FILE).rows)
    assert measured[0].kappa is None and measured[0].alpha is not None, "three people: α"
    assert agreements(measured, "class").head[-1] == "α"


def test_labels_are_columns_and_are_exported(annotations, labelling, tmp_path):
    run = made_up_run(tmp_path)
    file = run.dataset.sha256
    labelling.add_classes("Ann", file, ["entailment", "neutral"])
    labelling.label("Ann", file, "1e", 1)
    labelling.label("votes", file, "1e", 2)
    labelling.label("Ann", file, "1c#2", 2)
    labelling.label("votes", file, "1n", UNSURE)
    labelling.decide("Cleo", file, "1n", 2)
    state = annotations.state(file)
    table = with_tags(open_table(run, known=bool), run, state)

    def found(expression):
        return [run.keys[place] for place in np.flatnonzero(rows_of(expression, table))]

    assert found("label.Ann = entailment") == ["1e"] and found("`label.votes'` = neutral") == ["1e"]
    assert found("label.decided = neutral") == ["1n", "1c#2"] and found("label.decided = gold") == ["1n"]
    assert found('label.votes contains "neutral: 1"') == ["1e", "1c#2"]
    assert found('label.votes != "" and label.decided = ""') == ["1e"]
    rows = {line["id"]: line for line in csv.DictReader(io.StringIO(to_csv(table, np.ones(6, dtype=bool)), newline=""))}
    assert (rows["1e"]["label.Ann"], rows["1e"]["gold"], rows["1n"]["label.decided"]) == (
        "entailment",
        "entailment",
        "neutral",
    )
    tags = [*csv.DictReader(io.StringIO(tags_to_csv(run, state), newline=""))]
    assert [(line["id"], line["annotator"], line["label"], line["decided_by"]) for line in tags] == [
        ("1e", "Ann", "entailment", ""),
        ("1e", "votes", "neutral", ""),
        ("1n", "votes", "(unsure)", "Cleo"),
        ("1c#2", "Ann", "neutral", "Ann"),
    ]
    whole = json.loads(to_json(run, state, np.ones(6, dtype=bool)))["rows"]
    assert whole[2]["decided"] == {"label": "neutral", "by": "Cleo"} and whole[0]["labels"]["Ann"] == "entailment"
