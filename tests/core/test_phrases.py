"""Tests specific to the phrase model; tests/test_conformance.py covers all models."""

import json
import math

import pytest
import torch

from core.evidence import AttentionMap, Explanation, PhraseSelection
from core.explain import explain
from core.models import ConfigError, build
from core.models.phrases.alignment import PhraseGRU, alignment, best, diversity, keep, phrase_mask, span
from tests.loops.arithmetic import cosine
from tests.models import batch_of, make, tiny

POOLINGS = ("kmin", "kmax", "full")


def test_phrase_states_are_those_of_torchs_gru_started_at_every_word():
    torch.manual_seed(0)
    net, gru = PhraseGRU(7, 5), torch.nn.GRU(7, 5, batch_first=True)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(gru, f"{name}_l0").data.copy_(getattr(net, name))
    words = torch.randn(1, 9, 7)
    states, mask = net(words, torch.ones(1, 9, dtype=torch.bool))
    assert int(mask.sum()) == 7 * 9 - 6 * 7 // 2
    for slot in torch.nonzero(mask[0]).flatten().tolist():
        first, last = span(slot)
        expected = gru(words[:, first:last])[1][0, 0]
        torch.testing.assert_close(states[0, slot], expected, rtol=1e-5, atol=1e-6)


def test_slots_are_in_the_papers_order():
    """ABC: (A)(B)(AB)(C)(BC)(ABC), section 3.2."""
    slots = torch.nonzero(phrase_mask(torch.ones(1, 3, dtype=torch.bool))[0]).flatten().tolist()
    assert ["ABC"[slice(*span(slot))] for slot in slots] == ["A", "B", "AB", "C", "BC", "ABC"]


def test_kmin_keeps_the_worst_and_kmax_the_best_in_the_order_of_the_text():
    score = torch.tensor([[0.9, 0.1, 0.5, 0.3, 0.7]])
    mask = torch.ones(1, 5, dtype=torch.bool)
    assert keep(score, mask, "kmin", 2).slots.tolist() == [[1, 3]]
    assert keep(score, mask, "kmax", 2).slots.tolist() == [[0, 4]]
    assert keep(score, mask, "full", 2).slots.tolist() == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("pooling", ["kmin", "kmax"])
def test_of_equal_scores_the_earlier_phrase_is_kept(pooling):
    # 1e-7 apart is what a processor's order of adding makes of one and the same phrase.
    score = torch.tensor([[0.5, 0.5 + 1e-7, 0.5 - 1e-7, 0.5]])
    assert keep(score, torch.ones(1, 4, dtype=torch.bool), pooling, 2).slots.tolist() == [[0, 1]]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_sentence_with_fewer_phrases_than_k_keeps_all_of_them(pooling):
    mask = torch.tensor([[True, False, True, False]])
    found = keep(torch.tensor([[0.2, 9.0, 0.1, -9.0]]), mask, pooling, 10)
    assert found.slots[found.mask].tolist() == [0, 2]


def test_of_equal_partners_the_earliest_is_recorded():
    scores = torch.tensor([[[0.4, 0.8, 0.8], [1.0, 1.0, 1.0]]])
    found = best(scores, torch.tensor([[True, False]]), torch.ones(1, 3, dtype=torch.bool))
    assert found.partner[0, 0] == 1
    assert found.score.tolist() == [[pytest.approx(0.8), -math.inf]]


def test_alignment_is_the_cosine():
    a, b = torch.randn(1, 3, 4), torch.randn(1, 2, 4)
    found = alignment(a, b)
    for i in range(3):
        for j in range(2):
            assert float(found[0, i, j]) == pytest.approx(cosine(a[0, i].tolist(), b[0, j].tolist()), abs=1e-6)


def test_diversity_is_the_variance_of_the_angles_less_their_mean():
    rows = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    angles = [math.pi / 2, math.acos(1 - 1e-6), math.pi / 2]  # opposite rows are as close as equal ones
    mean = sum(angles) / 3
    assert float(diversity(rows)) == pytest.approx(sum((a - mean) ** 2 for a in angles) / 3 - mean, abs=1e-5)
    weight = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    diversity(weight).backward()
    assert torch.isfinite(weight.grad).all()


def test_an_overridden_alignment_decides_which_phrases_are_kept():
    model = make("phrases", k=1)
    batch = batch_of(model, ((2, 3),))
    logits, _, trace = model(batch)
    given = torch.ones_like(trace.scores)
    given[:, 7] = -1.0  # the second word of the second sentence fits nothing
    changed = model(batch, given)
    assert changed.trace.second.selection.slots.tolist() == [[7]]
    assert not torch.equal(changed.logits, logits)
    with pytest.raises(ValueError, match=r"must be \[1, 21, 14\], got \[1, 3, 2\]"):
        model(batch, torch.ones(1, 3, 2))


