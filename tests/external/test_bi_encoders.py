"""Models of single texts in sentence-transformers' layout: vectors by hand, similarity as it is called, verdicts."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from core.checkpoint import CheckpointError, load, open_checkpoint, read_card
from core.effects.faithfulness import faithfulness
from core.effects.links import LinksError, Taken
from core.effects.question import Question
from core.errors import UserError
from core.evaluation.predict import predict
from core.evidence import AttentionMap, Explanation
from core.evidence.attention_map import SIMILARITY
from core.explain import explain
from core.external.pieces import words_of_pieces
from core.reading.tokens import tokenize
from tests.guests import make_tower
from trainers.__main__ import main

PAIR = ("A man's dog can't run 🐶 near the U.S. embassy.", "The  dog doesn't run.")


@pytest.fixture(scope="module")
def tower(tmp_path_factory):
    return make_tower(tmp_path_factory.mktemp("towers") / "my-tower")


def _by_hand(folder, text, pooling, dense):
    """A reference as documented by sentence-transformers: pooling over real tokens, a dense layer, normalisation."""
    home = folder / "0_Transformer"
    tokenizer = transformers.AutoTokenizer.from_pretrained(home)
    model = transformers.AutoModel.from_pretrained(home, add_pooling_layer=False).eval()
    with torch.inference_mode():
        states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
    vector = {"mean": states.mean(0), "cls": states[0], "max": states.max(0).values}[pooling]
    if dense:
        layer = load_file(folder / "2_Dense/model.safetensors")
        vector = torch.tanh(layer["linear.weight"] @ vector + layer["linear.bias"])
    return states, vector / vector.norm()


@pytest.mark.parametrize(("pooling", "dense"), [("mean", 0), ("cls", 0), ("max", 5)])
def test_verdict_and_similarity_are_those_by_hand(tmp_path, pooling, dense):
    folder = make_tower(tmp_path / "tower", pooling, dense)
    (folder / "pairlens.json").write_text('{"threshold": 0.25, "scale": 4.0}')
    guest = load(folder)
    (_, u), (_, v) = (_by_hand(folder, text, pooling, dense) for text in PAIR)
    explanation = explain(guest, *PAIR)
    log_odds = explanation.logits[1] - explanation.logits[0]
    assert log_odds == pytest.approx(4 * (float(u @ v) - 0.25), abs=1e-5)
    assert explanation.labels == ("0", "1") and explanation.first.role == "question 1"
    record = explanation.find(AttentionMap)
    assert record.units == SIMILARITY and (record.rows, record.columns) == ("question 2", "question 1")
    words = [_words(folder, text) for text in PAIR]
    for i, one in enumerate(words[1]):
        for j, other in enumerate(words[0]):
            cosine = float(one @ other / (one.norm() * other.norm()))
            assert record.weights[i][j] == pytest.approx(max(0.0, cosine), abs=1e-5)
    assert "cosines, no attention" in explanation.to_text()
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation


def _words(folder, text):
    states, _ = _by_hand(folder, text, "mean", 0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "0_Transformer")
    spans = [tuple(span) for span in tokenizer(text, return_offsets_mapping=True)["offset_mapping"]][1:-1]
    tokens = tokenize(text)
    owners = [None, *words_of_pieces([(token.start, token.end) for token in tokens], spans), None]
    return [
        states[[place for place, owner in enumerate(owners) if owner == number]].mean(0)
        for number in range(len(tokens))
    ]


def test_many_rows_are_as_one_and_a_long_text_is_cut(tower):
    guest = load(tower)
    pairs = [PAIR, ("A dog.", "Nobody is sleeping outside near the park today."), ("dog " * 100, "A cat.")]
    readings = [guest.read(*pair) for pair in pairs]
    many = predict(guest, readings)
    for reading, logits in zip(readings, many, strict=True):
        torch.testing.assert_close(predict(guest, [reading])[0], logits, atol=1e-5, rtol=0)
    long = explain(guest, *pairs[2])
    assert any("was cut after" in warning for warning in long.warnings)
    assert guest.reader.batch(readings[2]).first.real.shape[1] <= 64


def test_effects_work_and_unsupported_requests_get_one_sentence(tower):
    guest = load(tower)
    effects = Question(guest, *PAIR).words()
    assert 60 < effects.passes == 1 + sum(word.passes for word in effects.words)
    with pytest.raises(LinksError, match="no attention links"):
        Question(guest, *PAIR).links(Taken.RENORMALISED)
    with pytest.raises(UserError, match="no gradients"):
        Question(guest, *PAIR).words("gradient-norm")
    measured = faithfulness(Question(guest, *PAIR))
    assert measured.moved is None and "most-attended" in measured.curves and "gradient-norm" not in measured.curves


def test_its_threshold_is_fitted(tower, tmp_path):
    folder = tmp_path / "my-tower"
    shutil.copytree(tower, folder)
    guest = load(folder)
    words = ("man", "dog", "girls", "park", "cat", "ball")
    pairs = [(f"A {a} and a {b}.", f"A {c} and a {d}.") for a in words for b in words for c, d in (("dog", "ball"),)]
    readings = [guest.read(*pair) for pair in pairs]
    cosines = guest.model(guest.reader.batch_of(readings)).features[:, 0].tolist()
    middle = float(np.median(cosines))
    both = list(zip(pairs, cosines, strict=True))
    lines = [f"{int(cosine > middle)}\t{a}\t{b}\t{n}\n" for n, ((a, b), cosine) in enumerate(both)]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    assert main(["calibrate", str(folder), str(tmp_path / "pairs.tsv"), "--card", "Made"]) == 0
    card = read_card(folder)
    near = sorted(cosines, key=lambda cosine: abs(cosine - middle))[:12]
    assert min(near) - 0.02 < card["config"]["threshold"] < max(near) + 0.02 and card["config"]["scale"] > 10


def test_a_classifier_of_both_vectors_that_an_earlier_version_trained_is_read(tower, tmp_path, capsys):
    folder = tmp_path / "my-tower"
    shutil.copytree(tower, folder)
    labels = ["entailment", "neutral", "contradiction"]
    width = load(folder).model.tower.body.config.hidden_size
    weights = {"weight": torch.randn(3, 3 * width), "bias": torch.randn(3)}
    save_file(weights, folder / "pairlens-head.safetensors")
    (folder / "pairlens.json").write_text(json.dumps({"labels": labels, "task": "entailment"}))
    trained = load(folder)
    assert trained.card["task"] == "entailment" and list(trained.labels) == labels
    u, v = (_by_hand(folder, text, "mean", 0)[1] for text in PAIR)
    expected = weights["weight"] @ torch.cat([u, v, (u - v).abs()]) + weights["bias"]
    assert explain(trained, *PAIR).logits == pytest.approx(expected.tolist(), abs=1e-4)
    (tmp_path / "pairs.tsv").write_text("1\ta man\ta dog\t0\n0\ta cat\ta dog\t1\n")
    assert main(["calibrate", str(folder), str(tmp_path / "pairs.tsv"), "--card", "Made"]) == 2
    assert "has no threshold to fit" in capsys.readouterr().err


def _other_step(folder):
    steps = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([steps[0], {**steps[1], "type": "x.LSTM"}]))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "modules.json").write_text("{"), "not a list of steps"),
        (_other_step, "modules that PairLens does not know .*LSTM"),
        (lambda folder: (folder / "1_Pooling/config.json").write_text("{}"), "pools in a way"),
        (lambda folder: (folder / "0_Transformer/model.safetensors").unlink(), "no .*safetensors"),
        (lambda folder: (folder / "pairlens-head.safetensors").write_bytes(b"x"), "remove it"),
        (lambda folder: (folder / "pairlens.json").write_text('{"labels": ["a"]}'), "1 labels for 2 classes"),
    ],
)
def test_an_unusable_model_gets_one_sentence(tower, tmp_path, damage, message):
    folder = tmp_path / "damaged"
    shutil.copytree(tower, folder)
    damage(folder)
    with pytest.raises(CheckpointError, match=message) as error:
        open_checkpoint(str(folder))
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
