"""Row weights and targets: parts of a data set, classes, teachers; several seeds on a card."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.checkpoint import load
from core.errors import RunError
from core.linguistics.content_words import stop_words
from core.reading.word_table import WordTable
from tests import guests
from trainers import recipe as recipes
from trainers import teaching
from trainers.__main__ import main
from trainers.loop import ready
from trainers.set_up import Options, class_weights
from trainers.teaching import recombined, targets
from trainers.training_data import load_data

from .conftest import pair
from .test_training import arguments

SMALL = ("model.hidden=12", "epochs=1", "batch_size=60", "warmup=2")


def test_a_rows_weight_follows_from_the_part_its_id_names() -> None:
    source = recipes.load("nli-attconv-light").train[0]
    assert source.part_weights == {"disco": 0.2}
    assert [source.weight_of(i) for i in ("disco-79422", "cnli_sub-0", "cad-revised_combined-1", "7")] == [0.2, 1, 1, 1]


def test_classes_are_balanced_by_weight_and_not_by_number() -> None:
    recipe = recipes.load("nli-attconv-light")
    labels, weights = torch.tensor([0, 0, 0, 0, 1, 2]), torch.tensor([0.25, 0.25, 0.25, 0.25, 1.0, 2.0])
    assert class_weights(recipe, labels, weights).tolist() == pytest.approx([4 / 3, 4 / 3, 2 / 3])
    assert class_weights(recipes.load("nli-attconv-light", ["class_weights=none"]), labels, weights).tolist() == [1] * 3


def test_the_loss_of_a_step_is_the_weighted_mean(data: Path, tmp_path: Path) -> None:
    source = "{name: s, path: snli/snli_1.0_train_86k.jsonl}"
    changes = [f"train=[{source}]", "model.dropout=0", "model.embedding_dropout=0", "class_weights=none", *SMALL]
    recipe = recipes.load("nli-attconv-light", changes)
    loaded = load_data(recipe, data, quiet=True)
    words = WordTable.from_vectors(list(loaded.vocabulary.ids), torch.randn(len(loaded.vocabulary.ids), 8), 1.0, "w")
    run = ready(recipe, loaded, words, Options(tmp_path, "cpu", precision="32"))
    run.weights[::2] = 0.1
    rows = run.batches(0)[0]
    batch, labels = run.train_set.batch(rows, run.vectors)
    with torch.no_grad():
        losses = F.cross_entropy(run.model(batch).logits, labels, reduction="none")
    expected = (losses * run.weights[rows]).sum() / run.weights[rows].sum()
    run.step(rows)
    assert float(run.loss) == pytest.approx(float(expected), rel=1e-5)


def test_teachers_are_mixed_into_the_labels(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert main(arguments(data, tmp_path / "wise", "--set", "epochs=1")) == 0
    teacher = load(tmp_path / "wise")
    recipe = recipes.load("nli-attconv-light", ["teachers=[wise]", "teacher_share=0.25"])
    rows = load_rows(4)
    rows[3] = dataclasses.replace(rows[3], label=None)
    taught = torch.tensor([True, True, False, False])
    mixed = targets(recipe, rows, taught, [teacher])
    from core.explain import explain

    for row, mix, share in zip(rows, mixed, (0.25, 0.25, 0, 1), strict=True):
        said = torch.tensor(explain(teacher, row.first, row.second).probabilities)
        label = F.one_hot(torch.tensor(recipe.labels.index(row.label or "neutral")), 3)
        assert torch.allclose(mix, ((1 - share) * label + share * said).float(), atol=1e-5)
    again = targets(recipe, rows, taught, [teacher])
    assert torch.equal(mixed, again), "kept in the cache"
    with pytest.raises(RunError, match="rows without labels need teachers"):
        targets(recipe, rows, taught, [])


def test_recombined_pairs_share_a_content_word_and_are_not_rows_of_the_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(teaching, "sentence_vectors", lambda texts: np.eye(len(texts), 4, dtype=np.float32))
    rows = load_rows(40)
    pairs = recombined(rows, 30, seed=1)
    assert len(pairs) == 30 and all(pair.label is None for pair in pairs)
    firsts, seconds = ({getattr(row, side) for row in rows} for side in ("first", "second"))
    whole = {(row.first, row.second) for row in rows}
    for made in pairs:
        both = made.first, made.second
        if made.first not in firsts or made.second not in seconds:
            both = both[::-1]
        assert both[0] in firsts and both[1] in seconds and both not in whole
        assert set(both[0].lower().split()) & set(both[1].lower().split()) - stop_words()
    assert len({(p.first, p.second) for p in pairs}) == 30
    assert recombined(rows, 30, seed=1) == pairs and recombined(rows, 30, seed=2) != pairs
    assert 0 < len(recombined(rows, 10**6, seed=1)) < 40 * 40, "as many as there are"


def test_the_transfer_set_joins_the_training_rows_without_labels(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(teaching, "sentence_vectors", lambda texts: np.ones((len(texts), 4), dtype=np.float32))
    path = "path: snli/snli_1.0_train_86k.jsonl"
    sources = f"train=[{{name: a, {path}, rows: 30}}, {{name: b, {path}, rows: 20}}]"
    loaded = load_data(recipes.load("nli-attconv-light", [sources, "transfer=5"]), data, quiet=True)
    assert (loaded.train.labels >= 0).tolist() == [True] * 50 + [False] * 5
    weights = class_weights(recipes.load("nli-attconv-light"), loaded.train.labels, loaded.train.weights)
    counts = torch.bincount(loaded.train.labels[:50], minlength=3)
    assert torch.allclose(weights, 50 / (3 * counts))


def test_teachers_are_not_applied_to_a_file_whose_labels_hold_by_construction(data: Path) -> None:
    path = "path: snli/snli_1.0_train_86k.jsonl"
    sources = f"train=[{{name: a, {path}, rows: 3}}, {{name: b, {path}, rows: 2, taught: false}}]"
    loaded = load_data(recipes.load("nli-attconv-light", [sources]), data, quiet=True)
    assert loaded.taught.tolist() == [True, True, True, False, False]


def test_a_share_of_the_rows_is_read_without_its_last_full_stop(tmp_path: Path) -> None:
    rows = [
        {"sentence1": "A dog runs.", "sentence2": "It moves ." if i % 2 else ".", "gold_label": "neutral"}
        for i in range(200)
    ]
    (tmp_path / "s.jsonl").write_text(
        "".join(json.dumps({**row, "pairID": str(i)}) + "\n" for i, row in enumerate(rows))
    )
    source = "{name: s, path: s.jsonl}"
    changes = [f"train=[{source}]", f"dev={source}", "report=[]", "drop_full_stops=0.5", *SMALL]
    recipe = recipes.load("nli-attconv-light", changes)
    loaded = load_data(recipe, tmp_path, quiet=True)
    words = WordTable.from_vectors(list(loaded.vocabulary.ids), torch.randn(len(loaded.vocabulary.ids), 8), 1.0, "w")
    run = ready(recipe, loaded, words, Options(tmp_path / "out", "cpu", precision="32"))
    first, second = (run.rows_of(epoch) for epoch in (0, 1))
    assert 60 < (first.first.lengths == 3).sum() < 140
    assert set(first.first.lengths) == {3, 4}
    assert (first.contexts[0].lengths[1::2] == first.first.lengths[1::2] - 1).all(), "both texts of a row"
    assert (first.contexts[0].lengths[::2] == 1).all(), "a text is never left empty"
    assert (first.first.lengths != second.first.lengths).any(), "drawn again"
    assert (run.rows_of(0).first.lengths == first.first.lengths).all()
    full_stop = loaded.vocabulary.ids["."]
    bare = first.first.lengths == 3
    assert not (first.first.side(bare.nonzero()[0]).words == full_stop).any()


def load_rows(count: int):  # type: ignore[no-untyped-def]
    import random

    from core.data import Example

    made = [pair(random.Random(i), i) for i in range(count)]
    return [Example(m["pairID"], m["sentence1"], m["sentence2"], m["gold_label"]) for m in made]


def test_a_teacher_reads_its_own_words_and_one_that_is_not_there_or_has_other_classes_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert main(arguments(data, tmp_path / "a", "--set", "teachers=[nobody]")) == 2
    assert "no checkpoint named 'nobody'" in capsys.readouterr().err
    assert main(arguments(data, tmp_path / "wise", "--set", "epochs=1")) == 0
    other = (data / "vectors.txt").read_text().replace("dog 0", "dog 1").replace("dog -0", "dog -1")
    (tmp_path / "other.txt").write_text(other)
    more = ["--vectors", str(tmp_path / "other.txt"), "--set", "teachers=[wise]", "--set", "epochs=1"]
    assert main([*arguments(data, tmp_path / "b"), *more]) == 0
    assert load(tmp_path / "b").card["teachers"][0]["sha256"] == load(tmp_path / "wise").card["sha256"]
    capsys.readouterr()
    assert main(["train", "te-phrases-kmin", "--data", str(data), "--set", "teachers=[para-adaqa]", *more[:2]]) == 2
    assert "para-adaqa has other classes; choose another one" in capsys.readouterr().err


def test_a_teacher_that_is_a_run_of_a_recipe_is_trained_first_and_once(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    teachers = "teachers=[nli-attconv-light@7,nli-global-dot@2]"
    typed = [*arguments(data, tmp_path / "taught"), "--set", "epochs=1", "--set", teachers]
    assert main([*typed, "--devices", "2"]) == 2
    assert "the teacher nli-attconv-light@7 is trained first, by one process" in capsys.readouterr().err
    assert main(typed) == 0
    own, other, taught = (load(tmp_path / name).card for name in ("nli-attconv-light@7", "nli-global-dot@2", "taught"))
    assert (own["seed"], own["teachers"], own["recipe"]["epochs"]) == (7, [], 1), "of this recipe with its changes"
    assert (other["name"], other["seed"]) == ("nli-global-dot", 2)
    assert [teacher["sha256"] for teacher in taught["teachers"]] == [own["sha256"], other["sha256"]]
    assert [teacher["name"] for teacher in taught["teachers"]] == ["nli-attconv-light@7", "nli-global-dot@2"]
    before = (tmp_path / "nli-attconv-light@7/card.json").stat().st_mtime_ns
    assert main([*typed, "--overwrite"]) == 0
    assert (tmp_path / "nli-attconv-light@7/card.json").stat().st_mtime_ns == before
    assert load(tmp_path / "taught").card["sha256"] == taught["sha256"]


def test_a_transformer_is_fine_tuned_on_a_recipe_s_data_before_it_teaches(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "models"))
    guests.make(tmp_path / "models/small-bert")
    typed = [*arguments(data, tmp_path / "taught"), "--set", "epochs=1"]
    assert main([*typed, "--set", "teachers=[nobody@nli-attconv-light]"]) == 2
    assert "nobody is not a model folder" in capsys.readouterr().err
    typed += ["--set", "teachers=[small-bert@nli-attconv-light]"]
    assert main(typed) == 0
    tuned = tmp_path / "small-bert@nli-attconv-light"
    taught = load(tmp_path / "taught").card
    assert taught["teachers"] == [{"name": tuned.name, "sha256": load(tuned).card["sha256"]}]
    assert taught["teachers"][0]["sha256"] != load(tmp_path / "models/small-bert").card["sha256"]
    assert "finetune small-bert --recipe nli-attconv-light" in (tuned / "README.md").read_text()
    before = (tuned / "config.json").stat().st_mtime_ns
    assert main([*typed, "--overwrite"]) == 0
    assert (tuned / "config.json").stat().st_mtime_ns == before, "not again"
    assert load(tmp_path / "taught").card["sha256"] == taught["sha256"]
