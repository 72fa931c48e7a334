"""The desk's database as revisions 1 to 5 made it."""

import sqlalchemy as sa

from core.desk.migrations.versions.event_log import TAGS


def create(engine, revision):
    """Create the tables of a revision, with the tags that it began with; returns them."""
    tables = sa.MetaData()

    def row():
        return [sa.Column("file", sa.String(64), primary_key=True), sa.Column("row", sa.Text, primary_key=True)]

    def key(table):
        return sa.Column(table, sa.Integer, sa.ForeignKey(f"{table}.id"), primary_key=True, autoincrement=False)

    sa.Table(
        "annotator",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.UniqueConstraint("name", name="annotator_name"),
    )
    tag = sa.Table(
        "tag",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("merged_into", sa.Integer, sa.ForeignKey("tag.id")),
        sa.UniqueConstraint("name", name="tag_name"),
        sqlite_autoincrement=revision > 1,
    )
    sa.Table("look", tables, *row(), key("annotator"))
    sa.Table("mark", tables, *row(), key("annotator"), key("tag"))
    sa.Table("note", tables, *row(), key("annotator"), sa.Column("text", sa.Text, nullable=False))
    sa.Table("settled", tables, *row(), key("tag"), sa.Column("given", sa.Boolean, nullable=False))
    sa.Table(
        "change",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("annotator", sa.Integer, sa.ForeignKey("annotator.id"), nullable=False),
        sa.Column("what", sa.String(20), nullable=False),
        sa.Column("file", sa.String(64)),
        sa.Column("row", sa.Text),
        sa.Column("tag", sa.Integer),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
        sa.Column("undoes", sa.Integer, sa.ForeignKey("change.id")),
        sa.Index("change_of_row", "file", "row"),
        *([sa.Index("change_undone_once", "undoes", unique=True)] if revision > 1 else []),
    )
    if revision > 2:
        sa.Table("reported", tables, *row())
    if revision > 3:
        way = [sa.Column("way", sa.String(20), primary_key=True)] if revision > 4 else []
        said = sa.Column("word", sa.Text, nullable=False), sa.Column("side", sa.String(80), nullable=False)
        checkpoint = sa.Column("checkpoint", sa.String(64), primary_key=True)
        sa.Table("strongest_word", tables, *row(), checkpoint, *way, *said)
    version = sa.Table("alembic_version", tables, sa.Column("version_num", sa.String(32), primary_key=True))
    tables.create_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.insert(tag), [{"name": name} for name in TAGS])
        connection.execute(sa.insert(version).values(version_num=str(revision)))
    return tables
