"""The numbers in lessons: the slides' and trained models' numbers, recomputed from the equations."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from core.checkpoint import available, load, load_named, read_card
from core.effects import Question
from core.effects.links import Taken
from core.effects.methods.removal import MIX
from core.evidence import AttentionMap, PhraseSelection
from core.evidence.attention_heads import AttentionHeads
from core.evidence.faithfulness import LARGEST_CHANGE
from core.explain import explain
from core.lessons import LessonError, at, evaluate, lessons, on_cards, on_checkpoints
from core.lessons.on_attention import MOST_LINKS
from core.models.intervention import Intervention
from core.wording import percent
from tests.loops.arithmetic import add, cosine, dot, matvec, mean, scaled, sigmoid, softmax, tanh

LESSONS = lessons()
TEACHING = Path(__file__).resolve().parents[2] / "docs/teaching.md"


def own(name, **inputs):
    return evaluate(LESSONS[name], inputs, {}).values


@pytest.mark.slow
def test_the_answers_in_the_plans_are_those_of_the_models():
    plans = " ".join(TEACHING.read_text(encoding="utf-8").split())
    moved, people = own("moved-attention"), evaluate(LESSONS["people"], {}, {})
    assert f"in {moved['changed']:.0f} (step 3)" in plans
    first, last = sorted(moved["alpha"][1])[-2:]
    share = percent(last).replace("\u00a0", " ")
    assert percent(first) == percent(last) and f"to the articles, {share} each" in plans
    names, accuracy = on_cards.figures(LESSONS["people"].compared, on_cards.dev)
    assert names[accuracy.index(max(accuracy))] == "minilm"
    by_name = dict(zip(people.words["models"], people.values["all_f1"], strict=True))
    assert sorted(by_name, key=by_name.get)[1] == "minilm", "its F1 is the second lowest"
    pair = "A dog is chasing a cat", "A cat is chasing a dog"
    verdicts = [explain(load_named(f"nli-{name}"), *pair).verdict for name in ("decomposable", "esim", "two-sided")]
    assert verdicts == ["entailment", "entailment", "contradiction"]


def test_the_slides_worked_example_is_exact():
    values, states = own("global-attention"), LESSONS["global-attention"].inputs["h"]
    assert values["score"] == pytest.approx([0.16, 0.10, 0.03])
    assert values["alpha"] == pytest.approx(softmax([0.16, 0.10, 0.03]))
    assert [round(weight, 2) for weight in values["alpha"]] == [0.35, 0.33, 0.31]
    assert [round(number, 4) for number in values["kappa"]] == [0.0799, 0.1258]
    assert [round(number / 3, 3) for number in scaled((0.35, 0.33, 0.31), states)] == [0.079, 0.124]
    assert values["kappa_sum"] == pytest.approx([3 * number for number in values["kappa"]])


def test_the_other_scores_and_later_values_match_the_equations():
    values, lesson = own("global-attention"), LESSONS["global-attention"].inputs
    last, states = lesson["h_C"], lesson["h"]
    assert values["general"] == pytest.approx([dot(scaled(last, lesson["W_a"]), state) for state in states])
    inner = tanh(scaled([*last, *states[2]], lesson["W_s"]))
    assert values["concat"][2] == pytest.approx(dot(lesson["v"], inner))
    assert values["combo"] == pytest.approx(tanh(scaled([*values["kappa"], *last], lesson["W_k"])))
    assert values["y"] == pytest.approx(softmax(add(scaled(values["combo"], lesson["W"]), lesson["b"])))


def test_word_by_word_is_the_slides_form():
    values, lesson = own("word-by-word"), LESSONS["word-by-word"].inputs
    asked = scaled([*lesson["h_B"], *values["kappa_A"]], lesson["W_h"])
    match = [tanh(add(state, asked)) for state in lesson["h"]]
    assert values["M"] == [pytest.approx(row) for row in match]
    scores = [dot(row, lesson["w"]) for row in match]
    assert values["score"] == pytest.approx(scores)
    left = tanh(scaled(values["kappa_A"], lesson["W_a"]))
    assert values["kappa_B"] == pytest.approx(add(scaled(softmax(scores), lesson["h"]), left))


def test_a_transformers_places_scores_and_weights_match_the_equations():
    values = own("transformer")
    assert values["p"] == [pytest.approx([math.sin(i), math.cos(i)]) for i in range(3)]
    assert values["score"] == pytest.approx([product / math.sqrt(2) for product in values["product"]])
    for word, weights in zip(values["input"], values["all"], strict=True):
        scores = [dot(word, other) / math.sqrt(2) for other in values["input"]]
        assert weights == pytest.approx(softmax(scores), abs=1e-6)


def test_a_softmax_depends_only_on_differences_and_spreads_with_temperature():
    values = own("softmax")
    assert values["shifted_alpha"] == pytest.approx(values["alpha"])
    assert values["alpha"][0] / values["alpha"][1] == pytest.approx(values["times"])
    assert max(values["cooled_alpha"]) < max(values["alpha"]) < max(values["scaled_alpha"])


@pytest.mark.parametrize("name", ["light", "advanced"])
@torch.inference_mode()
def test_a_trained_models_values_are_those_of_its_forward_pass(name):
    evaluated = evaluate(
        LESSONS[name], {"word": 3.0, "filter": 5.0}, {"first": "A man sleeps", "second": "A man is up"}
    )
    values, checkpoint = evaluated.values, load_named(evaluated.checkpoint)
    assert evaluated.words["x"] == ["A", "man", "is", "up"]
    output = checkpoint.model(checkpoint.reader.batch(checkpoint.read("A man sleeps", "A man is up")))
    assert values["alpha"] == pytest.approx(output.trace.weights[0, 2].tolist(), abs=1e-6)
    assert sum(values["parts"]) == pytest.approx(values["z"], abs=1e-4)
    assert values["z"] == pytest.approx(output.trace.preactivations[0, 2, 4].item(), abs=1e-5)
    assert max(values["over_words"]) == pytest.approx(values["largest"], abs=1e-6)
    assert dot(values["of_class"], values["pooled"]) + values["class_bias"] == pytest.approx(
        values["logit"][0], abs=1e-4
    )
    if name == "advanced":
        assert values["hidden"][0] == pytest.approx(math.tanh(sum(values["o_1"])), abs=1e-5)
        assert values["gate"][0] == pytest.approx(*sigmoid([sum(values["g_1"])]), abs=1e-5)
        assert dot(values["alpha"], values["f_1"]) == pytest.approx(values["c"][0], abs=1e-5)
        parts = zip(values["gate"], values["own"], values["hidden"], values["phrase"], strict=True)
        assert all(g * h + (1 - g) * o == pytest.approx(p, abs=1e-5) for g, h, o, p in parts)
        assert values["source"] == [*values["single"], *values["phrase"]]
        assert values["score"][0] == pytest.approx(dot(values["source"], values["focus"][0]), rel=1e-4)


@pytest.mark.slow
@torch.inference_mode()
def test_phrases_and_their_choices_are_the_models():
    values = own("phrases")
    similarity = cosine(values["state"], values["other"])
    assert values["best"] == max(values["closest"]) == max(values["cosine"]) == pytest.approx(similarity, abs=1e-5)
    assert values["closest"] == [one for one in values["cosine"] if one >= sorted(values["cosine"])[-5]]
    assert sorted(values["least"]) == sorted(values["a"])[: int(values["k"])]
    assert sorted(values["most"]) == sorted(values["a"])[-int(values["k"]) :]
    assert len(values["a"]) > values["k"]


@torch.inference_mode()
def test_a_generated_weight_comes_from_the_code_and_windows_from_products():
    values = own("filters", filter=3.0, window=2.0)
    weight = dot(values["made_by"], values["z"]) + values["start"]
    assert weight == pytest.approx(values["made_by"][0] * values["z"][0] + values["rest"] + values["start"])
    assert max(values["z"]) == values["z"][0] > 0, "the text decides the filter"
    assert values["F"][0][0] == pytest.approx(weight, abs=1e-5)
    products = [dot(*rows) for rows in zip(values["F"], values["words"], strict=True)]
    assert values["parts"] == pytest.approx(products, abs=1e-5)
    assert values["before"] == pytest.approx(sum(products) + values["bias"], abs=1e-5)
    assert values["over_windows"][1] == max(0, values["before"]) and max(values["over_windows"]) == values["largest"]


def test_the_lesson_on_filters_begins_with_one_that_fires():
    lesson, values = LESSONS["filters"], own("filters")
    assert values["largest"] > values["before"] > 0, "the number to guess is not zero and belongs to one step"
    assert 0.0 in values["over_windows"], "and it shows that a value below zero becomes zero"
    asked = [at(values, step.guess) for step in lesson.steps if step.guess]
    assert all(abs(number) > 0.005 for number in asked)


@pytest.mark.slow
def test_moved_attention_equals_the_models_output():
    evaluated = evaluate(LESSONS["moved-attention"], {"word": 2.0, "link": 3.0}, {})
    values, checkpoint = evaluated.values, load_named(evaluated.checkpoint)
    texts = tuple(LESSONS["moved-attention"].texts.values())
    measured = Question(checkpoint, *texts).faithfulness()
    assert values["changed"] == measured.moved.changed
    assert values["flat_y"] == pytest.approx(measured.moved.uniform)
    assert values["tau_b"] == pytest.approx(measured.tau_b[0])
    for rows, answer in (("permuted", "permuted_y"), ("other", "other_y")):
        put = torch.tensor(values[rows])
        assert explain(checkpoint, *texts, override=put).probabilities == pytest.approx(values[answer], abs=1e-4)
        assert torch.allclose(put.sum(1), torch.ones(len(put)), atol=1e-4)
    assert sorted(values["permuted"][1]) == pytest.approx(sorted(values["alpha"][1]))
    assert 0.1 < values["apart"] < values["most_apart"], "the lesson's own pair has an adversary worth a look"
    assert values["variation"] <= LARGEST_CHANGE + 1e-5
    assert values["apart"] == pytest.approx(mean([[row] for row in values["apart_rows"]])[0], abs=1e-5)
    order = values["same_order"] - values["opposite_order"]
    assert order / math.sqrt(math.prod(values["untied"])) == pytest.approx(values["tau_b"], abs=1e-6)
    assert max(values["untied"]) <= 25 * 24 / 2
    for taken in Taken:
        (links,) = Question(checkpoint, *texts).links(taken)
        assert values[f"{taken}_effect"] == pytest.approx(links.effects[1][2], abs=1e-5)
        assert values["log"] - values[f"{taken}_log"] == pytest.approx(values[f"{taken}_effect"], abs=1e-6)
    assert sum(values["kept_row"]) < sum(values["renormalised_row"]) == pytest.approx(1)


@torch.inference_mode()
def test_a_local_windows_place_scores_and_weights_match_the_equations():
    evaluated = evaluate(LESSONS["local-attention"], {"word": 4.0}, {"second": "Children look at the dog"})
    values, checkpoint = evaluated.values, load_named(evaluated.checkpoint)
    texts = LESSONS["local-attention"].texts["first"], "Children look at the dog"
    model, trace = checkpoint.model, checkpoint.model(checkpoint.reader.batch(checkpoint.read(*texts))).trace
    asking, premise = trace.hypothesis[0].tolist(), trace.premise[0].tolist()
    layer, words = model.attention, len(premise)
    shares = [sigmoid(matvec(layer.place_out.weight, tanh(matvec(layer.place.weight, h))))[0] for h in asking]
    assert values["places"] == pytest.approx([words * share for share in shares], abs=1e-4)
    place, half = values["places"][3], values["D"]
    inside = [i for i in range(words) if abs(i - place) <= half]
    assert (values["first"], values["last"], values["inside"]) == (inside[0], inside[-1], len(inside))
    match = [dot(asking[3], matvec(layer.match.w, premise[i])) for i in inside]
    assert values["match"] == pytest.approx(match, rel=1e-3, abs=1e-3)
    nearness = [-((i - place) ** 2) / (2 * (half / 2) ** 2) for i in inside]
    weights = softmax([m + near for m, near in zip(match, nearness, strict=True)])
    assert values["alpha"] == pytest.approx(weights, abs=1e-3)
    assert values["nearness"] == pytest.approx(nearness[int(values["top"]) - 1], abs=1e-2)
    assert values["c"] == pytest.approx(scaled(weights, [premise[i] for i in inside]), abs=1e-2)
    assert dot(values["alpha"], values["h_1"]) == pytest.approx(values["c"][0], abs=1e-4)
    assert values["dev_right"] / values["dev_pairs"] == values["dev"][0] and values["dev_pairs"] == 9842
    assert values["ends"] == sum(share < 0.1 or share > 0.9 for share in shares)


@pytest.mark.slow
@torch.inference_mode()
def test_a_transformers_heads_are_those_of_its_pieces():
    evaluated = evaluate(LESSONS["heads"], {"word": 2.0}, {"second": "Someone is strolling"})
    values, checkpoint = evaluated.values, load_named(evaluated.checkpoint)
    explanation = explain(checkpoint, LESSONS["heads"].texts["first"], "Someone is strolling")
    shown, heads = explanation.find(AttentionMap), explanation.find(AttentionHeads)
    assert heads.head == f"{values['layer']:.0f}.{values['head']:.0f}" == checkpoint.card["alignment"]["heads"]["head"]
    assert values["alpha"] == [pytest.approx(row) for row in shown.weights]
    assert values["looks"] == [row.index(max(row)) + 1 for row in shown.weights]
    assert values["kinds"] == pytest.approx([sum(shown.weights[1]), shown.own[1], shown.null[1]])
    assert values["by_layer"] == pytest.approx([sum(row) / len(row) for row in heads.across[0]])
    # The head that stays within the sentence, from the weights of its pieces.
    batch = checkpoint.reader.batch(checkpoint.read(explanation.sentence("premise").text, "Someone is strolling"))
    layers = checkpoint.model.under(batch, Intervention(head="mean")).trace.layers
    words = len(shown.weights[0])
    pieces = [[p for p, owner in enumerate(batch.owners[0].tolist()) if owner == words + i] for i in range(3)]

    def given(layer, head, i, j):
        rows = layers[layer][0, head].tolist()
        return sum(rows[p][q] for p in pieces[i] for q in pieces[j]) / len(pieces[i])

    def within(layer, head):
        return sum(given(layer, head, i, j) for i in range(3) for j in range(3)) / 3

    found = int(values["within_layer"]) - 1, int(values["within_head"]) - 1
    assert values["own_row"] == pytest.approx([given(*found, 1, j) for j in range(3)], abs=1e-6)
    assert values["layer_sum"] / values["heads"] == pytest.approx(values["by_layer"][0])
    assert mean([[share] for share in values["special_words"]]) == pytest.approx([values["special_share"]])
    f1 = 2 * values["both"] / (values["links"] + values["sure"])
    assert f1 == pytest.approx(values["all_f1"][0]) and values["both"] == pytest.approx(round(values["both"]))
    assert values["within_share"] == pytest.approx(within(*found), abs=1e-6)
    assert max(within(layer, head) for layer in range(6) for head in range(12)) == pytest.approx(within(*found))


def test_links_by_attention_are_counted_against_those_typed():
    evaluated = evaluate(LESSONS["people"], {"people": [4.0, 9.0, 3.0], "threshold": 0.3}, {})
    values, cards = evaluated.values, read_card(available()["nli-attconv-light"])
    alpha, people = values["alpha"], values["people"]
    assert people == [4, 5, 3, 0, 0], "a number beyond the premise is its last word, a missing one none"
    long = evaluate(LESSONS["people"], {"people": [1.0] * 20}, {"second": "A man " * 8}).values["people"]
    assert long == [1] * MOST_LINKS + [0] * (16 - MOST_LINKS)
    model = [row.index(max(row)) + 1 if max(row) > 0.3 else 0 for row in alpha]
    assert values["model"] == model
    both = sum(ours == theirs > 0 for ours, theirs in zip(people, model, strict=True))
    links, sure = sum(n > 0 for n in model), sum(n > 0 for n in people)
    assert (values["both"], values["links"], values["sure"]) == (both, links, sure)
    precision, recall = both / links, both / sure
    assert (values["precision"], values["recall"]) == (precision, recall)
    assert values["f1"] == pytest.approx(2 * precision * recall / (precision + recall) if both else 0)
    place = evaluated.words["models"].index("attconv-light")
    same = values["same_both"], values["same_links"] + values["all_sure"]
    assert values["all_f1"][0] == pytest.approx(2 * same[0] / same[1])
    assert values["people_named"] / values["people_items"] == values["people_x"][0]
    scores = {"items": 4, "at_1": {"dropped": {"mean": 0.5}, "chance": {"mean": 0.25}}}
    card = {"people": {"e-SNLI": {"sides": {role: {"all labels": scores} for role in ("premise", "hypothesis")}}}}
    methods, figures = on_cards.people_words(card, ("premise", "hypothesis"))
    assert (methods, figures["people_x"]) == (["dropped", "chance"], [0.5, 0.25]), "other methods are not on the card"
    assert values["all_f1"][place] == cards["alignment"]["results"]["RTE-2 dev"]["f1"]
    assert evaluate(LESSONS["people"], {"threshold": 1.0}, {}).values["precision"] == 0, "no link, no division by zero"


@torch.inference_mode()
def test_a_model_that_a_lesson_loads_keeps_its_gradients(monkeypatch):
    monkeypatch.setattr(on_checkpoints, "load_named", lambda name: load(available()[name]))
    model = on_checkpoints.checkpoint_of(LESSONS["light"]).model
    assert not any(weights.is_inference() for weights in model.parameters())


@pytest.mark.slow
def test_the_class_of_pairs_is_measured_as_each_pair_is():
    lesson, values = LESSONS["moved-attention"], own("moved-attention")
    assert values["class_changed_mean"] == pytest.approx(sum(values["class_changed"]) / len(lesson.pairs))
    texts = lesson.pairs[1]
    checkpoint = load_named("nli-attconv-light")
    before = explain(checkpoint, *texts)
    words = len(before.sentence("hypothesis").tokens), len(before.sentence("premise").tokens)
    after = explain(checkpoint, *texts, override=torch.full(words, 1 / words[1])).probabilities
    moved = sum(abs(a - b) for a, b in zip(before.probabilities, after, strict=True)) / 2
    assert values["class_flat_moves"][1] == pytest.approx(moved, abs=1e-5)
    assert values["class_found"] <= len(lesson.pairs) == values["class"]


OWN = (("A man plays a guitar", "A man sings."), ("A dog runs", "The dog runs fast"), ("Two girls sing", "Girls sing"))
"""A class's own pairs."""


