"""The shares of word pairs in a similarity: exact ones of the output layer, and integrated Jacobians of input words."""

import itertools
import json

import numpy as np
import pytest
import torch
import transformers
from torch import nn

import core.effects.jacobians
from core.checkpoint import load, load_named
from core.effects import Question
from core.errors import UserError
from core.evidence import Explanation
from core.evidence.similarity_shares import SimilarityShares
from core.explain import explain
from core.external.pieces import words_of_pieces
from core.external.towers import Pooling
from core.reading.reader import PairError
from core.reading.tokens import tokenize
from tests.guests import make_tower

PAIR = ("A man's dog can't run 🐶 near the U.S. embassy.", "The  dog doesn't run.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tower(tmp_path_factory.mktemp("towers") / "my-tower")


def _pieces_by_hand(folder, text):
    """The last hidden state of each piece of a text, and the number of its word (-1: none), from transformers alone."""
    home = folder / "0_Transformer"
    tokenizer = transformers.AutoTokenizer.from_pretrained(home)
    model = transformers.AutoModel.from_pretrained(home, add_pooling_layer=False).eval()
    encoded = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    spans = encoded.pop("offset_mapping")[0].tolist()
    with torch.inference_mode():
        states = model(**encoded).last_hidden_state[0].double()
    words = [(token.start, token.end) for token in tokenize(text)]
    return states.tolist(), [-1, *words_of_pieces(words, [tuple(span) for span in spans[1:-1]]), -1]


def _slow_shares(folder):
    """A number at a time: x_i · y_j / (n m |u| |v|), added up over the pieces of two words."""
    (x, x_words), (y, y_words) = (_pieces_by_hand(folder, text) for text in PAIR)
    n, m, width = len(x), len(y), len(x[0])
    u, v = ([sum(state[d] for state in states) / len(states) for d in range(width)] for states in (x, y))
    length = sum(value**2 for value in u) ** 0.5 * sum(value**2 for value in v) ** 0.5
    columns, rows = (len(tokenize(text)) for text in PAIR)
    shares = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i, j in itertools.product(range(n), range(m)):
        dot = sum(x[i][d] * y[j][d] for d in range(width))
        shares[y_words[j]][x_words[i]] += dot / (n * m * length)
    return shares


def test_shares_equal_a_slow_loop_and_add_up_to_the_similarity(folder):
    explanation = explain(load(folder), *PAIR)
    record = explanation.find(SimilarityShares)
    np.testing.assert_allclose(record.shares, _slow_shares(folder), atol=1e-6)
    assert record.score == pytest.approx(explanation.logits[0]) and abs(record.residual) < 1e-5
    assert (record.rows, record.columns) == ("question 2", "question 1")
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation
    assert f"add up to {record.total:.3f} of the similarity {record.score:.3f}" in explanation.to_text()
    cells = record.to_csv(explanation).splitlines()
    assert len(cells) == 1 + len(record.shares) * len(record.shares[0]) and "special tokens" in cells[-1]
    assert explanation._repr_html_().count("color-mix") == len(cells) - 1


@pytest.mark.parametrize("way", ["cls", "lasttoken", "mean_sqrt_len", "weightedmean"])
def test_shares_add_up_with_every_pooling_that_is_a_weighted_sum(folder, way):
    checkpoint = load(folder)
    checkpoint.model.tower.pooling = Pooling([way])
    assert abs(explain(checkpoint, *PAIR).find(SimilarityShares).residual) < 1e-5


@pytest.mark.parametrize("made", [{"pooling": "max"}, {"dense": 5}])
def test_a_similarity_that_is_no_sum_over_pieces_has_no_shares_but_jacobians(tmp_path, made, monkeypatch):
    monkeypatch.setattr(core.effects.jacobians, "STEPS", 4)
    monkeypatch.setattr(core.effects.jacobians, "COMPLETE", 1e9)
    checkpoint = load(make_tower(tmp_path / "tower", **made))
    assert explain(checkpoint, *PAIR).find(SimilarityShares) is None
    assert Question(checkpoint, *PAIR).shares().score == pytest.approx(explain(checkpoint, *PAIR).logits[0], abs=1e-5)


def test_integrated_jacobians_become_complete_as_steps_grow(folder, monkeypatch):
    checkpoint, residuals = load(folder), []
    monkeypatch.setattr(core.effects.jacobians, "COMPLETE", 1e9)
    for steps in (2, 8, 32):
        monkeypatch.setattr(core.effects.jacobians, "STEPS", steps)
        seen = []
        record = Question(checkpoint, *PAIR).shares(progress=lambda *done, seen=seen: seen.append(done))
        residuals.append(abs(record.residual))
        assert seen == sorted({*seen}) and steps <= seen[-1][0] < 2 * steps == seen[-1][1]
    assert residuals[0] > residuals[1] > residuals[2] and residuals[2] < 1e-3
    assert not any(record.shares[-1]) and not any(row[-1] for row in record.shares), "special tokens do not change"
    assert record.score == pytest.approx(explain(checkpoint, *PAIR).logits[0], abs=1e-5)


class _Linear(nn.Module):
    """A transformer whose states are its input vectors times a matrix."""

    def __init__(self, vocabulary):
        super().__init__()
        self.table, self.map = nn.Embedding(vocabulary, 6), nn.Linear(6, 6, bias=False)

    def get_input_embeddings(self):
        return self.table

    def forward(self, input_ids=None, inputs_embeds=None, attention_mask=None, **others):
        vectors = self.table(input_ids) if inputs_embeds is None else inputs_embeds
        return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=self.map(vectors))


def test_integrated_jacobians_of_a_linear_encoder_are_known(folder):
    """With s the dot product and r the padding's vector, words i and j share (W(a_i - r)) · (W(b_j - r)) / nm."""
    checkpoint = load(folder)
    tower = checkpoint.model.tower
    torch.manual_seed(0)
    tower.body, tower.layers, tower.similarity = _Linear(len(tower.tokenizer)), nn.Sequential(), "dot"
    record = Question(checkpoint, *PAIR).shares()
    batch = checkpoint.reader.batch(Question(checkpoint, *PAIR).reading)
    moved = []
    for pieces in (batch.first, batch.second):
        pad = tower.body.table.weight[tower.tokenizer.pad_token_id]
        change = tower.body.map(tower.body.table(pieces.inputs["input_ids"][0]) - pad) / len(pieces.owners[0])
        words = [change[pieces.owners[0] == word].sum(0) for word in range(pieces.words[0][0])]
        moved.append(torch.stack([*words, torch.zeros(6)]))
    np.testing.assert_allclose(record.shares, (moved[1] @ moved[0].T).detach(), atol=1e-5)
    assert abs(record.residual) < 1e-5


def test_other_models_are_refused_in_one_sentence(folder):
    with pytest.raises(UserError, match=r"nli-two-sided has no integrated Jacobians: choose a bi-encoder"):
        Question(load_named("nli-two-sided"), *PAIR).shares()
    checkpoint = load(folder)
    checkpoint.model.tower.body.get_input_embeddings = None
    with pytest.raises(PairError, match="my-tower could not answer"):
        Question(checkpoint, *PAIR).shares()
