import pytest

from tests.core.databases import database, postgresql  # noqa: F401 (fixtures)
from tests.core.made_up import make_checkpoint, make_table
from tests.core.made_up_runs import made_up_run


@pytest.fixture(scope="session")
def table():
    return make_table()


@pytest.fixture(params=["attconv-light", "attconv-advanced"])
def checkpoint(request, tmp_path, table):
    return make_checkpoint(tmp_path / "tiny", table, request.param)


@pytest.fixture
def phrase_checkpoint(tmp_path, table):
    return make_checkpoint(tmp_path / "tiny-phrases", table, "phrases")


@pytest.fixture
def run(tmp_path):
    return made_up_run(tmp_path)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A desk without runs, and a folder of data sets without any."""
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path / "sets"))
    (tmp_path / "sets").mkdir()
