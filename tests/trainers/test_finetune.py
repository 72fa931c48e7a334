"""Fine-tuning a pretrained transformer: the folder that is written, resuming, and input that cannot be used."""

import json
from dataclasses import replace

import pytest
import torch
import transformers

from core.checkpoint import load, read_card
from core.errors import RunError
from core.explain import explain
from core.external.settings import add_settings
from tests.guests import make
from trainers import finetune
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.training_data import read_all

PAIR = ("a red dog runs", "not a red dog")


@pytest.fixture
def command(data, tmp_path):
    """The command on a small model with random weights, without its options."""
    make(tmp_path / "small-bert")
    where = ["--data", str(data), "--out", str(tmp_path / "tuned"), "--threads", "1"]
    return ["finetune", str(tmp_path / "small-bert"), "--recipe", "nli-two-sided", *where]


def test_the_folder_is_one_that_the_library_reads(command, tmp_path, capsys):
    options = ["--title", "Tuned", "--epochs", "2", "--batch", "8", "--piece-texts", "3", "--evaluate-every", "5"]
    assert main([*command, *options]) == 0
    out = tmp_path / "tuned"
    card = read_card(out)
    assert (card["title"], card["task"], card["licence"]) == ("Tuned", "entailment", "CC BY-SA 4.0")
    assert f"SNLI dev: {card['results']['SNLI dev']['accuracy']:.2%} of 24" in capsys.readouterr().out
    readme = (out / "README.md").read_text()
    assert "python -m trainers finetune small-bert --recipe nli-two-sided --data DATA --out tuned" in readme
    assert str(tmp_path) not in readme + (out / "pairlens.json").read_text()
    explanation = explain(load(out), *PAIR)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(out, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    with torch.inference_mode():
        logits = model.eval()(**tokenizer(*PAIR, return_tensors="pt")).logits[0]
    torch.testing.assert_close(logits, torch.tensor(explanation.logits), atol=1e-5, rtol=0)
    assert not (tmp_path / "tuned.training").exists()


def test_the_users_own_file_and_the_models_title(tmp_path):
    make(tmp_path / "small-bert")
    add_settings(tmp_path / "small-bert", title="Small BERT")
    rows = "".join(f"text {i},other {i},{('Same', 'not')[i % 2]}\n" for i in range(20))
    (tmp_path / "events.csv").write_text("headline A,headline B,verdict\n" + rows)
    picked = "first=headline A,second=headline B,label=verdict"
    command = ["finetune", str(tmp_path / "small-bert"), "--file", str(tmp_path / "events.csv"), "--columns", picked]
    assert main([*command, "--epochs", "1", "--threads", "1", "--out", str(tmp_path / "tuned")]) == 0
    card = read_card(tmp_path / "tuned")
    assert (card["title"], card["task"], card["labels"]) == ("Small BERT", "events", ["not", "same"])
    assert (card["roles"]["first"], card["roles"]["second"]) == ("headline A", "headline B")
    assert explain(load(tmp_path / "tuned"), *PAIR).labels == ("not", "same")
    told = f"finetune small-bert --out tuned --file events.csv --columns '{picked}'"
    assert told in (tmp_path / "tuned/README.md").read_text()


def test_a_cut_vocabulary_keeps_frequent_pieces_and_their_vectors(tmp_path):
    make(tmp_path / "small-bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "small-bert")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "small-bert")
    before, vectors = tokenizer.get_vocab(), model.get_input_embeddings().weight.detach().clone()
    cut = finetune.cut_vocabulary(model, tokenizer, ["the dog chases the dog", "a dog"], 2)
    kept = cut.get_vocab()
    assert "dog" in kept and "chases" not in kept and "a" in kept and "[CLS]" in kept
    pieces = cut("the dog")["input_ids"]
    assert cut.convert_ids_to_tokens(pieces)[0] == "[CLS]" and cut.convert_ids_to_tokens(pieces)[-1] == "[SEP]"
    for piece, number in kept.items():
        assert torch.equal(model.get_input_embeddings().weight[number], vectors[before[piece]])


def test_an_interrupted_training_resumes(command, tmp_path, monkeypatch, capsys):
    options = ["--epochs", "2", "--batch", "8", "--evaluate-every", "4"]
    with monkeypatch.context() as patch:
        patch.setattr(finetune, "whole_folder", lambda *args, **named: pytest.fail("killed", pytrace=False))
        with pytest.raises(pytest.fail.Exception):
            main([*command, *options])
    saved = sorted((tmp_path / "tuned.training").glob("checkpoint-*"))
    assert saved and main([*command, *options]) == 2
    assert "holds an unfinished training; add --resume" in capsys.readouterr().err
    last = max(json.loads((path / "trainer_state.json").read_text())["global_step"] for path in saved)
    started = []
    monkeypatch.setattr(
        transformers.TrainerCallback, "on_train_begin", lambda *a, **k: started.append(a[2].global_step)
    )
    assert main([*command, *options, "--resume"]) == 0
    assert max(started) == last and read_card(tmp_path / "tuned")["results"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder: (folder / "config.json").unlink(), "is not a model folder"),
        (lambda folder: (folder / "model.safetensors").unlink(), "cannot be opened for training"),
        (lambda folder: [path.unlink() for path in folder.glob("tokenizer*")], "has no tokenizer files"),
    ],
)
def test_a_folder_that_cannot_be_used_is_one_sentence(command, tmp_path, capsys, change, sentence):
    change(tmp_path / "small-bert")
    assert main(command) == 2
    said = capsys.readouterr().err
    assert sentence in said and len(said.strip().splitlines()) == 1 and not (tmp_path / "tuned").exists()


def test_input_that_cannot_be_used_is_one_sentence(command, capsys):
    assert main([*command, "--resume"]) == 2 and "no unfinished training" in capsys.readouterr().err
    assert main([*command, "--epochs", "0"]) == 2 and "must be above 0" in capsys.readouterr().err


def test_a_class_without_rows_is_named(data):
    recipe = recipes.load("nli-two-sided")
    labels = replace(recipe, labels=(*recipe.labels, "other"))
    with pytest.raises(RunError, match="no training row has the class other"):
        finetune.training_rows(labels, [*read_all(recipe, data)][: len(recipe.train)], 1)
