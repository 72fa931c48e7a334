"""Tests specific to AttConv's rivals; tests/test_conformance.py covers all models."""

import pytest
import torch

from core.explain import explain
from core.layers.convolution import windows
from core.layers.recurrent import BiLSTM
from core.models import build
from core.reading.batch import Batch
from tests.core.made_up import make_checkpoint, make_table
from tests.loops.decomposable import LOOPS
from tests.models import batch_of, make, sentence


@pytest.mark.parametrize(
    ("architecture", "parts", "count"),
    [
        ("bi-cnn", ("convolution.weight",), 270_000),
        ("attconv-light", ("convolution.local.weight", "convolution.attentive.weight"), 360_000),
        ("attconv-feedforward", tuple(f"convolution.layers.{i}.weight" for i in range(4)), 360_000),
        ("apcnn", ("convolution.weight", "match.w"), 360_000),
    ],
)
def test_as_many_weights_as_the_attconv_paper_counts(architecture, parts, count):
    weights = dict(build(architecture, {"input_size": 160, "hidden": 300}).named_parameters())
    assert sum(weights[name].numel() for name in parts) == count


def test_esim_has_the_weights_of_its_equations():
    d, words = 20, 7
    count = sum(p.numel() for p in build("esim", {"input_size": words, "hidden": d}).parameters())
    lstms = 2 * 2 * 4 * d * (d + d + 2)
    assert count == words * d + d + lstms + 2 * (8 * d * d + d) + 3 * d + 3


def test_both_directions_equal_torchs_bidirectional_lstm():
    torch.manual_seed(0)
    ours, theirs = BiLSTM(6, 5).double(), torch.nn.LSTM(6, 5, batch_first=True, bidirectional=True).double()
    state = {f"{name}_l0": value for name, value in ours.forwards.state_dict().items() for name in [name[:-3]]}
    state |= {f"{name[:-3]}_l0_reverse": value for name, value in ours.backwards.state_dict().items()}
    theirs.load_state_dict(state)
    side = Batch.of([sentence(n, n) for n in (5, 1, 3)]).first
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        side.words, side.mask.sum(1), batch_first=True, enforce_sorted=False
    )
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)
    torch.testing.assert_close(ours(side.words, side.mask), expected)


def test_decomposable_attention_does_not_mind_the_order_of_words_unless_it_looks_at_its_own():
    for intra in (False, True):
        model = make("decomposable", intra=intra)
        if intra:
            torch.nn.init.normal_(model.distance)
        batch = batch_of(model, ((4, 5),))
        turned = Batch.of([batch.first.words[0].roll(1, 0)], [batch.second.words[0]])
        same = torch.allclose(model(turned).logits, model(batch).logits)
        assert same != intra


def test_words_that_are_far_apart_share_one_bias():
    model = make("decomposable", intra=True)
    torch.nn.init.normal_(model.distance)
    batch = batch_of(model, ((15, 2),))
    words = [side.words[0] for side in (batch.first, *batch.contexts)]
    expected = LOOPS["decomposable"](model, words[0], words[1:], batch.judged, None)
    torch.testing.assert_close(model(batch).trace.intra_first[0], torch.tensor(expected["intra_first"]).double())


def test_a_window_is_centred_or_just_right_of_the_middle_if_it_is_even():
    states = torch.tensor([[[1.0], [2.0], [3.0]]])
    assert [windows(states, width)[0].tolist() for width in (1, 2, 3, 4)] == [
        [[1], [2], [3]],
        [[1, 2], [2, 3], [3, 0]],
        [[0, 1, 2], [1, 2, 3], [2, 3, 0]],
        [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 0]],
    ]


def test_a_single_text_is_read_without_context():
    for architecture in ("bi-lstm", "self-attention", "multichannel-cnn"):
        model = make(architecture, context="none")
        pair = batch_of(model, ((4, 5), (2, 3)))
        alone = Batch(pair.second, judged="first")
        assert torch.equal(model(alone).logits, model(pair).logits)


def test_abcnn_1_pools_without_attention_and_abcnn_2_convolves_without_it():
    one, two = make("abcnn", attention="words"), make("abcnn", attention="states")
    assert one.convolution.in_features == 2 * two.convolution.in_features and two.x_map is None
    batch = batch_of(one, ((4, 4),))
    trace = one(batch).trace
    assert torch.equal(trace.scores, trace.output_scores)
    assert torch.equal(two(batch).trace.scores, two(batch).trace.output_scores)


@pytest.mark.parametrize("architecture", ["apcnn", "abcnn", "attentive-lstm"])
def test_a_single_text_attends_to_itself(architecture, tmp_path):
    model = make(architecture, context="intra")
    text, other = sentence(4, 1), sentence(3, 2)
    alone = model(Batch.of([text], judged="first")).logits
    assert torch.equal(alone, model(Batch.of([other], [text])).logits)
    assert torch.equal(alone, model(Batch.of([text], [other], judged="first")).logits)
    checkpoint = make_checkpoint(tmp_path, make_table(), architecture, context="intra")
    checkpoint.card["roles"].update(first="text", second="", judged="text")
    explanation = explain(checkpoint, "the red dog", records=model.shows(checkpoint.card["config"]))
    assert [(record.role, len(record.weights)) for record in explanation.evidence] == [("text", 3)]
