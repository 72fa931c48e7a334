"""Tests specific to adaptive CNNs (Shen et al. 2018); tests/test_conformance.py covers all models."""

import pytest
import torch

from core.evidence import AttentionMap, Explanation, FilterProducts, FilterProvenance, GeneratedFilters
from core.explain import explain
from core.filter_map.ngrams import window_values
from core.models import ConfigError, build
from core.models.acnn.filters import FilterGenerator, StaticConvolution, adaptive_convolution, valid_windows
from core.reading.batch import Batch
from core.reading.reader import PairError
from tests.core.made_up import make_checkpoint
from tests.models import batch_of, learns_by_heart, make, sentence, tiny

ADAPTIVITIES = ("none", "self", "one-way", "two-way")


def test_the_generator_is_a_transposed_convolution_of_the_code():
    generator = FilterGenerator(size=6, filters=4, width=3, code=5).double()
    deconvolution = torch.nn.ConvTranspose2d(5, 4, (3, 6), bias=False).double()
    with torch.no_grad():
        deconvolution.weight.copy_(generator.weight)
    code = torch.rand(2, 5, dtype=torch.float64)
    expected = deconvolution(code[:, :, None, None]) + generator.constant
    torch.testing.assert_close(generator(code), expected)


def test_the_adaptive_convolution_is_one_conv1d_a_text():
    words, mask = torch.stack([sentence(8, 1), sentence(8, 2)]), torch.ones(2, 8, dtype=torch.bool)
    filters, bias = torch.randn(2, 4, 3, 6, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    found = adaptive_convolution(valid_windows(words, mask, 3), filters, bias)
    for i in range(2):
        one = torch.nn.functional.conv1d(words[i].T[None], filters[i].transpose(1, 2), bias)
        torch.testing.assert_close(found[i], one[0].T)


@pytest.mark.parametrize("rank", [0, 2])
def test_a_constant_generator_makes_a_basic_cnn_of_it(rank):
    """The paper's remark in section 3.2; the form for one text has no bias, the pair form has ψ."""
    model, basic = make("acnn", rank=rank), make("acnn", adaptivity="none")
    pair_model, siamese = make("adaqa", rank=rank), make("adaqa", adaptivity="none")
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
        batch = batch_of(adaptive, ((5, 7),))
        torch.testing.assert_close(adaptive(batch).logits, fixed(batch).logits, rtol=1e-12, atol=1e-12)


def test_the_linear_map_gives_the_filters():
    for rank in (0, 3):
        generator = FilterGenerator(size=6, filters=4, width=3, code=5, rank=rank).double()
        code = torch.rand(2, 5, dtype=torch.float64)
        homogeneous = torch.cat([code, torch.ones(2, 1, dtype=torch.float64)], dim=1)
        torch.testing.assert_close(homogeneous @ generator.linear_map(), generator(code).flatten(1))
        torch.testing.assert_close(homogeneous @ generator.linear_map(2), generator(code)[:, 2].flatten(1))


def test_32_pairs_are_learnt_by_heart_with_matching():
    assert learns_by_heart("adaqa", matching="multi-perspective")


def test_two_way_without_matching_features_treats_both_sides_alike():
    model = make("adaqa")
    with torch.no_grad():
        model.bias_a.copy_(model.bias_q)
    batch = batch_of(model, ((5, 7),))
    turned = Batch(batch.second, (batch.first,))
    torch.testing.assert_close(model(batch).trace.a.pooled, model(turned).trace.q.pooled)


@pytest.mark.parametrize(
    ("architecture", "settings", "message"),
    [
        ("acnn", {"adaptivity": "two-way"}, "adaptivity must be one of none, self"),
        ("adaqa", {"adaptivity": "both"}, "adaptivity must be one of"),
        ("adaqa", {"matching": "dot"}, "matching must be one of"),
        ("acnn", {"filters": 0}, "at least 1"),
        ("acnn", {"rank": -1}, "at least 0"),
        ("acnn", {"embedding_dropout": 1.0}, "below 1"),
    ],
)
def test_impossible_settings_are_refused(architecture, settings, message):
    with pytest.raises(ConfigError, match=message):
        build(architecture, tiny(architecture, **settings))


# --- evidence --------------------------------------------------------------------------------------------------------

FIRST, SECOND = "how big is the city", "the city has many people in it ."


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


def test_with_attention_only_activations_are_recorded(tmp_path, table):
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
    assert [r.units for r in result.evidence if isinstance(r, AttentionMap)] == ["windows"]


def test_a_single_text_is_explained(tmp_path, table):
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
