"""The scripts' views of records: equal to Python's text output, plus details only for the screen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app import components, panels
from app.components.bundle import bundle
from core.checkpoint import load
from core.effects import Question
from core.evidence import AttentionMap, FilterProvenance, PooledAttention
from core.evidence.as_json import to_dict
from core.evidence.attention_heads import AttentionHeads
from core.explain import explain
from tests.app.conftest import CONSTANTS
from tests.app.made_up import POOLED, pair

PANELS, COMPONENTS = Path(panels.__file__).parent, Path(components.__file__).parent
TEXTS = ("a man and a dog", "the dog is not playing")


@pytest.fixture
def called(tmp_path, run_script):
    """The return value of a script's exported function for these arguments."""

    def call(script, name, *arguments):
        entry = tmp_path / "entry.js"
        given = json.dumps(arguments, default=to_dict)
        entry.write_text(
            f'import {{ {name} }} from "{script}";\nexport default JSON.stringify({name}(...{given}) ?? null);\n'
        )
        return json.loads(run_script(bundle(entry, [script], CONSTANTS)))

    return call


@pytest.fixture
def said(checkpoints):
    """The explanation of a pair by a model."""
    return lambda model: explain(load(checkpoints / model), *TEXTS)


def test_sentences_begin_their_lines_where_python_does(called):
    explanation = pair(judged="both")
    sides = called(COMPONENTS / "evidence.js", "sidesOf", explanation, ["answer", "question"])
    assert [(side["role"], side["axis"], side["judged"]) for side in sides] == [
        ("question", "column", True),
        ("answer", "row", True),
    ]
    one = called(COMPONENTS / "evidence.js", "sidesOf", explanation, ["answer", "answer"])
    assert [(side["role"], side["axis"]) for side in one] == [("answer", "column"), ("answer", "row")]


def test_a_map_of_words_has_its_null_word_and_of_a_transformer_where_the_rest_goes(called, said):
    script, record = PANELS / "attention_map/records.js", said("test-two-sided").find(AttentionMap)
    drawn = called(script, "wordMap", record, "score")
    assert (drawn["show"], drawn["none"]["word"], drawn["of"], drawn["stays"]) == ("score", "(no word)", "", "")
    assert drawn["none"]["weights"] == pytest.approx(record.null)
    head = replace(record, scores=(), own=tuple(0.25 for _ in record.weights), name="layer 1, head 1")
    of_a_head = called(script, "wordMap", head, "score")
    assert (of_a_head["show"], of_a_head["of"]) == ("weight", "layer 1, head 1")
    assert of_a_head["none"]["word"] == "special tokens"
    assert of_a_head["stays"] == head.stays


def test_windows_are_listed_with_the_one_that_each_looks_at_most(called, said):
    explanation = said("test-qa-bare")
    record = explanation.find(AttentionMap)
    script = PANELS / "attention_map/records.js"
    assert called(script, "drawnMaps", [record], explanation) == [to_dict(record)]
    windows = called(script, "windowsOf", record, explanation)
    assert windows["width"] == explanation.find(FilterProvenance).width and windows["units"] == "windows"
    for own, other, cosine, weight in windows["lines"]:
        row = record.weights[own]
        assert (other is None and weight == 0) or (row[other] == max(row) == weight and cosine > 0)


@pytest.mark.parametrize("model", ["test-light", "test-qa", "test-qa-fixed"])
def test_filters_parts_and_shares_add_up(called, said, model):
    explanation = said(model)
    drawn = called(PANELS / "filter_provenance/filters.js", "filtersOf", explanation.evidence, explanation)
    records = [record for record in explanation.evidence if isinstance(record, FilterProvenance)]
    assert [side["parts"] for side in drawn["sides"]] == [record.part_names for record in records]
    for side in drawn["sides"]:
        for one in side["filters"]:
            assert sum(one["parts"]) == pytest.approx(one["pre"], abs=1e-4)
    for c, logit in enumerate(explanation.logits):
        filters = sum(one["shares"][c] for side in drawn["sides"] for one in side["filters"])
        rest = sum(shares[c] for _, shares in drawn["rest"]) + drawn["bias"][c]
        assert filters + rest == pytest.approx(logit, abs=1e-4)


