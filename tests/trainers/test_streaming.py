"""predict and evaluate over rows that come as they are read: parts that are gone on with, files of a folder, bounds."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import signal
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import DataError, Stream
from core.data.stream import survey
from core.desk.run_folder import load
from core.desk.unfinished_run import UnfinishedRun
from core.errors import DeskError
from core.evaluation.parts import ahead
from tests.app.made_up_models import make_checkpoint
from tests.processes import forked
from trainers.__main__ import main

ROWS = 150
LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checkpoints, tiny and other."""
    folder = tmp_path_factory.mktemp("models")
    make_checkpoint(folder, "tiny", "Tiny", 1)
    make_checkpoint(folder, "other", "Other", 2)
    return folder


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    words = ("a dog", "the cat is cold", "snow", "a man in the snow", "toy", "a dog is outside in the cold")
    pairs = itertools.islice(itertools.cycle(itertools.product(words, words)), ROWS)
    return [
        {
            "gold_label": LABELS[i % 3],
            "sentence1": first,
            "sentence2": second,
            "pairID": f"row-{i}",
            "genre": str(i % 7),
        }
        for i, (first, second) in enumerate(pairs)
    ]


@pytest.fixture(scope="module")
def file(rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "rows.jsonl"
    path.write_text(as_lines(rows))
    return path


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.evaluation.parts.ROWS", 40)


def as_lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence of a command that is refused."""
    capsys.readouterr()
    assert main([*arguments]) == 2
    (sentence,) = capsys.readouterr().err.strip().splitlines()
    return sentence


def test_a_run_has_a_file_for_each_model_and_the_numbers_of_a_table(
    models: Path, file: Path, rows: list[dict[str, str]], tmp_path: Path
) -> None:
    both = [str(models / "tiny"), str(models / "other"), str(file)]
    assert main(["predict", *both, "--out", f"{tmp_path}/run/"]) == 0
    run = load(tmp_path / "run")
    assert run.dataset.sha256 == survey(file)[0]  # type: ignore[index]
    assert [row.columns for row in run.dataset.rows] == [{"genre": row["genre"]} for row in rows]
    assert [model.model for model in run.models] == ["tiny", "other"]
    groups = pq.read_metadata(tmp_path / "run/data.parquet")
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [40] * 3 + [30]
    # A checkpoint may follow later; it comes first.
    for name in ("other", "tiny"):
        assert main(["predict", str(models / name), str(file), "--out", str(tmp_path / "later")]) == 0
    later = load(tmp_path / "later")
    assert [*later.dataset.rows] == [*run.dataset.rows] and [model.model for model in later.models] == ["tiny", "other"]
    for model, same in zip(run.models, later.models, strict=True):
        assert (model.probabilities == same.probabilities).all()
    assert main(["predict", str(models / "tiny"), str(file), "--out", str(tmp_path / "run.csv")]) == 0
    lines = [*csv.DictReader((tmp_path / "run.csv").open())]
    chances = [[float(line[f"p_{label}"]) for label in LABELS] for line in lines]
    assert chances == [pytest.approx(row, rel=1e-5) for row in run.models[0].probabilities.tolist()]
    assert [line["label"] for line in lines] == run.gold.tolist()


def predict_until_killed(command: list[str]) -> None:
    """Stop without notice before the third part is written."""
    add, left = UnfinishedRun.add, [2]

    def killed(run: UnfinishedRun, *part: Any) -> None:
        if not left[0]:
            (run._parts / ".unfinished-x.tmp").mkdir()
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        add(run, *part)

    UnfinishedRun.add = killed  # type: ignore[method-assign]
    main(command)


def test_a_killed_run_resumes_with_the_parts_that_are_missing(
    models: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["predict", str(models / "tiny"), str(file), "--out"]
    process = forked(predict_until_killed, [*command, f"{tmp_path}/killed/"])
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with pytest.raises(DeskError, match="unfinished: run the same command again to resume it"):
        load(tmp_path / "killed")
    _, second = sorted((tmp_path / "killed").glob(".parts-*/*.parquet"))
    second.write_bytes(second.read_bytes()[:-9])
    added, add = list[int](), UnfinishedRun.add

    def counting(run: UnfinishedRun, number: int, *rest: Any) -> None:
        added.append(number)
        add(run, number, *rest)

    monkeypatch.setattr(UnfinishedRun, "add", counting)
    capsys.readouterr()
    assert main([*command, f"{tmp_path}/killed/"]) == 0
    assert f"{second.name} was cut off: its rows are predicted again" in capsys.readouterr().err
    assert added == [1, 2, 3]
    assert main([*command, f"{tmp_path}/whole/"]) == 0
    found = contents(tmp_path / "killed")
    assert found == contents(tmp_path / "whole") and len(found) == 3
    monkeypatch.setattr("core.evaluation.parts.logits", lambda *_: pytest.fail("predicted again"))
    assert main([*command, f"{tmp_path}/whole/"]) == 0
    assert contents(tmp_path / "whole") == found


def test_files_of_a_folder_or_a_pattern_are_read_one_after_the_other(
    models: Path, file: Path, rows: list[dict[str, str]], tmp_path: Path
) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(as_lines(rows[:60]).encode()))
    with pa.CompressedOutputStream(str(folder / "b.jsonl.zst"), "zstd") as packed:
        packed.write(as_lines(rows[60:70]).encode())
        packed.write(as_lines(rows[70:100]).encode() + b"{broken\n")
    pq.write_table(pa.Table.from_pylist(rows[100:]), folder / "c.parquet")
    (folder / "README.md").write_text("not data")
    (folder / "_SUCCESS.txt").touch()
    assert main(["predict", str(models / "tiny"), str(folder), "--out", f"{tmp_path}/out/"]) == 0
    assert main(["predict", str(models / "tiny"), str(file), "--out", f"{tmp_path}/one/"]) == 0
    run, one = load(tmp_path / "out"), load(tmp_path / "one")
    assert tuple(run.dataset.rows) == tuple(one.dataset.rows)
    assert (run.models[0].probabilities == one.models[0].probabilities).all()
    assert str(run.dataset.problems[0]) == "line 41: not a JSON object (cut off?) (in b.jsonl.zst)"
    assert [row.id for row in Stream(folder / "*.parquet")] == [row["pairID"] for row in rows[100:]]
    (folder / "d.csv").write_text("premise,hypothesis,label\na,b,neutral\n")
    with pytest.raises(DataError, match=r"d\.csv looks like sentence-pair table, the files before it like SNLI jsonl"):
        list(Stream(folder))
    for path, what in ((tmp_path / "*.tsv", "no file fits"), (tmp_path, "a folder without data files")):
        with pytest.raises(DataError, match=what):
            list(Stream(path))


def test_what_a_folder_holds_already_is_left_alone(
    models: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, command = f"{tmp_path}/out/", ["predict", str(models / "tiny"), str(file), "--out"]
    assert main([*command, out]) == 0
    before = contents(tmp_path / "out")
    longer = tmp_path / "longer.jsonl"
    longer.write_text(file.read_text() * 2)
    assert "holds predictions of other data (rows.jsonl); give another folder" in told(
        capsys, "predict", str(models / "tiny"), str(longer), "--out", out
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").touch()
    assert "holds other files; give an empty or a new folder" in told(capsys, *command, f"{tmp_path}/mine/")
    assert contents(tmp_path / "out") == before
    assert "in / for the folder of a run, got" in told(capsys, *command, str(tmp_path / "run.parquet"))
    assert "holds several" in told(capsys, command[0], str(models / "other"), *command[1:], str(tmp_path / "x.csv"))


def test_scores_of_a_stream_are_those_of_its_rows(
    models: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.csv"
    capsys.readouterr()
    assert main(["evaluate", str(models / "tiny"), str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["predict", str(models / "tiny"), str(file), "--out", str(out)]) == 0
    predicted = list(csv.DictReader(out.open()))
    right = sum(row["predicted"] == row["label"] for row in predicted)
    assert found["items"] == found["rows"] == ROWS and found["accuracy"] == pytest.approx(right / ROWS)
    assert sum(map(sum, found["confusion"]["gold_by_predicted"])) == ROWS


def test_answers_that_are_not_contiguous_are_ranked_together_and_counted(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [
        (f"who is the dog {q}", f"a dog {a} in the snow", int(a == q % 4)) for q in range(30) for a in range(4)
    ]
    apart = sorted(questions, key=lambda row: (row[1], row[0]))
    found = []
    for name, rows in (("together", questions), ("apart", apart)):
        path = tmp_path / f"{name}.csv"
        path.write_text("question,answer,label\n" + "".join(f"{q},{a},{right}\n" for q, a, right in rows))
        capsys.readouterr()
        command = ["evaluate", str(models / "tiny"), str(path), "--positive", "entailment"]
        assert main([*command, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert (found[0]["questions"], found[0]["questions_apart"], found[1]["questions_apart"]) == (30, 0, 30)
    assert found[1]["map"] == pytest.approx(found[0]["map"])
    assert found[1]["mrr"] == pytest.approx(found[0]["mrr"])
    assert main(command) == 0
    assert "the answers to 30 questions do not stand together in the file; they were ranked together" in (
        capsys.readouterr().out
    )


def test_rows_are_read_as_they_are_asked_for(rows: list[dict[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    lines = (f'"{row["sentence1"]}, {i}",{row["sentence2"]},neutral\n' for i in range(50) for row in rows)
    path.write_text("premise,hypothesis,label\n" + "".join(lines))
    tracemalloc.start()
    try:
        stream = Stream(path)
        assert sum(1 for _ in stream) == stream.rows == 50 * ROWS
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 500_000, f"{most:,} bytes"


def test_only_one_item_is_made_ahead_and_errors_come_at_their_place() -> None:
    made: list[int] = []
    begun = threading.Event()

    def items() -> Iterator[int]:
        for i in range(5):
            made.append(i)
            if i == 1:
                begun.set()
            if i == 3:
                raise DataError("broken")
            yield i

    source = ahead(items())
    assert next(source) == 0 and begun.wait(600)
    assert next(source) == 1 and max(made) <= 2
    assert next(source) == 2
    with pytest.raises(DataError, match="broken"):
        next(source)
    left = ahead(itertools.count())
    assert next(left) == 0
    left.close()  # type: ignore[attr-defined]
    assert "reading ahead" not in [thread.name for thread in threading.enumerate()]


def test_a_pipe_can_be_predicted(models: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("premise,hypothesis\na dog,a cat\n"))
    writer.start()
    assert main(["predict", str(models / "tiny"), str(tmp_path / "pipe"), "--out", f"{tmp_path}/run/"]) == 0
    writer.join()
    assert load(tmp_path / "run").dataset.rows[0].first == "a dog"
