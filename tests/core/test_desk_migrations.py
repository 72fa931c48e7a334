"""A database of an older version, with data in it, is brought up to date and keeps all of it."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from core.desk import schema
from core.desk.annotations import Annotations, RowState
from core.desk.database import open_database, writing
from core.desk.migrations.versions.event_log import TAGS
from core.desk.strongest_words import StrongestWord, StrongestWords
from core.errors import DeskError
from tests.core.old_databases import create
from tests.core.write_tags import FILE

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"

SARCASM, GONE = 9, 10
"""Numbers of a tag that is there, and of one of which the history alone tells."""
CHANGES = [
    # number, annotator, what, row, tag, before, after, undoes
    (1, 1, "tag added", None, SARCASM, None, "sarcasm", None),
    (2, 1, "tag", "1", SARCASM, None, "yes", None),
    (3, 2, "tag", "1", SARCASM, "yes", None, 2),
    (4, 1, "tag", "1", SARCASM, None, "yes", None),
    (5, 2, "tag", "1", SARCASM, "yes", None, 2),  # by a button of before
    (6, 1, "note", "2", None, None, "why", None),
    (7, 1, "note", "2", None, "why", None, 6),
    (8, 2, "note", "2", None, None, "why", 7),
    (9, 1, "note", "2", None, "why", None, 6),  # undone, redone, undone
    (10, 2, "tag", "3", SARCASM, None, "yes", None),
    (11, 1, "tag added", None, GONE, None, "irony", None),
    (12, 1, "tag added", None, GONE, "irony", None, 11),
]


REPAIRED = {5: 4, 9: 8}


@pytest.fixture
def old(database):
    """Makes a database of a revision, with data in it."""

    def make(revision):
        engine = sa.create_engine(database)
        tables = create(engine, revision).tables
        with writing(engine) as connection:
            people = [{"name": "Ann", "removed": False}, {"name": "annotator 2", "removed": True}]
            connection.execute(sa.insert(tables["annotator"]).values(people))
            tag = tables["tag"]
            connection.execute(sa.insert(tag).values(name="sarcasm", merged_into=8))
            connection.execute(sa.insert(tag).values(name="irony"))
            connection.execute(sa.delete(tag).where(tag.c.id == GONE))
            marks = [{"file": FILE, "row": "3", "annotator": 2, "tag": tag} for tag in (SARCASM, 1)]
            connection.execute(sa.insert(tables["mark"]), marks)
            connection.execute(sa.insert(tables["look"]).values(file=FILE, row="4", annotator=1))
            connection.execute(sa.insert(tables["note"]).values(file=FILE, row="5", annotator=1, text="so"))
            connection.execute(sa.insert(tables["settled"]).values(file=FILE, row="3", tag=1, given=False))
            names = ("annotator", "what", "row", "tag", "before", "after", "undoes")
            at = sa.func.current_timestamp()
            for number, *values in CHANGES:
                own = dict(zip(names, values, strict=True))
                if revision > 1:  # which undid a change once at most
                    own["undoes"] = REPAIRED.get(number, own["undoes"])
                connection.execute(sa.insert(tables["change"]).values(at=at, file=own["row"] and FILE, **own))
        return engine

    return make


STATE = {
    "3": RowState(
        {"other": {"annotator 2"}, "language conventions": {"annotator 2"}},
        {"annotator 2"},
        settled={"language conventions": False},
    ),
    "4": RowState(looked={"Ann"}, done={"Ann"}),
    "5": RowState(looked={"Ann"}, notes={"Ann": "so"}),
}


def events(annotations):
    """The whole history, oldest first: author, kind, row, tag, before, value, and the place of what it undoes."""
    known = annotations.history(limit=1000)[::-1]
    places = {event.id: place for place, event in enumerate(known, start=1)}
    return [
        (
            event.author,
            event.subject.kind,
            event.subject.row or None,
            event.tag,
            event.before,
            event.value,
            places.get(event.undoes),
        )
        for event in known
    ]


@pytest.mark.parametrize("revision", range(1, 6))
def test_an_old_database_becomes_a_log_with_all_its_data(old, revision):
    old(revision)
    upgraded = open_database()
    annotations, names = Annotations(upgraded), {1: "Ann", 2: "annotator 2"}
    assert annotations.state(FILE).rows == STATE and annotations.state(FILE).reported == ()
    kinds = {"tag added": "tag name"}
    tags = {SARCASM: "sarcasm", GONE: "irony", None: None}
    assert events(annotations) == [
        (names[by], kinds.get(kind, kind), row, tags[tag], before, after, REPAIRED.get(number, undoes))
        for number, by, kind, row, tag, before, after, undoes in CHANGES
    ]
    assert [(tag.id, tag.name, tag.merged) for tag in annotations.taxonomy()] == [
        (number, name, ("sarcasm",) if name == "other" else ()) for number, name in enumerate(TAGS, start=1)
    ]
    assert annotations.annotators() == ["Ann"] and StrongestWords(upgraded).known(FILE, "a" * 64) == {}
    with upgraded.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
        assert set(sa.inspect(connection).get_table_names()) == {*schema.metadata.tables, "alembic_version"}


def write_old(engine, *changes, **tables):
    """Lines of the old history, and of the old tables of state."""
    old = sa.MetaData()
    old.reflect(engine)
    with writing(engine) as connection:
        for name, lines in tables.items():
            connection.execute(sa.insert(old.tables[name]), lines)
        for change in changes:
            connection.execute(sa.insert(old.tables["change"]).values(at=datetime(2026, 1, 2, 3, 4), **change))


def test_an_old_history_can_be_undone_to_the_first_value(database):
    engine = sa.create_engine(database)
    create(engine, 5)
    rename = {"annotator": 1, "what": "tag renamed", "tag": 8, "before": "other", "after": "rest"}
    merge = {"annotator": 1, "what": "tag merged", "tag": 1, "after": "2"}
    reported = [{"annotator": 1, "what": "reported", "file": FILE, "row": row, "after": "yes"} for row in "21"]
    removed = {"annotator": 1, "what": "name removed", "after": "annotator 2"}
    people = [{"name": "Ann", "removed": False}, {"name": "annotator 2", "removed": True}]
    shown = [{"file": FILE, "row": row} for row in "12"]
    write_old(engine, annotator=people)
    write_old(engine, rename, merge, *reported, removed, reported=shown)
    with writing(engine) as connection:
        connection.execute(sa.text("UPDATE tag SET name = 'rest' WHERE id = 8"))
        connection.execute(sa.text("UPDATE tag SET merged_into = 2 WHERE id = 1"))
    annotations = Annotations(open_database())
    assert annotations.state(FILE).reported == ("2", "1")
    assert [tag.name for tag in annotations.taxonomy()] == [*TAGS[1:-1], "rest"]
    history = annotations.history()
    assert {event.at for event in history} == {datetime(2026, 1, 2, 3, 4, tzinfo=UTC)}
    kinds = [event.subject.kind for event in history]
    assert kinds == ["name removed", "reported", "reported", "tag merged", "tag name"]
    for event in history[1:]:
        annotations.undo("Ann", event.id)
    assert annotations.state(FILE).reported == () and [tag.name for tag in annotations.taxonomy()] == list(TAGS)
    with pytest.raises(DeskError, match="cannot be restored"):
        annotations.undo("Ann", history[0].id)


def test_old_tables_win_over_a_contradicting_history(database):
    engine = sa.create_engine(database)
    create(engine, 5)
    about = {"annotator": 1, "file": FILE}
    write_old(engine, annotator=[{"name": "Ann", "removed": False}])
    write_old(
        engine,
        {**about, "what": "note", "row": "1", "after": "of the history"},
        {**about, "what": "looked", "row": "2", "after": "yes"},
        note=[{**about, "row": "1", "text": "of the table"}],
    )
    annotations = Annotations(open_database())
    assert annotations.state(FILE).rows == {"1": RowState(looked={"Ann"}, notes={"Ann": "of the table"}, done={"Ann"})}
    assert [event.value for event in annotations.history()] == ["yes", "of the history"]
    annotations.note("Ann", FILE, "1", "new")
    assert annotations.history()[0].before == "of the table"


def test_a_backup_of_an_old_database_is_restored_over_a_new_one(old, database, tmp_path, monkeypatch):
    """Restore with deploy/restore.sh, or from a copy of the SQLite file."""
    engine = old(5)
    backup, desk = tmp_path / "backups" / "old", tmp_path / "desk"
    desk.mkdir()
    backup.parent.mkdir()
    (desk / "run").write_text("a run")
    monkeypatch.setenv("PAIRLENS_DESK", str(desk))
    if database.startswith("sqlite"):
        file = Path(database.removeprefix("sqlite:///"))
        shutil.copy(file, backup)
    else:
        subprocess.run([DEPLOY / "backup.sh", backup.parent], check=True, capture_output=True)
        backup = next(backup.parent.glob("*.dump")).with_suffix("")
    engine.dispose()
    upgraded = open_database()
    Annotations(upgraded).note("Ann", FILE, "4", "of today")
    upgraded.dispose()
    if database.startswith("sqlite"):
        for name in (f"{file}-wal", f"{file}-shm"):
            Path(name).unlink(missing_ok=True)
        shutil.copy(backup, file)
    else:
        subprocess.run([DEPLOY / "restore.sh", backup], check=True, capture_output=True)
    annotations = Annotations(open_database())
    assert annotations.state(FILE).rows == STATE and len(annotations.history()) == len(CHANGES)
    annotations.note("Ann", FILE, "4", "again")
    assert annotations.state(FILE).row("4").notes == {"Ann": "again"}


def test_strongest_words_of_before_are_those_of_dropping(database):
    engine = sa.create_engine(database)
    create(engine, 4)
    old = {"file": FILE, "row": "1", "checkpoint": "a" * 64, "word": "not", "side": "hypothesis"}
    with writing(engine) as connection:
        tables = sa.MetaData()
        tables.reflect(engine)
        connection.execute(sa.insert(tables.tables["strongest_word"]).values(**old))
    words = StrongestWords(open_database())
    assert words.known(FILE, "a" * 64) == {"1": StrongestWord("not", "hypothesis")}


def test_an_old_database_is_migrated_without_its_faults(old):
    old(1)
    annotations = Annotations(open_database())
    assert {key: row.tags for key, row in annotations.state(FILE).rows.items() if row.tags} == {
        "3": {"other": {"annotator 2"}, "language conventions": {"annotator 2"}}
    }
    for row, count in (("1", 4), ("2", 4)):
        changes = annotations.history(FILE, row)
        assert len({change.id for change in changes}) == len(changes) == count
        annotations.undo("Ann", changes[0].id)
    state = annotations.state(FILE)
    assert state.row("1").tags == {"other": {"Ann"}} and state.row("2").notes == {"Ann": "why"}
    annotations.add_tag("Ann", "new")
    assert next(tag.id for tag in annotations.taxonomy() if tag.name == "new") > GONE
