"""Runs: what is written to Parquet comes back, keyed by checksums; predicting in the background; columns picked."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import DataError, read
from core.data.picked import Picked
from core.data.stream import seen_in
from core.desk import folders, store
from core.desk.prediction import PredictionJob
from core.desk.run import Run, fitting, load, read_header, save, to_table
from core.errors import DeskError
from core.explain import explain
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import ONE, TWO, made_up_run, taxi


@pytest.fixture
def run(tmp_path):
    return made_up_run(tmp_path)


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path / "sets"))
    (tmp_path / "sets").mkdir()


def test_a_run_comes_back_as_it_was_with_the_files_other_columns(run, tmp_path):
    save(run, tmp_path / "run.parquet")
    again = load(tmp_path / "run.parquet")
    assert again.dataset == run.dataset
    assert again.dataset.rows[0].columns == {"negation_logic": "0", "general_q2": "-", "genre": "fiction"}
    for one, other in zip(again.models, run.models, strict=True):
        assert (one.model, one.sha256, one.labels, one.roles) == (other.model, other.sha256, other.labels, other.roles)
        assert np.array_equal(one.probabilities, other.probabilities)
    assert again.right(0).tolist() == [True, True, False, False, True, True]
    assert again.right(1).tolist() == [True, False, True, False, False, True]
    table = pq.read_table(tmp_path / "run.parquet")
    assert table.column("column/genre").to_pylist()[2] == "telephone"
    assert table.column("predicted/2 two").to_pylist()[1] == "entailment"


def test_columns_are_those_that_arrow_makes(run):
    for column in to_table(run).columns:
        assert column.equals(pa.chunked_array([pa.array(column.to_pylist(), column.type)]))


def test_every_row_has_a_key_of_its_own(run):
    assert run.keys == ("1e", "1c", "1n", "1c#2", "2n", "2e")
    assert run.places["1c#2"] == 3


@pytest.mark.parametrize("damage", ["text", "cut", "other", "empty"])
def test_a_file_that_is_no_run_is_one_sentence(run, tmp_path, damage):
    path = tmp_path / "run.parquet"
    save(run, path)
    if damage == "text":
        path.write_text("premise,hypothesis")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-60])
    elif damage == "other":
        pq.write_table(pa.table({"id": ["1"]}), path)
    else:
        table = pq.read_table(path)
        pq.write_table(table.drop_columns(["first"]), path)
    with pytest.raises(DeskError, match="predict"):
        load(path)


def test_runs_are_stored_by_checksum_of_file_and_checkpoint(run):
    store.keep(run)
    (known,) = store.runs()
    assert {model.model for model in known.models} == {"one", "two"} and known.rows == 6
    file = run.dataset.sha256[:16]
    again = store.open_run(file, [TWO[:16], ONE[:16]])
    assert [model.model for model in again.models] == ["two", "one"]
    assert store.stored(run.dataset, ONE) and not store.stored(run.dataset, "c" * 64)
    for wrong in (["c" * 16], []):
        with pytest.raises(DeskError, match=r"predict|choose"):
            store.open_run(file, wrong)
    with pytest.raises(DeskError, match="no checksum"):
        store.open_run("../../etc/passwd", [ONE[:16]])


def test_a_runs_models_stand_in_its_order_whenever_each_was_stored(run):
    file, (one, two) = run.dataset.sha256, run.models
    store.keep(run.with_models((two, one)))
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]
    store.keep(run.with_models((two,)))  # predicted again under other names of labels: the one written last
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]
    store.keep(run.with_models((one,)))  # another run of the file: its model is A
    assert [model.model for model in store.runs()[0].models] == ["one", "two"]
    store.put_first(file, [two.sha256, one.sha256])
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]


def test_runs_without_a_known_order_stand_as_they_were_predicted(run, tmp_path):
    for model in run.models:
        store.keep(run.with_models((model,)))
    for order in (tmp_path / "desk/runs").glob("*.json"):
        order.unlink()
    assert [model.model for model in store.runs()[0].models] == ["one", "two"]


def test_labels_are_mapped_for_each_model_in_whatever_order_models_are_asked_for(run):
    one, two = run.models
    store.keep(run.with_models((one,)))
    store.keep(run.with_models((replace(two, counts_as={"neutral": ()}),)))
    orders = (one.sha256, two.sha256), (two.sha256, one.sha256)
    opened = [store.open_run(run.dataset.sha256, order) for order in orders]
    assert [again.judged.sum() for again in opened] == [4, 4]
    assert [[model.counts_as for model in again.models] for again in opened] == [
        [{}, {"neutral": ()}],
        [{"neutral": ()}, {}],
    ]
    assert all(again.dataset == run.dataset for again in opened)


def test_no_path_leaves_the_folder_of_data_sets(tmp_path):
    (tmp_path / "secret.csv").write_text("x")
    inner = tmp_path / "sets" / "inner"
    inner.mkdir()
    shutil.copy(taxi(tmp_path), inner / "taxi.tsv")
    (inner / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inner / "notes.md").write_text("x")
    assert folders.data_files() == ["inner/taxi.tsv"]
    assert folders.data_file("inner/taxi.tsv").name == "taxi.tsv"
    for name in ("../secret.csv", "/etc/passwd", "inner/link.csv", "inner/../../secret.csv"):
        with pytest.raises(DeskError, match="outside"):
            folders.data_file(name)
    with pytest.raises(DeskError, match="no file"):
        folders.data_file("inner/no\0ne.csv")


def test_predicting_in_the_background_is_what_explain_says(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    checkpoint = make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))
    prediction = PredictionJob(data, ["tiny"])
    prediction.start()
    assert prediction.wait(60) and prediction.problem == "" and prediction.done == prediction.rows == 6
    run = store.open_run(data.sha256, prediction.checksums)
    for row, chances in zip(run.dataset.rows, run.models[0].probabilities, strict=True):
        expected = explain(checkpoint, row.first, row.second, records=()).probabilities
        assert chances.tolist() == pytest.approx(expected, abs=1e-5)
    monkeypatch.setattr("core.desk.prediction.classify", None)  # a second prediction computes nothing
    again = PredictionJob(data, ["tiny"])
    again.start()
    assert again.wait(60) and again.problem == "" and again.checksums == prediction.checksums


def test_a_small_run_that_holds_a_large_one_is_refused_before_it_is_unpacked(run, tmp_path):
    path, rows = tmp_path / "run.parquet", run.dataset.rows * 500
    model = replace(run.models[0], probabilities=np.tile(run.models[0].probabilities, (500, 1)))
    table = to_table(Run(replace(run.dataset, rows=rows), (model,)))
    long = pa.DictionaryArray.from_arrays(np.zeros(3_000, dtype=np.int32), ["a dog " * 5_000])
    pq.write_table(table.set_column(1, "first", long), path, compression="zstd")
    assert path.stat().st_size < 50_000
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(DeskError, match="holds 90 MB; the error desk opens runs of up to 20 MB"):
        load(path, 20_000_000)
    assert pa.default_memory_pool().max_memory() - before < 20_000_000
    assert load(path).dataset.rows[2_999].first == "a dog " * 5_000


def test_a_run_of_too_many_cells_is_refused(run, tmp_path, monkeypatch):
    save(run, tmp_path / "run.parquet")
    monkeypatch.setattr("core.desk.run.MOST_CELLS", 17)  # six rows of three columns, and those of the run itself
    with pytest.raises(DeskError, match="6 rows of 17 columns"):
        load(tmp_path / "run.parquet")
    with pytest.raises(DeskError, match="3 other columns in 6 rows"):
        fitting(run.dataset)


@pytest.mark.parametrize("kept", [0.5, 0.98])
def test_a_kept_run_that_was_cut_off_is_predicted_anew_and_said(tmp_path, table, monkeypatch, kept):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))

    def predicted():
        prediction = PredictionJob(data, ["tiny"])
        prediction.start()
        assert prediction.wait(60) and prediction.problem == ""
        return prediction

    assert predicted().replaced == []
    (path,) = (tmp_path / "desk/runs").glob("*.parquet")
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    prediction = predicted()
    assert prediction.replaced == ["A tiny model"]
    assert store.open_run(data.sha256, prediction.checksums).dataset == data


def test_a_cancelled_prediction_stores_nothing_and_a_wrong_one_says_why(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))
    prediction = PredictionJob(data, ["tiny"])
    prediction.cancel()
    prediction.start()
    assert prediction.wait(60) and prediction.checksums == [] and store.runs() == []
    wrong = PredictionJob(data, ["none-of-this-name"])
    wrong.start()
    assert wrong.wait(60) and "no checkpoint named" in wrong.problem


def test_columns_are_picked_of_a_table_and_of_json_lines(tmp_path):
    path = tmp_path / "claims.jsonl"
    rows = [{"claim": "a dog", "evidence": ["a red dog .", "it is cold"], "label": "SUPPORTS"}, {"claim": ""}]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert list(seen_in(path).names) == ["claim", "evidence", "label", "evidence.1", "evidence.2"]
    data = read(path, labelled=False, columns=Picked("evidence", "claim", "label"))
    (row,) = data.rows
    assert (row.first, row.second, row.label) == ("a red dog . it is cold", "a dog", "supports")
    assert json.loads(row.columns["evidence"]) == ["a red dog .", "it is cold"]
    assert [problem.line for problem in data.problems] == [2]
    other = read(path, labelled=False, columns=Picked("evidence", "claim"))
    assert other.sha256 != data.sha256 and other.rows[0].label is None
    table = tmp_path / "x.csv"
    table.write_text('eins;zwei\n"a ""dog""; red";b\nlonely\n')
    data = read(table, labelled=False, columns=Picked("eins", "zwei"))
    assert data.rows[0].first == 'a "dog"; red' and len(data.problems) == 1
    for picked, wrong in ((Picked("drei"), "no column 'drei'"), (Picked("claim", "evidence"), "no column")):
        with pytest.raises(DataError, match=wrong):
            read(table, labelled=False, columns=picked)


def test_the_header_reads_no_rows(run, tmp_path):
    save(run, tmp_path / "run.parquet")
    known = read_header(tmp_path / "run.parquet")
    assert (known.name, known.rows, known.sha256) == ("taxi.tsv", 6, run.dataset.sha256)
