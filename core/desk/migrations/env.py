"""What Alembic runs: migrations on the connection that core.desk.database gives it."""

from alembic import context

from core.desk.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
