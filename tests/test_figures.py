"""Claims in figures and sentences: class names, points, plurals, and reproducible models."""

import json
from dataclasses import replace

import pytest

from app.models import card as card_lines
from core.__main__ import main
from core.adaptation.what_changed import KindEffect, WhatChanged
from core.checkpoint import PRETRAINED, available, load_named, read_card
from core.effects.edits import DROP, REPLACE, Edit
from core.effects.faithfulness import faithfulness
from core.effects.offers import offers_for
from core.effects.question import Question
from core.effects.turning import _with_articles
from core.evaluation.faithfulness_table import moved_elsewhere
from core.evidence import layer_routes
from core.explain import explain
from core.lessons import evaluate, lessons
from core.lessons.lesson import LessonError, said
from core.wording import points

QUESTION = ("Who wrote Hamlet ?", "Shakespeare wrote it")


def test_answers_have_class_names_on_the_command_line(capsys):
    for arguments in (["explain", "--model", "wikiqa-phrases-kmax"], ["why", "wikiqa-phrases-kmax"]):
        assert main([*arguments, "--first", QUESTION[0], "--second", QUESTION[1]]) == 0
        head = capsys.readouterr().out.splitlines()[0]
        assert "answer" in head and not head.startswith(("0", "1"))
    answer = explain(load_named("wikiqa-phrases-kmax"), *QUESTION, records=())
    assert answer.to_dict()["labels"] == ["0", "1"], "names in files stay"
    assert "not an answer" in answer._repr_html_()


def test_a_smallest_change_shows_the_new_classs_probability_and_points(capsys):
    pair = "Three girls play", "Two girls play"
    assert main(["turn", "nli-two-sided", "--first", pair[0], "--second", pair[1], "--json"]) == 0
    change = json.loads(capsys.readouterr().out)[0]
    after = explain(load_named("nli-two-sided"), *change["after"], records=())
    assert change["chance"] == pytest.approx(max(after.probabilities), abs=1e-5)
    (first, *_) = Question(load_named("nli-two-sided"), *pair).smallest_change()
    text = first.to_text({})
    assert "percentage points" in text and "falls from" in text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.12, "12 percentage points"), (0.01, "1.0 percentage point"), (-0.003, "0.3 percentage points")],
)
def test_differences_of_percentages_are_points(share, text):
    assert points(share) == text


@pytest.mark.parametrize(
    ("sentence", "edit", "articles"),
    [
        ("An old man eats", Edit(DROP, 0, 1), {0: "a"}),
        ("A man eats", Edit(REPLACE, 0, 1, "adult"), {0: "an"}),
        ("A man eats", Edit(REPLACE, 0, 1, "boy"), {}),
        ("a hour ago a man ate", Edit(REPLACE, 0, 4, "woman"), {}),
    ],
)
def test_articles_agree_with_the_word_that_follows(sentence, edit, articles):
    sides = Question(load_named("sentiment-attconv"), sentence, "").sides
    edits = _with_articles(sides, (edit,))
    assert {one.index: one.word for one in edits if one != edit} == articles
    assert edit in edits and _with_articles(sides, edits) == edits


def test_words_put_in_are_in_the_form_of_the_word():
    def of(word):
        return {offer.word for offer in offers_for(word).offers}

    assert "closed" in of("opened") and "close" not in of("opened")
    assert "short" not in of("taller"), "taller is not an opposite of short"
    assert not of("plays") & {"acts", "scenes"}, "a verb's form is not taken for a noun"
    assert "sleep" not in of("sleeping")


def test_a_moved_contradiction_explains_the_limits_of_the_test():
    checkpoint = load_named("nli-two-sided")
    asked = Question(checkpoint, "A boy jumps in a street", "A girl sleeps in her bed")
    measured = faithfulness(asked, methods=["most-attended"])
    assert measured.verdict == "contradiction"
    assert "brings its probability from" in measured.sentence
    assert "itself favours this verdict" in measured.sentence
    rows = checkpoint.card["faithfulness"]["SNLI dev"]["rows"]
    assert f"On SNLI dev ({rows} rows)" in measured.sentence
    other = replace(measured, verdict="entailment")
    assert "itself favours this verdict" not in other.sentence


def test_a_cards_number_of_moved_pairs_is_said_by_verdict():
    mean = {"interval": [0.0, 1.0]}
    stored = {"A set": {"rows": 1, "permutations": {"mean": 0.5, **mean}, "ways": {}, "tau_b": None, "command": ""}}
    stored["A set"]["permutations_by_verdict"] = {"neutral": {"mean": 0.25, **mean}}
    assert moved_elsewhere(stored, "neutral") == (
        "On A set (1 row) 50\u00a0% of permutations change its verdict, and 25\u00a0% where it is neutral.",
    )
    assert moved_elsewhere({"A set": {**stored["A set"], "permutations": None}}, "neutral") == ()


def test_a_sentence_of_a_lesson_follows_its_numbers():
    lesson = lessons()["global-attention"]
    step = next(step for step in lesson.steps if "times the smallest" in step.says)
    states = [[9.0, 9.0], [0.0, 0.0], [0.0, 0.0]]
    near, far = (evaluate(lesson, inputs, {}).values for inputs in ({}, {"h": states}))
    assert said(step.says, near, lesson.digits) != said(step.says, far, lesson.digits)
    assert max(far["alpha"]) / min(far["alpha"]) == pytest.approx(far["times"])
    with pytest.raises(LessonError, match="several numbers"):
        said(r"\val{h}", near, 2)


def test_cards_name_unavailable_runs():
    missing = {
        name: card_lines.missing_runs(read_card(PRETRAINED / name), available())
        for name in available()
        if (PRETRAINED / name).exists()
    }
    assert missing["nli-attconv-light"] == ("nli-attconv-light-without-pairs",)
    assert missing["para-adaqa"]
    assert missing["fever-attconv"] == missing["fever-two-sided"] == missing["as-adaqa"] == ()


def test_what_corrections_changed_agrees_with_its_numbers():
    one = KindEffect("Structure", "tried", 18, 18, 17, 0, 1, 1.0)
    two = KindEffect("Simple pairs", "swapped", 19, 14, 16, 2, 0, 0.5)
    assert WhatChanged(1.0, 2, 0, 2, (one, two)).sentence == (
        "2 of 2 corrections now stand. Of our test pairs, 2 of the 5 that were wrong are right now, most in “swapped”"
        ", and 1 of the 32 that were right is wrong now, in “tried”."
    )


def test_only_a_word_that_restores_half_of_the_difference_is_said_to_hold_it():
    two, special, none, many = (0.9, 0.1), (0.0, 1.0), (0.02, 0.07), "in several words’ states together"
    for states, expected in {
        (two, two): "stays in the states of “two” through all 2 layers.",
        (none, none): f"is {many} through all 2 layers.",
        (two, none, special): "is mainly in the states of “two” up to layer 1 of 3, from layer 3 in the special tokens",
        (none, two, two): f"is {many} up to layer 1 of 3, from layer 2 in “two”.",
        (two, none): f"is mainly in the states of “two” up to layer 1 of 2, from layer 2 {many}.",
    }.items():
        assert layer_routes.sentence_of("It", ("two", layer_routes.SPECIAL), states).startswith(f"It {expected}")