@torch.inference_mode()
def test_the_phrases_of_a_class_are_those_that_each_pair_keeps():
    lesson = replace(LESSONS["phrases"], pairs=OWN)
    evaluated, checkpoint = evaluate(lesson, {}, {}), load_named("te-phrases-kmin")
    values, words = evaluated.values, evaluated.words
    assert (values["class"], values["all_kept"]) == (3, 13), "k = 5, and all three of the shortest"
    for name, pooling in (("least", "kmin"), ("most", "kmax")):
        lengths, phrases = [], []
        for pair in OWN:
            explanation = explain(checkpoint, *pair)
            record, hypothesis = explanation.find(PhraseSelection), explanation.sentence("hypothesis")
            for index in record.choice(pooling, 5).kept[1]:
                start, end = record.sides[1].phrases[index].span
                lengths.append(end - start)
                phrases.append(" ".join(token.text.lower() for token in hypothesis.tokens[start:end]))
        assert values[f"length_{name}"] == [lengths.count(words) for words in range(1, 8)]
        assert values[f"mean_{name}"] == pytest.approx(sum(lengths) / 13)
        counts = {phrase: phrases.count(phrase) for phrase in phrases}
        assert values[f"top_{name}"] == [counts[phrase] for phrase in words[f"top_{name}"]]
        assert values[f"top_{name}"] == sorted(counts.values(), reverse=True)[:6]


