"""External models' kinds of output: one score, multi-label classes, a similarity; and the reading settings in their
files."""

from __future__ import annotations

import csv
import json
import math

import pytest
import torch
import transformers

from core.__main__ import main
from core.checkpoint import CheckpointError, load, read_card
from core.effects.faithfulness import faithfulness
from core.effects.links import Taken
from core.effects.question import Question
from core.errors import UserError
from core.evidence import Explanation
from core.evidence.explanation import LABELS, SCORE, UNFITTED
from core.explain import explain
from core.reading.reader import PairError
from tests.guests import make, make_tower
from trainers.__main__ import main as train

PAIR = ("A man plays a red guitar.", "Nobody is sleeping.")
TOLD = ["--first", PAIR[0], "--second", PAIR[1]]
ONE = {"id2label": {0: "LABEL_0"}, "label2id": {"LABEL_0": 0}}
SIGMOID = "torch.nn.modules.activation.Sigmoid"


def _logits(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        return model(**tokenizer(*PAIR, return_tensors="pt")).logits[0].tolist()


@pytest.fixture(scope="module")
def scorer(tmp_path_factory):
    return make(tmp_path_factory.mktemp("scorers") / "ranker", **ONE)


@pytest.mark.parametrize(
    ("settings", "sigmoid"),
    [
        ({}, False),
        ({"problem_type": "regression"}, False),
        ({"sentence_transformers": {"activation_fn": SIGMOID}}, True),
        ({"sbert_ce_default_activation_function": SIGMOID}, True),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}, False),
        ({"problem_type": "multi_label_classification"}, True),
    ],
)
def test_one_output_is_a_score_and_effects_are_in_its_units(tmp_path, settings, sigmoid):
    guest = load(make(tmp_path / "ranker", **ONE, **settings))
    (logit,) = _logits(tmp_path / "ranker")
    score = 1 / (1 + math.exp(-logit)) if sigmoid else logit
    explanation = explain(guest, *PAIR)
    assert explanation.probabilities == (pytest.approx(score, abs=1e-5),)
    assert (explanation.labels, explanation.answer, explanation.unit) == (("score",), SCORE, "score")
    assert explanation.to_text().startswith(f"score {score:.2f}".replace("-", "−")) and "%" not in explanation.said
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation
    effects = Question(guest, *PAIR).words("dropped")
    left = explain(guest, "A man plays a guitar.", PAIR[1]).probabilities[0]
    red = next(word for word in effects.words if word.text == "red")
    assert effects.unit == "score" and red.effect == pytest.approx(score - left, abs=1e-5)
    assert red.probabilities == (pytest.approx(left, abs=1e-5),) and red.log_odds is None
    assert "in score" in effects.to_text()[0] and "%" not in effects.to_text()[0]


def test_links_heads_and_gradients_of_a_score_are_in_its_units(scorer):
    guest = load(scorer)
    asked = Question(guest, *PAIR)
    own = asked.explanation.probabilities[0]
    links = Question(guest, *PAIR).links(Taken.RENORMALISED)[0]
    i, j = next((i, j) for i, row in enumerate(links.effects) for j, one in enumerate(row) if one is not None)
    batch = guest.reader.batch(asked.reading)
    cut = guest.model.under(batch, guest.model.knockouts.knocked_out(asked.reading, batch, 0, [(i, j)])).logits
    assert links.effects[i][j] == pytest.approx(own - float(cut[0, 0].detach()), abs=1e-5)
    assert any(abs(effect) > 1e-6 for row in Question(guest, *PAIR).heads()[0].effects for effect in row)
    sums = Question(guest, *PAIR).words("integrated-gradients").completeness
    assert sums[0] == pytest.approx(sums[1], abs=0.05)
    assert faithfulness(asked).curves["random"]
    with pytest.raises(UserError, match="gives a score"):
        Question(guest, *PAIR).smallest_change()


def test_commands_and_files_say_a_score_as_it_is(scorer, tmp_path, capsys):
    assert main(["explain", "--model", str(scorer), *TOLD]) == 0
    assert main(["why", str(scorer), *TOLD]) == 0
    assert "%" not in "".join(line for line in capsys.readouterr().out.splitlines(True) if line.startswith("score"))
    rows = tmp_path / "rows.csv"
    rows.write_text("premise,hypothesis\n" + ",".join(PAIR) + "\n")
    assert train(["predict", str(scorer), str(rows), "--out", str(tmp_path / "out.csv")]) == 0
    (row,) = csv.DictReader((tmp_path / "out.csv").open())
    assert list(row) == ["id", "first", "second", "label", "predicted", "truncated"]
    assert float(row["predicted"]) == pytest.approx(_logits(scorer)[0], abs=1e-4)


