"""Light and advanced attentive convolution against slow loops written from the paper's equations (section 3)."""

import math
import threading

import pytest
import torch

from core.models import ConfigError, build
from core.reading.batch import Batch, pad

SIZES = {"input_size": 7, "hidden": 6, "embedding_dropout": 0.0, "dropout": 0.0}
MATCHES = ("dot", "bilinear", "additive")
ARCHITECTURES = ("attconv-light", "attconv-advanced")


def make(architecture="attconv-light", **settings):
    torch.manual_seed(11)
    model = build(architecture, {**SIZES, **settings}).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # so that no bias is zero and W_e is no identity
    return model


def sentence(length, seed):
    return torch.randn(length, SIZES["input_size"], generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- the equations, one number at a time -----------------------------------------------------------------------------


def matvec(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix.tolist()]


def add(*vectors):
    return [sum(values) for values in zip(*vectors, strict=True)]


def window(states, i, width):
    zero = [0.0] * len(states[0])
    half = width // 2
    return [v for k in range(i - half, i + half + 1) for v in (states[k] if 0 <= k < len(states) else zero)]


def gated(layer, states, i):
    phrase = window(states, i, layer.width)
    out = [math.tanh(v) for v in add(matvec(layer.hidden.weight, phrase), layer.hidden.bias.tolist())]
    gate = [1 / (1 + math.exp(-v)) for v in add(matvec(layer.gate.weight, phrase), layer.gate.bias.tolist())]
    return [g * u + (1 - g) * o for g, u, o in zip(gate, states[i], out, strict=True)]


def match(layer, hx, hy):
    if layer.kind == "dot":
        return sum(a * b for a, b in zip(hx, hy, strict=True))
    if layer.kind == "bilinear":
        return sum(a * b for a, b in zip(hx, matvec(layer.w, hy), strict=True))
    joint = add(matvec(layer.w, hx), matvec(layer.u, hy))
    return sum(v * math.tanh(z) for v, z in zip(layer.v.tolist(), joint, strict=True))


def slow(model, x, y):
    """Logits, attention weights and pooled features by the paper's equations, for one unpadded pair."""
    bias = model.projection.bias.tolist()
    hx = [add(matvec(model.projection.weight, word), bias) for word in x.tolist()]
    hy = [add(matvec(model.projection.weight, word), bias) for word in y.tolist()]
    if model.config.context == "intra":
        hy = hx
    source, focus, beneficiary = hx, hy, hx
    if hasattr(model, "trigram"):
        source, focus = (
            [gated(model.unigram, side, i) + gated(model.trigram, side, i) for i in range(len(side))]
            for side in (hx, hy)
        )
        beneficiary = [gated(model.own, hx, i) for i in range(len(hx))]
    weights, new = [], []
    for i in range(len(hx)):
        z = add(matvec(model.convolution.local.weight, window(beneficiary, i, model.config.width)),
                model.convolution.local.bias.tolist())  # fmt: skip
        if model.match is not None:
            e = [math.exp(match(model.match, source[i], f)) for f in focus]
            weights.append([v / sum(e) for v in e])
            c = add(*([w * v for v in f] for w, f in zip(weights[-1], focus, strict=True)))
            z = add(z, matvec(model.convolution.attentive.weight, c))
        new.append([math.tanh(v) for v in z])
    pooled = [max(column) for column in zip(*new, strict=True)]
    return add(matvec(model.classifier.weight, pooled), model.classifier.bias.tolist()), weights, pooled


@pytest.mark.parametrize("context", ["extra", "intra", "none"])
@pytest.mark.parametrize("match_kind", MATCHES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("lengths", [(5, 4), (1, 3), (2, 1)])
def test_equals_the_equations(architecture, match_kind, context, lengths):
    model = make(architecture, match=match_kind, context=context)
    x, y = sentence(lengths[0], 1), sentence(lengths[1], 2)
    logits, trace = model(Batch.from_vectors([x], [y]))
    expected, weights, pooled = slow(model, x, y)
    assert torch.allclose(logits[0], torch.tensor(expected, dtype=torch.float64), atol=1e-9)
    assert torch.allclose(trace.pooled[0], torch.tensor(pooled, dtype=torch.float64), atol=1e-9)
    if context == "none":
        assert trace.weights is None
    else:
        assert torch.allclose(trace.weights[0], torch.tensor(weights, dtype=torch.float64), atol=1e-9)


@pytest.mark.parametrize("width", [1, 5])
def test_other_filter_widths_equal_the_equations(width):
    model = make(width=width)
    x, y = sentence(4, 1), sentence(3, 2)
    assert torch.allclose(
        model(Batch.from_vectors([x], [y]))[0][0], torch.tensor(slow(model, x, y)[0], dtype=torch.float64), atol=1e-9
    )


# --- invariances -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e6, float("nan"), float("inf")])
@pytest.mark.parametrize("match_kind", MATCHES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_pads_full_of_noise_and_other_members_change_nothing(architecture, match_kind, noise):
    model = make(architecture, match=match_kind)
    pairs = [(sentence(5, 1), sentence(2, 2)), (sentence(1, 3), sentence(6, 4)), (sentence(9, 5), sentence(8, 6))]
    x, x_mask = pad([a for a, _ in pairs])
    y, y_mask = pad([b for _, b in pairs])
    x, y = torch.nn.functional.pad(x, (0, 0, 0, 3)), torch.nn.functional.pad(y, (0, 0, 0, 4))
    x_mask, y_mask = torch.nn.functional.pad(x_mask, (0, 3)), torch.nn.functional.pad(y_mask, (0, 4))
    x[~x_mask], y[~y_mask] = noise, noise
    logits, trace = model(Batch(x, x_mask, y, y_mask))
    for k, (a, b) in enumerate(pairs):
        alone, alone_trace = model(Batch.from_vectors([a], [b]))
        assert torch.allclose(logits[k], alone[0], atol=1e-9)
        assert torch.allclose(trace.weights[k, : len(a), : len(b)], alone_trace.weights[0], atol=1e-9)
        assert trace.weights[k, :, len(b) :].abs().max() == 0
        assert torch.equal(trace.winners[k], alone_trace.winners[0])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_float32_is_within_a_millionth_of_itself_under_padding(architecture):
    torch.manual_seed(0)
    model = build(architecture, {**SIZES, "hidden": 300}).eval()
    a, b, longer = sentence(6, 1).float(), sentence(7, 2).float(), sentence(40, 3).float()
    alone = model(Batch.from_vectors([a], [b]))[0][0]
    among = model(Batch.from_vectors([a, longer, longer], [b, longer, longer]))[0][0]
    assert (alone - among).abs().max() <= 1e-6


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_order_of_context_words_matters_only_to_the_advanced_form(architecture):
    model = make(architecture)
    x, y = sentence(4, 1), sentence(6, 2)
    there, back = (model(Batch.from_vectors([x], [side]))[0] for side in (y, y.flip(0)))
    assert torch.allclose(there, back, atol=1e-9) == (architecture == "attconv-light")


def test_without_context_the_second_sentence_changes_nothing():
    model = make(context="none")
    x = sentence(4, 1)
    assert torch.equal(
        model(Batch.from_vectors([x], [sentence(3, 2)]))[0], model(Batch.from_vectors([x], [sentence(5, 3)]))[0]
    )


# --- override, parts, gradients --------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_attention_put_in_place(architecture):
    model = make(architecture)
    batch = Batch.from_vectors([sentence(4, 1)], [sentence(3, 2)])
    logits, trace = model(batch)
    assert torch.allclose(model(batch, trace.weights)[0], logits)
    first_only = torch.zeros_like(trace.weights)
    first_only[..., 0] = 1
    changed, changed_trace = model(batch, first_only)
    assert not torch.allclose(changed, logits)
    assert torch.equal(changed_trace.weights, first_only)
    assert torch.allclose(changed_trace.context[0, 0], changed_trace.context[0, 3])
    with pytest.raises(ValueError, match=r"must be \[1, 4, 3\], got \[1, 3, 4\]"):
        model(batch, first_only.transpose(1, 2))
    with pytest.raises(ValueError, match="no attention to replace"):
        make(architecture, context="none")(batch, first_only)


@pytest.mark.parametrize("context", ["extra", "none"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_parts_add_up_to_the_preactivation(architecture, context):
    model = make(architecture, context=context)
    _, trace = model(Batch.from_vectors([sentence(6, 1)], [sentence(3, 2)]))
    winners = trace.winners[0]
    c = None if trace.context is None else trace.context[0]
    parts = model.convolution.parts(trace.beneficiary[0], c, winners)
    total = parts["offsets"].sum(1) + parts["context"] + parts["bias"]
    assert torch.allclose(total, trace.preactivations[0].gather(0, winners[None])[0], atol=1e-12)
    assert torch.allclose(torch.tanh(total), trace.pooled[0], atol=1e-12)
    start, end = (model.convolution.parts(trace.beneficiary[0], c, torch.full((6,), p)) for p in (0, 5))
    assert start["offsets"][:, 0].abs().max() == 0 < start["offsets"][:, 2].abs().min()  # zeros beyond the ends
    assert end["offsets"][:, 2].abs().max() == 0 < end["offsets"][:, 0].abs().min()


@pytest.mark.parametrize("match_kind", MATCHES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_gradient_reaches_every_weight(architecture, match_kind):
    model = make(architecture, match=match_kind)
    logits, _ = model(Batch.from_vectors([sentence(6, 1), sentence(4, 2)], [sentence(5, 3), sentence(3, 4)]))
    logits.logsumexp(1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_32_pairs_are_learnt_by_heart(architecture):
    torch.manual_seed(0)
    model = build(architecture, {**SIZES, "hidden": 40})
    pairs = [(sentence(3 + k % 5, k).float(), sentence(2 + k % 7, 100 + k).float()) for k in range(32)]
    batch = Batch.from_vectors([a for a, _ in pairs], [b for _, b in pairs])
    labels = torch.arange(32) % 3
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch)[0], labels).backward()
        optimizer.step()
    assert torch.equal(model(batch)[0].argmax(1), labels)


def test_forward_leaves_nothing_behind_and_threads_may_share_a_model():
    model = make("attconv-advanced")
    batches = [Batch.from_vectors([sentence(3 + k, k)], [sentence(2 + k, 50 + k)]) for k in range(8)]
    before = set(vars(model))
    expected = [model(batch)[0] for batch in batches]
    got = [None] * 8

    def work(k):
        for _ in range(20):
            got[k] = model(batches[k])[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert set(vars(model)) == before
    assert all(torch.allclose(a, b) for a, b in zip(got, expected, strict=True))


def test_weights_are_counted_as_in_the_paper():
    light = build("attconv-light", {"input_size": 160})
    count = {name: p.numel() for name, p in light.named_parameters()}
    assert count["convolution.local.weight"] + count["convolution.attentive.weight"] == 360_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hiden": 3}, "did you mean 'hidden'"),
        ({"match": "cosine"}, "known: dot, bilinear, additive"),
        ({"hidden": "300"}, "hidden must be of type int"),
        ({"width": 2}, "width odd"),
        ({"context": "several"}, "known: extra, intra, none"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        build("attconv-light", {**SIZES, **settings})


def test_wrong_shapes_say_what_was_expected():
    with pytest.raises(ValueError, match=r"expected masks \[1, 2\]"):
        Batch(torch.zeros(1, 2, 3), torch.ones(1, 3, dtype=torch.bool), torch.zeros(1, 1, 3), torch.ones(1, 1).bool())
    with pytest.raises(ValueError, match="at least one word"):
        pad([torch.zeros(0, 3)])


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_cuda_equals_cpu(architecture):
    model = make(architecture)
    batch = Batch.from_vectors([sentence(6, 1), sentence(4, 2)], [sentence(5, 3), sentence(3, 4)])
    cpu = model(batch)[0]
    assert torch.allclose(model.cuda()(batch.to("cuda"))[0].cpu(), cpu, atol=1e-9)