def test_pooled_sentences_are_one_panel_each_side_on_its_scale(called):
    drawn = called(PANELS / "pooled_attention/pooled.js", "pooledSides", POOLED)
    assert [(side["role"], side["high"]) for side in drawn["sides"]] == [("question", 0.6), ("answer", 0.7)]
    assert (drawn["shares"], drawn["name"]) == (True, "attentive pooling")
    unnormalised = PooledAttention("attentive pooling", "answer", (3.0, 2.0, 1.0))
    assert not called(PANELS / "pooled_attention/pooled.js", "pooledSides", [POOLED[0], unnormalised])["shares"]


def test_bars_are_the_effects_of_a_method_or_of_a_part_of_it(called, checkpoints):
    script, effects = PANELS / "effects/records.js", Question(load(checkpoints / "test-light"), *TEXTS).words()
    bars = called(script, "barsOf", effects, "taken-away")
    assert [bar[0] for bar in bars["premise"]] == pytest.approx([word.effect for word in effects.of("premise")])
    part = next(iter(effects.words[0].by_way))
    known = [word.by_way.get(part) for word in effects.of("hypothesis")]
    assert [bar[0] for bar in called(script, "barsOf", effects, part)["hypothesis"]] == pytest.approx(known)
    assert called(script, "barsOf", effects, "gradient-norm") is None


def test_heads_have_their_pictures_and_the_one_nearest_to_people_its_measure(called):
    record = AttentionHeads(
        "heads",
        "mean",
        "premise",
        "hypothesis",
        across=(((0.1, 0.2),), ((0.3, 0.4),)),
        special=((0.5, 0.5),),
        own=((0.2, 0.1),),
        thumbnails=("AAAA", "BBBB"),
        measured="1.2",
        f1=0.784,
    )
    page = {"head": {"title": "mean of all layers and heads", "own": "mean"}}
    drawn = called(PANELS / "attention_heads/heads.js", "headsOf", record, page)
    assert (drawn["layers"], drawn["heads"]) == (1, 2)
    looking = [(one["role"], one["across"][0][1], one["shades"]) for one in drawn["looking"]]
    assert looking == [("hypothesis", 0.2, "AAAA"), ("premise", 0.4, "BBBB")]
    assert drawn["about"] == "F1 .78 against people’s alignments of words"


def test_steps_of_what_if_follow_the_first_verdict(called, said):
    explanation = said("test-light")
    classes = [
        {"label": name, "p": p, "said": ""}
        for name, p in zip(explanation.class_names, explanation.probabilities, strict=True)
    ]
    steps = [{"said": "as typed", "probabilities": [0.7, 0.2, 0.1]}, {"said": "drop", "probabilities": [0.3, 0.6, 0.1]}]
    asks = {"what_if": {"steps": steps, "target": 0, "scores": []}, "costs": {"change": ""}}
    page = {"verdict": {"classes": classes}, "why": asks}
    drawn = called(PANELS / "what_if/what_if.js", "whatIfOf", explanation, page)
    assert [(step["label"], step["p"]) for step in drawn["steps"]] == [("entailment", 0.7), ("neutral", 0.6)]
    assert [step["follows"] for step in drawn["steps"]] == [0.7, 0.3] and drawn["followed"] == "entailment"
    assert drawn["steps"][0]["change"] is None and drawn["steps"][1]["change"] == pytest.approx(-0.4)
    assert [(one["number"], one["rows"]) for one in drawn["maps"]] == [(0, "hypothesis")]
    unscored = replace(explanation.find(AttentionMap), scores=())
    assert (
        called(PANELS / "what_if/what_if.js", "whatIfOf", replace(explanation, evidence=(unscored,)), page)["maps"]
        == []
    )
