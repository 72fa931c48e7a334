import itertools
import json
import math
import threading
from dataclasses import dataclass, replace

import pytest
import torch

from core.checkpoint import load_named
from core.effects.attention_edits import AttentionEdit, explain_under
from core.evidence import AttentionMap, AttentiveContext, Explanation, FilterProvenance, Record, record_kinds
from core.evidence.as_json import to_dict
from core.evidence.explanation import kinds_of_every_model
from core.explain import PairError, explain, nearest_to_context
from core.wording import the
from tests.core.made_up import make_checkpoint

PREMISE = "An animal plays in the cold with a plastic toy."
HYPOTHESIS = "The dog plays, a red-haired Quibbler in snow"


def at_temperature(checkpoint, value):
    return explain_under(checkpoint, PREMISE, HYPOTHESIS, [AttentionEdit("temperature", value=value)])


def test_probabilities_and_weights_add_up_to_one(checkpoint):
    result = explain(checkpoint, PREMISE, HYPOTHESIS)
    assert sum(result.probabilities) == pytest.approx(1, abs=1e-9)
    attention = result.find(AttentionMap)
    assert (len(attention.weights), len(attention.weights[0])) == (9, 11)
    assert [len(side.tokens) for side in (result.second, result.first)] == [9, 11]
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in attention.weights)
    assert (attention.rows, attention.columns) == ("hypothesis", "premise")
    scores = torch.tensor(attention.scores)
    assert torch.allclose(torch.softmax(scores, 1), torch.tensor(attention.weights), atol=1e-6)


@pytest.mark.parametrize("attention", ["global", "local", "word-by-word"])
def test_temperature_spreads_attention_within_its_window(tmp_path, table, attention):
    checkpoint = make_checkpoint(tmp_path / "c", table, "chained-rnn", "both", attention=attention, half_width=2)
    own = explain(checkpoint, PREMISE, HYPOTHESIS)
    before, after = (one.find(AttentionMap) for one in (own, at_temperature(checkpoint, 4.0)))
    assert after.overridden and len(after.weights) == (1 if attention == "global" else 9)
    assert len(before.reach) == (9 if attention == "local" else 0)
    for row, spread in zip(before.weights, after.weights, strict=True):
        assert sum(spread) == pytest.approx(1, abs=1e-5)
        assert [weight > 0 for weight in spread] == [weight > 0 for weight in row]
        assert max(spread) < max(row)


def test_temperature_revives_a_weight_that_was_too_small_for_a_number(tmp_path, table):
    settings = {"attention": "local", "half_width": 2, "score": "general"}
    checkpoint = make_checkpoint(tmp_path / "c", table, "chained-rnn", "both", **settings)
    wide = explain(checkpoint, PREMISE, HYPOTHESIS).find(AttentionMap).weights
    with torch.no_grad():
        checkpoint.model.attention.match.w.mul_(1e4)
    own = explain(checkpoint, PREMISE, HYPOTHESIS)
    sharp, warm = (one.find(AttentionMap) for one in (own, at_temperature(checkpoint, 1e6)))
    inside = [[first <= j < end for j in range(11)] for first, end in sharp.reach]
    assert inside == [[weight > 0 for weight in row] for row in wide]
    rows = zip(sharp.weights, inside, strict=True)
    lost = sum(weight == 0 for row, seen in rows for weight in itertools.compress(row, seen))
    assert lost > 5, "the test needs weights that are 0 within their window"
    assert [[weight > 0 for weight in row] for row in warm.weights] == inside
    assert max(map(max, warm.weights)) < 0.9


@pytest.mark.parametrize("context", ["extra", "intra", "none"])
@pytest.mark.parametrize("architecture", ["attconv-light", "attconv-advanced"])
def test_contributions_add_up(tmp_path, table, architecture, context):
    checkpoint = make_checkpoint(tmp_path / "c", table, architecture, context=context, hidden=300)
    result = explain(checkpoint, PREMISE, HYPOTHESIS)
    provenance = result.find(FilterProvenance)
    assert len(provenance.filters) == 300
    for f in provenance.filters:
        assert f.left + f.self_ + f.right + f.context + f.bias == pytest.approx(f.preactivation, abs=1e-5)
        assert torch.tanh(torch.tensor(f.preactivation)).item() == pytest.approx(f.activation, abs=1e-6)
        assert f.window[0] <= f.position < f.window[1] <= len(result.second.tokens)
    for c, logit in enumerate(result.logits):
        shares = sum(f.logit_shares[c] for f in provenance.filters)
        assert shares + provenance.logit_bias[c] == pytest.approx(logit, abs=1e-5)
    attention = result.find(AttentionMap)
    assert (attention is None) == (context == "none")
    if context == "intra":
        assert attention.columns == "hypothesis" and len(attention.weights[0]) == len(result.second.tokens)


