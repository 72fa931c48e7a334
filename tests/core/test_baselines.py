"""The five baselines against slow loops written from their equations, and the small test set of every model."""

import math
import threading

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.models.attentive_lstm import AttentiveLSTM
from core.models.attentive_pooling import ABCNN, APCNN, nearness
from core.models.baselines import Addition, BaselineConfig, PairCNN
from core.models.features import EXTRA_SIZES
from core.reading.batch import Batch, pad

MODELS = {"addition": Addition, "attentive-lstm": AttentiveLSTM, "cnn": PairCNN, "apcnn": APCNN, "abcnn": ABCNN}
SIZES = {"input_size": 5, "hidden": 4, "embedding_dropout": 0.0, "dropout": 0.0}
ATTENTIVE = {"attentive-lstm": "weights", "apcnn": "scores", "abcnn": "scores"}
every_model = pytest.mark.parametrize("name", MODELS)


def make(name, **settings):
    torch.manual_seed(11)
    model = MODELS[name](BaselineConfig(**{**SIZES, **settings})).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # so that no bias is zero and no matrix the identity
    return model


def sentence(length, seed, size=SIZES["input_size"]):
    return torch.randn(length, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def one(x, y, extra=None):
    return Batch.from_vectors([x], [y], extra)


def close(ours, expected):
    return torch.allclose(ours, torch.tensor(expected, dtype=torch.float64), atol=1e-9)


# --- the equations, one number at a time -----------------------------------------------------------------------------


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def matvec(matrix, vector):
    return [dot(row, vector) for row in matrix.tolist()]


def add(*vectors):
    return [sum(values) for values in zip(*vectors, strict=True)]


def scaled(weights, vectors):
    return add(*([w * v for v in vector] for w, vector in zip(weights, vectors, strict=True)))


def tanh(vector):
    return [math.tanh(v) for v in vector]


def softmax(values):
    exponents = [math.exp(v) for v in values]
    return [e / sum(exponents) for e in exponents]


def affine(layer, vector):
    return add(matvec(layer.weight, vector), layer.bias.tolist())


def distance(a, b):
    return math.sqrt(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)))


def cosine(a, b):
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def phrase(words, positions):
    zero = [0.0] * len(words[0])
    return [v for k in positions for v in (words[k] if 0 <= k < len(words) else zero)]


def lstm(layer, words, h, c):
    """All outputs and the last cell state, gate by gate (torch.nn.LSTM keeps them in the order i, f, g, o)."""
    size, outputs = layer.hidden_size, []
    for word in words:
        z = add(matvec(layer.weight_ih_l0, word), layer.bias_ih_l0.tolist(),
                matvec(layer.weight_hh_l0, h), layer.bias_hh_l0.tolist())  # fmt: skip
        i, f, o = ([1 / (1 + math.exp(-v)) for v in z[k * size : (k + 1) * size]] for k in (0, 1, 3))
        g = tanh(z[2 * size : 3 * size])
        c = [f[k] * c[k] + i[k] * g[k] for k in range(size)]
        h = [o[k] * math.tanh(c[k]) for k in range(size)]
        outputs.append(h)
    return outputs, c


def slow_addition(model, x, y):
    return add(*y) + add(*x), {}


def slow_attentive_lstm(model, x, y):
    zero = [0.0] * model.config.hidden
    states, cell = lstm(model.first, y, zero, zero)
    last = lstm(model.second, x, states[-1], cell)[0][-1]
    scores = []
    for state in states:
        m = tanh(add(matvec(model.match_states.weight, state), matvec(model.match_last.weight, last)))
        scores.append(matvec(model.match.weight, m)[0])
    weights = softmax(scores)
    r = scaled(weights, states)
    own = tanh(add(matvec(model.combine_context.weight, r), matvec(model.combine_last.weight, last)))
    return own, {"scores": scores, "weights": weights, "states": states}