def test_every_pooling_from_one_trace_equals_a_model_with_that_pooling():
    model = make("phrases", pooling="kmin", k=5)
    batch = batch_of(model, ((6, 9),))
    choices = [(pooling, k) for pooling in ("kmin", "kmax") for k in (1, 2, 7)] + [("full", 0)]
    verdicts = model.decide(model(batch).trace, choices)
    for (pooling, k), logits in zip(choices, verdicts, strict=True):
        other = make("phrases", pooling=pooling, k=max(k, 1))  # of the same weights
        torch.testing.assert_close(logits, other(batch).logits[0])


@pytest.mark.parametrize(
    "wrong", [{"pooling": "k-min"}, {"k": 0}, {"features": "rep+extra"}, {"extra": "all"}, {"similarities": "dot"}]
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ConfigError):
        build("phrases", tiny("phrases", **wrong))


def test_the_explanation_tells_phrases_partners_and_all_choices(phrase_checkpoint):
    found = explain(phrase_checkpoint, "A dog runs in the snow", "A dog jumps")
    record, grid = found.find(PhraseSelection), found.find(AttentionMap)
    first, second = record.sides
    assert [p.span for p in second.phrases] == [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (0, 3)]
    assert len(first.phrases) == 6 * 7 // 2
    assert [r.units for r in found.evidence if isinstance(r, AttentionMap)] == ["phrases"]
    assert (len(grid.scores), len(grid.scores[0])) == (6, 21)
    for i, phrase in enumerate(second.phrases):
        assert phrase.score == pytest.approx(max(grid.scores[i]), abs=1e-6)
        assert grid.scores[i][phrase.partner] == pytest.approx(phrase.score, abs=1e-5)
    assert second.phrases[0].partner == 0 and second.phrases[0].score == pytest.approx(1)
    assert [(c.pooling, c.k) for c in record.choices if c.trained] == [("kmin", 5)]
    assert record.choice("kmin", 5).probabilities == pytest.approx(found.probabilities, abs=1e-5)
    assert record.choice("full").kept == (tuple(range(21)), tuple(range(6)))
    assert all(list(side) == sorted(side) for choice in record.choices for side in choice.kept)
    assert Explanation.from_dict(json.loads(found.to_json())) == found


def test_one_word_against_one_word_has_one_phrase_each(phrase_checkpoint):
    record = explain(phrase_checkpoint, "dog", "cat").find(PhraseSelection)
    assert {choice.kept for choice in record.choices} == {((0,), (0,))}


def test_the_map_over_phrases_is_left_out_beyond_60_words_and_the_phrases_are_not(phrase_checkpoint):
    found = explain(phrase_checkpoint, "dog cat " * 31, "a dog")
    assert found.find(AttentionMap) is None
    assert len(found.find(PhraseSelection).sides[0].phrases) == 62 * 7 - 21


def test_notebook_and_command_line_tell_the_kept_phrases(phrase_checkpoint):
    found = explain(phrase_checkpoint, "A dog <b> runs", "A cat")
    drawn, told = found._repr_html_(), found.to_text()
    assert "kmin, k = 5, as trained" in drawn and "&lt;" in drawn and "<b> runs" not in drawn
    assert "kmin with k = 5, as trained" in told and "kmax with k = 5:" in told
    assert "A | cat | A cat" in drawn  # a sentence of three phrases keeps them all


def test_an_edited_alignment_is_read_as_the_record_numbers_its_phrases(phrase_checkpoint):
    pair = ("A dog runs in the snow", "A dog jumps high")
    own = explain(phrase_checkpoint, *pair)
    scores = torch.tensor(own.find(AttentionMap).scores)
    again = explain(phrase_checkpoint, *pair, override=scores)
    assert again.logits == pytest.approx(own.logits, abs=1e-6)
    assert again.find(PhraseSelection).choices == own.find(PhraseSelection).choices
    scores[:, 3] = -1.0  # the phrase "runs" of the premise fits nothing any more
    edited = explain(phrase_checkpoint, *pair, override=scores)
    assert edited.find(AttentionMap).overridden
    assert 3 in edited.find(PhraseSelection).choice("kmin", 1).kept[0]
    with pytest.raises(ValueError, match=r"must be \[10, 21\], got \[2, 2\]"):
        explain(phrase_checkpoint, *pair, override=torch.ones(2, 2))