def test_the_null_words_raw_score_is_the_same_at_every_temperature(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "two-sided", "both")
    with torch.no_grad():
        checkpoint.model.temperature.fill_(6.0)  # so that some words have no weight left for the null word, or all
    trained = explain(checkpoint, PREMISE, HYPOTHESIS)
    warm = at_temperature(checkpoint, 5.0)
    assert warm.probabilities != trained.probabilities
    maps, others = ([record for record in one.evidence if isinstance(record, AttentionMap)] for one in (trained, warm))
    for own, other in zip(maps, others, strict=True):
        assert other.null_score == own.null_score == pytest.approx(0.4 * math.exp(6), rel=1e-5)
        assert 0 in own.null, "the test needs a null word whose weight is too small for a number"
        assert all(torch.tensor(at_temperature(checkpoint, 1e6).find(AttentionMap).null) > 0.05)
        scores = torch.tensor([[*row, own.null_score] for row in own.scores], dtype=torch.float64)
        assert torch.allclose(
            torch.softmax(scores / 5, 1), torch.tensor(other.override, dtype=torch.float64), atol=1e-5
        )
    assert Explanation.from_dict(json.loads(warm.to_json())) == warm


def test_tokens_point_into_the_typed_text_and_unknown_words_are_marked(checkpoint):
    result = explain(checkpoint, PREMISE, HYPOTHESIS)
    for side, text in ((result.first, PREMISE), (result.second, HYPOTHESIS)):
        assert side.text == text
        assert all(text[t.start : t.end] == t.text for t in side.tokens)
    assert [t.text for t in result.second.tokens if t.unknown] == ["red-haired", "Quibbler"]


def test_json_there_and_back(checkpoint):
    result = explain(checkpoint, PREMISE, HYPOTHESIS, nearest_for=1)
    data = json.loads(result.to_json())
    assert data["schema_version"] == 2 and {e["kind"] for e in data["evidence"]} >= {"attention_map"}
    assert Explanation.from_dict(data) == result
    with pytest.raises(ValueError, match="schema version 0"):
        Explanation.from_dict({**data, "schema_version": 0})
    with pytest.raises(ValueError, match="unknown kind of evidence 'magic'"):
        Explanation.from_dict({**data, "evidence": [{"kind": "magic"}]})


def test_json_tells_what_scripts_would_have_to_derive(checkpoint):
    first = explain(checkpoint, "𝒂 dog\n\nis 🐕 outside\nin snow", "a cat").to_dict()["first"]
    assert [first["tokens"][start]["text"] for start in first["line_starts"]] == ["𝒂", "is", "in"]
    weights = ((0.25, 0.25), (0.5, 0.0))
    own = AttentionMap("map", "hypothesis", "premise", (), weights, null=(0.5, 0.5))
    told = to_dict(own)
    assert (told["of_words"], told["nothing"], told["stays"], "crossing" in told) == (True, "(no word)", "", False)
    crossed = replace(own, crossings=(0.5, 0.0), crossed_by=((0.5, 0.49, 0.9), (0.0, 0.0, 0.0)), null=())
    assert (crossed.nothing, crossed.crossing) == ("", ((2, 0), ()))
    head = replace(own, null=(0.25, 0.25), own=(0.5, 0.25))
    assert head.nothing == "special tokens" and head.stays.replace("\u00a0", " ") == (
        "On average a word of the hypothesis gives 38 % to its own sentence, 25 % to special tokens, and 38 % to the "
        "premise."
    )
    assert not replace(own, units="windows").of_words


