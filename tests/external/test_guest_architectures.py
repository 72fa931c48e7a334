"""External models of many architectures: pads change no answer, and attention is the library's."""

from __future__ import annotations

import logging

import pytest
import torch
import transformers

from core.__main__ import main
from core.checkpoint import load
from core.effects import METHODS, Question, cost
from core.effects.faithfulness import faithfulness
from core.effects.links import Taken
from core.errors import UserError
from core.evaluation.predict import predict
from core.evidence import AttentionMap
from core.evidence.attention_heads import AttentionHeads
from core.explain import explain
from core.external.between import rollout
from core.external.card import external_card
from core.external.heads import sizes_of
from core.layers.heads import HeadError, parse_head, title_of
from core.models.intervention import Intervention
from core.reading.reader import PairError
from tests.guests import ARCHITECTURES, ENCODER_DECODERS, OTHERS, make, make_tower

PAIR = ("A man's dog can't run 🐶 near the U.S. embassy.", "The  dog doesn't run.")
PAIRS = [PAIR, ("A dog.", "A cat runs."), (" ".join(["dog"] * 40), "A dog"), ("x", "y"), ("Girls eat.", "Three girls")]


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """One model of each architecture, made when it is asked for."""
    home = tmp_path_factory.mktemp("architectures")
    return lambda name: home / name if (home / name).is_dir() else make(home / name, name)