def slow_cnn(model, x, y):
    q, a = (
        [sum(column) / len(words) for column in zip(*bigrams, strict=True)]
        for words in (y, x)
        for bigrams in [[tanh(affine(model.convolution, phrase(words, (i, i + 1)))) for i in range(len(words))]]
    )
    return [dot(q, matvec(m, a)) for m in model.similarity], {}


def slow_apcnn(model, x, y):
    hx, hy = ([affine(model.convolution, phrase(s, (i - 1, i, i + 1))) for i in range(len(s))] for s in (x, y))
    g = [[math.tanh(dot(a, matvec(model.match.w, b))) for b in hy] for a in hx]
    x_weights = softmax([max(row) for row in g])
    y_weights = softmax([max(column) for column in zip(*g, strict=True)])
    r_x, r_y = scaled(x_weights, hx), scaled(y_weights, hy)
    return r_y + r_x + [cosine(r_y, r_x)], {"scores": g, "x_weights": x_weights, "y_weights": y_weights}


def slow_abcnn(model, x, y):
    a = [[1 / (1 + distance(p, q)) for q in y] for p in x]
    w_0, w_1 = model.x_map.tolist(), model.y_map.tolist()
    map_x = [add(*([a[i][j] * v for v in w_0[j]] for j in range(len(y)))) for i in range(len(x))]
    map_y = [add(*([a[i][j] * v for v in w_1[i]] for i in range(len(x)))) for j in range(len(y))]
    states = []
    for words, attended in ((x, map_x), (y, map_y)):
        channels = [word + f for word, f in zip(words, attended, strict=True)]
        states.append([tanh(affine(model.convolution, phrase(channels, (i - 1, i, i + 1)))) for i in range(len(words))])
    hx, hy = states
    out = [[1 / (1 + distance(p, q)) for q in hy] for p in hx]
    x_weights, y_weights = [sum(row) for row in out], [sum(column) for column in zip(*out, strict=True)]
    pooled = []
    for h, weights in ((hx, x_weights), (hy, y_weights)):
        total = [0.0] * len(h[0])
        for i in range(len(h)):
            for k in range(max(i - 1, 0), min(i + 2, len(h))):
                total = add(total, [weights[k] * v for v in h[k]])
        pooled.append([v / len(h) for v in total])
    r_x, r_y = pooled
    own = r_y + r_x + [cosine(r_y, r_x), 1 / (1 + distance(r_y, r_x))]
    return own, {"scores": a, "output_scores": out, "x_weights": x_weights, "y_weights": y_weights}


SLOW = dict(zip(MODELS, (slow_addition, slow_attentive_lstm, slow_cnn, slow_apcnn, slow_abcnn), strict=True))


@every_model
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("hidden", [4, 5])  # 5 is the width of the words: no projection
@pytest.mark.parametrize("lengths", [(5, 4), (1, 3), (2, 1), (1, 1)])
def test_equals_the_equations(name, classes, hidden, lengths):
    model = make(name, classes=classes, hidden=hidden)
    x, y = sentence(lengths[0], 1), sentence(lengths[1], 2)
    logits, trace = model(one(x, y))
    hx, hy = x.tolist(), y.tolist()
    assert (model.projection is None) == (hidden == 5 or name == "addition")
    if model.projection is not None:
        hx, hy = ([affine(model.projection, word) for word in side] for side in (hx, hy))
    own, attention = SLOW[name](model, hx, hy)
    assert close(trace.features[0], own)
    assert close(logits[0], affine(model.classifier, own))
    for field, expected in attention.items():
        assert close(getattr(trace, field)[0], expected), field


def test_words_beyond_the_last_position_are_left_out_of_the_feature_map_alone():
    model = make("abcnn")
    x, y = sentence(3, 1), sentence(203, 2)
    trace = model(one(x, y))[1]
    assert trace.scores.shape == (1, 3, 203) and trace.scores[..., 200:].min() > 0
    changed = trace.scores.clone()
    changed[..., 200:] = 0.0
    changed_trace = model(one(x, y), changed)[1]
    assert torch.equal(changed_trace.output_scores[:, :, :199], trace.output_scores[:, :, :199])
    assert not torch.equal(changed_trace.output_scores[:, :, 200:], trace.output_scores[:, :, 200:])