def test_a_record_of_any_model_may_follow_from_the_verdict_and_from_other_records(checkpoint, monkeypatch):
    monkeypatch.setattr("core.evidence.explanation._KINDS", {**record_kinds()})

    @dataclass(frozen=True)
    class Lead(Record, kind="lead"):
        name: str
        lead: float
        maps: int

        @classmethod
        def of_explanation(cls, explanation):
            best, other, _ = sorted(explanation.probabilities, reverse=True)
            yield cls("lead", best - other, sum(isinstance(one, AttentionMap) for one in explanation.evidence))

    told = explain(checkpoint, PREMISE, HYPOTHESIS)
    chances = sorted(told.probabilities)
    assert told.find(Lead) == told.evidence[-1] == Lead("lead", chances[-1] - chances[-2], 1)
    assert Explanation.from_dict(json.loads(told.to_json())) == told
    assert [one.kind for one in kinds_of_every_model()][-1] == "lead"
    assert explain(checkpoint, PREMISE, HYPOTHESIS, records=()).evidence == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda e: e.update(extra=1), "unknown key extra"),
        (lambda e: e.pop("evidence"), "evidence is missing"),
        (lambda e: e.update(evidence={}), "evidence must be a list"),
        (lambda e: e.update(first="text"), "first must be keys and values"),
        (lambda e: e.update(labels="abc"), "labels must be a list"),
        (lambda e: e.update(logits=["1", "2", "3"]), r"logits\[0\] must be a number"),
        (lambda e: e.update(model=5), "model must be text"),
        (lambda e: e["first"]["tokens"][0].update(start=1.5), r"first.tokens\[0\].start must be a whole number"),
        (lambda e: e["evidence"][0].update(kind=[1]), "unknown kind of evidence"),
        (lambda e: e["evidence"][0].update(weights=["123"]), r"evidence\[0\].weights\[0\] must be a list"),
        (lambda e: e["evidence"][0].update(overridden="no"), r"evidence\[0\].overridden must be true or false"),
        (lambda e: e["evidence"][2]["filters"][0].update(window=[1]), r"filters\[0\].window must be a list of 2"),
    ],
)
def test_json_of_another_shape_is_refused_in_one_sentence(checkpoint, change, says):
    data = json.loads(explain(checkpoint, PREMISE, HYPOTHESIS).to_json())
    change(data)
    with pytest.raises(ValueError, match=says) as caught:
        Explanation.from_dict(data)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="schema version None"):
        Explanation.from_dict([data])


def test_overridden_attention_is_reported(checkpoint):
    own = explain(checkpoint, PREMISE, HYPOTHESIS)
    uniform = torch.full((9, 11), 1 / 11)
    changed = explain(checkpoint, PREMISE, HYPOTHESIS, override=uniform)
    assert changed.find(AttentionMap).overridden and not own.find(AttentionMap).overridden
    assert changed.find(AttentionMap).weights == tuple(map(tuple, uniform.tolist()))
    assert changed.probabilities != own.probabilities
    again = explain(checkpoint, PREMISE, HYPOTHESIS, override=torch.tensor(own.find(AttentionMap).weights))
    assert again.logits == pytest.approx(own.logits, abs=1e-6)


def test_the_context_in_words(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "c", table)
    premise_words = ["dog", "toy", "snow"]
    one_hot = torch.tensor([[0.0, 1.0, 0.0]])
    result = explain(checkpoint, " ".join(premise_words), "frisbee", override=one_hot, nearest_for=0)
    nearest = result.find(AttentiveContext).nearest[0]
    assert nearest.nearest[0] == "toy" and nearest.similarity[0] == pytest.approx(1, abs=2e-3)
    assert nearest_to_context(checkpoint, result, 0) == nearest
    with pytest.raises(IndexError, match="no attentive context for word 1"):
        nearest_to_context(checkpoint, result, 1)


@pytest.mark.parametrize(
    ("first", "weights", "named"),
    [
        ("Qqxz", [1.0], "Qqxz"),
        ("Qqxz dog snow toy man", [0.4, 0.15, 0.15, 0.15, 0.15], "Qqxz"),  # the longest part of the mix, not the half
        ("Qqxz dog snow toy man", [0.1, 0.6, 0.1, 0.1, 0.1], ""),
        ("Qqxz Zzyx dog", [0.3, 0.4, 0.3], "Zzyx"),
        ("red-haired dog", [0.9, 0.1], ""),  # its parts are words
    ],
)
def test_a_mix_that_is_mostly_letters_names_the_unknown_word(tmp_path, table, first, weights, named):
    checkpoint = make_checkpoint(tmp_path / "c", table)
    result = explain(checkpoint, first, "frisbee", override=torch.tensor([weights]), nearest_for=0)
    nearest, told = result.find(AttentiveContext).nearest[0].nearest, result.to_text()
    assert bool(nearest) == (not named)
    assert (f"is mostly “{named}”, which is not in the word table" in told) == bool(named)
    assert ("(cosine): " in told) == (not named)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("", "A dog", "The premise is empty"),
        ("A dog", " \t\n ", "The hypothesis is empty"),
        ("A dog", "?! ... ,", "The hypothesis has no word in it"),
        ("😀 👍", "A dog", "The premise has no word in it"),
        ("\u200b\u200e\x00", "A dog", "The premise has no word in it"),
    ],
)
def test_a_side_without_words_is_one_sentence(checkpoint, first, second, message):
    with pytest.raises(PairError, match=message):
        explain(checkpoint, first, second)


