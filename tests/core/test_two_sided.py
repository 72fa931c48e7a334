"""Tests specific to two-sided attentive convolution; tests/test_conformance.py covers all models."""

import json

import pytest
import torch

from core.__main__ import main
from core.evaluation.predict import predict
from core.evidence import AttentionMap, Explanation
from core.explain import explain
from core.models.intervention import Intervention
from tests.core.made_up import make_checkpoint
from tests.loops.two_sided import crossings

PAIR = ("the dog plays in the snow .", "in the snow a dog plays .")


def maps_of(explanation: Explanation) -> list[AttentionMap]:
    return [record for record in explanation.evidence if isinstance(record, AttentionMap)]


def test_a_word_knows_how_many_look_across_it_and_which(tmp_path, table):
    explanation = explain(make_checkpoint(tmp_path / "tiny", table, "two-sided", "both"), *PAIR)
    assert [record.rows for record in maps_of(explanation)] == ["hypothesis", "premise"]
    for record in maps_of(explanation):
        q = [crossings(record.override, i) for i in range(7)]
        assert record.crossings == pytest.approx(q, abs=1e-5) and max(q) > 0.1
        assert [sum(row) / 6 for row in record.crossed_by] == pytest.approx(q, abs=1e-5)
        for i, across in enumerate(record.crossed_by):
            assert across[i] == 0 and across == pytest.approx([other[i] for other in record.crossed_by])
            named = record.crossing[i]
            assert {*named} == {k for k, far in enumerate(across) if far >= 0.5}
            assert [across[k] for k in named] == sorted((across[k] for k in named), reverse=True)
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation


def test_without_crossings_every_q_is_0_and_the_attention_stays(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "two-sided", "both")
    own, without = explain(checkpoint, *PAIR), explain(checkpoint, *PAIR, crossings=False)
    for before, after in zip(maps_of(own), maps_of(without), strict=True):
        assert set(after.crossings) == {0}
        assert (after.weights, after.crossed_by) == (before.weights, before.crossed_by) and not after.overridden
    assert explain(checkpoint, *PAIR).logits == own.logits, "nothing of it stays on the model"
    # The same by hand: a model whose weights on q are 0.
    with torch.no_grad():
        checkpoint.model.compare.weight[:, -1] = 0
    assert explain(checkpoint, *PAIR).logits == pytest.approx(without.logits, abs=1e-6)
    assert own.logits != pytest.approx(without.logits, abs=1e-4)


def test_rows_at_once_under_an_intervention_are_the_rows_one_by_one(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "two-sided", "both")
    readings = [checkpoint.read(*PAIR)] * 3
    weights = torch.rand(3, 7, 8)
    together = predict(checkpoint, readings, intervention=Intervention((weights, None), crossings=False))
    for logits, own in zip(together, weights, strict=True):
        alone = explain(checkpoint, *PAIR, override=(own, None), crossings=False, records=())
        assert logits.tolist() == pytest.approx(alone.logits, abs=1e-5)


def test_a_model_that_counts_no_crossings_refuses_a_call_without(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "esim")
    assert explain(checkpoint, *PAIR).find(AttentionMap).crossings is None
    assert not any("cross" in name for name in explain(checkpoint, *PAIR).to_dict()["evidence"][0])
    with pytest.raises(ValueError, match="counts no crossing words"):
        explain(checkpoint, *PAIR, crossings=False)


def test_the_command_line_leaves_crossings_out(tmp_path, table, capsys):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "two-sided", "both")
    command = ["explain", "--model", str(checkpoint.folder), "--first", PAIR[0], "--second", PAIR[1], "--json"]
    assert main([*command, "--edit", "uncrossed"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["logits"] == list(explain(checkpoint, *PAIR, crossings=False).logits)
    assert {q for record in printed["evidence"] for q in record.get("crossings", ())} == {0}
