"""Models in Hugging Face's format: equal to what their own library computes, word by word of ours."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import threading

import pytest
import torch
import transformers

from core.checkpoint import CheckpointError, available, load, load_named, open_checkpoint, read_card
from core.effects.edits import Edit, edited
from core.effects.faithfulness import faithfulness
from core.effects.links import STRONGEST, Taken
from core.effects.question import Question
from core.effects.words import DROPPED, SAMPLING, Place, with_word, without
from core.evaluation.predict import predict
from core.evidence import AttentionMap, Explanation
from core.evidence.attention_heads import AttentionHeads
from core.explain import explain, explained
from core.external.attention import Attention
from core.external.base import spelt
from core.external.between import rollout
from core.external.card import answer, external_card
from core.external.loading import transformers_library
from core.external.pieces import NO_WORD, words_of_pieces
from core.layers.attention import Knockout
from core.layers.heads import HeadError
from core.models.intervention import Intervention
from core.reading.reader import PairError, ReadText
from core.reading.tokens import tokenize
from tests.core.test_text import BETWEEN, WORDS
from tests.guests import ARCHITECTURES, TOKENIZERS, make

PAIR = ("A man's dog can't run 🐶 near the U.S. embassy.", "The  dog doesn't run.")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One model of each architecture."""
    return {name: make(tmp_path_factory.mktemp("guests") / name, name) for name in ARCHITECTURES}


