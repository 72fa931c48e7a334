"""People's own reasons: read from columns, compared with effects by hand and by a slow loop, and the command."""

from __future__ import annotations

import itertools
import json
from statistics import mean

import pytest

from core.checkpoint import load_named
from core.data import Example, read
from core.data.rationales import voices
from core.effects.question import Question
from core.effects.words import Sampling
from core.evaluation import people_table
from core.evaluation.people import agreements, half_of, named, summary
from core.linguistics.content_words import stop_words
from core.reading.tokens import tokenize
from trainers.__main__ import main

PREMISE, HYPOTHESIS = "Two women are embracing on the beach.", "The women hug in a red car."
SAID = ["women that embrace hug each other", "embracing is not hugging .", "the car is not on a beach"]


def row(**columns):
    return Example("1", PREMISE, HYPOTHESIS, "contradiction", columns=columns)


def test_explanations_count_for_both_texts_and_come_before_marks():
    names = "Explanation_1", "Explanation_2", "Explanation_3"
    marked = {"Sentence1_Highlighted_1": "0", "WorkerId": "A", "explained by": "nobody"}
    assert voices(row(**dict(zip(names, SAID, strict=True)), **marked)) == (SAID, SAID)
    assert voices(row(explanations=json.dumps(SAID))) == (SAID, SAID)
    assert voices(row(explanation=SAID[0], Explanation_2=" ")) == ([SAID[0]], [SAID[0]])
    assert voices(row(explanation="[see above")) == (["[see above"], ["[see above"])


def test_marked_words_and_spans_count_for_their_own_text():
    marks = {"Sentence1_Highlighted_1": "1,3", "Sentence1_Highlighted_2": "{}", "Sentence2_Highlighted_1": "6,99"}
    assert voices(row(**marks)) == (["women embracing", ""], ["car."])
    spans = [[{"text": "women", "docid": "12_premise"}, {"text": "beach", "docid": "12_premise"}]]
    spans += [[{"text": "red car", "docid": "12_hypothesis"}], [{"text": "hug", "docid": "12"}]]
    assert voices(row(evidences=json.dumps(spans))) == (["women beach hug"], ["red car hug"])
    for other in ('["a sentence", "another"]', "[1", "{}"):
        assert voices(row(evidences=other)) == ([], [])


def test_a_word_is_named_by_two_of_three_through_its_stem():
    words = {tokenize(PREMISE)[place].norm: told for place, told in named(tokenize(PREMISE), SAID).items()}
    assert words == {"women": False, "embracing": True, "beach": False}, "“two” and “on” have no content"
    assert [*named(tokenize("hugs, cars"), SAID).values()] == [True, False]
    assert [*named(tokenize("hugs cars"), SAID[1:]).values()] == [False, False], "one of two is not more than half"
    assert [*named(tokenize("hugs cars"), SAID[:1]).values()] == [True, False]


def test_agreement_equals_a_slow_loop_over_all_orders_of_ties():
    asked = Question(load_named("nli-two-sided"), PREMISE, HYPOTHESIS, Sampling(2, 2))
    found = [*agreements(asked, row(explanations=json.dumps(SAID)), ("dropped", "replaced", "attention"))]
    assert [one.method for one in found] == ["chance", "new-words", "dropped", "replaced", "attention"] * 2
    for one in found:
        (side,) = (side for side in asked.sides if side.role == one.role)
        (other,) = (side for side in asked.sides if side.role != one.role)
        content = [i for i, token in enumerate(side.tokens) if token.is_word and token.norm not in stop_words()]
        right = {"premise": ["embracing"], "hypothesis": ["hug"]}[one.role]
        if one.method == "chance":
            values = dict.fromkeys(content, 0)
        elif one.method == "new-words":
            values = {i: side.norms[i] not in other.norms for i in content}
        else:
            values = {word.index: word.effect for word in asked.words(one.method).words if word.role == one.role}
        firsts, precisions = [], []
        for order in itertools.permutations(content):
            if all(values[a] >= values[b] for a, b in itertools.pairwise(order)):
                hits = [side.norms[i] in right for i in order]
                firsts.append(hits[0])
                precisions.append(mean(sum(hits[: k + 1]) / (k + 1) for k, hit in enumerate(hits) if hit))
        assert (one.at_1, one.precision) == pytest.approx((mean(firsts), mean(precisions)))


def test_a_side_whose_words_are_all_named_tests_nothing():
    asked = Question(load_named("nli-two-sided"), "A dog.", "A red car.", Sampling(1, 1))
    told = Example("1", "A dog.", "A red car.", "contradiction", columns={"explanation": "a dog is not a car"})
    assert {one.role for one in agreements(asked, told, ["dropped"])} == {"hypothesis"}
    assert not [*agreements(asked, row(), ["dropped"])], "the row has no explanations"


def test_the_command(tmp_path, capsys):
    file = tmp_path / "explained.jsonl"
    names = "pairID", "sentence1", "sentence2", "gold_label", "explanations"
    rows = [
        ("a", PREMISE, "The women are sleeping in a car.", "contradiction", ["sleep", "sleeping women", "a car"]),
        ("b", PREMISE, "The women are outside.", "entailment", ["a beach is outside", "outside", "women"]),
        ("c", PREMISE, "Nobody is embracing.", "entailment", ["wrong", "wrong", "wrong"]),
        ("d", PREMISE, "Two men are fighting.", "contradiction", ["men are not women", "men fight", "fighting men"]),
    ]
    file.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    assert read(file).rows[0].columns["explanations"] == json.dumps(rows[0][-1])
    asked = ["people", "nli-two-sided", str(file), "--methods", "dropped", "attention"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["judged_right"]) == (4, 3)
    labels = found["sides"]["hypothesis"]
    assert labels["all labels"]["items"] == 2, "“men” and “fighting” are both named"
    assert labels["contradiction"]["at_1"].keys() == {"chance", "new-words", "dropped", "attention"}
    assert labels["entailment"]["at_1"]["new-words"] == {"mean": 1.0, "interval": [1.0, 1.0]}
    assert labels["all labels"]["at_1"]["chance"]["mean"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["command"].endswith("--methods dropped --methods attention")
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert "3 of 4 pairs judged right" in told and "new words" in told and "The hypothesis" in told
    assert main([*asked, "--half", str(half_of("a")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == sum(half_of(row[0]) == half_of("a") for row in rows)
    file.write_text(json.dumps(dict(zip(names[:-1], rows[0], strict=False))) + "\n")
    capsys.readouterr()
    assert main(asked) == 2 and "has words that people name" in capsys.readouterr().err


def test_summaries_in_tables():
    asked = Question(load_named("nli-two-sided"), PREMISE, HYPOTHESIS, Sampling(1, 1))
    found = [*agreements(asked, row(explanations=json.dumps(SAID)), ("taken-away", "dropped"))]
    stored = {"dev": {"rows": 3, "judged_right": 1, "sides": summary(found), "command": ""}}
    rows = people_table.table(stored)
    assert [line["set"] for line in rows] == ["dev, premise (1)"] * 4 + ["dev, hypothesis (1)"] * 4
    assert {line["contradiction"] for line in rows if line["way"] == "chance"} == {"0.333", "0.250"}
    (line,) = people_table.by_checkpoint({"x": stored})
    assert line["checkpoint"] == "`x`" and line["hypothesis: best single way"].startswith("dropped")
