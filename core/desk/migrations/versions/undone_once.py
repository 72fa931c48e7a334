"""A change is undone once at most, and a tag's number is never another tag's (which PostgreSQL had already)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

change = sa.table("change", *map(sa.column, ("id", "annotator", "what", "file", "row", "tag", "undoes")))


def upgrade() -> None:
    connection = op.get_bind()
    _undo_once(connection)
    op.create_index("change_undone_once", "change", ["undoes"], unique=True)
    if connection.dialect.name == "sqlite":
        with op.batch_alter_table("tag", recreate="always", table_kwargs={"sqlite_autoincrement": True}):
            pass
        # Tags of which the history alone tells had numbers, too.
        last = "max(seq, (SELECT coalesce(max(tag), 0) FROM change))"
        connection.execute(sa.text(f"UPDATE sqlite_sequence SET seq = {last} WHERE name = 'tag'"))


def _undo_once(connection: sa.Connection) -> None:
    """If two changes undo the same one, the later one actually undid the last change of that subject before it."""
    changes = connection.execute(sa.select(change).order_by(change.c.id)).all()
    author: dict[int, int] = {}
    last: dict[tuple[object, ...], int] = {}
    undone: set[int] = set()
    for own in changes:
        author[own.id] = own.annotator if own.undoes is None else author[own.undoes]
        of_one = own.what in ("looked", "tag", "note")
        subject = own.what, own.file, own.row, own.tag, author[own.id] if of_one else None
        if own.undoes is not None:
            undoes = last[subject] if own.undoes in undone else own.undoes
            undone.add(undoes)
            if undoes != own.undoes:
                connection.execute(sa.update(change).where(change.c.id == own.id).values(undoes=undoes))
        last[subject] = own.id