def of_library(folder):
    """Its own tokenizer and model."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    return transformers.AutoTokenizer.from_pretrained(folder), model.eval()


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, *ENCODER_DECODERS, *OTHERS])
def test_a_pair_has_the_same_answer_alone_and_in_a_batch(folder_of, architecture):
    folder = folder_of(architecture)
    guest = load(folder)
    together = predict(guest, [guest.read(*pair) for pair in PAIRS])
    tokenizer, model = of_library(folder)
    for row, pair in zip(together, PAIRS, strict=True):
        with torch.inference_mode():
            own = model(**tokenizer(*pair, return_tensors="pt")).logits[0]
        assert row.tolist() == pytest.approx(own.tolist(), abs=1e-5)
    if guest.model.knockouts:  # rows of a cut are a batch, too
        links = Question(guest, *PAIRS[1]).links(Taken.RENORMALISED)[0]
        assert any(effect for row in links.effects for effect in row)
    assert not any(module._forward_hooks for module in guest.model.modules())


def test_a_bi_encoder_reads_a_batch_like_single_texts(tmp_path, monkeypatch):
    """For an encoder that sees padding, such as a convolutional one."""
    from core.external import checkpoint as loading

    folder = make_tower(tmp_path / "tower")
    monkeypatch.setattr(loading, "_answers_together", lambda guest: False)
    guest = load(folder)
    for row, pair in zip(predict(guest, [guest.read(*pair) for pair in PAIRS]), PAIRS, strict=True):
        assert row.tolist() == pytest.approx(explain(guest, *pair).logits, abs=1e-6)


def test_a_model_without_a_pad_is_asked_row_by_row(tmp_path):
    guest = load(make(tmp_path / "gpt", "gpt2", pad_token_id=None))
    assert not guest.model.together
    rows = predict(guest, [guest.read(*pair) for pair in PAIRS])
    assert rows[1].tolist() == pytest.approx(explain(guest, *PAIRS[1]).logits, abs=1e-6)
    assert Question(guest, *PAIR).heads()[0].passes == 3 * 4
    effects = Question(guest, *PAIR).words("integrated-gradients")
    assert sum(effects.completeness) / 2 == pytest.approx(effects.completeness[1], abs=0.05)


@pytest.mark.parametrize("architecture", ENCODER_DECODERS)
def test_attention_of_an_encoder_decoder_is_its_encoders(folder_of, architecture):
    """Each map word by word, from the attention that the library returns."""
    folder = folder_of(architecture)
    guest = load(folder)
    tokenizer, model = of_library(folder)
    with torch.inference_mode():
        own = model(**tokenizer(*PAIR, return_tensors="pt"), output_attentions=True).encoder_attentions
        seen = guest.model.under(guest.reader.batch(guest.read(*PAIR)), Intervention(head="")).trace.layers
    assert len(seen) == len(own) == guest.card["config"]["layers"]
    for one, other in zip(seen, own, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)
    pieces = guest.reader.batch(guest.read(*PAIR))
    owners, (first, second) = pieces.owners[0].tolist(), pieces.words[0]
    record = explain(guest, *PAIR, head="2.2").find(AttentionMap)
    for word in range(second):
        looking = [place for place, owner in enumerate(owners) if owner == first + word]
        for other in range(first):
            cells = [float(own[1][0, 1, p, q]) for p in looking for q, owner in enumerate(owners) if owner == other]
            assert record.weights[word][other] == pytest.approx(sum(cells) / max(1, len(looking)), abs=1e-6)
        if looking:
            assert sum(record.weights[word]) + record.null[word] + record.own[word] == pytest.approx(1, abs=1e-5)


def test_mean_rollout_and_cuts_are_the_encoders(folder_of):
    guest = load(folder_of("bart"))
    reading = guest.read(*PAIR)
    batch = guest.reader.batch(reading)
    knockout = guest.model.knockouts.knocked_out(reading, batch, 0, [(2, 4)]).knockout
    with torch.inference_mode():
        encoder = guest.model.under(batch, Intervention(head="")).trace.layers
        cut = guest.model.under(batch, Intervention(head="", knockout=knockout)).trace.layers
    rows, columns = batch.owners[0] == batch.words[0][0] + 2, batch.owners[0] == 4
    assert len(encoder) == 3
    assert all(layer[0][:, rows][:, :, columns].max() == 0 for layer in cut)
    mean = torch.stack([layer[0].mean(0) for layer in encoder]).mean(0)
    for head, expected in (("mean", mean), ("rollout", rollout(encoder))):
        record = explain(guest, *PAIR, head=head).find(AttentionMap)
        cells = expected[batch.owners[0] == batch.words[0][0]][:, columns].sum(1).mean()
        assert record.weights[0][4] == pytest.approx(float(cells), abs=1e-6)
        assert record.name.endswith("of the encoder")
    heads = explain(guest, *PAIR, head="2.1").find(AttentionHeads)
    assert (heads.head, len(heads.across[0]), len(heads.across[0][0])) == ("2.1", 3, 4)
    assert sum(one.passes for one in Question(guest, *PAIR).links(Taken.RENORMALISED)) > 0
    with pytest.raises(HeadError, match="3 layers of 4 heads"):
        explain(guest, *PAIR, head="4.1")


def test_heads_are_called_by_their_layer():
    assert title_of("7.4") == "layer 7, head 4" and str(parse_head("7.4")) == "7.4"
    assert [parse_head(text) for text in ("encoder.1.1", "cross.1.1", "0.1", "decoder")] == [None] * 4


@pytest.mark.parametrize("architecture", ["bart", "t5", "longformer", "ibert"])
def test_gradients_that_a_model_cannot_give_are_not_offered(folder_of, architecture, capsys):
    folder = folder_of(architecture)
    guest = load(folder)
    assert not guest.model.differentiable
    with pytest.raises(UserError, match="has no gradients: choose"):
        Question(guest, *PAIR).words("integrated-gradients")
    arguments = ["why", str(folder), "--first", PAIR[0], "--second", PAIR[1], "--method", "integrated-gradients"]
    capsys.readouterr()  # the library's bars, where the model was not there yet
    assert main(arguments) == 2
    # On a slow machine a line before it states the cost of the passes.
    *_, said = (lines := capsys.readouterr().err.splitlines())
    assert "has no gradients: choose" in said and len(lines) <= 2


def test_curves_leave_out_gradients_that_a_model_cannot_give(folder_of):
    curves = faithfulness(Question(load(folder_of("ibert")), *PAIR)).curves
    assert "dropped" in curves and "integrated-gradients" not in curves


def test_a_method_that_works_is_offered(folder_of):
    guest = load(folder_of("gpt2"))
    for method in (name for name, one in METHODS.items() if one.available(guest)):
        assert Question(guest, *PAIR).words(method).passes <= cost.of_words(Question(guest, *PAIR), method).passes


def _raising(error):
    def forward(*args, **values):
        raise error

    return forward


@pytest.mark.parametrize("error", [IndexError("index out of\nrange in self"), SystemExit(3), NotImplementedError()])
def test_whatever_a_model_raises_is_one_sentence_and_a_traceback_in_the_log(tmp_path, caplog, monkeypatch, error):
    folder = make(tmp_path / "my-model")
    guest = load(folder)
    monkeypatch.setattr(guest.model.body, "forward", _raising(error))
    asked = [
        lambda: explain(guest, *PAIR),
        lambda: predict(guest, [guest.read(*pair) for pair in PAIRS]),
        lambda: guest.model(guest.reader.batch(guest.read(*PAIR))),
    ]
    for ask in asked:
        caplog.clear()
        with pytest.raises(PairError, match="my-model could not answer") as raised:
            ask()
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 300
        (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
        assert record.exc_info[1] is error


def test_a_fault_in_the_gradient_is_one_sentence(folder_of, monkeypatch):
    guest = load(folder_of("electra"))

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(context, values):
            return values.clone()

        @staticmethod
        def backward(context, slope):
            raise RuntimeError("no derivative here")

    own = guest.model.body.forward

    def forward(*args, inputs_embeds=None, **values):
        return own(*args, inputs_embeds=None if inputs_embeds is None else Broken.apply(inputs_embeds), **values)

    monkeypatch.setattr(guest.model.body, "forward", forward)
    with pytest.raises(PairError, match=r"electra could not answer .*no derivative here"):
        Question(guest, *PAIR).words("gradient-norm")


def test_a_text_with_the_signs_of_a_tokeniser_is_answered_or_refused_in_one_sentence(folder_of, capsys):
    """BART's library refuses pairs of a batch that end unlike each other, and a text may hold the sign of an end."""
    guest = load(folder_of("bart"))
    with pytest.raises(PairError, match=r"could not answer .ValueError"):
        guest.model(guest.reader.batch_of([guest.read("A </s> dog.", "A cat."), guest.read(*PAIR)]))
    assert explain(guest, "A </s> dog.", "A cat.").verdict


@pytest.mark.parametrize("architecture", ["distilbert", "t5", "bart", "gpt2", "xlm", "bert"])
def test_a_card_states_the_layers_and_heads_that_the_model_has(folder_of, architecture):
    """Before it is loaded: configurations call them by many names."""
    config, loaded = external_card(folder_of(architecture))["config"], load(folder_of(architecture)).card["config"]
    assert (config["layers"], config["heads"]) == (loaded["layers"], loaded["heads"]) == (3, 4)
    assert sizes_of({"block_sizes": [1, 1]}) == (0, 0)
