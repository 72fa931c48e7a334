"""Tests specific to light and advanced attentive convolution; tests/test_conformance.py covers all models."""

import pytest
import torch

from core.layers.attention import Match
from core.models import ConfigError, build
from core.reading.batch import Batch
from tests.models import batch_of, make, sentence, tiny

ARCHITECTURES = ("attconv-light", "attconv-advanced")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_order_of_context_words_matters_only_to_the_advanced_form(architecture):
    model = make(architecture)
    x, y = sentence(4, 1), sentence(6, 2)
    there, back = (model(Batch.of([side], [x])).logits for side in (y, y.flip(0)))
    assert torch.allclose(there, back, atol=1e-9) == (architecture == "attconv-light")


@pytest.mark.parametrize("judged", ["first", "second"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_without_context_the_other_sentence_changes_nothing(architecture, judged):
    model = make(architecture, context="none")
    own, others = sentence(4, 1), (sentence(3, 2), sentence(5, 3))
    pairs = [([own], [other]) if judged == "first" else ([other], [own]) for other in others]
    one, another = (model(Batch.of(*pair, judged=judged)).logits for pair in pairs)
    assert torch.equal(one, another)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_judged_side_looks_at_the_other(architecture):
    model = make(architecture)
    first, second = sentence(4, 1), sentence(3, 2)
    assert model(Batch.of([first], [second], judged="first")).trace.weights.shape == (1, 4, 3)
    assert model(Batch.of([first], [second], judged="second")).trace.weights.shape == (1, 3, 4)
    turned = model(Batch.of([second], [first], judged="first")).logits
    assert torch.equal(model(Batch.of([first], [second], judged="second")).logits, turned)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_pads_get_no_weight(architecture):
    trace = make(architecture)(batch_of(make(architecture), ((2, 5), (6, 1)))).trace
    assert trace.weights[0, :, 2:].abs().max() == 0 < trace.weights[1, 0].min()
    assert torch.allclose(trace.weights.sum(2), torch.ones(1, dtype=torch.float64))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_overridden_attention_is_used_for_the_context(architecture):
    model = make(architecture)
    batch = batch_of(model, ((3, 4),))
    first_only = torch.zeros_like(model(batch).trace.weights)
    first_only[..., 0] = 1
    trace = model(batch, first_only).trace
    assert torch.equal(trace.weights, first_only)
    assert torch.allclose(trace.context[0, 0], trace.context[0, 3])


@pytest.mark.parametrize("context", ["extra", "none"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_parts_add_up_to_the_preactivation_and_are_zero_beyond_the_ends(architecture, context):
    model = make(architecture, context=context)
    output = model(batch_of(model, ((3, 6),)))
    trace, winners = output.trace, output.trace.winners[0]
    c = None if trace.context is None else trace.context[0]
    parts = model.convolution.parts(trace.beneficiary[0], c, winners)
    total = parts["offsets"].sum(1) + parts["context"] + parts["bias"]
    assert torch.allclose(total, trace.preactivations[0].gather(0, winners[None])[0], atol=1e-12)
    assert torch.allclose(torch.tanh(total), output.features[0], atol=1e-12)
    start, end = (model.convolution.parts(trace.beneficiary[0], c, torch.full((5,), p)) for p in (0, 5))
    assert start["offsets"][:, 0].abs().max() == 0 < start["offsets"][:, 2].abs().min()
    assert end["offsets"][:, 2].abs().max() == 0 < end["offsets"][:, 0].abs().min()


def test_weights_are_counted_as_in_the_paper():
    light = build("attconv-light", {"input_size": 160})
    count = {name: p.numel() for name, p in light.named_parameters()}
    assert count["convolution.local.weight"] + count["convolution.attentive.weight"] == 360_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hiden": 3}, "did you mean 'hidden'"),
        ({"match": "cosine"}, "match must be one of dot, bilinear, additive, got 'cosine'"),
        ({"hidden": "300"}, "hidden must be a whole number, got '300'"),
        ({"width": 2}, "width must be odd"),
        ({"context": "several"}, "context must be one of extra, each, intra, none"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        build("attconv-light", tiny("attconv-light", **settings))


def test_the_additive_match_of_long_sentences_is_computed_in_blocks(monkeypatch):
    """Scores and gradients equal a single block's; no block exceeds the limit."""
    size, (source, focus) = 6, (sentence(length, length)[None].requires_grad_() for length in (23, 17))
    match = Match("additive", size).double()
    sizes, tanh = [], torch.tanh

    def counted(joint):
        sizes.append(joint.numel())
        return tanh(joint)

    def computed():
        for tensor in (source, focus, *match.parameters()):
            tensor.grad = None
        scores = match(source, focus)
        (scores * scores).sum().backward()
        with torch.no_grad():
            assert torch.equal(match(source, focus), scores)
        return scores, source.grad, focus.grad, *(parameter.grad for parameter in match.parameters())

    whole = computed()
    monkeypatch.setattr("core.layers.attention.LARGEST_JOINT", 4 * 17 * size)
    monkeypatch.setattr(torch, "tanh", counted)
    for ours, expected in zip(computed(), whole, strict=True):
        torch.testing.assert_close(ours, expected, rtol=0, atol=1e-12)
    assert max(sizes) == 4 * 17 * size and len(sizes) > 6
