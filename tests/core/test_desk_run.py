"""Runs: what is written to Parquet comes back, keyed by checksums; columns picked; rows that a model learned from."""

import json
import math
import os
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.checkpoint import dynamics, learned
from core.data import DataError, read
from core.data.layouts import value_at
from core.data.picked import Picked
from core.data.stream import seen_in
from core.desk import folders, row_index, store
from core.desk.filters import rows_of
from core.desk.folders import FACTS
from core.desk.leakage import without_leaks
from core.desk.prediction import prediction
from core.desk.row_index import RowIndex, distinct
from core.desk.run import Run, fitting
from core.desk.run_folder import DATA, TRUNCATED, load, model_file, read_header, table_of
from core.desk.table import open_table
from core.desk.training_rows import training_notes
from core.errors import DeskError
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import ONE, TWO, content, keep, made_up_run, save, stored, taxi

pytestmark = pytest.mark.usefixtures("desk")


def same(again, run):
    """A run that was read has the rows and the predictions of the one that was written."""
    assert content(again.dataset) == content(run.dataset)
    assert len(again.models) == len(run.models)
    for one, other in zip(again.models, run.models, strict=True):
        assert (one.model, one.sha256, one.labels, one.roles) == (other.model, other.sha256, other.labels, other.roles)
        assert np.array_equal(one.probabilities, other.probabilities)
    return True


def test_a_run_comes_back_as_it_was_with_the_files_other_columns(run, tmp_path):
    save(run, tmp_path / "run")
    again = load(tmp_path / "run")
    assert same(again, run)
    assert again.dataset.rows[0].columns == {"negation_logic": "0", "general_q2": "-", "genre": "fiction"}
    assert again.dataset.rows[5] == run.dataset.rows[5]
    assert again.right(0).tolist() == [True, True, False, False, True, True]
    assert again.right(1).tolist() == [True, False, True, False, False, True]
    assert again.gold.tolist() == run.gold.tolist() and [*again.keys] == [*run.keys]
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert files == {"run.json", DATA, model_file(ONE), model_file(TWO)}
    assert pq.read_table(tmp_path / "run" / DATA).column("column/genre").to_pylist()[2] == "telephone"
    assert pq.read_schema(tmp_path / "run" / model_file(TWO)).names == [*run.models[1].labels, TRUNCATED]


def test_rows_are_read_group_by_group(run, tmp_path, monkeypatch):
    monkeypatch.setattr("core.desk.run_folder.ROWS", 4)
    save(run, tmp_path / "run")
    assert pq.read_metadata(tmp_path / "run" / DATA).num_row_groups == 2
    rows = load(tmp_path / "run").dataset.rows
    assert [rows[i] for i in (5, 0, 4, 3)] == [run.dataset.rows[i] for i in (5, 0, 4, 3)]
    with pytest.raises(IndexError):
        rows[6]


def test_a_run_is_copied_to_the_desk(run, tmp_path):
    save(run, tmp_path / "run")
    header = store.adopt(tmp_path / "run")
    assert [model.sha256 for model in header.models] == [ONE, TWO] and header.rows == 6
    assert same(store.open_run(header.sha256, [ONE, TWO]), run)


def test_columns_are_those_that_arrow_makes(run):
    for column in table_of(run.dataset, run.models, [model.probabilities for model in run.models]).columns:
        assert column.equals(pa.chunked_array([pa.array(column.to_pylist(), column.type)]))


def test_every_row_has_a_key_of_its_own(run):
    assert [*run.keys] == ["1e", "1c", "1n", "1c#2", "2n", "2e"]
    assert run.places(["1c#2", "9"]) == {"1c#2": 3}
    assert run.place("1c#2") == 3 and run.place("9") is None


def test_rows_are_found_although_names_repeat_or_have_the_same_hash(monkeypatch):
    assert distinct(["a", "b", "a", "a#2", "a"]) == ["a", "b", "a#2'", "a#2", "a#3"]
    keys = [f"{n * 7 % 40}" for n in range(40)]
    for hashed, unique in ((hash, True), (lambda key: int(key) % 3 - 1, False)):
        monkeypatch.setattr(row_index, "hash", hashed, raising=False)
        index = RowIndex.of(keys)
        assert index.unique is unique
        found = index.places(["13", "5", "41", "5", "9", "2"])
        assert [*found.items()] == [(key, n) for n, key in enumerate(keys) if key in ("13", "5", "9", "2")]