def test_one_word_a_side(checkpoint):
    result = explain(checkpoint, "snow", "dog")
    assert result.find(AttentionMap).weights == ((1.0,),)


def test_ten_thousand_words_are_cut_with_a_warning(checkpoint):
    result = explain(checkpoint, "dog " * 10_000, "A dog")
    assert len(result.first.tokens) == 200 and result.first.truncated == 9_800
    assert len(result.warnings) == 1 and "premise was cut after 200 words" in result.warnings[0]


def test_a_text_longer_than_the_training_data_gets_a_warning(checkpoint):
    result = explain(checkpoint, "dog " * 31, "A dog")
    assert result.warnings == ("The premise has 31 words; 99 % of those the model was trained on had at most 30.",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("هذا كتاب جميل جدا", "not trained on the script of"),
        ("flurb zork grom the dog", "Most words of the premise are unknown"),
        ("🐶🐶 runs 😀", "Most words of the premise are unknown"),
        ("a red dog in the snow", None),
    ],
)
def test_input_unlike_the_training_data_gets_a_warning(checkpoint, text, message):
    warnings = explain(checkpoint, text, "The dog plays").warnings
    assert (message is None and not warnings) or (len(warnings) == 1 and message in warnings[0])


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "**bold** $x$ :smile:", "dog 😀 wo\u200brd", "a\x00b dog"]
)
def test_odd_text_is_read_as_text(checkpoint, text):
    result = explain(checkpoint, text, text)
    assert result.first.text == text
    assert "<img" not in result._repr_html_()


def test_the_same_unknown_name_matches_on_both_sides(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "c", table, hidden=24)
    torch.nn.init.orthogonal_(checkpoint.model.projection.weight)
    attention = explain(checkpoint, "the dog Quibbler in the snow", "Quibbler").find(AttentionMap)
    assert max(range(6), key=attention.weights[0].__getitem__) == 2


def test_a_notebook_draws_the_matrix(checkpoint):
    page = explain(checkpoint, PREMISE, HYPOTHESIS)._repr_html_()
    assert page.count('scope="row"') == 9 and page.count('scope="col"') == 11
    assert "each row adds up to 100" in page and "A tiny model" in page


@pytest.mark.slow
def test_threads_get_the_answers_of_a_single_one(checkpoint):
    pairs = [("dog " * k, "snow " * (9 - k) + "dog") for k in range(1, 9)]
    expected = [explain(checkpoint, *pair).logits for pair in pairs]
    got = [None] * len(pairs)

    def work(k):
        for _ in range(10):
            got[k] = explain(checkpoint, *pairs[k]).logits

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(pairs))]
    [t.start() for t in threads], [t.join() for t in threads]
    for a, b in zip(got, expected, strict=True):
        assert a == pytest.approx(b, abs=1e-6)


def test_only_the_records_asked_for_are_built(checkpoint, monkeypatch):
    monkeypatch.setattr(type(checkpoint.model), "_provenance", lambda *_: pytest.fail("the filters were not requested"))
    explanation = explain(checkpoint, PREMISE, HYPOTHESIS, records=(AttentionMap,))
    assert [record.kind for record in explanation.evidence] == ["attention_map"]
    assert explain(checkpoint, PREMISE, HYPOTHESIS, records=()).evidence == ()


def test_a_numbered_role_is_named_without_an_article():
    assert (the("premise"), the("question 2")) == ("the premise", "question 2")
    explanation = explain(load_named("para-adaqa"), "How do I swim?", "zorkal flurb gromit blick?")
    assert "Most words of question 2 are unknown" in explanation.warnings[0]
    assert "the question" not in explanation.to_text() and "made from question 1" in explanation.to_text()
