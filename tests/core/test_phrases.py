"""Phrase states, alignment and pooling against slow loops written from the equations, and their invariances."""

import json
import math

import pytest
import torch

from core.__main__ import as_text
from core.evidence import AttentionMap, Explanation, PhraseSelection
from core.explain import explain
from core.models import ConfigError, build
from core.models.phrases.alignment import PhraseGRU, alignment, best, diversity, keep, phrase_mask, span
from core.reading.batch import Batch

POOLINGS = ("kmin", "kmax", "full")


def pair_batch(lengths, width=7, seed=0, noise=0.0, pad=0):
    """Pairs (first, second) of these lengths; pads hold noise, and ``pad`` more of them stand behind."""
    g = torch.Generator().manual_seed(seed)
    sides = []
    for place in (1, 0):  # x is the second sentence
        longest = max(pair[place] for pair in lengths) + pad
        block = torch.randn(len(lengths), longest, width, generator=torch.Generator().manual_seed(99)) * noise
        mask = torch.zeros(len(lengths), longest, dtype=torch.bool)
        for b, pair in enumerate(lengths):
            g.manual_seed(1000 * seed + 10 * b + place)
            block[b, : pair[place]] = torch.randn(pair[place], width, generator=g)
            mask[b, : pair[place]] = True
        sides += [block, mask]
    return Batch(*sides)


def model(**config):
    torch.manual_seed(3)
    return build("phrases", {"input_size": 7, "hidden": 5, **config}).eval()


def dot(a, b):
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def slow_gru(cell_weights, words, start=None):
    """Equations 1 to 4 (with torch's biases), a word and a number at a time."""
    w_ih, w_hh, b_ih, b_hh = (weight.tolist() for weight in cell_weights)
    h = len(w_hh[0])
    state = [0.0] * h if start is None else start
    for word in words:
        gate = []
        for part in range(3):
            rows = range(part * h, part * h + h)
            from_word = [dot(w_ih[row], word) + b_ih[row] for row in rows]
            gate.append(list(zip(from_word, [dot(w_hh[row], state) + b_hh[row] for row in rows], strict=True)))
        r = [1 / (1 + math.exp(-(a + b))) for a, b in gate[0]]
        z = [1 / (1 + math.exp(-(a + b))) for a, b in gate[1]]
        n = [math.tanh(a + r[i] * b) for i, (a, b) in enumerate(gate[2])]
        state = [(1 - z[i]) * n[i] + z[i] * state[i] for i in range(h)]
    return state


def slow_phrases(net, words):
    """[((first, last), state)] in the order (A)(B)(AB)(C)(BC)(ABC)…"""
    weights = (net.weight_ih, net.weight_hh, net.bias_ih, net.bias_hh)
    out = []
    for end in range(len(words)):
        for length in range(1, net.longest + 1):
            if length <= end + 1:
                start = end + 1 - length
                out.append(((start, end + 1), slow_gru(weights, words[start : end + 1])))
    return out


def cosine(a, b):
    return dot(a, b) / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def slow_logits(net, first_words, second_words):
    """The whole model for one pair, from sections 3 and 4.2.1."""
    first, second = slow_phrases(net.phrases, first_words), slow_phrases(net.phrases, second_words)
    kept = []
    for own, other in ((first, second), (second, first)):
        scores = [round(max(cosine(state, partner) for _, partner in other), 5) for _, state in own]
        order = sorted(range(len(own)), key=lambda i: (scores[i] if net.config.pooling == "kmin" else -scores[i], i))
        chosen = range(len(own)) if net.config.pooling == "full" else sorted(order[: net.config.k])
        kept.append([own[i][1] for i in chosen])
    reader = net.reader
    weights = (reader.weight_ih_l0, reader.weight_hh_l0, reader.bias_ih_l0, reader.bias_hh_l0)
    s_1, s_2, s_p = (slow_gru(weights, sequence) for sequence in (kept[0], kept[1], kept[0] + kept[1]))
    sums = [[sum(float(w[d]) for w in words) for d in range(7)] for words in (first_words, second_words)]
    pairs = [(s_1, s_2), (sums[0], sums[1])]
    features = [*s_1, *s_2, *s_p, *sums[0], *sums[1], *(cosine(a, b) for a, b in pairs)]
    features += [1 / (1 + math.dist(a, b)) for a, b in pairs]
    weight, bias = net.classifier.weight.tolist(), net.classifier.bias.tolist()
    return [dot(row, features) + b for row, b in zip(weight, bias, strict=True)]


