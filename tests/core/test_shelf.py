"""The folder of runs that servers may share."""

import pytest

from core.desk import store
from core.errors import DeskError
from tests.core.made_up_runs import keep, made_up_run


@pytest.mark.parametrize("address", ["s3://ann:secret@bucket/runs", "gs://bucket/runs", "nonsense://x"])
def test_a_bucket_is_one_sentence_with_the_remedy_and_without_its_password(tmp_path, monkeypatch, address):
    monkeypatch.setenv("PAIRLENS_RUNS", address)
    for use in (lambda: keep(made_up_run(tmp_path)), store.runs, store.unfinished):
        with pytest.raises(DeskError, match="set it to a folder") as refused:
            use()
        assert "\n" not in str(refused.value) and "secret" not in str(refused.value)


def test_a_folder_may_be_named_as_such_or_as_a_file_address(tmp_path, monkeypatch):
    run = made_up_run(tmp_path)
    for name, address in (("plain", f"{tmp_path}/plain"), ("address", f"file://{tmp_path}/address")):
        monkeypatch.setenv("PAIRLENS_RUNS", address)
        keep(run)
        assert len(list((tmp_path / name / "runs").glob("*/model-*.parquet"))) == 2 and len(store.runs()) == 1