@pytest.mark.parametrize("damage", ["text", "cut", "other", "empty", "number", "chance", "model", "facts"])
def test_a_damaged_run_is_one_sentence(run, tmp_path, damage):
    path = tmp_path / "run"
    save(run, path)
    data, model = path / DATA, path / model_file(ONE)
    table, chances = pq.read_table(data), pq.read_table(model)
    if damage == "text":
        data.write_text("premise,hypothesis")
    elif damage == "cut":
        data.write_bytes(data.read_bytes()[:-60])
    elif damage == "other":
        pq.write_table(pa.table({"id": ["1"]}), data)
    elif damage == "empty":
        pq.write_table(table.drop_columns(["first"]), data)
    elif damage == "number":
        pq.write_table(table.set_column(1, "first", pa.array(range(6))), data)
    elif damage == "chance":
        pq.write_table(chances.set_column(0, "entailment", pa.array([None, *[0.5] * 5], pa.float32())), model)
    else:
        (model if damage == "model" else path / "run.json").unlink()
    if damage in ("chance", "model"):
        with pytest.raises(DeskError, match="run is damaged: predict the file again"):
            load(path)
    with pytest.raises(DeskError, match="there is no run run" if damage == "facts" else "run is damaged: predict"):
        store.adopt(path)
    assert store.runs() == []


def test_runs_are_stored_by_checksum_of_file_and_checkpoint(run):
    keep(run)
    (known,) = store.runs()
    assert {model.model for model in known.models} == {"one", "two"} and known.rows == 6
    file = run.dataset.sha256[:16]
    again = store.open_run(file, [TWO[:16], ONE[:16]])
    assert [model.model for model in again.models] == ["two", "one"]
    for wrong in (["c" * 16], []):
        with pytest.raises(DeskError, match=r"predict|choose"):
            store.open_run(file, wrong)
    with pytest.raises(DeskError, match="not a checksum"):
        store.open_run("../../etc/passwd", [ONE[:16]])


def test_a_runs_models_keep_its_order_whenever_each_was_stored(run):
    file, (one, two) = run.dataset.sha256, run.models
    keep(replace(run, models=(two, one)))
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]
    keep(replace(run, models=(two,)))  # predicted again under other names of labels: the one written last
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]
    keep(replace(run, models=(one,)))  # another run of the file: its model is A
    assert [model.model for model in store.runs()[0].models] == ["one", "two"]
    store.put_first(file, [two.sha256, one.sha256])
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]