def test_the_weights_of_a_class_are_summed_by_words():
    evaluated = evaluate(replace(LESSONS["people"], pairs=OWN), {}, {})
    values, words, checkpoint = evaluated.values, evaluated.words, load_named("nli-attconv-light")
    sums = {}
    for pair in OWN:
        explanation = explain(checkpoint, *pair)
        weights = explanation.find(AttentionMap).weights
        for i, word in enumerate(explanation.sentence("hypothesis").tokens):
            for j, other in enumerate(explanation.sentence("premise").tokens):
                if word.text != ".":
                    link = word.text.lower(), other.text.lower()
                    sums[link] = sums.get(link, 0) + weights[i][j]
    named = {" → ".join(link): weight for link, weight in sums.items()}
    assert values["top"] == pytest.approx(sorted(named.values(), reverse=True)[:6], abs=1e-5)
    assert values["top"] == pytest.approx([named[link] for link in words["top"]], abs=1e-5)
    unlike = {link: weight for link, weight in named.items() if len({*link.split(" → ")}) == 2}
    assert values["top_unlike"] == pytest.approx(sorted(unlike.values(), reverse=True)[:6], abs=1e-5)
    assert (values["unlike_sum"], values["all_sum"]) == pytest.approx((sum(unlike.values()), sum(named.values())))
    assert values["unlike_percent"] == pytest.approx(100 * values["unlike_sum"] / values["all_sum"])
    for word, row in zip(words["looking"], values["gives"], strict=True):
        assert row == pytest.approx([sums.get((word, other), 0) for other in words["looked_at"]], abs=1e-5)


