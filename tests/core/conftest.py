import pytest

from tests.core.databases import database, postgresql  # noqa: F401 (fixtures)
from tests.core.made_up import make_checkpoint, make_table


@pytest.fixture(scope="session")
def table():
    return make_table()


@pytest.fixture(params=["attconv-light", "attconv-advanced"])
def checkpoint(request, tmp_path, table):
    return make_checkpoint(tmp_path / "tiny", table, request.param)


@pytest.fixture
def phrase_checkpoint(tmp_path, table):
    return make_checkpoint(tmp_path / "tiny-phrases", table, "phrases")