# --- invariances -----------------------------------------------------------------------------------------------------

PAIRS = ((5, 2), (1, 6), (9, 8), (1, 1))


@every_model
@pytest.mark.parametrize("noise", [1e6, float("nan"), float("inf"), None])
def test_pads_full_of_noise_and_other_members_change_nothing(name, noise):
    model = make(name)
    pairs = [(sentence(a, 2 * k), sentence(b, 2 * k + 1)) for k, (a, b) in enumerate(PAIRS)]
    sides = []
    for vectors, mask in (pad([a for a, _ in pairs]), pad([b for _, b in pairs])):
        vectors, mask = torch.nn.functional.pad(vectors, (0, 0, 0, 3)), torch.nn.functional.pad(mask, (0, 3))
        vectors[~mask] = torch.randn_like(vectors[~mask]) if noise is None else noise
        sides += [vectors, mask]
    logits, trace = model(Batch(*sides))
    for k, (a, b) in enumerate(pairs):
        alone, alone_trace = model(one(a, b))
        assert torch.allclose(logits[k], alone[0], atol=1e-9)
        assert torch.allclose(trace.features[k], alone_trace.features[0], atol=1e-9)
        for field, rows in (("weights", len(b)), ("x_weights", len(a)), ("y_weights", len(b))):
            if hasattr(trace, field):
                padded, real = getattr(trace, field)[k], getattr(alone_trace, field)[0]
                assert torch.allclose(padded[:rows], real, atol=1e-9) and padded[rows:].abs().max() == 0, field


@every_model
def test_float32_is_within_a_millionth_of_itself_under_padding(name):
    torch.manual_seed(0)
    model = MODELS[name](BaselineConfig(**{**SIZES, "hidden": 300})).eval()
    a, b, longer = (0.4 * sentence(n, n).float() for n in (6, 7, 40))  # about as long as the table's rows
    alone = model(one(a, b))[0][0]
    among = model(Batch.from_vectors([a, longer, longer], [b, longer, longer]))[0][0]
    assert alone.dtype == torch.float32
    assert (alone - among).abs().max() <= 1e-6


@every_model
def test_probabilities_add_up_to_one(name):
    probabilities = torch.softmax(make(name)(Batch.from_vectors([sentence(4, 1)] * 2, [sentence(3, 2)] * 2))[0], dim=1)
    assert probabilities.shape == (2, 3) and torch.allclose(probabilities.sum(1), torch.ones(2, dtype=torch.float64))


@every_model
def test_the_first_sentence_is_not_the_second(name):
    model = make(name)
    x, y = sentence(4, 1), sentence(4, 2)
    assert not torch.allclose(model(one(x, y))[0], model(one(y, x))[0])


