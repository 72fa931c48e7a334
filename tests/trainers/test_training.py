"""Trainings on made-up data: recipes run, a small set is learnt by heart, a killed run ends like an unbroken one."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
import random
import runpy
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from core.adaptation.label_check import area_under
from core.checkpoint import dynamics, load
from core.data import Example
from core.errors import RecipeError, RunError
from core.explain import explain
from tests.processes import forked
from tests.shared import free_port
from tests.trainers.conftest import pair
from trainers import loop, resume
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.card import slug
from trainers.row_chances import UNFINISHED, RowChances
from trainers.set_up import Options, start_from
from trainers.training_data import load_data
from trainers.vectors import read_vectors

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"acnn": ("projection=12", "filters=6", "code=5"), "adaqa": ("projection=12", "filters=6", "code=5")}


def arguments(data: Path, out: Path, *more: str, name: str = "nli-attconv-light") -> list[str]:
    recipe = recipes.load(name)
    vectors = (
        []
        if recipe.train_words or any("tune_words" in change for change in more)
        else ["--vectors", str(data / "vectors.txt")]
    )
    small = ["warmup=2", *(f"model.{size}" for size in SIZES.get(recipe.architecture, ("hidden=12",)))]
    changes = [part for change in small for part in ("--set", change)]
    return ["train", name, "--data", str(data), "--out", str(out), "--device", "cpu", *vectors, *changes, *more]


def weights_hash(folder: Path) -> str:
    files = [folder / "weights.safetensors", *folder.glob("words.safetensors")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def kinds() -> list[str]:
    """A recipe of each architecture, task and set of model settings. All of them are read in
    tests/trainers/test_recipe.py."""
    found = dict[str, str]()
    for name in recipes.names():
        recipe = recipes.load(name)
        found.setdefault(repr((recipe.architecture, recipe.task, sorted(recipe.model))), name)
    return [*found.values()]


@pytest.mark.parametrize("name", kinds())
def test_every_kind_of_recipe_trains_two_steps(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mean, forgets = torch._foreach_lerp_, list[float]()
    monkeypatch.setattr(torch, "_foreach_lerp_", lambda old, new, part: forgets.append(part) or mean(old, new, part))
    # About 120 pairs in batches of 60: two steps, or four.
    alone = ("init=''", "init_classifier=false", "init_share=0", "teachers=[]", "transfer=0")
    more = [part for of in ("epochs=1", "batch_size=60", *alone) for part in ("--set", of)]
    assert main(arguments(data, tmp_path / "run", *more, name=name)) == 0
    checkpoint, recipe = load(tmp_path / "run"), recipes.load(name)
    card = checkpoint.card
    assert card["training"]["steps"] in (2, 3, 4) and card["name"] == name and card["words"]["own"]
    assert forgets == pytest.approx([1 - min(recipe.ema, (1 + n) / (10 + n)) for n in range(card["training"]["steps"])])
    assert [e["epoch"] for e in card["epochs"]] == [1] and 0 <= card["epochs"][0][slug(recipe.dev.name)] <= 1
    assert list(card["results"]) == [recipe.dev.name, *(source.name for source in recipe.report)]
    assert all(3 <= result["items"] <= 24 for result in card["results"].values())
    assert sum(d["rows"] for d in card["data"]) >= 96 and all(d["licence"] for d in card["data"])
    assert recipes.from_dict(card["recipe"]).name == name and card["task"] == recipe.task
    if recipe.linear:
        kinds = {kept.split(",")[0] for kept in card["classifiers"]}
        assert kinds == {"network", "logistic regression", "linear SVM"} and card["classifier"] in card["classifiers"]
        measure = "map" if recipe.task == "answer selection" else "accuracy"
        best = max(scores[measure] for scores in card["classifiers"].values())
        if not recipe.model.get("projection"):  # folding one rounds its rows
            # The kept classifier stands in the weights: scoring them gives what choosing it found.
            assert card["results"][recipe.dev.name][measure] == pytest.approx(best)
    assert str(data) not in json.dumps(dict(card)) and str(tmp_path) not in json.dumps(dict(card))
    assert {value.dtype for value in load_file(checkpoint.folder / "weights.safetensors").values()} == {torch.float16}
    assert len(explain(checkpoint, "a man runs", "a dog sleeps").probabilities) == len(recipe.labels)


def test_thirty_two_pairs_are_learnt_by_heart(data: Path, tmp_path: Path) -> None:
    """Through the command; tests/test_conformance.py covers every architecture."""
    source = "{name: few, path: snli/snli_1.0_train_86k.jsonl, rows: 32}"
    changes = [
        f"train=[{source}]",
        f"dev={source}",
        "report=[]",
        "epochs=60",
        "batch_size=16",
        "ema=0",
        "lr=0.01",
        "schedule=constant",
        "model.hidden=32",
        "model.dropout=0",
        "model.embedding_dropout=0",
    ]
    more = [part for change in changes for part in ("--set", change)]
    assert main(arguments(data, tmp_path / "run", *more)) == 0
    results = load(tmp_path / "run").card["results"]
    assert results["few"] == pytest.approx({"accuracy": 1.0, "macro_f1": 1.0, "items": 32})


def test_the_chance_of_a_rows_label_is_negative_where_another_class_had_a_higher_one(tmp_path):
    rows = [Example(f"{n}", f"text {n}", "b", label) for n, label in enumerate(("x", "y", None, "x"))]
    data = SimpleNamespace(train_rows=rows, train=SimpleNamespace(labels=torch.tensor([0, 1, -1, 0])))
    record = RowChances(tmp_path, data, ("x", "y"), lambda chances: chances, torch.device("cpu"))
    chances = torch.tensor([[[0.75, 0.25], [0.75, 0.25], [0.5, 0.5]], [[0.25, 0.75], [0.125, 0.875], [0.5, 0.5]]])
    for epoch, each in enumerate(chances, start=1):
        record.record(torch.tensor([1, 0]), each[:2].log())
        record.record(torch.tensor([2]), each[2:].log())
        record.end_epoch(epoch, write=True)
    record.record(torch.tensor([3]), each[:1].log())
    record.end_epoch(3, write=True)
    record.finish(3)
    found = dynamics.read(tmp_path)
    at = found.places(
        dynamics.row_hashes((row.first, row.second, label) for row, label in zip(rows, "XYxX", strict=True))
    )
    assert at.tolist() == [0, 1, -1, 2] and not (tmp_path / UNFINISHED).exists()
    assert found.chances.tolist() == [[0.75, -0.25, 0], [-0.125, 0.75, 0], [0, 0, -0.25]]


def test_changed_labels_are_hard_in_training(data: Path, tmp_path: Path) -> None:
    source = random.Random(4)
    lines = [pair(source, number) for number in range(240)]
    classes = [line["gold_label"] for line in lines]
    for line in lines[::10]:
        line["gold_label"] = {"entailment": "neutral", "neutral": "contradiction"}.get(line["gold_label"], "entailment")
    (data / "snli/changed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sources = "train=[{name: changed, path: snli/changed.jsonl}]", "dev={name: few, path: snli/snli_1.0_dev.jsonl}"
    settings = (*sources, "report=[]", "epochs=6", "batch_size=8", "lr=0.02", "model.hidden=24", "warmup=2")
    recipe = recipes.load("nli-hypothesis-only", settings)
    read = load_data(recipe, data, quiet=True)
    words = read_vectors(data / "vectors.txt", read.vocabulary.ids)
    loop.train(recipe, read, words, Options(tmp_path / "run", device="cpu"), own_words=True)
    found = dynamics.read(tmp_path / "run")
    assert found is not None and found.chances.shape == (6, len(lines))
    at = found.places(
        dynamics.row_hashes((line["sentence1"], line["sentence2"], line["gold_label"].upper()) for line in lines)
    )
    changed = np.array([line["gold_label"] != own for line, own in zip(lines, classes, strict=True)])
    assert sorted(at) == [*range(len(lines))]
    assert area_under(found.confidence[at][changed], found.confidence[at][~changed]) > 0.9
    assert (found.regions[at][changed] == dynamics.HARD).mean() > 0.7 > 2 * (found.regions == dynamics.HARD).mean()


def test_early_stopping_keeps_the_best_epoch(data: Path, tmp_path: Path) -> None:
    # A rate near zero: the first epoch is never bettered.
    more = ["--set", "lr=1e-12", "--set", "patience=2", "--set", "epochs=9", "--set", "ema=0"]
    assert main(arguments(data, tmp_path / "run", *more)) == 0
    card = load(tmp_path / "run").card
    assert [e["epoch"] for e in card["epochs"]] == [1, 2, 3] and card["best_epoch"] == 1


def test_a_killed_run_ends_with_the_weights_of_an_unbroken_one(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a model that also trains word vectors."""
    more = ["--set", "tune_words=2", "--set", "epochs=2", "--set", "batch_size=3", "--save-every", "9"]
    whole, broken = (arguments(data, tmp_path / name, *more, name="fever-attconv") for name in ("whole", "broken"))
    assert main(whole) == 0
    state = tmp_path / "broken/resume.safetensors"
    kill_in_the_middle([forked(main, broken)], state)
    capsys.readouterr()
    assert main([*broken, "--resume"]) == 0
    assert "resuming in epoch" in capsys.readouterr().out
    assert weights_hash(tmp_path / "broken") == weights_hash(tmp_path / "whole")
    first, second = (load(tmp_path / name).card for name in ("whole", "broken"))
    dev = slug(first["recipe"]["dev"]["name"])
    assert [e[dev] for e in first["epochs"]] == [e[dev] for e in second["epochs"]]
    assert [e["loss"] for e in first["epochs"]] == [e["loss"] for e in second["epochs"]]
    assert not state.exists() and not (tmp_path / "broken/dynamics.unfinished").exists()
    known, resumed = (dynamics.read(tmp_path / name) for name in ("whole", "broken"))
    assert known and resumed and len(known.chances) == 2 and np.array_equal(known.chances, resumed.chances)


