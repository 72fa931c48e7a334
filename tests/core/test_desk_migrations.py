"""A database of an older version, with data in it, is brought up to date and keeps all of it."""

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from core.desk import schema
from core.desk.annotations import Annotations
from core.desk.database import migrate, open_database, writing
from core.desk.strongest_words import StrongestWord, StrongestWords
from core.effects.words import TAKEN_AWAY
from core.errors import DeskError
from tests.core.write_tags import FILE

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
    """A database of the first version with data in it."""
    engine = sa.create_engine(database)
    migrate(engine, "1")
    old = sa.MetaData()
    old.reflect(engine)
    with writing(engine) as connection:
        connection.execute(
            sa.insert(old.tables["annotator"]).values(
                [{"name": "Ann", "removed": False}, {"name": "annotator 2", "removed": True}]
            )
        )
        tag = old.tables["tag"]
        connection.execute(sa.insert(tag).values(name="sarcasm", merged_into=8))
        connection.execute(sa.insert(tag).values(name="irony"))
        connection.execute(sa.delete(tag).where(tag.c.id == GONE))
        marks = [{"file": FILE, "row": "3", "annotator": 2, "tag": tag} for tag in (SARCASM, 1)]
        connection.execute(sa.insert(old.tables["mark"]), marks)
        connection.execute(sa.insert(old.tables["look"]).values(file=FILE, row="4", annotator=1))
        connection.execute(sa.insert(old.tables["note"]).values(file=FILE, row="5", annotator=1, text="so"))
        connection.execute(sa.insert(old.tables["settled"]).values(file=FILE, row="3", tag=1, given=False))
        names = ("annotator", "what", "row", "tag", "before", "after", "undoes")
        at = sa.func.current_timestamp()
        for _, *values in CHANGES:
            own = dict(zip(names, values, strict=True))
            connection.execute(sa.insert(old.tables["change"]).values(at=at, file=own["row"] and FILE, **own))
    return engine, old


def contents(engine, tables):
    with engine.connect() as connection:
        return {
            name: [tuple(row) for row in connection.execute(sa.select(table).order_by(*table.columns))]
            for name, table in tables.items()
            if name != "alembic_version"
        }


def test_an_old_database_is_brought_up_to_date_with_all_its_data(old):
    engine, tables = old
    before = contents(engine, tables.tables)
    upgraded = open_database()
    after = contents(upgraded, tables.tables)
    undoes = list(tables.tables["change"].columns.keys()).index("undoes")
    before["change"] = [
        (*row[:undoes], REPAIRED.get(row[0], row[undoes]), *row[undoes + 1 :]) for row in before["change"]
    ]
    assert after == before and Annotations(upgraded).state(FILE).reported == ()
    assert StrongestWords(upgraded).known(FILE, "a" * 64) == {}
    with upgraded.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_strongest_words_of_before_are_those_of_dropping(database):
    engine = sa.create_engine(database)
    migrate(engine, "4")
    old = {"file": FILE, "row": "1", "checkpoint": "a" * 64, "word": "not", "side": "hypothesis"}
    with writing(engine) as connection:
        tables = sa.MetaData()
        tables.reflect(engine)
        connection.execute(sa.insert(tables.tables["strongest_word"]).values(**old))
    words = StrongestWords(open_database())
    assert words.known(FILE, "a" * 64) == {"1": StrongestWord("not", "hypothesis")}
    assert words.known(FILE, "a" * 64, TAKEN_AWAY) == {}


def test_an_old_database_goes_on_without_its_faults(old):
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


def test_marks_still_need_their_tag(old):
    """The table of tags is made anew in SQLite, with others pointing to it."""
    engine = open_database()
    with pytest.raises(DeskError, match=r"IntegrityError|ForeignKeyViolation"), writing(engine) as connection:
        connection.execute(sa.insert(schema.mark).values(file=FILE, row="1", annotator=1, tag=99))
    with pytest.raises(DeskError, match=r"IntegrityError|ForeignKeyViolation"), writing(engine) as connection:
        connection.execute(sa.delete(schema.tag).where(schema.tag.c.id == SARCASM))