def test_labels_that_may_all_hold_have_probabilities_of_their_own(tmp_path):
    folder = make(tmp_path / "tags", problem_type="multi_label_classification")
    guest, logits = load(folder), _logits(folder)
    explanation = explain(guest, *PAIR)
    assert explanation.answer == LABELS
    assert explanation.probabilities == pytest.approx([1 / (1 + math.exp(-one)) for one in logits], abs=1e-5)
    said = explanation.to_text().splitlines()[0]
    assert all(label in said for label in explanation.labels) and "each label may hold" in said
    effects = Question(guest, *PAIR).words("dropped")
    target = effects.labels.index(effects.verdict)
    left = explain(guest, "A man plays a guitar.", PAIR[1]).probabilities
    red = next(word for word in effects.words if word.text == "red")
    before = explanation.probabilities[target]
    assert red.effect == pytest.approx(math.log(before / left[target]), abs=1e-5)
    odds = [math.log(p / (1 - p)) for p in (before, left[target])]
    assert red.log_odds == pytest.approx(odds[0] - odds[1], abs=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"problem_type": "ordinal"}, "problem_type that is not known"),
        ({"problem_type": "regression"}, "3 scores of a pair"),
        (
            {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Hardtanh"}},
            "Hardtanh, which is not",
        ),
    ],
)
def test_outputs_of_unknown_meaning_are_refused_by_name(tmp_path, settings, message):
    folder = make(tmp_path / "odd")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **settings}))
    with pytest.raises(CheckpointError, match=message):
        read_card(folder)


def test_a_similarity_without_a_threshold_is_no_verdict(tmp_path, capsys):
    folder = make_tower(tmp_path / "tower")
    explanation = explain(load(folder), *PAIR)
    assert (explanation.labels, explanation.answer) == (("similarity",), UNFITTED)
    assert -1 <= explanation.probabilities[0] <= 1
    assert main(["explain", "--model", str(folder), *TOLD]) == 0
    said = f"similarity {explanation.probabilities[0]:.2f}; no threshold fitted"
    assert capsys.readouterr().out.startswith(said)
    (folder / "pairlens.json").write_text('{"threshold": 0.4}')
    assert explain(load(folder), *PAIR).labels == ("0", "1")


def _settings(folder, **settings):
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))


def _states(folder, text):
    home = folder / "0_Transformer"
    tokenizer = transformers.AutoTokenizer.from_pretrained(home)
    model = transformers.AutoModel.from_pretrained(home, add_pooling_layer=False).eval()
    with torch.inference_mode():
        return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dot", lambda u, v: u @ v),
        ("euclidean", lambda u, v: -(u - v).norm()),
        ("manhattan", lambda u, v: -(u - v).abs().sum()),
        ("cosine", lambda u, v: u @ v / u.norm() / v.norm()),
    ],
)
def test_vectors_are_compared_as_the_model_was_made_for(tmp_path, name, expected):
    folder = make_tower(tmp_path / "tower", normalised=False)
    _settings(folder, similarity_fn_name=name)
    u, v = (_states(folder, text).mean(0) for text in PAIR)
    assert explain(load(folder), *PAIR).probabilities[0] == pytest.approx(float(expected(u, v)), rel=1e-4)


def test_a_prompt_precedes_each_text_and_belongs_to_no_word(tmp_path):
    folder = make_tower(tmp_path / "tower")
    _settings(folder, prompts={"query": "a dog: "}, default_prompt_name="query")
    u, v = (_states(folder, f"a dog: {text}").mean(0) for text in PAIR)
    explanation = explain(load(folder), *PAIR)
    assert explanation.probabilities[0] == pytest.approx(float(u @ v / u.norm() / v.norm()), abs=1e-5)
    assert [token.text for token in explanation.first.tokens][:2] == ["A", "man"]


def test_lower_casing_and_maximum_length_follow_its_files(tmp_path):
    folder = make_tower(tmp_path / "tower")
    tokenizer = json.loads((folder / "0_Transformer/tokenizer.json").read_text())
    tokenizer["normalizer"]["lowercase"] = False
    (folder / "0_Transformer/tokenizer.json").write_text(json.dumps(tokenizer))
    settings = folder / "0_Transformer/sentence_bert_config.json"
    large, small = (PAIR[0].upper(), PAIR[1]), (PAIR[0].lower(), PAIR[1].lower())
    settings.write_text('{"max_seq_length": 12, "do_lower_case": true}')
    guest = load(folder)
    assert explain(guest, *large).probabilities == pytest.approx(explain(guest, *small).probabilities, abs=1e-6)
    assert guest.reader.batch(guest.read("dog " * 50, "a cat")).first.real.shape[1] <= 12


