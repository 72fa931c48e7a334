"""Tests specific to the five baselines; tests/test_conformance.py covers all models."""

import pytest
import torch

from core.models import ConfigError, build
from core.models.attentive_pooling import nearness
from core.reading.batch import Batch
from tests.loops.arithmetic import add, lstm, matvec, projected, tanh
from tests.models import batch_of, make, sentence, tiny

PROJECTED = ("attentive-lstm", "cnn", "apcnn", "abcnn")


@pytest.mark.parametrize("architecture", PROJECTED)
def test_words_of_the_models_own_width_are_read_as_they_are(architecture):
    assert make(architecture, hidden=6).projection is None and make(architecture, hidden=5).projection is not None


def test_words_beyond_the_last_position_are_left_out_of_the_feature_map_alone():
    model = make("abcnn")
    batch = batch_of(model, ((203, 3),))
    trace = model(batch).trace
    assert trace.scores.shape == (1, 3, 203) and trace.scores[..., 200:].min() > 0
    changed = trace.scores.clone()
    changed[..., 200:] = 0.0
    changed_trace = model(batch, changed).trace
    assert torch.equal(changed_trace.output_scores[:, :, :199], trace.output_scores[:, :, :199])
    assert not torch.equal(changed_trace.output_scores[:, :, 200:], trace.output_scores[:, :, 200:])


@pytest.mark.parametrize("architecture", ["attentive-lstm", "apcnn", "abcnn"])
def test_pads_get_no_weight(architecture):
    model = make(architecture)
    trace = model(batch_of(model, ((2, 5), (6, 1)))).trace
    for name, row, words in (("weights", 0, 2), ("x_weights", 1, 1), ("y_weights", 0, 2)):
        if hasattr(trace, name):
            assert getattr(trace, name)[row, words:].abs().max() == 0 < getattr(trace, name)[row, :words].min()


def test_attention_by_hand():
    """With all weight on one word of the premise, r is that word's state."""
    model = make("attentive-lstm")
    batch = batch_of(model, ((3, 4),))
    _, features, trace = model(batch, torch.tensor([[0.0, 1.0, 0.0]]))
    first, second = (projected(model, side.words[0]) for side in (batch.first, batch.second))
    states, cell = lstm(model.first, first, [0.0] * 5, [0.0] * 5)
    last = lstm(model.second, second, states[-1], cell)[0][-1]
    expected = tanh(
        add(matvec(model.combine_context.weight, trace.states[0, 1].tolist()), matvec(model.combine_last.weight, last))
    )
    assert features[0].tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("architecture", ["abcnn", "apcnn"])
def test_a_sentence_with_itself_has_finite_gradients(architecture):
    model, x = make(architecture), sentence(4, 1)
    model(Batch.of([x], [x])).logits.logsumexp(1).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"extra": "several"}, "extra must be one of none, entailment, answer"),
        ({"hidden": 0}, "at least 1"),
        ({"dropout": 1.0}, "below 1"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        build("cnn", tiny("cnn", **settings))


def test_nearness_of_equal_vectors_is_exactly_one():
    x = 30 * sentence(60, 1, 50).float()[None]
    assert torch.equal(nearness(x, x).diagonal(dim1=1, dim2=2), torch.ones(1, 60))


def test_apcnn_has_as_many_weights_as_the_attconv_paper_counts():
    count = {name: p.numel() for name, p in build("apcnn", {"input_size": 160}).named_parameters()}
    assert count["convolution.weight"] + count["match.w"] == 360_000