def test_phrase_states_are_those_of_torchs_gru_started_at_every_word():
    torch.manual_seed(0)
    net, gru = PhraseGRU(7, 5), torch.nn.GRU(7, 5, batch_first=True)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(gru, f"{name}_l0").data.copy_(getattr(net, name))
    words = torch.randn(1, 9, 7)
    states, mask = net(words, torch.ones(1, 9, dtype=torch.bool))
    assert int(mask.sum()) == 7 * 9 - 6 * 7 // 2
    for slot in torch.nonzero(mask[0]).flatten().tolist():
        first, last = span(slot)
        expected = gru(words[:, first:last])[1][0, 0]
        torch.testing.assert_close(states[0, slot], expected, rtol=1e-5, atol=1e-6)


def test_slots_are_in_the_papers_order():
    """ABC: (A)(B)(AB)(C)(BC)(ABC), section 3.2."""
    slots = torch.nonzero(phrase_mask(torch.ones(1, 3, dtype=torch.bool))[0]).flatten().tolist()
    assert ["ABC"[slice(*span(slot))] for slot in slots] == ["A", "B", "AB", "C", "BC", "ABC"]


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("lengths", [(4, 9), (1, 1), (1, 3), (8, 2)])
def test_equal_to_a_slow_loop_from_the_equations(pooling, lengths):
    net = model(pooling=pooling, k=3)
    batch = pair_batch([lengths])
    logits, _ = net(batch)
    assert logits[0].tolist() == pytest.approx(slow_logits(net, batch.y[0], batch.x[0]), abs=2e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_and_company_change_nothing(pooling):
    net = model(pooling=pooling, k=4)
    lengths = [(3, 9), (12, 1), (1, 1), (7, 7)]
    together, _ = net(pair_batch(lengths, noise=50.0, pad=5))
    clean, _ = net(pair_batch(lengths))
    torch.testing.assert_close(together, clean, rtol=1e-5, atol=1e-5)
    for b, pair in enumerate(lengths):
        full = pair_batch(lengths)
        alone = Batch(full.x[b : b + 1, : pair[1]], full.x_mask[b : b + 1, : pair[1]],
                      full.y[b : b + 1, : pair[0]], full.y_mask[b : b + 1, : pair[0]])  # fmt: skip
        torch.testing.assert_close(net(alone)[0][0], together[b], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_batch_has_the_loss_and_gradient_of_its_pairs_one_by_one(pooling):
    net = model(pooling=pooling, k=4)
    lengths, labels = [(3, 9), (12, 1), (1, 1), (7, 7)], torch.tensor([0, 2, 1, 1])
    full = pair_batch(lengths)
    loss = torch.nn.functional.cross_entropy(net(full)[0], labels)
    batched = torch.autograd.grad(loss, list(net.parameters()))
    single = []
    for b, pair in enumerate(lengths):
        alone = Batch(full.x[b : b + 1, : pair[1]], full.x_mask[b : b + 1, : pair[1]],
                      full.y[b : b + 1, : pair[0]], full.y_mask[b : b + 1, : pair[0]])  # fmt: skip
        single.append(torch.nn.functional.cross_entropy(net(alone)[0], labels[b : b + 1]))
    mean = torch.stack(single).mean()
    assert float(mean) == pytest.approx(float(loss), abs=1e-5)
    for ours, theirs in zip(batched, torch.autograd.grad(mean, list(net.parameters())), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_gradient_reaches_every_weight(pooling):
    net = model(pooling=pooling, projection=6, extra="answer", classes=2, similarities="cosine").train()
    batch = pair_batch([(5, 6), (9, 4)])
    net(Batch(batch.x, batch.x_mask, batch.y, batch.y_mask, torch.randn(2, 4)))[0].square().sum().backward()
    for name, weight in net.named_parameters():
        assert weight.grad is not None and float(weight.grad.abs().max()) > 0, name


def test_kmin_keeps_the_worst_and_kmax_the_best_in_the_order_of_the_text():
    score = torch.tensor([[0.9, 0.1, 0.5, 0.3, 0.7]])
    mask = torch.ones(1, 5, dtype=torch.bool)
    assert keep(score, mask, "kmin", 2).slots.tolist() == [[1, 3]]
    assert keep(score, mask, "kmax", 2).slots.tolist() == [[0, 4]]
    assert keep(score, mask, "full", 2).slots.tolist() == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("pooling", ["kmin", "kmax"])
def test_of_equal_scores_the_earlier_phrase_is_kept(pooling):
    # 1e-7 apart is what a processor's order of adding makes of one and the same phrase.
    score = torch.tensor([[0.5, 0.5 + 1e-7, 0.5 - 1e-7, 0.5]])
    assert keep(score, torch.ones(1, 4, dtype=torch.bool), pooling, 2).slots.tolist() == [[0, 1]]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_sentence_with_fewer_phrases_than_k_keeps_all_of_them(pooling):
    mask = torch.tensor([[True, False, True, False]])
    found = keep(torch.tensor([[0.2, 9.0, 0.1, -9.0]]), mask, pooling, 10)
    assert found.slots[found.mask].tolist() == [0, 2]


def test_of_equal_partners_the_earliest_is_told():
    scores = torch.tensor([[[0.4, 0.8, 0.8], [1.0, 1.0, 1.0]]])
    found = best(scores, torch.tensor([[True, False]]), torch.ones(1, 3, dtype=torch.bool))
    assert found.partner[0, 0] == 1
    assert found.score.tolist() == [[pytest.approx(0.8), -math.inf]]


def test_alignment_is_the_cosine():
    a, b = torch.randn(1, 3, 4), torch.randn(1, 2, 4)
    found = alignment(a, b)
    for i in range(3):
        for j in range(2):
            assert float(found[0, i, j]) == pytest.approx(cosine(a[0, i].tolist(), b[0, j].tolist()), abs=1e-6)


def test_diversity_is_the_variance_of_the_angles_less_their_mean():
    rows = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    angles = [math.pi / 2, math.acos(1 - 1e-6), math.pi / 2]  # opposite rows are no further apart than equal ones
    mean = sum(angles) / 3
    assert float(diversity(rows)) == pytest.approx(sum((a - mean) ** 2 for a in angles) / 3 - mean, abs=1e-5)
    weight = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    diversity(weight).backward()
    assert torch.isfinite(weight.grad).all()


def test_an_alignment_put_in_place_decides_what_is_kept():
    net = model(k=1)
    batch = pair_batch([(2, 3)])
    _, trace = net(batch)
    given = torch.ones_like(trace.scores)
    given[:, 7] = -1.0  # the second word of the judged sentence fits nothing
    logits, changed = net(batch, given)
    assert changed.second_kept.slots.tolist() == [[7]]
    assert not torch.equal(logits, net(batch)[0])
    with pytest.raises(ValueError, match=r"must be \[1, 21, 14\], got \[1, 3, 2\]"):
        net(batch, torch.ones(1, 3, 2))


def test_every_choice_from_one_trace_is_what_a_model_of_that_choice_says():
    net = model(pooling="kmin", k=5)
    batch = pair_batch([(6, 9)])
    choices = [(pooling, k) for pooling in ("kmin", "kmax") for k in (1, 2, 7)] + [("full", 0)]
    found = net.decide(net(batch)[1], choices)
    for (pooling, k), logits in zip(choices, found, strict=True):
        other = model(pooling=pooling, k=max(k, 1))
        other.load_state_dict(net.state_dict())
        torch.testing.assert_close(logits, other(batch)[0][0], rtol=1e-5, atol=1e-6)


def test_linguistic_features_are_standardised_and_of_the_right_number():
    net = model(extra="answer", classes=2)
    batch = pair_batch([(3, 3)])
    net.extra_mean.fill_(2.0)
    net.extra_scale.fill_(4.0)
    _, trace = net(Batch(batch.x, batch.x_mask, batch.y, batch.y_mask, torch.full((1, 4), 10.0)))
    assert trace.features[0, -4:].tolist() == [2.0] * 4
    with pytest.raises(ValueError, match=r"\[1, 4\].*got none"):
        net(batch)
    with pytest.raises(ValueError, match=r"got \[1, 3\]"):
        net(Batch(batch.x, batch.x_mask, batch.y, batch.y_mask, torch.ones(1, 3)))


def test_32_pairs_can_be_learnt_by_heart():
    net = model(hidden=16, projection=16).train()
    batch = pair_batch([(3 + i % 5, 2 + i % 7) for i in range(32)], seed=5)
    labels = torch.arange(32) % 3
    optimizer = torch.optim.Adam(net.parameters(), 0.02)
    for _ in range(80):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(batch)[0], labels).backward()
        optimizer.step()
    assert net(batch)[0].argmax(1).tolist() == labels.tolist()


@pytest.mark.parametrize(
    "wrong", [{"pooling": "k-min"}, {"k": 0}, {"features": "rep+extra"}, {"extra": "all"}, {"similarities": "dot"}]
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ConfigError):
        model(**wrong)


def test_the_explanation_tells_phrases_partners_and_all_choices(phrase_checkpoint):
    found = explain(phrase_checkpoint, "A dog runs in the snow", "A dog jumps")
    record, grid = found.find(PhraseSelection), found.find(AttentionMap)
    first, second = record.sides
    assert [p.span for p in second.phrases] == [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (0, 3)]
    assert len(first.phrases) == 6 * 7 // 2
    assert grid.units == "phrases" and found.word_attention is None
    assert (len(grid.scores), len(grid.scores[0])) == (6, 21)
    for i, phrase in enumerate(second.phrases):
        assert phrase.score == pytest.approx(max(grid.scores[i]), abs=1e-6)
        assert grid.scores[i][phrase.partner] == pytest.approx(phrase.score, abs=1e-5)
    assert second.phrases[0].partner == 0 and second.phrases[0].score == pytest.approx(1)
    assert [(c.pooling, c.k) for c in record.choices if c.trained] == [("kmin", 5)]
    assert record.choice("kmin", 5).probabilities == pytest.approx(found.probabilities, abs=1e-5)
    assert record.choice("full").kept == (tuple(range(21)), tuple(range(6)))
    assert all(list(side) == sorted(side) for choice in record.choices for side in choice.kept)
    assert Explanation.from_dict(json.loads(found.to_json())) == found


def test_one_word_against_one_word_has_one_phrase_each(phrase_checkpoint):
    record = explain(phrase_checkpoint, "dog", "cat").find(PhraseSelection)
    assert {choice.kept for choice in record.choices} == {((0,), (0,))}


def test_the_map_over_phrases_is_left_out_beyond_60_words_and_the_phrases_are_not(phrase_checkpoint):
    found = explain(phrase_checkpoint, "dog cat " * 31, "a dog")
    assert found.find(AttentionMap) is None
    assert len(found.find(PhraseSelection).sides[0].phrases) == 62 * 7 - 21


def test_notebook_and_command_line_tell_the_kept_phrases(phrase_checkpoint):
    found = explain(phrase_checkpoint, "A dog <b> runs", "A cat")
    drawn, told = found._repr_html_(), as_text(found)
    assert "kmin, k = 5, as trained" in drawn and "&lt;" in drawn and "<b> runs" not in drawn
    assert "kmin with k = 5, as trained" in told and "kmax with k = 5:" in told
    assert "A | cat | A cat" in drawn  # a sentence of three phrases keeps them all


def test_an_edited_alignment_is_read_as_the_record_numbers_its_phrases(phrase_checkpoint):
    pair = ("A dog runs in the snow", "A dog jumps high")
    own = explain(phrase_checkpoint, *pair)
    scores = torch.tensor(own.find(AttentionMap).scores)
    again = explain(phrase_checkpoint, *pair, attention=scores)
    assert again.logits == pytest.approx(own.logits, abs=1e-6)
    assert again.find(PhraseSelection).choices == own.find(PhraseSelection).choices
    scores[:, 3] = -1.0  # the phrase "runs" of the premise fits nothing any more
    edited = explain(phrase_checkpoint, *pair, attention=scores)
    assert edited.find(AttentionMap).overridden
    assert 3 in edited.find(PhraseSelection).choice("kmin", 1).kept[0]
    with pytest.raises(ValueError, match=r"must be \[10, 21\], got \[2, 2\]"):
        explain(phrase_checkpoint, *pair, attention=torch.ones(2, 2))