@every_model
def test_forward_leaves_nothing_behind_and_threads_may_share_a_model(name):
    model = make(name)
    batches = [one(sentence(3 + k, k), sentence(2 + k, 50 + k)) for k in range(4)]
    before = set(vars(model))
    expected = [model(batch)[0] for batch in batches]
    got = [None] * 4

    def work(k):
        for _ in range(10):
            got[k] = model(batches[k])[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert set(vars(model)) == before
    assert all(torch.allclose(a, b) for a, b in zip(got, expected, strict=True))


# --- attention put in place ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ATTENTIVE)
def test_attention_put_in_place(name):
    model = make(name)
    batch = Batch.from_vectors([sentence(4, 1), sentence(2, 5)], [sentence(3, 2), sentence(2, 6)])
    logits, trace = model(batch)
    own = getattr(trace, ATTENTIVE[name])
    assert torch.allclose(model(batch, own)[0], logits)
    first_only = torch.zeros_like(own)
    first_only[..., 0] = 1.0
    changed, changed_trace = model(batch, first_only)
    assert not torch.allclose(changed, logits)
    real = batch.y_mask if own.ndim == 2 else batch.x_mask[:, :, None] & batch.y_mask[:, None]
    assert torch.equal(getattr(changed_trace, ATTENTIVE[name]), first_only * real)
    on_pads = first_only.masked_fill(~real, float("nan"))
    assert torch.equal(model(batch, on_pads)[0], changed)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("attentive-lstm", r"must be \[1, 3\], got \[1, 3, 4\]"),
        ("apcnn", r"must be \[1, 4, 3\], got \[1, 3, 4\]"),
        ("abcnn", r"must be \[1, 4, 3\], got \[1, 3, 4\]"),
        ("addition", r"expected None, got \[1, 3, 4\]"),
        ("cnn", r"expected None, got \[1, 3, 4\]"),
    ],
)
def test_attention_of_a_wrong_shape_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        make(name)(one(sentence(4, 1), sentence(3, 2)), torch.ones(1, 3, 4))


def test_attention_by_hand():
    """With all weight on one word of the premise, r is that word's state."""
    model = make("attentive-lstm")
    batch = one(sentence(4, 1), sentence(3, 2))
    trace = model(batch, torch.tensor([[0.0, 1.0, 0.0]]))[1]
    last = slow_last(model, batch)
    expected = tanh(add(matvec(model.combine_context.weight, trace.states[0, 1].tolist()),
                        matvec(model.combine_last.weight, last)))  # fmt: skip
    assert close(trace.features[0], expected)


def slow_last(model, batch):
    words = [[affine(model.projection, w) for w in side[0].tolist()] for side in (batch.x, batch.y)]
    states, cell = lstm(model.first, words[1], [0.0] * 4, [0.0] * 4)
    return lstm(model.second, words[0], states[-1], cell)[0][-1]


# --- linguistic features ---------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("extra", ["entailment", "answer"])
def test_linguistic_features_are_standardised_and_change_the_logits(name, extra):
    model, size = make(name, extra=extra), EXTRA_SIZES[extra]
    x, y, values = sentence(4, 1), sentence(3, 2), sentence(1, 3, size)
    logits, trace = model(one(x, y, values))
    own = trace.features.shape[1] - size
    assert torch.equal(trace.features[:, own:], values)
    assert not torch.allclose(model(one(x, y, values + 1))[0], logits)
    model.extra_mean += 2.0
    model.extra_scale *= 4.0
    standardised, standardised_trace = model(one(x, y, 4 * values + 2))
    assert torch.allclose(standardised, logits)
    assert torch.allclose(standardised_trace.features, trace.features)
    assert torch.allclose(logits, model.classifier(trace.features))


@every_model
def test_missing_or_wrong_linguistic_features_are_refused(name):
    model, x, y = make(name, extra="answer"), sentence(4, 1), sentence(3, 2)
    with pytest.raises(ValueError, match=r"\[1, 4\].*got none"):
        model(one(x, y))
    with pytest.raises(ValueError, match=r"\[1, 4\].*got \[1, 22\]"):
        model(one(x, y, torch.zeros(1, 22)))


@every_model
def test_a_model_without_linguistic_features_reads_none(name):
    model, x, y = make(name), sentence(4, 1), sentence(3, 2)
    assert torch.equal(model(one(x, y, torch.full((1, 4), torch.nan)))[0], model(one(x, y))[0])


# --- learning --------------------------------------------------------------------------------------------------------


@every_model
def test_gradient_reaches_every_weight(name):
    model = make(name, extra="answer")
    y = [sentence(5, 3), sentence(3, 4)]
    x = [torch.cat([sentence(5, 1), y[0][:1]]), sentence(4, 2)]  # a word of both sentences is at distance 0 from itself
    logits, _ = model(Batch.from_vectors(x, y, sentence(2, 5, 4)))
    logits.logsumexp(1).sum().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name


