"""Tags and notes in SQLite and in PostgreSQL: history, undo, the taxonomy, names taken out, writes that survive."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from core.desk import schema
from core.desk.agreement import agreement
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.file_state import FileState, RowState
from core.errors import DeskError
from core.rooms import tables
from tests.core.write_tags import CLASSES, FILE, THREADS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def annotations(database):
    return Annotations(open_database())


def tags_by_row(annotations):
    return {key: row.tags for key, row in annotations.state(FILE).rows.items()}


def test_the_migrations_make_the_schema_and_attconvs_kinds_of_error(annotations, database):
    names = [tag.name for tag in annotations.taxonomy()]
    assert names == [
        "language conventions",
        "knowledge beyond the text",
        "discourse relation",
        "evidence missing",
        "misled by noise",
        "out-of-vocabulary",
        "wrong gold label",
        "other",
    ]
    with sa.create_engine(database).connect() as connection:
        assert tables.metadata is schema.metadata
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    assert [tag.name for tag in Annotations(open_database()).taxonomy()] == names


def test_several_tags_a_row_notes_and_looks(annotations):
    annotations.give("Ann", FILE, "1", "other")
    annotations.give("Ann", FILE, "1", "wrong gold label")
    annotations.give("Bob", FILE, "1", "other")
    annotations.look("Bob", FILE, "2")
    annotations.note("Bob", FILE, "2", " why\0 \ud83d? ")
    annotations.give("Ann", "0" * 64, "1", "other")
    state = annotations.state(FILE)
    assert state.rows == {
        "1": RowState({"other": {"Ann", "Bob"}, "wrong gold label": {"Ann"}}, {"Ann", "Bob"}, done={"Ann"}),
        "2": RowState(looked={"Bob"}, notes={"Bob": "why \ufffd?"}, done={"Bob"}),
    }
    assert annotations.annotators() == ["Ann", "Bob"]
    annotations.give("Ann", FILE, "1", "other", given=False)
    annotations.note("Bob", FILE, "2", "")
    state = annotations.state(FILE)
    assert state.row("1").tags == {"other": {"Bob"}, "wrong gold label": {"Ann"}} and not state.row("2").notes


def test_every_change_has_its_author_and_time_and_can_be_undone(annotations):
    annotations.note("Ann", FILE, "1", "first")
    annotations.note("Ann", FILE, "1", "second")
    annotations.note("Ann", FILE, "1", "second")  # nothing changes
    last, first = annotations.history(FILE, "1")
    assert (last.author, last.subject.kind, last.before, last.value) == ("Ann", "note", "first", "second")
    assert first.at <= last.at and last.at.tzinfo is not None
    with pytest.raises(DeskError, match="was changed since"):
        annotations.undo("Bob", first.id)
    annotations.undo("Bob", last.id)
    assert annotations.state(FILE).rows == {"1": RowState(looked={"Ann"}, notes={"Ann": "first"}, done={"Ann"})}
    undone, was, _ = annotations.history(FILE)
    assert (undone.author, undone.undoes, was.undone) == ("Bob", last.id, True)
    annotations.undo("Ann", undone.id)
    assert annotations.state(FILE).rows == {"1": RowState(looked={"Ann"}, notes={"Ann": "second"}, done={"Ann"})}


def test_tags_are_added_renamed_and_merged_with_nothing_lost(annotations):
    annotations.add_tag("Ann", " sarcasm ")
    with pytest.raises(DeskError, match="already"):
        annotations.add_tag("Bob", "Sarcasm")
    annotations.give("Ann", FILE, "1", "sarcasm")
    annotations.give("Bob", FILE, "2", "other")
    annotations.rename_tag("Ann", "sarcasm", "irony")
    annotations.merge_tags("Bob", "irony", "other")
    assert tags_by_row(annotations) == {"1": {"other": {"Ann"}}, "2": {"other": {"Bob"}}}
    assert annotations.taxonomy()[-1].merged == ("irony",)
    merged, renamed = annotations.history(limit=2)
    assert (merged.subject.kind, renamed.subject.kind) == ("tag merged", "tag name")
    assert (merged.tag, renamed.before, renamed.value) == ("irony", "sarcasm", "irony")
    annotations.undo("Ann", merged.id)
    annotations.undo("Ann", renamed.id)
    assert tags_by_row(annotations) == {"1": {"sarcasm": {"Ann"}}, "2": {"other": {"Bob"}}}
    with pytest.raises(DeskError, match="given to rows"):
        annotations.undo("Ann", annotations.history("")[-1].id)
    annotations.merge_tags("Bob", "sarcasm", "other")
    annotations.give("Ann", FILE, "1", "other", given=False)  # also what was given by the merged tag
    assert tags_by_row(annotations) == {"2": {"other": {"Bob"}}}


def test_a_tag_merged_into_a_merged_one_reads_as_the_last_and_cannot_be_given(annotations):
    for name in ("one", "two", "three"):
        annotations.add_tag("Ann", name)
    annotations.give("Ann", FILE, "1", "one")
    annotations.merge_tags("Ann", "one", "two")
    annotations.merge_tags("Ann", "two", "three")
    assert tags_by_row(annotations) == {"1": {"three": {"Ann"}}}
    assert annotations.taxonomy()[-1].merged == ("one", "two")
    for gone in ("one", "two"):
        with pytest.raises(DeskError, match="there is no tag"):
            annotations.give("Bob", FILE, "2", gone)


def test_a_tags_capitals_can_be_changed_and_changed_back(annotations):
    annotations.add_tag("Ann", "Negation")
    annotations.rename_tag("Ann", "Negation", "negation")
    assert annotations.taxonomy()[-1].name == "negation"
    annotations.undo("Bob", annotations.history()[0].id)
    assert annotations.taxonomy()[-1].name == "Negation"
    with pytest.raises(DeskError, match="already"):
        annotations.rename_tag("Ann", "Negation", "OTHER")


def test_two_tags_never_read_as_each_other(annotations):
    annotations.merge_tags("Ann", "other", "misled by noise")
    annotations.undo("Ann", annotations.history()[0].id)
    annotations.merge_tags("Ann", "misled by noise", "other")
    undone = next(change for change in annotations.history() if change.undoes is not None)
    with pytest.raises(DeskError, match="meanwhile"):
        annotations.undo("Ann", undone.id)
    with pytest.raises(DeskError, match="itself"):
        annotations.merge_tags("Ann", "other", "other")


def test_settled_tags_are_kept_next_to_given_tags(annotations):
    annotations.give("Ann", FILE, "1", "other")
    annotations.look("Bob", FILE, "1")
    annotations.settle("Bob", FILE, "1", "other", False)
    row = annotations.state(FILE).row("1")
    assert row.settled == {"other": False} and row.tags == {"other": {"Ann"}} and row.tags_that_hold() == set()
    annotations.settle("Bob", FILE, "1", "other", None)
    assert annotations.state(FILE).row("1").tags_that_hold() == {"other"}


def test_annotators_are_blind_by_default_as_soon_as_there_are_two(annotations):
    annotations.give("Ann", FILE, "1", "other")
    state = annotations.state(FILE)
    assert not state.blind("Ann") and state.blind("Bob") and state.blind("")
    annotations.settle("Ann", FILE, "1", "other", True)
    annotations.give("Bob", FILE, "2", "other")
    seen = annotations.state(FILE).seen_by("Bob")
    assert [*seen.rows] == ["2"] and seen.reviewed == {"Ann": 1, "Bob": 1}
    annotations.look("Bob", FILE, "1")
    row = annotations.state(FILE).seen_by("Bob").row("1")
    assert row.tags == {"other": {"Ann"}} and row.settled == {"other": True}
    annotations.blind("Bob", FILE, False)
    assert annotations.state(FILE).seen_by("") == annotations.state(FILE)


def test_the_rows_of_the_report_are_the_files_and_can_be_undone(annotations):
    for row in ("3", "1", "2"):
        annotations.report("Ann", FILE, row)
    annotations.report("Bob", FILE, "3", False)
    annotations.report("Bob", FILE, "3")
    annotations.report("Bob", "0" * 64, "1")
    assert annotations.state(FILE) == FileState({}, ("1", "2", "3"))
    annotations.undo("Ann", annotations.history(FILE, "1")[0].id)
    assert annotations.state(FILE).reported == ("2", "3")
    annotations.undo("Ann", annotations.history(FILE, "1")[0].id)
    assert annotations.state(FILE).reported == ("2", "3", "1")


def test_a_name_is_taken_out_of_everything(annotations, database, tmp_path):
    name = "Zacharias Removable"
    annotations.give(name, FILE, "1", "other")
    annotations.note(name, FILE, "1", "a note")
    annotations.remove_name(name)
    (author,) = annotations.state(FILE).row("1").tags["other"]
    assert author.startswith("annotator ") and annotations.annotators() == []
    assert {change.author for change in annotations.history()} == {author}
    if database.startswith("sqlite"):
        assert not [path for path in tmp_path.iterdir() if path.is_file() and name.encode() in path.read_bytes()]
    annotations.give(name, FILE, "2", "other")  # the same name again is another annotator
    assert annotations.state(FILE).row("2").looked == {name}
    with pytest.raises(DeskError, match="removed"):
        annotations.give(author, FILE, "3", "other")


def test_a_removal_is_a_change_with_an_author_that_cannot_be_undone(annotations):
    annotations.give("Ann", FILE, "1", "other")
    before = annotations.version()
    annotations.remove_name("Ann", "Bob")
    assert annotations.version() > before, "by which pages and files know that they are out of date"
    (removal, _) = annotations.history()
    assert (removal.author, removal.subject.kind, removal.value) == ("Bob", "name removed", "annotator 1")
    with pytest.raises(DeskError, match="cannot be restored"):
        annotations.undo("Bob", removal.id)
    annotations.remove_name("Bob")
    assert {change.author for change in annotations.history()} == {"annotator 1", "annotator 2"}
    with pytest.raises(DeskError, match="not an annotator"):
        annotations.remove_name("annotator 1")


def test_a_name_is_taken_out_though_somebody_is_called_annotator_1(annotations):
    annotations.give("Ann", FILE, "1", "other")
    annotations.give("annotator 1", FILE, "2", "other")
    annotations.remove_name("Ann")
    assert annotations.annotators() == ["annotator 1"]
    assert tags_by_row(annotations) == {"1": {"other": {"annotator 1 (2)"}}, "2": {"other": {"annotator 1"}}}


def test_an_impossible_request_gets_one_sentence(annotations):
    for wrong, why in (
        (lambda: annotations.give("", FILE, "1", "other"), "type your name"),
        (lambda: annotations.give("Ann", FILE, "1", "none such"), "no tag"),
        (lambda: annotations.add_tag("Ann", " "), "needs a name"),
        (lambda: annotations.undo("Ann", 10**9), "does not exist"),
        (lambda: annotations.remove_name("Cleo"), "not an annotator"),
    ):
        with pytest.raises(DeskError, match=why):
            wrong()
    assert annotations.history() == []


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nonsense", "not the address"),
        ("mysql://x@y/z", "not the address"),
        ("postgresql+psycopg://x:secret@y:port/z", "not the address"),
        ("sqlite:///z?timeout=secret", "not the address"),
        ("postgresql+psycopg://x:secret@127.0.0.1:1/z", "used"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_sentence_without_its_password(monkeypatch, address, why):
    monkeypatch.setenv("PAIRLENS_DB", address)
    with pytest.raises(DeskError, match=why) as caught:
        open_database()
    assert "secret" not in str(caught.value)


def test_a_database_of_a_newer_version_is_one_sentence(annotations, database):
    with sa.create_engine(database).begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '1000'"))
    with pytest.raises(DeskError, match="newer version of PairLens: update the program"):
        open_database()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("".join(map(chr, range(0x4E00, 0x4E00 + 6000))), "id “[^”]{40}…” takes 18,000 bytes; the limit"),
        ("a\0b", r"id 'a\\x00b' contains a character"),
        ("\ud83d", "contains a character"),
    ],
)
def test_a_row_that_no_database_can_hold_is_named_by_its_id(annotations, row, why):
    for refused in (
        lambda: annotations.give("Ann", FILE, row, "other"),
        lambda: annotations.look("Ann", FILE, row),
        lambda: annotations.note("Ann", FILE, row, "why"),
        lambda: annotations.settle("Ann", FILE, row, "other", True),
        lambda: annotations.history(FILE, row),
    ):
        with pytest.raises(DeskError, match=why):
            refused()
    longest = "".join(map(chr, range(0x4E00, 0x4E00 + schema.LONGEST_ROW // 3)))
    annotations.give("Ann", FILE, longest, "other")
    assert annotations.state(FILE).rows == {longest: RowState({"other": {"Ann"}}, {"Ann"}, done={"Ann"})}


def test_eight_threads_of_two_sessions_lose_nothing(database):
    sessions = [Annotations(open_database()) for _ in range(2)]

    def write(number):
        sessions[number % 2].give(f"annotator {number % 8}", FILE, f"row {number % 5}", "other")

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(40)))
    state = sessions[0].state(FILE)
    assert {(key, by) for key, row in state.rows.items() for by in row.looked} == {
        (f"row {n % 5}", f"annotator {n % 8}") for n in range(40)
    }


@pytest.mark.slow
def test_a_killed_process_loses_no_acknowledged_write(database):
    command = [sys.executable, "-m", "tests.core.write_tags"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    rows = [process.stdout.readline().strip() for _ in range(100)]
    process.kill()
    rows += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.wait(30)
    assert "" not in rows
    annotations = Annotations(open_database())
    state = annotations.state(FILE)
    for row in rows:
        number = int(row.split()[1])
        own = state.row(row)
        assert own.tags == {"other": {f"annotator {number % THREADS}"}}
        assert own.labels == {f"annotator {number % THREADS}": CLASSES[number % 2]}
    # A mark and its line in the history are written together or not at all.
    marks = sum(len(row.looked) + len(row.labels) for row in state.rows.values())
    assert len(annotations.history(FILE, limit=100_000)) == marks + len(CLASSES)
    annotations.give("after", FILE, "row 0", "other")


def test_the_state_of_a_file_is_read_through_the_index(tmp_path, monkeypatch):
    """A run of 30,000 rows and ten annotators opens without a scan of other files' events."""
    monkeypatch.setenv("PAIRLENS_DB", f"sqlite:///{tmp_path / 'desk.sqlite3'}")
    statements, engine = [], open_database()
    sa.event.listen(engine, "before_cursor_execute", lambda *about: statements.append(about[2:4]))
    Annotations(engine).state(FILE)
    read = [(statement, values) for statement, values in statements if FILE in values]
    with engine.connect() as connection:
        plans = [
            line[3]
            for statement, values in read
            for line in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        ]
    assert any("COVERING INDEX event_of_subject (file=?)" in line for line in plans)
    assert not any(line.startswith("SCAN") for line in plans)


def test_what_the_first_annotator_tagged_before_anyone_else_counts_for_agreement(database):
    annotations = Annotations(open_database())
    annotations.give("Ann", FILE, "1", "other")
    annotations.give("Bob", FILE, "1", "other")
    annotations.look("Bob", FILE, "1")
    annotations.give("Ann", FILE, "2", "other")  # now she is asked for "Done"
    annotations.look("Bob", FILE, "2")
    seen = annotations.state(FILE).seen_by("Ann")
    assert [(one.name, one.rows, one.agreed) for one in agreement(["other"], seen.rows)] == [("other", 1, 1)]
    assert seen.row("2").looked == {"Ann"}
    annotations.blind("Ann", "d" * 64, True)
    annotations.give("Ann", "d" * 64, "1", "other")
    assert annotations.state("d" * 64).row("1").done == set(), "she was asked from the beginning"