@pytest.mark.parametrize("ways", [("cls", "max"), ("weightedmean",), ("lasttoken",), ("mean_sqrt_len",)])
def test_every_way_of_pooling_is_followed(tmp_path, ways):
    folder = make_tower(tmp_path / "tower")
    keys = {"cls": "cls_token", "max": "max_tokens", "weightedmean": "weightedmean_tokens", "lasttoken": "lasttoken"}
    names = {f"pooling_mode_{keys.get(way, f'{way}_tokens')}": True for way in ways}
    (folder / "1_Pooling/config.json").write_text(json.dumps(names))

    def pooled(text):
        states = _states(folder, text)
        places = torch.arange(1, len(states) + 1)[:, None]
        by_hand = {
            "cls": states[0],
            "max": states.max(0).values,
            "weightedmean": (states * places).sum(0) / places.sum(),
            "lasttoken": states[-1],
            "mean_sqrt_len": states.sum(0) / len(states) ** 0.5,
        }
        return torch.cat([by_hand[way] for way in ways])

    u, v = map(pooled, PAIR)
    expected = float(u @ v / u.norm() / v.norm())
    assert explain(load(folder), *PAIR).probabilities[0] == pytest.approx(expected, abs=1e-5)


def _pooling(folder, **settings):
    file = folder / "1_Pooling/config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: _settings(folder, similarity_fn_name="jaccard"), "compares by jaccard"),
        (lambda folder: _settings(folder, truncate_dim=0), "truncate_dim that cannot be"),
        (lambda folder: _settings(folder, default_prompt_name="query"), "no prompt 'query'"),
        (lambda folder: _settings(folder, prompts={"q": 3}), "prompts that are not texts"),
        (lambda folder: _pooling(folder, pooling_mode_attention=True), "pools in a way"),
        (
            lambda folder: (folder / "0_Transformer/sentence_bert_config.json").write_text('{"query_length": 32}'),
            "query_length, which PairLens does not apply",
        ),
        (
            lambda folder: (folder / "0_Transformer/sentence_bert_config.json").write_text('{"max_seq_length": "x"}'),
            "max_seq_length that cannot be",
        ),
    ],
)
def test_unsupported_settings_are_refused_by_name(tmp_path, change, message):
    folder = make_tower(tmp_path / "tower")
    change(folder)
    with pytest.raises(CheckpointError, match=message):
        load(folder)


def test_a_prompt_that_is_left_out_of_the_pooling_is_refused(tmp_path):
    folder = make_tower(tmp_path / "tower")
    _settings(folder, prompts={"query": "query: "}, default_prompt_name="query")
    _pooling(folder, include_prompt=False)
    with pytest.raises(CheckpointError, match="include_prompt"):
        load(folder)


def test_a_left_truncating_tokeniser_is_supported_if_nothing_is_cut(tmp_path):
    folder = make(tmp_path / "left", max_position_embeddings=32)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "truncation_side": "left"}))
    guest = load(folder)
    assert explain(guest, *PAIR).probabilities
    with pytest.raises(PairError, match="cuts texts at their beginning"):
        explain(guest, "dog " * 60, "A cat.")


NAMES = "contradiction,neutral,entailment"


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    labels = {number: f"LABEL_{number}" for number in range(3)}
    folder = tmp_path_factory.mktemp("numbered") / "numbered"
    return make(folder, id2label=labels, label2id={label: number for number, label in labels.items()})


def test_every_command_takes_names_of_classes(numbered, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    lines = [
        {"sentence1": PAIR[0], "sentence2": PAIR[1], "gold_label": label, "pairID": label} for label in NAMES.split(",")
    ]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    named, out = ["--class-names", NAMES], str(tmp_path / "out.csv")
    for command in (
        lambda: main(["explain", "--model", str(numbered), *TOLD, *named]),
        lambda: main(["why", str(numbered), *TOLD, *named, "--method", "dropped"]),
        lambda: main(["turn", str(numbered), *TOLD, *named]),
        lambda: train(["evaluate", str(numbered), str(rows), *named]),
        lambda: train(["predict", str(numbered), str(rows), "--out", out, *named]),
        lambda: train(["predict", "nli-two-sided", str(numbered), str(rows), "--out", f"{tmp_path}/run/", *named]),
    ):
        assert command() == 0, capsys.readouterr().err
        assert "LABEL_" not in capsys.readouterr().out
    (row, *_) = csv.DictReader((tmp_path / "out.csv").open())
    assert [name for name in row if name.startswith("p_")] == [f"p_{name}" for name in NAMES.split(",")]
    for wrong, message in (("a,b", "3 classes"), ("a,b,b", "2 different ones"), ("a,,c", "3 classes")):
        assert main(["explain", "--model", str(numbered), *TOLD, "--class-names", wrong]) == 2
        told = capsys.readouterr().err
        assert message in told and told.count("\n") == 1
    assert main(["explain", "--model", "nli-two-sided", *TOLD, *named]) == 2
    assert "its own class names" in capsys.readouterr().err
    assert main(["explain", "--model", str(numbered), *TOLD]) == 2
    assert "--class-names" in capsys.readouterr().err
