"""Files on disk: finished work is never lost, and a refused path gives one sentence before any work."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError

from core import files
from core.checkpoint import load
from tests.core.made_up import make_checkpoint, make_table
from tests.trainers.test_training import arguments, weights_hash
from trainers import resume
from trainers.__main__ import main

SHORT = ["--set", "epochs=1", "--set", "batch_size=60"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny", make_table()).folder)


@pytest.fixture(scope="module")
def finished(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("finished") / "run"
    assert main(arguments(data, out, *SHORT)) == 0
    return out


@pytest.fixture
def kept(finished: Path, tmp_path: Path) -> Path:
    """A finished checkpoint of this test's own."""
    copy = tmp_path / "run"
    copy.mkdir()
    for path in finished.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def sentence(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """The single line on standard error of a command with an error that the user can fix."""
    capsys.readouterr()
    assert main(command) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.strip() and "pair/s]" not in line]
    assert len(lines) == 1 and len(lines[0]) < 600
    return lines[0]


@pytest.mark.parametrize(
    "typo", [["--data", "/nowhere"], ["--set", "dev={name: x, path: none.jsonl}"], ["--device", "cuda"]]
)
def test_a_typo_after_overwrite_destroys_nothing(
    typo: list[str], kept: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    (kept / resume.FILE).write_bytes(b"an unfinished run")
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    sentence(capsys, *arguments(data, kept, *SHORT, "--overwrite"), *typo)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    load(kept)


def test_a_run_that_overwrites_leaves_the_old_checkpoint_until_it_is_complete(
    kept: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped in training, and again between the new weights and the new card; then it ends like an unbroken run."""
    other = [*SHORT, "--set", "seed=77", "--set", "epochs=2"]
    assert main(arguments(data, tmp_path / "whole", *other)) == 0
    before = weights_hash(kept)
    write = resume.write

    def stop(*state: Any) -> None:
        write(*state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(resume, "write", stop)
        assert main(arguments(data, kept, *other, "--overwrite")) == 130
    load(kept)
    assert weights_hash(kept) == before and (kept / resume.FILE).is_file()
    assert "--resume to continue" in sentence(capsys, *arguments(data, kept, *other))
    replace = Path.replace

    def killed(path: Path, target: Path) -> Path:
        if target.name == "card.json":
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        assert main(arguments(data, kept, *other, "--resume")) == 130
    assert main(arguments(data, kept, *other, "--resume")) == 0
    assert weights_hash(kept) == weights_hash(tmp_path / "whole") and load(kept).card["seed"] == 77
    tensors = {f"{name}.safetensors" for name in ("weights", "words", "dynamics")}
    assert {path.name for path in kept.iterdir()} == {"card.json", *tensors}


@pytest.mark.parametrize("where", ["trainers.resume.save_file", "core.checkpoint.files.save_file"])
def test_a_full_disk_is_reported_and_the_old_state_survives(
    where: str, kept: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = weights_hash(kept)

    def full(tensors: Any, path: Path, **named: Any) -> None:
        Path(path).write_bytes(b"half of it")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    with monkeypatch.context() as patch:
        patch.setattr(where, full)
        told = sentence(capsys, *arguments(data, kept, *SHORT, "--set", "seed=5", "--overwrite"))
    assert "No space left on device" in told and "free space on the disk" in told
    load(kept)
    assert weights_hash(kept) == before and not list(kept.glob("*.tmp"))
    state = kept / resume.FILE
    assert state.is_file() == (where == "core.checkpoint.files.save_file")


def writers(checkpoint: str, data: Path, out: Path) -> dict[str, list[str]]:
    """Every command that writes a file, writing to ``out``."""
    dev = str(data / "snli/snli_1.0_dev.jsonl")
    return {
        "predict": ["predict", checkpoint, dev, "--out", str(out)],
        "sweep": ["sweep", "nli-attconv-light", "--data", str(data), "--csv", str(out), "--runs", str(out.parent)],
        "compare": ["compare", "--ours", checkpoint, "--theirs", checkpoint, "--named", "x", "--csv", str(out)],
        "bench": ["bench", "desk", "--json", str(out)],
    }


@pytest.mark.parametrize("name", ["predict", "sweep", "compare", "bench"])
def test_an_unwritable_file_is_reported_before_any_work(
    name: str,
    checkpoint: str,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").touch()
    # `load` last: a module imported while it is replaced would keep the replacement.
    for work in ("trainers.train.load_data", "trainers.compare.scored", "core.checkpoint.load"):
        monkeypatch.setattr(work, lambda *_: pytest.fail("worked before it looked at --out"))
    monkeypatch.setattr("trainers.bench.MEASUREMENTS", {"desk": lambda quick: pytest.fail("measured")})

    def told(out: Path) -> str:
        return sentence(capsys, *writers(checkpoint, data, out)[name])

    assert "is a folder" in told(tmp_path / "folder.csv")
    assert "does not exist; make it first" in told(tmp_path / "none" / "a.csv")
    assert "is a file" in told(tmp_path / "file" / "a.csv") or "Not a directory" in told(tmp_path / "file" / "a.csv")
    assert "File name too long" in told(tmp_path / f"{'a' * 5000}.csv")
    # The tests may run as root, whom no permission stops: a read-only folder is played.
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert "Read-only file system" in told(tmp_path / "a.csv")


def refuse(*_: Any, **named: Any) -> Any:
    raise OSError(errno.EROFS, "Read-only file system", str(named.get("dir")))


@pytest.mark.parametrize("command", ["train", "map"])
def test_an_unwritable_folder_is_reported_before_any_work(
    command: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    maker = make_checkpoint(tmp_path / "tiny", make_table(), "acnn").folder
    (tmp_path / "file").touch()
    monkeypatch.setattr("trainers.train.load_data", lambda *_: pytest.fail("read data first"))
    monkeypatch.setattr("trainers.map.read", lambda *_: pytest.fail("read data first"))

    def told(out: Path) -> str:
        if command == "train":
            return sentence(capsys, *arguments(data, out))
        return sentence(capsys, "map", str(maker), str(data / "sick/SICK_trial.txt"), "--out", str(out))

    assert "is a file" in told(tmp_path / "file")
    assert "is a file" in told(tmp_path / "file" / "run") or "Not a directory" in told(tmp_path / "file" / "run")
    assert "File name too long" in told(tmp_path / ("a" * 5000))
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert "Read-only file system" in told(tmp_path / "new" / "run")
    assert not (tmp_path / "new").exists()


def test_a_result_takes_the_old_ones_place_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(files.FileError, match="No space left on device"), files.whole_file(path) as scratch:
        scratch.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    with files.whole_file(link) as scratch:
        scratch.write_text("new")
    assert path.read_text() == "new" and link.is_symlink()
    with files.whole_file(Path("/dev/null")) as scratch:
        assert scratch == Path("/dev/null")


def test_an_error_of_the_system_that_no_command_expects_is_one_sentence(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise OSError(errno.EIO, "Input/output error", "somewhere")

    monkeypatch.setattr("trainers.train.load_data", broken)
    assert "somewhere: Input/output error; give another path" in sentence(capsys, *arguments(data, tmp_path / "run"))


def test_a_file_of_nuls_is_one_sentence_wherever_it_is_read(
    checkpoint: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nuls = tmp_path / "nuls.csv"
    nuls.write_bytes(bytes(5000))
    assert "is not text" in sentence(capsys, "evaluate", checkpoint, str(nuls))
    assert "is not text" in sentence(capsys, "predict", checkpoint, str(nuls), "--out", str(tmp_path / "out.csv"))
    assert "YAML" in sentence(capsys, "train", str(nuls), "--data", str(data))
    assert str(nuls.name) in sentence(capsys, *arguments(data, tmp_path / "run", "--vectors", str(nuls)))
    folder = data / "nuls"
    folder.mkdir(exist_ok=True)
    for content in (bytes(5000), b""):
        (folder / "words.txt").write_text("a\nb\n")
        (folder / "vectors.npy").write_bytes(content)
        plain = arguments(data, tmp_path / "run", "--set", "vectors=nuls")
        at = plain.index("--vectors")
        assert "no readable words.txt and vectors.npy" in sentence(capsys, *plain[:at], *plain[at + 2 :])


def test_a_recipe_nested_too_deep_is_one_sentence(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = tmp_path / "deep.yaml"
    deep.write_text("a: " + "[" * 5000 + "]" * 5000)
    assert "not readable YAML" in sentence(capsys, "train", str(deep), "--data", str(data))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("labels=[a, a]", "labels must be different names"),
        ("roles=[a, a]", "roles must be two different names"),
        ("roles=[a, '']", "roles must be two different names"),
        ("token_limits={premise: 0}", "token_limits must be whole numbers from 1"),
    ],
)
def test_a_recipe_whose_checkpoint_could_not_be_loaded_is_not_trained(
    change: str, says: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(data, tmp_path / "run", "--set", change, "--set", "judged=a")) == 2
    assert says in capsys.readouterr().err