@torch.inference_mode()
def test_two_texts_filters_differ_number_by_number_and_the_nearest_is_found():
    evaluated = evaluate(replace(LESSONS["filters"], pairs=OWN), {"filter": 4.0}, {})
    values, model = evaluated.values, load_named("para-adaqa")
    filters = {}
    for pair in (tuple(LESSONS["filters"].texts.values()), *OWN):
        trace = model.model(model.reader.batch(model.read(*pair))).trace
        sides = zip(pair, (trace.q, trace.a), strict=True)
        filters |= {text: side.filters[0, 3].flatten().tolist() for text, side in sides}
    first, second, *others = filters.values()
    difference = [a - b for a, b in zip(first, second, strict=True)]
    assert torch.tensor(values["difference"]).flatten().tolist() == pytest.approx(difference, abs=1e-6)
    assert values["norms"] == pytest.approx([math.hypot(*difference), math.hypot(*first)], rel=1e-5)
    assert math.sqrt(sum(values["squares"])) == pytest.approx(values["norms"][0])
    length = sum(math.hypot(*one) for one in others) / len(others)
    nearest = sorted(min(math.dist(one, other) for other in others if other is not one) for one in others)[::-1]
    assert values["nearest"] == pytest.approx(nearest, rel=1e-4)
    assert values["mean_length"] == pytest.approx(length, rel=1e-5)
    assert values["farthest_percent"] == pytest.approx(100 * nearest[0] / length, rel=1e-4)
    assert values["closest_percent"] == round(100 * nearest[-1] / length)


