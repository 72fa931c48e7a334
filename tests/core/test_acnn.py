"""Adaptive CNNs against slow loops written from the paper's equations (Shen et al. 2018, section 3), and evidence."""

import math

import pytest
import torch

from core.evidence import AttentionMap, Explanation, FilterProducts, FilterProvenance, GeneratedFilters
from core.explain import PairError, explain, window_values
from core.models import ConfigError, build
from core.models.acnn.filters import FilterGenerator, StaticConvolution, adaptive_convolution, valid_windows
from core.reading.batch import Batch, pad
from tests.core.made_up import make_checkpoint

SIZES = {"input_size": 6, "filters": 4, "width": 3, "code": 5, "embedding_dropout": 0.0}
ADAPTIVITIES = ("none", "self", "one-way", "two-way")
MATCHINGS = ("none", "multi-perspective")


def make(architecture="adaqa", **settings):
    torch.manual_seed(3)
    model = build(architecture, {**SIZES, **settings}).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # so that no bias is zero
    return model


def text(length, seed):
    return torch.randn(length, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def pair(lengths=(7, 5), seed=0):
    return Batch.from_vectors([text(lengths[0], seed)], [text(lengths[1], seed + 100)])


# --- the equations, one number at a time -----------------------------------------------------------------------------


def projected(model, words):
    return words.tolist() if model.projection is None else model.projection(words).tolist()


def slow_convolution(words, filters, bias):
    """Equation 1 before the ReLU: [T'][K]; a text shorter than h is padded to h."""
    width, size = len(filters[0]), len(words[0])
    words = words + [[0.0] * size] * (width - len(words))
    return [
        [
            bias[k] + sum(filters[k][j][n] * words[i + j][n] for j in range(width) for n in range(size))
            for k in range(len(filters))
        ]
        for i in range(len(words) - width + 1)
    ]


def pooled(values):
    return [max(max(0.0, row[k]) for row in values) for k in range(len(values[0]))]


def slow_filters(generator, words):
    """Equations 2 and 3."""
    encoder = generator.encoder
    code = pooled(slow_convolution(words, encoder.filters.tolist(), encoder.bias.tolist()))
    filters, width, size = generator.shape
    made = generator.constant.tolist()
    if generator.rank:
        mix, directions = generator.mix.tolist(), generator.directions.tolist()
    else:
        weight = generator.weight.tolist()
    for k in range(filters):
        for j in range(width):
            for n in range(size):
                for c, z in enumerate(code):
                    if generator.rank:
                        made[k][j][n] += z * sum(mix[c][k][r] * directions[k][r][j][n] for r in range(generator.rank))
                    else:
                        made[k][j][n] += z * weight[c][k][j][n]
    return made


def cosine(a, b):
    lengths = math.sqrt(sum(v * v for v in a)) * math.sqrt(sum(v * v for v in b))
    return sum(v * w for v, w in zip(a, b, strict=True)) / lengths if lengths else 0.0


def slow_matching(w, u, own, other):
    """The four kinds of one side, each l numbers, pooled over positions by max and by the mean that u weighs."""
    kinds, perspectives = w.shape[:2]

    def m(kind, a, b):
        return [
            cosine([x * v for x, v in zip(w[kind, k].tolist(), a, strict=True)],
                   [x * v for x, v in zip(w[kind, k].tolist(), b, strict=True)])
            for k in range(perspectives)
        ]  # fmt: skip

    last = [max(state[k] for state in other) for k in range(len(other[0]))]
    rows = []
    for state in own:
        scores = [cosine(state, o) for o in other]
        total = sum(scores)
        mean = [sum(s * o[k] for s, o in zip(scores, other, strict=True)) / total if total else 0.0
                for k in range(len(state))]  # fmt: skip
        most = other[max(range(len(other)), key=scores.__getitem__)]
        every = [m(1, state, o) for o in other]
        rows.append([m(0, state, last), [max(e[k] for e in every) for k in range(perspectives)], m(2, state, mean),
                     m(3, state, most)])  # fmt: skip
    every = [[row[kind][k] for row in rows] for kind in range(kinds) for k in range(perspectives)]
    counts = [math.exp(sum(a * b for a, b in zip(u, state, strict=True))) for state in own]
    means = [sum(c * v for c, v in zip(counts, values, strict=True)) / sum(counts) for values in every]
    return [max(values) for values in every] + means


def slow_adaqa(model, answer, question):
    """Logits of one pair, section 3.3."""
    a, q = projected(model, answer), projected(model, question)
    zero = [0.0] * model.config.filters
    psi_a = zero if model.bias_a is None else model.bias_a.tolist()
    psi_q = zero if model.bias_q is None else model.bias_q.tolist()
    of = {
        "none": lambda: (None, None), "one-way": lambda: (slow_filters(model.generator, q), None),
        "self": lambda: (slow_filters(model.generator, a), slow_filters(model.generator, q)),
        "two-way": lambda: (slow_filters(model.generator, q), slow_filters(model.generator, a)),
    }[model.config.adaptivity]()  # fmt: skip
    states = [
        slow_convolution(words, model.static.filters.tolist(), model.static.bias.tolist()) if made is None
        else slow_convolution(words, made, psi)
        for words, made, psi in ((a, of[0], psi_a), (q, of[1], psi_q))
    ]  # fmt: skip
    h_a, h_q = pooled(states[0]), pooled(states[1])
    t = [*h_q, *h_a, *(x - y for x, y in zip(h_q, h_a, strict=True)), *(x * y for x, y in zip(h_q, h_a, strict=True))]
    if model.matching is not None:
        active = [[[max(0.0, v) for v in row] for row in side] for side in states]
        t += slow_matching(model.matching.w, model.matching.u.tolist(), active[0], active[1])
        t += slow_matching(model.matching.w, model.matching.u.tolist(), active[1], active[0])
    return model.classifier(torch.tensor(t, dtype=torch.float64))


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("adaptivity", ADAPTIVITIES)
def test_a_pair_equals_the_equations(adaptivity, matching, rank):
    model = make(adaptivity=adaptivity, matching=matching, rank=rank, perspectives=3, projection=5)
    for lengths in ((7, 5), (3, 1), (1, 4)):
        batch = pair(lengths)
        logits, _ = model(batch)
        torch.testing.assert_close(logits[0], slow_adaqa(model, batch.x[0], batch.y[0]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("adaptivity", ["none", "self"])
def test_one_text_equals_the_equations(adaptivity, rank):
    model = make("acnn", adaptivity=adaptivity, rank=rank, classes=3)
    for length in (9, 3, 2, 1):
        words = text(length, length)
        logits, _ = model(Batch.from_vectors([words], [words[:1]]))
        if adaptivity == "none":
            values = slow_convolution(words.tolist(), model.static.filters.tolist(), model.static.bias.tolist())
        else:
            values = slow_convolution(words.tolist(), slow_filters(model.generator, words.tolist()), [0.0] * 4)
        expected = model.classifier(torch.tensor(pooled(values), dtype=torch.float64))
        torch.testing.assert_close(logits[0], expected, rtol=1e-9, atol=1e-9)


def test_the_generator_is_a_transposed_convolution_of_the_code():
    generator = FilterGenerator(size=6, filters=4, width=3, code=5).double()
    deconvolution = torch.nn.ConvTranspose2d(5, 4, (3, 6), bias=False).double()
    with torch.no_grad():
        deconvolution.weight.copy_(generator.weight)
    code = torch.rand(2, 5, dtype=torch.float64)
    expected = deconvolution(code[:, :, None, None]) + generator.constant
    torch.testing.assert_close(generator(code), expected)


def test_the_adaptive_convolution_is_one_conv1d_a_text():
    words, mask = pad([text(8, 1), text(8, 2)])
    filters, bias = torch.randn(2, 4, 3, 6, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    found = adaptive_convolution(valid_windows(words, mask, 3), filters, bias)
    for i in range(2):
        one = torch.nn.functional.conv1d(words[i].T[None], filters[i].transpose(1, 2), bias)
        torch.testing.assert_close(found[i], one[0].T)


@pytest.mark.parametrize("rank", [0, 2])
def test_a_constant_generator_makes_a_basic_cnn_of_it(rank):
    """The paper's remark in section 3.2; the form for one text has no bias, the pair form has ψ."""
    batch = pair()
    model, basic = make("acnn", rank=rank), make("acnn", adaptivity="none")
    pair_model, siamese = make(rank=rank), make(adaptivity="none")
    with torch.no_grad():
        for adaptive, fixed in ((model, basic), (pair_model, siamese)):
            (adaptive.generator.mix if rank else adaptive.generator.weight).zero_()
            fixed.static.filters.copy_(adaptive.generator.constant)
            fixed.classifier.load_state_dict(adaptive.classifier.state_dict())
        basic.static.bias.zero_()
        pair_model.bias_q.copy_(siamese.static.bias)
        pair_model.bias_a.copy_(siamese.static.bias)
    for adaptive, fixed in ((model, basic), (pair_model, siamese)):
        # Equal but for the order in which sums are taken.
        torch.testing.assert_close(adaptive(batch)[0], fixed(batch)[0], rtol=1e-12, atol=1e-12)


def test_the_linear_map_gives_the_filters():
    for rank in (0, 3):
        generator = FilterGenerator(size=6, filters=4, width=3, code=5, rank=rank).double()
        code = torch.rand(2, 5, dtype=torch.float64)
        homogeneous = torch.cat([code, torch.ones(2, 1, dtype=torch.float64)], dim=1)
        torch.testing.assert_close(homogeneous @ generator.linear_map(), generator(code).flatten(1))
        torch.testing.assert_close(homogeneous @ generator.linear_map(2), generator(code)[:, 2].flatten(1))


# --- invariances -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize("adaptivity", ADAPTIVITIES)
def test_padding_and_company_change_nothing(adaptivity, matching):
    model = make(adaptivity=adaptivity, matching=matching, projection=5)
    lengths = ((7, 5), (2, 9), (1, 1), (4, 3))
    pairs = [(text(a, i), text(b, i + 50)) for i, (a, b) in enumerate(lengths)]
    together = Batch.from_vectors([a for a, _ in pairs], [b for _, b in pairs])
    noisy = Batch(
        together.x.masked_fill(~together.x_mask[..., None], float("nan")), together.x_mask,
        together.y.masked_fill(~together.y_mask[..., None], 7.0), together.y_mask,
    )  # fmt: skip
    logits = model(noisy)[0]
    for i, (a, b) in enumerate(pairs):
        alone = model(Batch.from_vectors([a], [b]))[0][0]
        torch.testing.assert_close(logits[i], alone, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("adaptivity", ["none", "self"])
def test_padding_and_company_change_nothing_for_single_texts(adaptivity):
    model = make("acnn", adaptivity=adaptivity, projection=5)
    texts = [text(length, length) for length in (7, 2, 1, 4)]
    together = Batch.from_vectors(texts, texts)
    noisy = Batch(together.x.masked_fill(~together.x_mask[..., None], float("nan")), together.x_mask, together.y,
                  together.y_mask)  # fmt: skip
    for logits, one in zip(model(noisy)[0], texts, strict=True):
        torch.testing.assert_close(logits, model(Batch.from_vectors([one], [one]))[0][0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("architecture", "settings"), [
    *(("acnn", {"adaptivity": a, "rank": r}) for a in ("none", "self") for r in (0, 2)),
    *(("adaqa", {"adaptivity": a, "matching": m, "rank": r})
      for a in ADAPTIVITIES for m in MATCHINGS for r in (0, 2)),
])  # fmt: skip
def test_every_weight_has_a_gradient(architecture, settings):
    model = make(architecture, **settings, projection=5).train()
    batch = Batch.from_vectors([text(n, n) for n in (7, 9, 6)], [text(n, n + 30) for n in (8, 5, 9)])
    torch.nn.functional.cross_entropy(model(batch)[0], torch.tensor([0, 1, 0])).backward()
    without = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert without == []


@pytest.mark.parametrize(("architecture", "settings"), [
    ("acnn", {}), ("adaqa", {}), ("adaqa", {"matching": "multi-perspective"}),
])  # fmt: skip
def test_32_texts_are_learnt_by_heart(architecture, settings):
    model = make(architecture, **settings, embedding_dropout=0.0, filters=20, code=20).float().train()
    texts = [[text(4 + i % 7, 100 * side + i).float() for i in range(32)] for side in range(2)]
    batch, labels = Batch.from_vectors(*texts), torch.randint(2, (32,), generator=torch.Generator().manual_seed(5))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch)[0], labels).backward()
        optimizer.step()
    assert (model(batch)[0].argmax(1) == labels).all()


def test_training_is_the_same_in_a_batch_as_one_by_one():
    model = make(matching="multi-perspective").train()
    pairs = [(text(n, n), text(n + 2, n + 30)) for n in (3, 6, 9)]
    labels = torch.tensor([0, 1, 1])
    loss = torch.nn.functional.cross_entropy(model(Batch.from_vectors(*zip(*pairs, strict=True)))[0], labels)
    single = [torch.nn.functional.cross_entropy(model(Batch.from_vectors([a], [b]))[0], labels[i : i + 1])
              for i, (a, b) in enumerate(pairs)]  # fmt: skip
    torch.testing.assert_close(loss, torch.stack(single).mean())


def test_two_way_without_matching_features_treats_both_sides_alike():
    model = make()
    with torch.no_grad():
        model.bias_a.copy_(model.bias_q)
    batch = pair()
    _, trace = model(batch)
    _, turned = model(Batch(batch.y, batch.y_mask, batch.x, batch.x_mask))
    torch.testing.assert_close(trace.x.pooled, turned.y.pooled)


@pytest.mark.parametrize(
    ("architecture", "settings", "told"),
    [
        ("acnn", {"adaptivity": "two-way"}, "known: none, self"),
        ("adaqa", {"adaptivity": "both"}, "unknown adaptivity"),
        ("adaqa", {"matching": "dot"}, "unknown matching"),
        ("acnn", {"filters": 0}, "at least 1"),
        ("acnn", {"rank": -1}, "at least 0"),
        ("acnn", {"embedding_dropout": 1.0}, "below 1"),
    ],
)
def test_impossible_settings_are_refused(architecture, settings, told):
    with pytest.raises(ConfigError, match=told):
        build(architecture, {**SIZES, **settings})


def test_attention_may_be_replaced_where_there_is_one():
    model = make(matching="multi-perspective")
    batch = pair()
    logits, trace = model(batch)
    again, _ = model(batch, attention=trace.weights)
    torch.testing.assert_close(again, logits)
    other, _ = model(batch, attention=trace.weights.flip(2))
    assert not torch.allclose(other, logits)
    for wrong in (make(), make("acnn")):
        with pytest.raises(ValueError, match="no attention"):
            wrong(batch, attention=trace.weights)
    with pytest.raises(ValueError, match="must be"):
        model(batch, attention=trace.weights[:, :1])


# --- evidence --------------------------------------------------------------------------------------------------------

FIRST, SECOND = "how big is the city", "the city has many people in it ."


@pytest.mark.parametrize("adaptivity", ADAPTIVITIES)
def test_parts_and_shares_add_up(tmp_path, table, adaptivity):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "adaqa", adaptivity=adaptivity)
    result = explain(checkpoint, FIRST, SECOND)
    sides = [record for record in result.evidence if isinstance(record, FilterProvenance)]
    assert [record.rows for record in sides] == [checkpoint.roles["second"], checkpoint.roles["first"]]
    for record in sides:
        tokens = result.sentence(record.rows).tokens
        for f in record.filters:
            assert len(f.offsets) == record.width
            assert sum(f.offsets) + f.context + f.bias == pytest.approx(f.preactivation, abs=1e-5)
            assert f.left + f.self_ + f.right == pytest.approx(sum(f.offsets), abs=1e-5)
            assert f.activation == pytest.approx(max(0.0, f.preactivation), abs=1e-6)
            assert 0 <= f.window[0] < f.window[1] <= len(tokens)
    products = result.find(FilterProducts)
    for c, logit in enumerate(result.logits):
        total = sum(f.logit_shares[c] for record in sides for f in record.filters) + sides[0].logit_bias[c]
        total += sum(row[c] for row in products.products) + products.linguistic[c]
        assert total == pytest.approx(logit, abs=1e-4)


@pytest.mark.parametrize(
    ("adaptivity", "expected"),
    [("none", []), ("self", [(0, 0), (1, 1)]), ("one-way", [(0, 1)]), ("two-way", [(0, 1), (1, 0)])],
)
def test_generated_filters_name_their_source_and_target(tmp_path, table, adaptivity, expected):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "adaqa", adaptivity=adaptivity)
    result = explain(checkpoint, FIRST, SECOND)
    roles = (checkpoint.roles["first"], checkpoint.roles["second"])
    banks = [record for record in result.evidence if isinstance(record, GeneratedFilters)]
    assert [(b.made_from, b.applied_to) for b in banks] == [(roles[i], roles[j]) for i, j in expected]
    config = checkpoint.model.config
    for bank in banks:
        assert torch.tensor(bank.bank).shape == (config.filters, config.width, config.words)
        made = checkpoint.model.generator(torch.tensor(bank.code)[None])[0]
        torch.testing.assert_close(torch.tensor(bank.bank), made)
    # What a text is convolved with is what the record of its winners says.
    for record in (r for r in result.evidence if isinstance(r, FilterProvenance)):
        assert record.made_from == next((b.made_from for b in banks if b.applied_to == record.rows), "")


def test_the_largest_value_of_all_windows_is_the_one_that_won(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "adaqa")
    result = explain(checkpoint, FIRST, SECOND)
    for bank in (record for record in result.evidence if isinstance(record, GeneratedFilters)):
        won = next(r for r in result.evidence if isinstance(r, FilterProvenance) and r.rows == bank.applied_to)
        for index in (0, 5):
            values = window_values(checkpoint, result, bank, index)
            assert len(values) == max(1, len(result.sentence(bank.applied_to).tokens) - won.width + 1)
            assert max(values) == pytest.approx(won.filters[index].preactivation, abs=1e-5)
            assert values.index(max(values)) == won.filters[index].window[0]


def test_with_attention_activations_alone_are_told(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "adaqa", matching="multi-perspective")
    result = explain(checkpoint, FIRST, SECOND)
    assert result.find(FilterProducts) is None
    assert all(f.logit_shares == () for f in result.find(FilterProvenance).filters)
    attention = result.find(AttentionMap)
    assert (attention.units, attention.rows) == ("windows", checkpoint.roles["second"])
    width = checkpoint.model.config.width
    assert len(attention.weights) == len(result.second.tokens) - width + 1
    for row in attention.weights:
        assert sum(row) == pytest.approx(1, abs=1e-5) or sum(row) == 0
    assert result.word_attention is None


def test_one_text_is_explained_alone(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "acnn")
    result = explain(checkpoint, FIRST)
    assert explain(checkpoint, FIRST, "not looked at").logits == result.logits
    record = result.find(FilterProvenance)
    assert (record.rows, record.made_from, record.activation) == ("text", "text", "ReLU")
    for c, logit in enumerate(result.logits):
        assert sum(f.logit_shares[c] for f in record.filters) + record.logit_bias[c] == pytest.approx(logit, abs=1e-5)
    assert result.second.role == "" and result.second.tokens == ()
    assert Explanation.from_dict(result.to_dict()) == result
    with pytest.raises(PairError, match="The text is empty"):
        explain(checkpoint, "  ")


def test_a_text_shorter_than_a_window_wins_as_a_whole(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "acnn")
    record = explain(checkpoint, "city").find(FilterProvenance)
    assert {(f.position, f.window) for f in record.filters} == {(0, (0, 1))}


def test_static_filters_are_counted_as_the_basic_cnn_s():
    layer = StaticConvolution(size=6, filters=4, width=3)
    assert sum(p.numel() for p in layer.parameters()) == 4 * 3 * 6 + 4
