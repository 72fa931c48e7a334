"""Predicting a run: in parts, in the background, resumed, and again only where that is needed."""

import contextlib
import shutil
from dataclasses import replace

import pytest

from core.data import read
from core.desk import store
from core.desk.prediction import predict_parts, prediction
from core.desk.run_folder import header_of, load
from core.desk.unfinished_run import unfinished
from core.errors import RunError
from core.evaluation import parts
from core.evaluation.parts import Part, Predicted
from core.explain import explain
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import ONE, content, save, taxi

pytestmark = pytest.mark.usefixtures("desk")


def test_a_part_ends_with_the_row_that_reaches_either_limit(run, monkeypatch):
    rows = [replace(row, first="12", second="345", columns={"a": "6"}) for row in run.dataset.rows]
    for characters, most, sizes in ((18, 9, [3, 3]), (19, 9, [4, 2]), (99, 4, [4, 2]), (1, 9, [1] * 6)):
        monkeypatch.setattr(parts, "CHARACTERS", characters)
        monkeypatch.setattr(parts, "ROWS", most)
        assert [len(own) for own in parts.cut(rows)] == sizes


def test_progress_counts_each_row_once_as_the_last_model_has_read_it(monkeypatch):
    def logits(prepared, device, progress):
        for done in (2, 5, 6):
            progress(done)

    monkeypatch.setattr(parts, "logits", logits)
    told = []
    parts._logits(["one", "two"], None, told.append)
    assert told == [2, 3, 1]


def test_parts_are_skipped_only_if_all_their_rows_are_finished(run):
    rows, seen = tuple(run.dataset.rows), []
    some = [Part(number, replace(run.dataset, rows=rows[2 * number :][:2])) for number in range(3)]
    compute = lambda parts: (Predicted(part, (), ()) for part in parts)  # noqa: E731
    add = lambda number, dataset, *_: seen.append(("add", number, len(dataset.rows)))  # noqa: E731
    skip = lambda number, dataset: seen.append(("skip", number, len(dataset.rows)))  # noqa: E731
    assert predict_parts(some, compute, add, {0: 2, 1: 1}, skip) == 3
    assert seen == [("skip", 0, 2), ("add", 1, 2), ("add", 2, 2)]


def test_background_predictions_equal_explain(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    checkpoint = make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))
    job = prediction(data, ["tiny"])
    job.run()
    assert job.problem == "" and job.done == job.rows == 6
    run = store.open_run(*job.written)
    for row, chances in zip(run.dataset.rows, run.models[0].probabilities, strict=True):
        expected = explain(checkpoint, row.first, row.second, records=()).probabilities
        assert chances.tolist() == pytest.approx(expected, abs=1e-5)
    monkeypatch.setattr("core.evaluation.parts.logits", None)  # a second prediction computes nothing
    again = prediction(data, ["tiny"])
    again.run()
    assert again.problem == "" and again.written == job.written


@pytest.mark.parametrize("kept", [0.5, 0.98])
def test_a_truncated_run_is_predicted_again(tmp_path, table, monkeypatch, kept):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))

    def predicted():
        job = prediction(data, ["tiny"])
        job.run()
        assert job.problem == ""
        return job

    predicted()
    (path,) = (tmp_path / "desk/runs").glob("*/model-*.parquet")
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    assert content(store.open_run(*predicted().written).dataset) == data


def test_a_cancelled_prediction_stores_nothing_and_a_failed_one_gives_the_reason(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))
    job = prediction(data, ["tiny"])
    job.cancel()
    job.run()
    assert job.written is None and store.runs() == []
    wrong = prediction(data, ["none-of-this-name"])
    wrong.run()
    assert "no checkpoint named" in wrong.problem


def test_a_prediction_that_was_stopped_resumes_with_the_parts_that_are_missing(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    monkeypatch.setattr("core.evaluation.parts.ROWS", 2)
    make_checkpoint(tmp_path / "own/tiny", table)
    data, computed = read(taxi(tmp_path)), []
    real = parts.logits

    def logits(prepared, *given, **named):
        computed.append(len(prepared.data))
        if len(computed) == 3:
            job.cancel()
        return real(prepared, *given, **named)

    monkeypatch.setattr("core.evaluation.parts.logits", logits)
    job = prediction(data, ["tiny"])
    job.run()
    assert job.cancelled and not job.problem and store.runs() == []
    job = prediction(data, ["tiny"])
    job.run()
    assert not job.problem and job.done == 6 and computed == [2, 2, 2, 2]
    whole = load(store.folder_of(data.sha256))
    assert content(whole.dataset) == data and len(whole.models[0].probabilities) == 6
    assert not list(store.folder_of(data.sha256).glob(".parts-*"))


def test_a_run_is_predicted_again_only_if_its_texts_are_read_otherwise_or_a_model_is_new(run, tmp_path):
    save(run, tmp_path / "run")
    header = header_of(run.dataset, run.models[:1])
    other = replace(run.models[0], sha256="c" * 64)
    for asked, whole in (
        (header, True),
        (replace(header, texts=""), True),
        (replace(header, texts="read otherwise"), False),
        (header_of(run.dataset, (run.models[0], other)), False),
    ):
        with unfinished(tmp_path / "run", asked) as parts:
            assert parts.whole is whole and bool(parts.finished) is whole


def test_two_processes_do_not_write_the_same_parts(run, tmp_path):
    header = header_of(run.dataset, run.models[:1])
    with (
        unfinished(tmp_path / "run", header),
        pytest.raises(RunError, match="another process writes into"),
        unfinished(tmp_path / "run", header),
    ):
        pass


def test_whoever_predicts_again_while_the_parts_are_deleted_keeps_the_new_ones(run, tmp_path, monkeypatch):
    folder, header, tables = tmp_path / "run", header_of(run.dataset, run.models[:1]), [run.models[0].probabilities]
    rmtree, next_one, others = shutil.rmtree, contextlib.ExitStack(), []

    def then_begin(path, **options):
        rmtree(path, **options)
        if path.name.startswith(".parts-") and not others:
            others.append(next_one.enter_context(unfinished(folder, header)))

    monkeypatch.setattr(shutil, "rmtree", then_begin)
    with unfinished(folder, header) as first:
        first.add(0, run.dataset, tables)
    (other,) = others
    with pytest.raises(RunError, match="another process writes into"), unfinished(folder, header):
        pass
    other.add(0, run.dataset, tables)
    assert [model.sha256 for model in other.finish(header, 1).models] == [ONE]
    next_one.close()
    assert not list(folder.glob(".parts-*"))