@pytest.mark.slow
def test_scores_by_k_are_the_cards_and_a_card_without_them_gets_one_sentence(monkeypatch):
    values, card = own("phrases"), read_card(available()["as-phrases-kmin"])["by_k"]["WikiQA dev"]
    assert (values["wikiqa_kmin"], values["wikiqa_swapped"]) == (card["kmin"], card["kmax"])
    assert values["wikiqa_kmax_sum"] / values["wikiqa_items"] == pytest.approx(values["wikiqa_kmax"][0])
    assert values["wikiqa_kmin_best"] == card["kmin"].index(max(card["kmin"])) + 1
    monkeypatch.setattr(on_cards, "read_card", lambda folder: {})
    with pytest.raises(LessonError, match="te-phrases-kmin has no scores by k on SICK trial: run `python -m trainers"):
        own("phrases")


@pytest.mark.slow
def test_the_ways_to_ask_why_are_those_of_the_command():
    lesson = LESSONS["ways"]
    evaluated = evaluate(lesson, {"word": 1.0}, {"second": "A woman plays"})
    values, texts = evaluated.values, (lesson.texts["first"], "A woman plays")
    assert evaluated.words["x"] == ["A", "woman", "plays"]
    names = {"taken-away": "taken", "dropped": "dropped", "gradient-norm": "norm", "integrated-gradients": "path"}
    for method, name in names.items():
        effects = Question(load_named(evaluated.checkpoint), *texts).words(method)
        assert values[name] == pytest.approx([word.effect for word in effects.of("hypothesis")], rel=1e-4, abs=1e-6)
        if effects.completeness:
            assert (values["sum"], values["whole"]) == pytest.approx(effects.completeness)
    parts = zip(values["share"], (values[name][0] for name in MIX), strict=True)
    assert sum(share * effect for share, effect in parts) == pytest.approx(values["taken"][0], abs=1e-6)
    own = evaluate(lesson, {"votes": [7.0, -2.0, 5.0], "class_votes": [3.0, 0.0, 9.0]}, {}).values
    assert own["votes"] == [7, 0, 5, 0] and (own["votes_for"], own["votes_all"]) == (7, 12)
    assert own["class_shares"] == [0.25, 0, 0.75] and own["label"] == [0, 0, 1], "a pair of the simple suite"
    assert values["label"] == values["class_shares"] == [0, 0, 0]
    assert own["decides"] == 1, "Two decides, and its word is the first"
    assert own["agree"] == sum(place == 1 for place in own["named"][1:]) < len(own["named"]) - 1, "not all ways say so"


