"""Several contexts of one text: one pass each, and the largest value of each filter ("context-wise")."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import torch

from core.data.dataset import Example
from core.effects.attention_edits import AttentionEdit, explain_under
from core.evaluation.encoding import Vocabulary, encode
from core.evaluation.predict import predict
from core.evidence import AttentionMap, AttentiveContext, Explanation, FilterProvenance
from core.explain import explain, with_nearest
from core.reading.batch import Batch, Side
from tests.core.made_up import make_checkpoint, make_table
from tests.models import make, sentence

ARCHITECTURES = ("attconv-light", "attconv-advanced", "attconv-feedforward")
CLAIM, EVIDENCE = "the red dog runs", "A dog is in the snow.\n\nThe man plays.\n  An animal"
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


def at_temperature(checkpoint, value):
    return explain_under(checkpoint, CLAIM, EVIDENCE, [AttentionEdit("temperature", value=value)])


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture
def checkpoint(tmp_path, table):
    return make_checkpoint(tmp_path / "x", table, "attconv-advanced", "first", context="each")


def three(claims=2):
    """Claims, and three contexts of each."""
    contexts = [[sentence(3 + k, 10 * k + row) for row in range(claims)] for k in range(3)]
    return [sentence(4 + row, 100 + row) for row in range(claims)], contexts


@every_architecture
def test_their_order_changes_nothing(architecture):
    model = make(architecture, context="each")
    claims, contexts = three()
    first, *others = (model(Batch.of(claims, *order, judged="first")) for order in itertools.permutations(contexts))
    assert len(others) == 5
    for other in others:
        assert torch.equal(other.logits, first.logits)
        assert torch.equal(other.trace.won.unique(), first.trace.won.unique())


@every_architecture
def test_one_that_a_row_lacks_changes_nothing_whatever_stands_on_it(architecture):
    model = make(architecture, context="each")
    claims, contexts = three()
    alone = [
        model(Batch.of([claim], *([c[row]] for c in contexts[: row + 1]), judged="first"))
        for row, claim in enumerate(claims)
    ]
    sides = [Side.of(texts) for texts in contexts]
    sides[1].mask[0] = sides[2].mask[:] = False
    noisy = tuple(Side(side.words.masked_fill(~side.mask[..., None], torch.nan), side.mask) for side in sides)
    batch = Batch(Side.of(claims), noisy, "first")
    together = model(batch)
    assert together.trace.present.tolist() == [[True, False, False], [True, True, False]]
    for row in range(2):
        torch.testing.assert_close(together.logits[row], alone[row].logits[0], rtol=1e-9, atol=1e-9)
    assert all(
        weights.shape == (2, 5, side.mask.shape[1]) for weights, side in zip(together.trace.maps, sides, strict=True)
    )
    again = model(batch, together.trace.maps)
    torch.testing.assert_close(again.logits, together.logits, rtol=1e-9, atol=1e-9)
    assert not torch.allclose(model(batch, (None, torch.ones(2, 5, 4), None)).logits[1], together.logits[1])


@every_architecture
def test_one_context_is_that_of_a_pair(architecture):
    each, extra = (make(architecture, context=context) for context in ("each", "extra"))
    batch = Batch.of([sentence(4, 1)], [sentence(5, 2)], judged="first")
    assert torch.equal(each(batch).logits, extra(batch).logits)


def test_each_line_of_the_evidence_is_a_context(checkpoint):
    explanation = explain(checkpoint, CLAIM, EVIDENCE)
    record, filters = explanation.find(AttentionMap), explanation.find(FilterProvenance)
    starts = record.blocks(explanation)
    assert starts == [0, 7, 11] and explanation.second.text == EVIDENCE and len(explanation.contexts) == 1
    weights = torch.tensor(record.weights)
    assert weights.shape == (4, 13) and record.apart
    for block in torch.tensor_split(weights, starts[1:], dim=1):
        torch.testing.assert_close(block.sum(1), torch.ones(4))
    assert sum(filters.wins) == len(filters.filters) and filters.contexts == 3 == len(filters.wins)
    lines = [line.strip() for line in EVIDENCE.split("\n") if line]
    alone = [explain(checkpoint, CLAIM, line).find(FilterProvenance).filters for line in lines]
    for f in filters.filters:
        values = [own[f.index].activation for own in alone]
        assert values[f.beside] == max(values) == pytest.approx(f.activation, abs=1e-6)
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation
    text = explanation.to_text()
    assert "separately in each of its lines" in text and f"context 1: {filters.wins[0]}" in text
    assert "over each line" in record.to_html(explanation)
    assert filters.to_csv(explanation).splitlines()[0].endswith(",context")


def test_one_line_is_a_pair(checkpoint):
    explanation = explain(checkpoint, CLAIM, "A dog is in the snow.")
    assert not explanation.find(AttentionMap).apart and not explanation.find(FilterProvenance).wins
    assert "context 1" not in explanation.to_text()


def test_only_the_lines_of_the_text_that_is_not_judged_are_read_apart(tmp_path, table, checkpoint):
    assert [context.norms for context in checkpoint.read("a\nb", "a dog\n\nsnow").contexts] == [["a", "dog"], ["snow"]]
    other = make_checkpoint(tmp_path / "other", table, "attconv-advanced", "second", context="each")
    assert [context.norms for context in other.read("a dog", "a dog\nsnow").contexts] == [["a", "dog", "snow"]]


def test_its_attention_can_be_edited_and_its_softmaxes_made_warmer(checkpoint):
    explanation = explain(checkpoint, CLAIM, EVIDENCE)
    record = explanation.find(AttentionMap)
    own = torch.tensor(record.weights)
    assert explain(checkpoint, CLAIM, EVIDENCE, override=own).logits == pytest.approx(explanation.logits, abs=1e-5)
    flat = explain(checkpoint, CLAIM, EVIDENCE, override=torch.ones_like(own) / 7)
    assert flat.logits != pytest.approx(explanation.logits, abs=1e-5) and flat.find(AttentionMap).overridden
    for wrong in (own[:, :-1], own[:-1]):
        with pytest.raises(ValueError, match=r"must be \[.*\], got \["):
            explain(checkpoint, CLAIM, EVIDENCE, override=wrong)
    warm = at_temperature(checkpoint, 1e6).find(AttentionMap)
    assert warm.weights != record.weights and sum(warm.weights[0]) == pytest.approx(3, abs=1e-4)
    assert sum(warm.weights[0][7:11]) == pytest.approx(1, abs=1e-4)
    nearest = with_nearest(checkpoint, explanation, 1).find(AttentiveContext).nearest
    assert nearest[1].nearest and nearest[0] is None


@pytest.mark.parametrize("limit", [200, 9, 3])
def test_training_reads_lines_as_a_checkpoint_does(checkpoint, limit):
    checkpoint.card["token_limits"] = {"hypothesis": limit}
    texts = [(CLAIM, EVIDENCE), ("a man", "the snow"), ("a dog", "…\n\nin the snow ?"), ("the toy", "\u200b")]
    rows = [Example(str(i), *pair, None) for i, pair in enumerate(texts)]
    vocabulary = Vocabulary()
    data = encode(rows, vocabulary, (), judged="first", limits=(200, limit), lines=True)
    words = {number: norm for norm, number in vocabulary.ids.items()}
    for row, pair in enumerate(texts):
        batch, _ = data.batch(np.array([row]), None)
        ours = [[words.get(n, "") for n in side.words[0].tolist()] for side in batch.contexts]
        assert ours == [context.norms or [""] for context in checkpoint.read(*pair).contexts]
    together = predict(checkpoint, [checkpoint.read(*pair) for pair in texts])
    for row, pair in enumerate(texts[:3]):
        assert together[row].tolist() == pytest.approx(explain(checkpoint, *pair).logits, abs=1e-5)
    both = data.and_then(data.rows(np.array([1])))
    contexts = both.batch(np.array([0, 4]), None)[0].contexts
    assert contexts[-1].mask.any(1).tolist() == [True, len(contexts) == 1]