def test_runs_are_listed_from_the_latest_and_models_behind_those_they_are_added_to(run, table, tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    make_checkpoint(tmp_path / "own/tiny", table)
    keep(run)
    job = prediction(run.dataset, ["tiny"], before=[TWO, ONE])
    job.run()
    assert [model.model for model in store.runs()[0].models] == ["two", "one", "tiny"]
    assert job.written[1][:2] == [TWO, ONE]
    for age, name in enumerate("cab"):
        file = name * 64
        keep(stored(replace(run.dataset, sha256=file), run.models))
        os.utime(store.folder_of(file) / FACTS, (1e9 - age, 1e9 - age))
    assert [known.sha256[:1] for known in store.runs()] == [run.dataset.sha256[:1], "c", "a", "b"]


def test_labels_are_mapped_for_each_model_in_whatever_order_models_are_asked_for(run):
    one, two = run.models
    keep(replace(run, models=(one,)))
    keep(replace(run, models=(replace(two, counts_as={"neutral": ()}),)))
    orders = (one.sha256, two.sha256), (two.sha256, one.sha256)
    opened = [store.open_run(run.dataset.sha256, order) for order in orders]
    assert [again.judged.sum() for again in opened] == [4, 4]
    assert [[model.counts_as for model in again.models] for again in opened] == [
        [{}, {"neutral": ()}],
        [{"neutral": ()}, {}],
    ]
    assert all(content(again.dataset) == content(run.dataset) for again in opened)


def forged(run, **changed):
    """A run of one model under the checksum of another's file; ``changed``: fields of all its rows."""
    rows = tuple(replace(row, **changed) for row in run.dataset.rows)
    return Run(replace(run.dataset, rows=rows), run.models[:1], run.folder)


def test_a_run_from_a_file_never_replaces_one_that_is_there(run, tmp_path):
    keep(run)
    path = tmp_path / "upload"
    fewer = replace(forged(run), dataset=replace(run.dataset, rows=content(run.dataset).rows[:1]))
    fewer = replace(fewer, models=(replace(run.models[0], probabilities=run.models[0].probabilities[:1]),))
    turned = replace(run.models[0], probabilities=run.models[0].probabilities[:, ::-1])
    renamed = replace(run.models[0], counts_as={"neutral": ()})
    for wrong, differs in (
        (fewer, "rows"),
        (forged(run, first="forged"), "rows"),
        (forged(run, id="1"), "rows"),
        (forged(run, label="neutral", label_text="neutral"), "labels"),
        (replace(forged(run), models=(turned,)), "predictions by The one"),
        (replace(forged(run), models=(renamed,)), "predictions by The one"),
    ):
        save(wrong, path)
        with pytest.raises(DeskError, match=f"another run of taxi.tsv with other {differs}, .*under Export"):
            store.adopt(path)
        assert same(store.open_run(run.dataset.sha256, [ONE, TWO]), run)
        assert [model.sha256 for model in store.runs()[0].models] == [ONE, TWO]


def test_a_run_from_a_file_adds_the_models_that_one_lacks_and_repairs_a_damaged_one(run, tmp_path):
    keep(replace(run, models=run.models[:1]))
    other = replace(run.models[1], sha256="c" * 64)
    save(replace(run, models=(other, *run.models)), tmp_path / "upload")
    assert [model.sha256 for model in store.adopt(tmp_path / "upload").models] == ["c" * 64, ONE, TWO]
    assert [model.sha256 for model in store.runs()[0].models] == [ONE, "c" * 64, TWO]
    assert same(store.open_run(run.dataset.sha256, [ONE, TWO]), run)
    (store.folder_of(run.dataset.sha256) / model_file(ONE)).write_bytes(b"PAR1")
    store.adopt(tmp_path / "upload")
    assert same(store.open_run(run.dataset.sha256, [ONE, TWO]), run)


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


@pytest.mark.slow
def test_a_small_run_that_holds_a_large_one_is_refused_before_it_is_unpacked(run, tmp_path):
    path, rows = tmp_path / "run", content(run.dataset).rows * 500
    model = replace(run.models[0], probabilities=np.tile(run.models[0].probabilities, (500, 1)))
    save(Run(replace(run.dataset, rows=rows), (model,), tmp_path), path)
    table = pq.read_table(path / DATA)
    long = pa.DictionaryArray.from_arrays(np.zeros(3_000, dtype=np.int32), ["a dog " * 5_000])
    pq.write_table(table.set_column(1, "first", long), path / DATA, compression="zstd")
    assert (path / DATA).stat().st_size < 50_000
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(DeskError, match="holds 62 MB; the error desk opens runs of up to 20 MB"):
        store.adopt(path, 20_000_000)
    assert pa.default_memory_pool().max_memory() - before < 20_000_000
    store.adopt(path)
    assert store.open_run(run.dataset.sha256, [ONE]).dataset.rows[2_999].first == "a dog " * 5_000


def test_a_run_of_too_many_cells_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setattr("core.desk.run.MOST_CELLS", 17)  # six rows of three columns, and the run's own columns
    save(run, tmp_path / "run")
    assert content(load(tmp_path / "run").dataset) == content(run.dataset), "a command writes any number of rows"
    with pytest.raises(DeskError, match="more cells than the error desk opens"):
        store.adopt(tmp_path / "run")
    with pytest.raises(DeskError, match="3 other columns in 6 rows"):
        fitting(run.dataset)


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
    assert other.rows[0].label is None
    last = read(path, labelled=False, columns=Picked("evidence.2", "claim"))
    assert last.rows[0].first == "it is cold" and value_at({"a": [{"b": 1}, {"b": 2}]}, "a.2.b") == 2
    ways = [(), ("label",), ("", "id"), ("", "", "group"), ("", "", "", False), ("id",), ("label", "id")]
    checksums = [Picked("evidence", "claim", *way).checksum("f") for way in ways]
    assert len({*checksums, *(one.sha256 for one in (data, other, last))}) == 7 + 3, "what is read otherwise is another"
    assert Picked("evidence", "claim", header=True).checksum("f") == checksums[0]
    table = tmp_path / "x.csv"
    table.write_text('eins;zwei\n"a ""dog""; red";b\nlonely\n')
    data = read(table, labelled=False, columns=Picked("eins", "zwei"))
    assert data.rows[0].first == 'a "dog"; red' and len(data.problems) == 1
    for picked, wrong in ((Picked("drei"), "no column 'drei'"), (Picked("claim", "evidence"), "no column")):
        with pytest.raises(DataError, match=wrong):
            read(table, labelled=False, columns=picked)


def test_the_header_reads_no_rows(run, tmp_path):
    save(run, tmp_path / "run")
    (tmp_path / "run" / DATA).unlink()
    known = read_header(tmp_path / "run")
    assert (known.name, known.rows, known.sha256) == ("taxi.tsv", 6, run.dataset.sha256)


def test_rows_that_a_model_learned_from_are_a_column_and_scored_apart(run, tmp_path, monkeypatch):
    folder, rows = tmp_path / "own", [*run.dataset.rows][:2]
    folder.mkdir()
    learned.write(folder, [(f" {row.first}", f"{row.second}\n") for row in rows])
    monkeypatch.setattr("core.desk.training_rows.checkpoint_named", lambda model: {"one": "own"}.get(model.model))
    monkeypatch.setattr("core.desk.training_rows.available", lambda: {"own": folder})
    (told,) = training_notes(run, {})
    assert told.replace("\u00a0", " ") == (
        "A (The one) learned from 2 of these 6 rows; it is right on 100.0 % of these (34.2 – 100.0) and on 50.0 % of "
        "the others (15.0 – 85.0): filter them out with not A.learned."
    )
    assert rows_of("A.learned", open_table(run, known=bool)).tolist() == [True, True, *[False] * 4]


def test_how_a_model_learned_its_training_rows_is_in_columns(run, tmp_path, monkeypatch):
    """Rows 0 to 3 were trained on, row 1 with another label and row 2 with spaces; a row of another file too."""
    rows = [(row.first, row.second, row.label) for row in run.dataset.rows]
    others = (f" {rows[2][0]}", f"{rows[2][1]} ", "Neutral"), (*rows[1][:2], "neutral"), ("a", "b", "c")
    trained = [rows[3], rows[0], *others]
    chances = [[0.9, -0.0, 0.75, 0.9, 0.5], [0.95, -0.25, 0.25, 0.9, 0.5]]
    found = dynamics.TrainingDynamics(dynamics.row_hashes(trained), np.asfortranarray(chances, dtype=np.float16))
    folder = tmp_path / "own"
    folder.mkdir()
    dynamics.write(folder, found)
    monkeypatch.setattr("core.desk.dynamics.checkpoint_named", lambda model: {"one": "own"}.get(model.model))
    monkeypatch.setattr("core.desk.dynamics.available", lambda: {"own": folder})
    table = open_table(run, known=bool)
    names = ["A.confidence", "A.variability", "A.correctness", "A.region"]
    shown = list(zip(*(column.to_pylist() for column in table.take(np.arange(len(rows)), names).columns), strict=True))
    spreads = [float(np.std(np.abs(np.array(own, dtype=np.float16)))) for own in zip(*chances, strict=True)]
    for place, at in ((0, 1), (2, 2), (3, 0)):
        own = [abs(epoch[at]) for epoch in chances]
        mean = sum(own) / 2
        right = sum(not math.copysign(1, epoch[at]) < 0 for epoch in chances) / 2
        among = sum(spread < spreads[at] for spread in spreads) >= 2 / 3 * len(spreads)
        region = "hard" if mean < 0.5 else "ambiguous" if among else "easy"
        assert shown[place][:3] == pytest.approx((mean, spreads[at], right), abs=1e-3) and shown[place][3] == region
    assert {shown[place] for place in (1, 4, 5)} == {(None,) * 4} and "B.region" not in table.columns
    assert [own[3] for own in shown[:4]] == ["hard", None, "ambiguous", "easy"]
    assert rows_of("A.region = hard and A.confidence < 20%", table).tolist() == [True] + [False] * 5
    assert not {*names} & {*without_leaks(run, 0, table).columns}
    (told,) = training_notes(run, {})
    assert told.startswith(
        "A (The one) was trained on 3 of these 6 rows with these labels: 1 easy, 1 ambiguous, 1 hard"
    )
    after_one = dynamics.read(folder / "epochs/1")  # the model own@1
    assert after_one is not None and after_one.confidence == pytest.approx(np.abs(chances[0]), abs=1e-3)
    (folder / dynamics.FILE).write_bytes(b"cut off")
    assert "A.region" not in open_table(run, known=bool).columns


@pytest.mark.parametrize(
    ("name", "path", "known"),
    [
        ("snli_1.0_train.jsonl", "snli/snli_1.0_train_86k.jsonl", True),
        ("SICK_train.txt, perturbed", "sick/SICK_train.txt", True),
        ("multinli_1.0_train.jsonl.gz", "mnli/multinli_train_23k.jsonl", True),
        ("pairs.jsonl", "made/pairs.jsonl", True),
        ("snli_1.0_dev.jsonl", "snli/snli_1.0_train_86k.jsonl", False),
        ("train.csv", "quora/train_18k.tsv", False),
        ("pairs.csv", "made/pairs.jsonl", False),
    ],
)
def test_a_run_of_training_rows_says_so(tmp_path, name, path, known):
    run = made_up_run(tmp_path)
    run = replace(run, dataset=replace(run.dataset, name=name))
    notes = training_notes(run, {1: {"recipe": {"train": [{"name": "Some set", "path": path}]}}, 0: {}})
    assert bool(notes) is known and (not known or notes[0].startswith("B (The two) was trained on Some set ("))