def kill_in_the_middle(processes: list[BaseProcess], state: Path) -> None:
    """Kill this training in the middle of an epoch."""
    try:
        deadline = time.monotonic() + 600
        while not (state.is_file() and _progress(state)["batch"] > 0):
            assert all(process.is_alive() for process in processes), "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        for process in processes:
            process.kill()
            process.join()
    assert _progress(state)["batch"] > 0 and not (state.parent / "card.json").exists()


def _progress(state: Path) -> dict[str, int]:
    """The counts in a state's header (8 bytes length, then JSON; the file is always whole)."""
    content = state.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    found: dict[str, int] = json.loads(header["__metadata__"]["progress"])
    return found


def test_nothing_is_lost_by_a_second_call(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    more = ["--set", "epochs=1", "--set", "batch_size=60"]
    assert main(arguments(data, out, *more)) == 0
    before = weights_hash(out)
    assert main(arguments(data, out, *more)) == 2
    assert "finished checkpoint" in capsys.readouterr().err
    assert main(arguments(data, out, *more, "--resume")) == 0
    assert "already finished" in capsys.readouterr().out and weights_hash(out) == before
    assert main(arguments(data, out, *more, "--set", "seed=77", "--overwrite")) == 0
    assert weights_hash(out) != before
    (out / "resume.safetensors").write_bytes(b"cut off")
    assert main(arguments(data, out, *more)) == 2
    assert "unfinished run" in capsys.readouterr().err
    assert main(arguments(data, out, *more, "--resume")) == 2
    assert "damaged" in capsys.readouterr().err


def test_a_run_resumes_only_at_its_own_precision(tmp_path: Path) -> None:
    resume.write(tmp_path, resume.Progress("f bf16", step=3), {"x": torch.ones(2)})
    progress, tensors = resume.read(tmp_path, "f {}".format, "bf16") or (None, {})
    assert progress and progress.step == 3 and tensors["x"].tolist() == [1, 1]
    with pytest.raises(RunError, match=r"begun at precision bf16, .* go on at 32; add --precision bf16"):
        resume.read(tmp_path, "f {}".format, "32")
    with pytest.raises(RunError, match="another recipe, data, word table"):
        resume.read(tmp_path, "g {}".format, "32")


def test_two_machines_train_what_one_process_trains(data: Path, tmp_path: Path) -> None:
    """In float32 and without dropout, whose masks are a process's own. The two machines are killed, and two processes
    of one machine go on. Batches of 3 of 112 rows: the last one has a row for one process."""
    sizes = ["epochs=2", "batch_size=3", "ema=0.9", "model.dropout=0", "model.embedding_dropout=0"]
    more = [*(part for size in sizes for part in ("--set", size)), "--precision", "32", "--threads", "1"]
    assert main(arguments(data, tmp_path / "one", *more)) == 0
    several = arguments(data, tmp_path / "two", *more, "--save-every", "3")
    port = free_port()
    machines = [forked(main, several, **by_torchrun(number, port)) for number in range(2)]
    kill_in_the_middle(machines, tmp_path / "two/resume.safetensors")
    random = load_file(tmp_path / "two/resume.safetensors")["random.cpu"]
    seed = recipes.load("nli-attconv-light").seed
    assert random.equal(torch.stack([torch.Generator().manual_seed(seed + 1000 * i).get_state() for i in range(2)]))
    printed = tmp_path / "printed.txt"
    program = forked(as_program, printed, *several, "--devices", "2", "--resume", PYTHONPATH=str(ROOT))
    program.join()
    told = printed.read_text()
    assert program.exitcode == 0, told
    assert told.count("resuming in epoch") == told.count("written: ") == 1
    one, two = (load(tmp_path / name).card for name in ("one", "two"))
    assert (one["training"]["processes"], two["training"]["processes"]) == (1, 2)
    assert [e["snli_dev"] for e in two["epochs"]] == [e["snli_dev"] for e in one["epochs"]]
    assert [e["loss"] for e in two["epochs"]] == pytest.approx([e["loss"] for e in one["epochs"]], abs=1e-3)
    assert two["results"]["SNLI dev"]["accuracy"] == pytest.approx(max(e["snli_dev"] for e in two["epochs"]))
    alone, shared = (dynamics.read(tmp_path / name) for name in ("one", "two"))
    assert alone and shared and np.array_equal(alone.rows, shared.rows)
    assert np.allclose(alone.chances, shared.chances, atol=2e-3)


def as_program(printed: Path, *command: str) -> None:
    """``python -m trainers COMMAND``, with what it and the processes that it starts print in a file."""
    for stream in (1, 2):
        os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.stdout = sys.stderr = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["trainers", *command]
    runpy.run_module("trainers", run_name="__main__", alter_sys=True)


def by_torchrun(machine: int, port: int) -> dict[str, str]:
    """The environment in which torchrun starts the only process of one of two machines."""
    two = dict.fromkeys(("WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"), "2")
    own = dict.fromkeys(("RANK", "GROUP_RANK", "ROLE_RANK"), str(machine))
    known = {"TORCHELASTIC_RUN_ID": "none", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
    return {**two, **own, **known, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--data", "/nowhere"], "data folder /nowhere does not exist"),
        (["--set", "lrr=1"], "did you mean 'lr'"),
        (["--set", "dev={name: x, path: none.jsonl}"], "x is not at none.jsonl in the data folder"),
        (["--set", "labels=[yes, no]"], "labels"),
        (["--set", "model.match=cosine"], "model.match must be one of dot, bilinear, additive, got 'cosine'"),
        (["--precision", "16"], "needs CUDA"),
        (["--devices", "3"], "torchrun started 2 processes here and --devices is 3; leave --devices out"),
        (["--vectors", "/nowhere.txt"], "vector file /nowhere.txt does not exist"),
    ],
)
def test_mistakes_are_one_sentence(
    more: list[str],
    says: str,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "torchrun" in says:
        for name, value in {"TORCHELASTIC_RUN_ID": "none", "LOCAL_WORLD_SIZE": "2", "WORLD_SIZE": "4"}.items():
            monkeypatch.setenv(name, value)
    assert main([*arguments(data, tmp_path / "run"), *more]) == 2
    told = capsys.readouterr().err
    assert says in told and len(told.strip().splitlines()) == 1 and not (tmp_path / "run").exists()


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU")
@pytest.mark.parametrize("more", [["--precision", "bf16"], ["--precision", "16"]])
def test_cuda_options(more: list[str], data: Path, tmp_path: Path) -> None:
    run = [*arguments(data, tmp_path / "run", "--set", "epochs=20", "--set", "ema=0.9"), *more]
    run[run.index("cpu")] = "cuda"
    assert main(run) == 0
    assert load(tmp_path / "run").card["results"]["SNLI dev"]["accuracy"] > 0.6


def test_a_model_starts_from_anothers_weights_and_if_asked_its_classifier(
    data: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    for name, seed in (("one", 1), ("two", 2)):
        assert main(arguments(data, tmp_path / name, "--set", "epochs=1", "--set", f"seed={seed}")) == 0
    one, two = (load(tmp_path / name) for name in ("one", "two"))
    recipe, started = recipes.from_dict(one.card["recipe"] | {"init": "one"}), copy.deepcopy(two.model)
    start_from(recipe, started, one.words, tmp_path / "out")
    assert torch.equal(started.classifier.weight, two.model.classifier.weight)
    assert torch.equal(started.projection.weight, one.model.projection.weight)
    start_from(dataclasses.replace(recipe, init_classifier=True), started, one.words, tmp_path / "out")
    assert torch.equal(started.classifier.weight, one.model.classifier.weight)


def test_a_second_stage_trains_its_first_one_and_keeps_a_share_of_its_weights(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    for name, share in {"half": 0.5, "whole": 0.0}.items():
        changes = ["epochs=1", "init=nli-global-dot@3", "init_classifier=true", f"init_share={share}"]
        given = [part for change in changes for part in ("--set", change)]
        assert main(["train", "nli-global-dot", "--data", str(data), "--out", str(tmp_path / name), *given]) == 0
    first, half, whole = (load(tmp_path / name) for name in ("nli-global-dot@3", "half", "whole"))
    assert half.card["init"] == {"name": "nli-global-dot@3", "sha256": first.card["sha256"]}
    states = [one.model.state_dict() for one in (first, half, whole)]
    for start, mean, trained in zip(*(state.values() for state in states), strict=True):
        torch.testing.assert_close(mean, (start + trained) / 2, atol=1e-3, rtol=1e-3)
    assert not torch.equal(states[0]["classifier.weight"], states[2]["classifier.weight"])
    with pytest.raises(RecipeError, match="init_share needs init"):
        recipes.load("nli-global-dot", ["init_share=0.5"])
