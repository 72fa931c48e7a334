"""The questions of a room: the model that Explore shows answers them, and learns from half of the pairs found."""

import dataclasses

import pytest

from core.adaptation import what_changed
from core.checkpoint import available, load_named
from core.checkpoint.unlisted import PAIRS, folder_of, made_by
from core.evaluation.suites import SUITES
from core.evidence import AttentionMap
from core.explain import explain
from core.reading.reader import PairError
from core.rooms import questions, teaching
from core.rooms.room import (
    AGREED,
    CHECKING,
    DISPUTED,
    RoomError,
    Sent,
)

NLI = "nli-two-sided"


@pytest.mark.skipif(NLI not in available(), reason="the checkpoint is not here")
def test_questions_are_answered_by_the_model_that_explore_shows():
    model, texts = load_named(NLI), ("A man plays a guitar", "A man plays a violin")
    explanation = explain(model, *texts)
    assert questions.answer(model, *texts) == {
        "value": explanation.verdict,
        "chance": max(explanation.probabilities),
    }
    assert questions.verdict(model, *texts) == (explanation.verdict, max(explanation.probabilities))
    words = questions.askable(model, *texts)
    assert ((1, 4), "violin") in words and ((0, 4), "guitar") in words
    asked = questions.question(model, *texts, (1, 4))
    assert asked["word"]["tokens"][1][4] == "violin" and [one["name"] for one in asked["classes"]] == [*model.labels]
    maps = {one.rows: one for one in explanation.evidence if isinstance(one, AttentionMap)}
    weights = maps["hypothesis"].weights[4][:5]
    best = questions.answer(model, *texts, (1, 4))
    assert best["value"] == str(weights.index(max(weights))) and best["chance"] == pytest.approx(max(weights))
    with pytest.raises(PairError):
        questions.answer(model, "😀", "…")
    with pytest.raises(RoomError, match="301 characters"):
        questions.question(model, "x" * 301, "y")
    with pytest.raises(RoomError, match="attends to no other"):
        questions.answer(model, *texts, (1, 99))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("A nurse sleeps.", "A doctor sleeps", "profession"),
        ("A zorb sleeps", "A quux sleeps", "zorb / quux"),
        ("The dog sees the cat", "The cat sees the dog", "the order of the words"),
        ("A man sleeps", "A man sleeps well", "+ well"),
        ("A tall man sleeps", "A man sleeps", "− tall"),
        ("A man does sleep", "A woman can not run", "several differences"),
        ("Same.", "same", "nothing"),
    ],
)
def test_pairs_are_grouped_by_what_changed(first, second, said):
    assert questions.difference(first, second) == said


def sent(number, first, second, label, status=AGREED):
    return Sent(number, 1, 1, first, second, label, "entailment", 0.9, "", status, False)


def test_the_same_pair_from_two_phones_is_not_on_both_sides():
    pairs = [sent(1, "A b", "C d", "neutral"), sent(2, "a b", "c D", "neutral"), sent(3, "E", "F", "neutral")]
    pairs += [sent(4, "G", "H", "neutral", CHECKING), sent(5, "I", "J", "neutral", DISPUTED)]
    parts = teaching.halves(pairs)
    assert ([one.id for one in parts.taught], [one.id for one in parts.held_back]) == ([1], [3])
    with pytest.raises(RoomError, match="two pairs that fool the model"):
        teaching.halves(pairs[:2] + pairs[3:])


@pytest.mark.slow
@pytest.mark.skipif(NLI not in available(), reason="the checkpoint is not here")
def test_a_class_teaches_the_model_with_one_half_and_tests_it_on_the_other(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path))
    monkeypatch.setattr(what_changed, "SUITES", {"simple": SUITES["simple"]})  # all suites take ten seconds
    monkeypatch.setattr(what_changed, "MOST_COST", -1)  # even if no pull is harmless, the class sees it learn
    model, people = load_named(NLI), ("barber", "surgeon", "clown", "priest", "judge", "thief", "farmer", "spy")
    every = [
        (f"A {one} waits outside", f"A {other} waits outside") for one in people for other in people if one < other
    ]
    wrong = [pair for pair in every if questions.verdict(model, *pair)[0] != "contradiction"][:16]
    pairs = [sent(number, *pair, "contradiction") for number, pair in enumerate(wrong)]
    assert len(pairs) >= 6
    result = teaching.teach(model, [dataclasses.replace(pairs[0], shown=True), *pairs[1:]])
    assert (result["taught"], result["held_back"], result["before"]) == (-(-len(pairs) // 2), len(pairs) // 2, 0)
    taught = load_named(result["model"])
    held = teaching.halves(pairs).held_back
    assert result["after"] == sum(questions.verdict(taught, one.first, one.second)[0] == one.label for one in held) > 0
    assert result["suites"].startswith("Of our 200 test pairs of all kinds, ")
    shown = teaching.teach(model, [dataclasses.replace(one, shown=True) for one in pairs], "me")
    assert made_by("me") == [shown["model"]]
    listed = [(folder_of(one["model"]) / PAIRS).exists() for one in (result, shown)]
    assert listed == [False, True], "Explore lists them, and is projected"
    teaching.forget([type("Round", (), {"result": shown | {"earlier": [result["model"]]}})()])
    assert not folder_of(result["model"]).exists() and not folder_of(shown["model"]).exists()