def test_a_word_is_followed_through_the_epochs_that_were_kept():
    lesson = LESSONS["epochs"]
    evaluated = evaluate(lesson, {"epoch": 3}, {})
    values, kept = evaluated.values, [load_named(f"lesson-light@{epoch}") for epoch in range(1, 7)]
    assert evaluated.words["epochs"] == [f"epoch {epoch}" for epoch in range(1, 7)] and values["last"] == 6
    assert [*available()].count("lesson-light") == 1 and "lesson-light@7" not in available()
    for row, verdict, dev, model in zip(values["alphas"], values["verdicts"], values["dev"], kept, strict=True):
        shown = explain(model, lesson.texts["first"], lesson.texts["second"])
        assert row == pytest.approx(shown.find(AttentionMap).weights[1], abs=1e-6)
        assert verdict == pytest.approx(shown.probabilities, abs=1e-6) and dev == on_cards.dev(model.card)
    first, third = values["alphas"][0], values["alphas"][2]
    assert values["moved"][2] == pytest.approx(sum(abs(a - b) for a, b in zip(first, third, strict=True)) / 2)
    assert third == pytest.approx(softmax(values["score"]), abs=1e-6) and values["largest"][2] == max(third)
    # What the lesson's last note says.
    assert values["alphas"][-1][1] < values["alphas"][0][1] and values["dev"][-1] > values["dev"][0]
    with pytest.raises(LessonError, match="No epoch of nli-attconv-light was kept"):
        evaluate(replace(lesson, checkpoints=("nli-attconv-light",)), {}, {})
