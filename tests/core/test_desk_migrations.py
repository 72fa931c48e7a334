"""A database of version 0.2.0, with data in it, is brought up to date by a later revision and keeps all of it."""

import shutil
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.desk import database as desk_database
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.file_state import RowState
from core.errors import DeskError
from tests.core.write_tags import FILE

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"

LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "later", "rooms"


def upgrade():
    op.create_table("reader", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text))
    op.execute("INSERT INTO reader SELECT id, name FROM annotator")
    with op.batch_alter_table("annotator") as table:  # which SQLite recreates, although events refer to it
        table.add_column(sa.Column("team", sa.Text, nullable=False, server_default="none"))
"""


@pytest.fixture
def written(database):
    """The engine of a database with tags, a note, an undone change and a removed name."""
    engine = open_database()
    annotations = Annotations(engine)
    annotations.give("Bob", FILE, "1", "other")
    annotations.note("Ann", FILE, "2", "why")
    annotations.note("Ann", FILE, "2", "never mind")
    annotations.undo("Bob", annotations.history(FILE, "2")[0].id)
    annotations.rename_tag("Ann", "other", "rest")
    annotations.remove_name("Bob")
    return engine


STATE = {
    "1": RowState({"rest": {"annotator 1"}}, {"annotator 1"}, done={"annotator 1"}),
    "2": RowState(looked={"Ann"}, notes={"Ann": "why"}),
}


@pytest.fixture
def a_later_version(tmp_path, monkeypatch):
    """Makes this program a later one, whose last revision is the given text."""

    def begin(revision=LATER):
        folder = tmp_path / "migrations"
        shutil.copytree(desk_database._MIGRATIONS, folder)
        (folder / "versions/later.py").write_text(revision)
        monkeypatch.setattr(desk_database, "_MIGRATIONS", folder)

    return begin


def tables(engine):
    return {*sa.inspect(engine).get_table_names()}


def test_a_later_revision_keeps_all_data(written, a_later_version):
    assert Annotations(written).state(FILE).rows == STATE
    history = Annotations(written).history()
    a_later_version()
    for _ in range(2):  # the second time there is nothing to do
        upgraded = open_database()
        annotations = Annotations(upgraded)
        assert annotations.state(FILE).rows == STATE and annotations.history() == history
        with upgraded.connect() as connection:
            assert {*connection.execute(sa.text("SELECT name, team FROM annotator"))} == {
                ("Ann", "none"),
                ("annotator 1", "none"),
            }
            assert {*connection.execute(sa.text("SELECT name FROM reader")).scalars()} == {"Ann", "annotator 1"}
    annotations.note("Ann", FILE, "1", "again")
    annotations.undo("Ann", history[1].id)
    assert annotations.state(FILE).row("1").tags == {"other": {"annotator 1"}}


def test_a_revision_that_fails_changes_nothing(written, a_later_version, monkeypatch):
    before = tables(written)
    with monkeypatch.context():
        a_later_version(LATER + "    op.execute('SELECT * FROM no_such_table')\n")
        with pytest.raises(DeskError, match="database cannot be used"):
            open_database()
    monkeypatch.undo()
    assert tables(written) == before and Annotations(written).state(FILE).rows == STATE


def test_a_backup_of_an_older_version_is_restored_over_a_later_one(
    written, database, a_later_version, tmp_path, monkeypatch
):
    """Restore with deploy/restore.sh, or from a copy of the SQLite file."""
    backup, desk = tmp_path / "backups" / "old", tmp_path / "desk"
    desk.mkdir()
    backup.parent.mkdir()
    (desk / "run").write_text("a run")
    monkeypatch.setenv("PAIRLENS_DESK", str(desk))
    history = Annotations(written).history()
    written.dispose()
    file = Path(database.removeprefix("sqlite:///"))
    if database.startswith("sqlite"):
        shutil.copy(file, backup)
    else:
        subprocess.run([DEPLOY / "backup.sh", backup.parent], check=True, capture_output=True)
        backup = next(backup.parent.glob("*.dump")).with_suffix("")
    a_later_version()
    upgraded = open_database()
    Annotations(upgraded).note("Ann", FILE, "4", "of today")
    upgraded.dispose()
    if database.startswith("sqlite"):
        for name in (f"{file}-wal", f"{file}-shm"):
            Path(name).unlink(missing_ok=True)
        shutil.copy(backup, file)
    else:
        subprocess.run([DEPLOY / "restore.sh", backup], check=True, capture_output=True)
        with sa.create_engine(database).connect() as connection:
            assert not sa.inspect(connection).has_table("reader")
    restored = open_database()
    annotations = Annotations(restored)
    assert annotations.state(FILE).rows == STATE and annotations.history() == history and "reader" in tables(restored)
    annotations.note("Ann", FILE, "4", "again")
    assert annotations.state(FILE).row("4").notes == {"Ann": "again"}
