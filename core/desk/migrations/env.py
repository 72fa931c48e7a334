"""Alembic's environment: runs migrations on the connection from core.desk.database."""

from alembic import context

from core.desk.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