@pytest.mark.parametrize("name", ["abcnn", "apcnn"])
def test_a_sentence_with_itself_has_finite_gradients(name):
    model, x = make(name), sentence(4, 1)
    logits, _ = model(one(x, x))
    logits.logsumexp(1).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@every_model
def test_32_pairs_are_learnt_by_heart(name):
    torch.manual_seed(0)
    model = MODELS[name](BaselineConfig(**{**SIZES, "input_size": 20, "hidden": 40}))
    pairs = [(sentence(3 + k % 5, k, 20).float(), sentence(2 + k % 7, 100 + k, 20).float()) for k in range(32)]
    batch = Batch.from_vectors([a for a, _ in pairs], [b for _, b in pairs])
    labels = torch.arange(32) % 3
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(200):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch)[0], labels).backward()
        optimizer.step()
    assert torch.equal(model(batch)[0].argmax(1), labels)


@every_model
@pytest.mark.parametrize("kind", ["dropout", "embedding_dropout"])
def test_dropout_runs_in_training_alone_and_leaves_linguistic_features(name, kind):
    model = make(name, extra="answer", input_size=25, hidden=30, **{kind: 0.5})
    batch = one(sentence(4, 1, 25), sentence(3, 2, 25), sentence(1, 3, 4))
    assert torch.equal(model(batch)[0], model(batch)[0])
    model.train()
    (one_draw, trace), (other_draw, _) = model(batch), model(batch)
    assert not torch.allclose(one_draw, other_draw)
    assert torch.equal(trace.features[:, -4:], batch.extra)


@every_model
@pytest.mark.parametrize("extra", EXTRA_SIZES)
def test_saved_and_loaded_gives_the_same_answer(name, extra, tmp_path):
    model = make(name, extra=extra).float()
    model.extra_mean += 0.5
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    again = MODELS[name](BaselineConfig(**SIZES, extra=extra)).eval()
    again.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    batch = one(sentence(4, 1).float(), sentence(3, 2).float(), torch.ones(1, EXTRA_SIZES[extra]))
    assert torch.equal(model(batch)[0], again(batch)[0])


@every_model
def test_mixed_precision(name):
    model = make(name, extra="answer").float()
    batch = one(sentence(4, 1).float(), sentence(3, 2).float(), torch.ones(1, 4))
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(batch)[0]
    full = model(batch)[0]
    assert (mixed.float() - full).abs().max() < 0.05 * max(1, full.abs().max())


def test_settings_are_plain_and_checked():
    assert set(BaselineConfig.__annotations__.values()) <= {"int", "float", "str"}
    with pytest.raises(ValueError, match="known: none, entailment, answer"):
        BaselineConfig(5, extra="several")
    with pytest.raises(ValueError, match="at least 1"):
        BaselineConfig(5, hidden=0)
    with pytest.raises(ValueError, match="below 1"):
        BaselineConfig(5, dropout=1.0)


def test_nearness_of_equal_vectors_is_exactly_one():
    x = 30 * sentence(60, 1, 50).float()[None]
    assert torch.equal(nearness(x, x).diagonal(dim1=1, dim2=2), torch.ones(1, 60))


def test_apcnn_has_as_many_weights_as_the_attconv_paper_counts():
    count = {n: p.numel() for n, p in APCNN(BaselineConfig(input_size=160)).named_parameters()}
    assert count["convolution.weight"] + count["match.w"] == 360_000


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@every_model
def test_cuda_equals_cpu(name):
    model = make(name, extra="answer")
    batch = Batch.from_vectors([sentence(6, 1), sentence(4, 2)], [sentence(5, 3), sentence(3, 4)], sentence(2, 5, 4))
    cpu = model(batch)[0]
    assert torch.allclose(model.cuda()(batch.to("cuda"))[0].cpu(), cpu, atol=1e-9)