@pytest.fixture(scope="module")
def guest(folders):
    return load(folders["bert"])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_and_attention_are_those_of_its_own_library(folders, architecture):
    folder = folders[architecture]
    guest = load(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        own = model(**tokenizer(*PAIR, return_tensors="pt"), output_attentions=True)
        seen = guest.model.under(guest.reader.batch(guest.read(*PAIR)), Intervention(head=""))
    torch.testing.assert_close(seen.logits, own.logits, atol=1e-6, rtol=0)
    assert len(seen.trace.layers) == len(own.attentions) == 3
    for one, other in zip(seen.trace.layers, own.attentions, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)
    explanation = explain(guest, *PAIR, head="2.3")
    assert explained(guest, *PAIR, "2.3").evidence == explanation.evidence != explained(guest, *PAIR, "1.2").evidence
    assert explanation.logits == pytest.approx(own.logits[0].tolist(), abs=1e-6)
    _check_map_by_hand(guest, explanation, own.attentions[1][0, 2])
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation


def _check_map_by_hand(guest, explanation, attention):
    """The map of the second text's words, added up piece by piece."""
    pieces = guest.reader.batch(guest.read(*PAIR))
    owners = pieces.owners[0].tolist()
    count, looked_at = pieces.words[0][1], pieces.words[0][0]
    record = explanation.evidence[0]
    assert (record.rows, record.columns, record.name) == ("hypothesis", "premise", "layer 2, head 3")
    for word in range(count):
        looking = [place for place, owner in enumerate(owners) if owner == looked_at + word]
        for other in range(looked_at):
            cells = [float(attention[p, q]) for p in looking for q, owner in enumerate(owners) if owner == other]
            assert record.weights[word][other] == pytest.approx(sum(cells) / len(looking), abs=1e-6)
        special = [float(attention[p, q]) for p in looking for q, owner in enumerate(owners) if owner == NO_WORD]
        assert record.null[word] == pytest.approx(sum(special) / len(looking), abs=1e-6)
        assert sum(record.weights[word]) + record.null[word] + record.own[word] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_every_word_has_its_pieces(kind):
    """Compared with a slow count of shared characters, on texts with unusual characters."""
    tokenizer, drawn = TOKENIZERS[kind](), random.Random(3)
    words, gaps = WORDS.split(), [*BETWEEN, " ", " ", " ", ""]
    for _ in range(300):
        text = "".join(drawn.choice(words) + drawn.choice(gaps) for _ in range(drawn.randrange(1, 12)))
        text = text.encode("utf-8", "replace").decode("utf-8")
        tokens = tokenize(text)
        encoded = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
        spans = [tuple(span) for span in encoded["offset_mapping"]]
        owners = words_of_pieces([(token.start, token.end) for token in tokens], spans)
        for (start, end), owner in zip(spans, owners, strict=True):
            shared = [len({*range(start, end)} & {*range(token.start, token.end)}) for token in tokens]
            best = max(shared, default=0)
            if best:
                assert owner == shared.index(best)
            else:
                assert owner == NO_WORD or tokens[owner].start == end
        for number, token in enumerate(tokens):
            covered = {
                place for span, owner in zip(spans, owners, strict=True) if owner == number for place in range(*span)
            }
            inside = {place for span in spans for place in range(*span)} & {*range(token.start, token.end)}
            if token.text in words and inside == {*range(token.start, token.end)} and len(spans) >= len(tokens):
                shared_with_others = [
                    span for span in spans if span[0] < token.start < span[1] or span[0] < token.end < span[1]
                ]
                assert covered & inside or shared_with_others


def test_a_changed_reading_is_spelt_as_edits_leave_it():
    text = "The small dog, a puppy, doesn't bark."
    side = ReadText("premise", text, tuple(tokenize(text)))
    assert spelt(side) == (text, [(token.start, token.end) for token in tokenize(text)])
    for index, token in enumerate(side.tokens):
        left = without((side, side), Place(0, index))
        assert spelt(left[0])[0] == edited((text, text), [Edit("drop", 0, index)])[0]
        put, spans = spelt(with_word((side,), Place(0, index), "zebra")[0])
        assert put == edited((text, text), [Edit("replace", 0, index, "zebra")])[0]
        assert [put[start:end] for start, end in spans][index].lower() == "zebra" and len(token.text) > 0
    cut = ReadText("premise", text, side.tokens[:3], truncated=7)
    assert spelt(cut)[0] == "The small dog"


def test_dropping_a_word_is_reading_the_sentence_without_it(guest):
    asked = Question(guest, *PAIR, SAMPLING)
    effects = Question(guest, *PAIR).words(DROPPED).words
    place = next(place for place, word in enumerate(effects) if word.text == "run")
    typed = explain(guest, *edited(PAIR, [Edit("drop", 0, place)]))
    before, after = asked.explanation.probabilities[asked.target], typed.probabilities[asked.target]
    assert effects[place].effect == pytest.approx(float(torch.tensor(before / after).log()), abs=1e-5)


@pytest.mark.parametrize("architecture", ("bert", "roberta", "deberta-v2", "modernbert"))
def test_a_link_that_is_cut_has_no_weight_in_any_layer(folders, architecture):
    guest = load(folders[architecture])
    reading = guest.read(*PAIR)
    batch = guest.reader.batch(reading)
    owners, first = batch.owners[0], len(reading.first.tokens)
    word, other = 2, 4  # of the hypothesis into the premise
    intervention = guest.model.knockouts.knocked_out(reading, batch, 0, [(word, other)])
    with torch.inference_mode():
        own = guest.model.under(batch, Intervention(head=""))
        cut = guest.model.under(batch, Intervention(head="", knockout=intervention.knockout))
    rows, columns = owners == first + word, owners == other
    assert rows.any() and columns.any()
    for after in cut.trace.layers:
        assert after[0][:, rows][:, :, columns].abs().max() == 0
        torch.testing.assert_close(after.sum(-1), torch.ones_like(after.sum(-1)))
    # Some layers of ModernBERT look at near pieces alone.
    assert any(before[0][:, rows][:, :, columns].abs().max() > 0 for before in own.trace.layers)
    # In the first layer, whose scores are the same, the rest of the row is divided by what is left of it.
    kept = own.trace.layers[0][0][:, rows] * ~columns
    torch.testing.assert_close(cut.trace.layers[0][0][:, rows], kept / kept.sum(-1, keepdim=True))
    torch.testing.assert_close(own.trace.layers[0][0][:, ~rows], cut.trace.layers[0][0][:, ~rows])
    assert not torch.equal(own.logits, cut.logits)
    with torch.inference_mode():
        silent = guest.model.under(batch, Intervention(head="", knockout=Knockout(heads=((1, 2),))))
        again = guest.model.under(batch, Intervention(head=""))
    assert silent.trace.layers[1][0, 2].abs().max() == 0 < silent.trace.layers[1][0, 1].abs().max()
    assert torch.equal(again.logits, own.logits)  # nothing is left behind


def test_effects_of_links(guest):
    effects = Question(guest, *PAIR).links(Taken.RENORMALISED)
    assert [(links.rows, links.columns) for links in effects] == [("hypothesis", "premise"), ("premise", "hypothesis")]
    asked = Question(guest, *PAIR, SAMPLING)
    batch = guest.reader.batch(asked.reading)
    for number, links in enumerate(effects):
        cells = [(i, j) for i, row in enumerate(links.effects) for j, effect in enumerate(row) if effect is not None]
        weights = sorted(itertools.chain(*links.before), reverse=True)
        assert len(cells) == STRONGEST
        assert sorted((links.before[i][j] for i, j in cells), reverse=True) == weights[:STRONGEST]
        i, j = cells[7]
        cut = guest.model.under(batch, guest.model.knockouts.knocked_out(asked.reading, batch, number, [(i, j)])).logits
        lost = asked.explanation.probabilities[asked.target] / torch.softmax(cut.double(), 1)[0, asked.target]
        assert links.effects[i][j] == pytest.approx(float(lost.detach().log()), abs=1e-5)
        assert links.renormalised and links.tau_b is not None


def test_rollout_is_the_product_over_layers():
    layers = [torch.softmax(torch.randn(1, 2, 4, 4), -1) for _ in range(3)]
    slow = [[float(i == j) for j in range(4)] for i in range(4)]
    for layer in layers:
        mean = layer[0].mean(0).tolist()
        mixed = [[(mean[i][j] + (i == j)) / 2 for j in range(4)] for i in range(4)]
        slow = [[sum(mixed[i][k] * slow[k][j] for k in range(4)) for j in range(4)] for i in range(4)]
    torch.testing.assert_close(rollout(layers), torch.tensor(slow), atol=1e-6, rtol=0)


def test_heads_are_summed_up(guest):
    explanation = explain(guest, *PAIR)
    heads = explanation.find(AttentionHeads)
    shown = explanation.find(AttentionMap)
    assert (heads.head, heads.first, heads.second) == ("mean", "premise", "hypothesis")
    rows = [sum(row) for row in shown.weights]
    of_all = [share for layer in heads.across[0] for share in layer]
    assert sum(of_all) / len(of_all) == pytest.approx(sum(rows) / len(rows), abs=1e-6)
    assert "layer" in "\n".join(heads.to_text(explanation))
    for wrong, message in (("4.1", "3 layers of 4 heads"), ("1.9", "3 layers of 4 heads"), ("x", "names no head")):
        with pytest.raises(HeadError, match=message):
            explain(guest, *PAIR, head=wrong)


def test_batched_predictions_equal_single_ones(guest):
    pairs = [PAIR, ("A dog.", "A cat runs."), (" ".join(["dog"] * 40), "A dog"), ("x", "y")] * 3
    logits = predict(guest, [guest.read(*pair) for pair in pairs])
    for row, pair in zip(logits, pairs, strict=True):
        assert row.tolist() == pytest.approx(explain(guest, *pair).logits, abs=1e-5)


def test_threads_share_a_guest(guest):
    """Concurrent calls that record or cut attention do not affect others."""
    reading = guest.read(*PAIR)
    batch = guest.reader.batch(reading)
    cut = guest.model.knockouts.knocked_out(reading, batch, 0, [(1, 1)])
    with torch.inference_mode():
        expected = [guest.model(batch).logits, guest.model.under(batch, cut).logits]
    answers: dict[int, list[torch.Tensor]] = {0: [], 1: []}

    def ask(number: int) -> None:
        for _ in range(15):
            with torch.inference_mode():
                answers[number].append(guest.model.under(batch, cut).logits if number else guest.model(batch).logits)

    threads = [threading.Thread(target=ask, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(logits, expected[number]) for number in (0, 1) for logits in answers[number])


def test_a_pair_too_long_for_the_model_is_cut_with_a_warning(tmp_path):
    guest = load(make(tmp_path / "short", max_position_embeddings=64))
    first = " ".join(f"word{number}" for number in range(400))
    explanation = explain(guest, first, "A dog runs.")
    assert any("was cut after" in warning for warning in explanation.warnings)
    assert 40 < guest.reader.batch(guest.read(first, "A dog runs.")).real.shape[1] <= 64
    assert explanation.first.truncated > 300 and len(explanation.evidence[0].weights[0]) == len(
        explanation.first.tokens
    )
    assert len(explanation.second.tokens) == 4


def test_how_far_it_can_be_believed(guest):
    answer = faithfulness(Question(guest, *PAIR), methods=("taken-away", "dropped"))
    assert set(answer.curves) == {"taken-away", "dropped", "random"} and answer.moved is None


def test_a_folder_among_a_persons_own(folders, tmp_path, monkeypatch):
    shutil.copytree(folders["roberta"], tmp_path / "my-roberta")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert "my-roberta" in available()
    card = read_card(tmp_path / "my-roberta")
    assert (card["title"], card["labels"]) == ("my-roberta", ["entailment", "neutral", "contradiction"])
    assert load_named("my-roberta") is load_named("my-roberta")
    (tmp_path / "my-roberta/pairlens.json").write_text('{"title": "Ours", "head": "1.2", "second_first": true}')
    again = load_named("my-roberta")
    assert again.card["title"] == "Ours"
    explanation = explain(again, *PAIR)
    assert explanation.evidence[0].name == "layer 1, head 2" and explanation.first.text == PAIR[0]
    swapped = transformers.AutoTokenizer.from_pretrained(folders["roberta"])(PAIR[1], PAIR[0])["input_ids"]
    assert again.reader.batch(again.read(*PAIR)).inputs["input_ids"][0].tolist() == swapped


def test_numbered_classes_are_asked_about(tmp_path):
    folder = make(tmp_path / "numbered", id2label={0: "LABEL_0", 1: "LABEL_1"}, label2id={"LABEL_0": 0, "LABEL_1": 1})
    assert external_card(folder)["asked"]
    with pytest.raises(CheckpointError, match=r"only numbered.*Models page"):
        load(folder)
    with pytest.raises(CheckpointError, match="3 labels for 2 classes"):
        answer(folder, "entailment", ("a", "b", "c"))
    answer(folder, "paraphrase", ("not paraphrase", "paraphrase"))
    assert not external_card(folder)["asked"]
    guest = load(folder)
    assert guest.labels == ("not paraphrase", "paraphrase") and guest.roles["first"] == "question 1"


def _without_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


_UNNAMED = {str(number): f"LABEL_{number}" for number in range(3)}


def _config(folder, **changes):
    config = json.loads((folder / "config.json").read_text()) | changes
    kept = {name: value for name, value in config.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(kept))


def _other_weights(folder):
    _config(folder, intermediate_size=40)


def _more_layers(folder):
    _config(folder, num_hidden_layers=5)


def _slow_tokenizer(folder):
    """One of characters, which is written in Python."""
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "CanineTokenizer"}')


def _no_tokenizer(folder):
    (folder / "tokenizer.json").unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_without_weights, "pickle.*python -c .*save_pretrained"),
        (lambda folder: (folder / "model.safetensors").unlink(), "has no .*safetensors: copy the model again"),
        (lambda folder: (folder / "config.json").write_text("{"), "not readable JSON"),
        (lambda folder: (folder / "pairlens.json").write_text('{"roles": ["a"]}'), "two different names"),
        (lambda folder: (folder / "pairlens.json").write_text('{"labls": []}'), "labls"),
        (lambda folder: (folder / "pairlens.json").write_text("[1]"), "fix or remove it"),
        (lambda folder: (folder / "pairlens.json").write_text('{"head": "first"}'), "head must be as 7.4"),
        (lambda folder: (folder / "pairlens.json").write_text('{"head": "4.1"}'), "no head 4.1.*3 layers of 4 heads"),
        (lambda folder: _config(folder, id2label=None, label2id=None), "2 classes there, 3 in the weights"),
        (lambda folder: _config(folder, id2label=_UNNAMED), "LABEL_0, LABEL_1.*Models page"),
        (lambda folder: _config(folder, id2label={"0": "good", "1": "bad", "2": "odd"}), "belong to no known task"),
        (lambda folder: (folder / "pairlens.json").write_text('{"task": "NLI"}'), "task must be one of"),
        (_slow_tokenizer, "does not say where its pieces stand"),
        (_other_weights, "copy the model again"),
        (_more_layers, "do not fit its config.json"),
        (_no_tokenizer, "no vocabulary.*copy the model again"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 40), "copy the model again"),
    ],
)
def test_an_unusable_model_gets_one_sentence(folders, tmp_path, damage, message):
    folder = tmp_path / "damaged"
    shutil.copytree(folders["bert"], folder)
    damage(folder)
    with pytest.raises(CheckpointError, match=message) as error:
        open_checkpoint(str(folder))
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


def test_a_side_without_a_word_is_refused(guest):
    with pytest.raises(PairError, match="premise is empty"):
        explain(guest, " ", "A dog.")


def test_attention_of_another_shape_is_ignored():
    with Attention(5, seen=True) as attention:
        torch.softmax(torch.zeros(1, 2, 5, 4), -1)
        torch.softmax(torch.zeros(2, 5, 5), -1)
        torch.softmax(torch.zeros(1, 2, 5, 5), -1)
    assert [tuple(weights.shape) for weights in attention.weights] == [(1, 2, 5, 5)]


def test_one_thread_at_a_time_reads_with_the_library(tmp_path):
    asked, reading = threading.Event(), threading.Event()

    def read():
        asked.set()
        with transformers_library(tmp_path, "it"):
            reading.set()

    other = threading.Thread(target=read)
    with transformers_library(tmp_path, "it"):
        other.start()
        asked.wait()
        assert not reading.wait(0.1)
    other.join()
    assert reading.is_set()
