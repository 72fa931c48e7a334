"""The desk's database: an SQLite file or, for a group, the PostgreSQL database named in ``PAIRLENS_DB``."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from core.desk.folders import DESK_SETTING, check_writable, desk_folder
from core.errors import DeskError

_TURN = threading.RLock()
_FILE = "desk.sqlite3"
_PATIENCE = 30
"""Seconds that a write waits for another one."""
_LOCK = 20181
"""Number of the PostgreSQL advisory lock that allows one writer at a time, as in SQLite."""
_MIGRATIONS = Path(__file__).parent / "migrations"


def database_exists() -> bool:
    """Whether there is a database; does not create one."""
    return bool(os.environ.get("PAIRLENS_DB")) or (desk_folder() / _FILE).exists()


def open_database(url: str | None = None) -> Engine:
    """The database, migrated to the current schema; ``url``: overrides the database in this process's settings. Raises
    DeskError if it cannot be used."""
    url = url or os.environ.get("PAIRLENS_DB")
    if not url:
        folder = desk_folder()
        check_writable(folder, DESK_SETTING)
        url = f"sqlite:///{folder / _FILE}"
    engine = _engine(url)
    migrate(engine)
    return engine


def _engine(url: str) -> Engine:
    try:
        made = sa.make_url(url)
        if made.drivername not in ("sqlite", "postgresql+psycopg"):
            raise ArgumentError(made.drivername)
        if made.drivername == "sqlite":
            engine = sa.create_engine(made, connect_args={"timeout": _PATIENCE, "check_same_thread": False})
            event.listen(engine, "connect", _configure)
            event.listen(engine, "begin", _begin)
        else:
            engine = sa.create_engine(made, pool_pre_ping=True, connect_args={"connect_timeout": _PATIENCE})
    except (ArgumentError, NoSuchModuleError, ImportError, ValueError):  # ValueError: a port that is not a number
        raise DeskError(
            "PAIRLENS_DB is not the address of a database: use postgresql+psycopg://USER:PASSWORD@HOST:PORT/NAME, "
            "or unset it to use a file"
        ) from None
    return engine


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    # pysqlite would start deferred transactions, which fail if two of them start writing.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    # Migrations recreate tables that others reference. SQLite ignores this pragma inside a transaction.
    connection.exec_driver_sql(f"PRAGMA foreign_keys={'OFF' if options.get('migrates') else 'ON'}")
    connection.exec_driver_sql("BEGIN" if options.get("reads") else "BEGIN IMMEDIATE")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """An exclusive write transaction: no other writer interferes between its reads and its writes. It is committed when
    the block ends, or rolled back on an exception. Raises DeskError if the database cannot be used."""
    # SQLite's writers would sleep and wake in no particular order, so the threads of a process take turns instead.
    turn = _TURN if engine.dialect.name == "sqlite" else nullcontext()
    with _as_desk_errors(), turn, engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A read-only transaction, which does not wait for writers. Raises DeskError if the database cannot be used."""
    with _as_desk_errors(), engine.connect().execution_options(reads=True) as connection:
        yield connection


def empty_log(engine: Engine) -> None:
    """Empties SQLite's write-ahead log, which still contains deleted data until it is checkpointed. Raises DeskError if
    the database cannot be used."""
    if engine.dialect.name == "sqlite":
        with _as_desk_errors(), _TURN, closing(engine.raw_connection()) as raw:
            raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _as_desk_errors() -> Iterator[None]:
    """Converts database errors to DeskErrors; for a database server, without the original text, which may contain host
    and user."""
    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise DeskError(
                f"the desk's database cannot be used ({error.orig}): check that its folder can be written and has room"
            ) from error
        kind = type(error.orig).__name__
        raise DeskError(
            f"the desk's database cannot be used ({kind}): check that it is running, and check PAIRLENS_DB"
        ) from error


def migrate(engine: Engine) -> None:
    """Migrates the tables to the latest revision in core/desk/migrations. Raises DeskError if the database cannot be
    used, or was written by a newer version of the program."""
    from alembic import command  # imported here, because only the first page needs it
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    with writing(engine.execution_options(migrates=True)) as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:  # an unknown revision
            raise DeskError(
                "the desk's database was written by a newer version of PairLens: update the program, or set "
                "PAIRLENS_DB to another database"
            ) from None
