"""An SQLite file and a real PostgreSQL server for the desk's tests: a fresh cluster on a free port."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest

from tests.shared import free_port, shared


def _programs():
    """The folder of initdb and pg_ctl: Debian's are not in the search path."""
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    other = shutil.which("initdb")
    return known[-1].parent if known else Path(other).parent if other else None


def _as_postgres(*command):
    """PostgreSQL refuses root, so root runs it as Debian's user postgres."""
    return ["runuser", "-u", "postgres", "--", *map(str, command)] if os.geteuid() == 0 else list(map(str, command))


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory):
    """The address of a server of the tests' own, one for all test processes."""
    with shared(tmp_path_factory, "postgresql", _started, _stop) as server:
        yield server["address"]


def _started(_):
    programs = _programs()
    if programs is None:
        pytest.fail("These tests need PostgreSQL: install it with `apt-get install postgresql`.", pytrace=False)
    port = free_port()
    # Not below pytest's own folder, which only its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="pairlens-postgresql-"))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    control = [programs / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log"]
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    _run(programs / "initdb", "-D", folder / "data", "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync")
    _run(*control, "-o", options, "start")
    return {
        "address": f"postgresql+psycopg://tests@127.0.0.1:{port}/",
        "folder": str(folder),
        "stop": [*map(str, control), "-m", "immediate", "stop"],
    }


def _stop(server):
    _run(*server["stop"])
    shutil.rmtree(server["folder"], ignore_errors=True)


def _run(*command):
    subprocess.run(_as_postgres(*command), check=True, stdout=subprocess.DEVNULL, cwd="/")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.variant)])
def database(request, tmp_path, monkeypatch):
    """The address of an empty database of this kind, named in PAIRLENS_DB."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path / 'desk.sqlite3'}"
    else:
        server, name = request.getfixturevalue("postgresql"), f"desk_{os.getpid()}_{abs(hash(tmp_path))}"
        with psycopg.connect(f"{server.replace('+psycopg', '')}postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        address = server + name
    monkeypatch.setenv("PAIRLENS_DB", address)
    return address
