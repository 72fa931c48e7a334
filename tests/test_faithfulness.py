"""Faithfulness measures, tested on hand-computed cases and invariants."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.checkpoint import load_named
from core.data import Example
from core.effects import adversary as adversaries
from core.effects.faithfulness import erase, erased, faithfulness, moved, own_maps, uniform
from core.effects.pointing import Game, Item, items_of, only_difference, play, pointed
from core.effects.question import Question
from core.effects.words import SAMPLING, Sampling
from core.evidence.faithfulness import LARGEST_CHANGE, RANDOM, STEPS, Faithfulness
from core.evidence.faithfulness_numbers import Adversary, Curves, Moved
from core.explain import explain
from trainers import point
from trainers.__main__ import main

GIRLS = "Three girls are playing in the park", "Two girls are playing in the park"


def ask(name, first=GIRLS[0], second=GIRLS[1]):
    return Question(load_named(name), first, second, SAMPLING)


def texts(sides):
    return [" ".join(side.norms) for side in sides]


def test_erasing_by_hand():
    asked = ask("nli-two-sided", "a b c", "d e")
    order = [4, 3, 1, 0, 2]  # e d b a c
    assert texts(erased(asked.sides, order, "1")[0]) == ["b", "e"], "the first text keeps its first-ranked word"
    assert texts(erased(asked.sides, order, "1")[1]) == ["a b c", "d"]
    assert texts(erased(asked.sides, order, "2")[1]) == ["a b c", "e"], "the second text keeps its first-ranked one"
    assert texts(erased(asked.sides, order, "3")[0]) == ["b", "d e"]
    assert texts(erased(asked.sides, order, "20 %")[0]) == ["b", "e"]
    assert texts(erased(asked.sides, [4, 0, 3, 1, 2], "50 %")[0]) == ["a", "d e"], "two and a half words, rounded up"


def test_the_curves_equal_the_losses_of_single_predictions():
    asked = ask("nli-attconv-light")
    order = list(range(14))[::-1]
    curves, texts_read = erase(asked, {"backwards": order}, seed=0)
    assert len(STEPS) < texts_read <= 2 * len(STEPS) * 21
    full = asked.explanation.probabilities[asked.target]
    for number, step in enumerate(STEPS):
        for name, sides in zip(("sufficiency", "comprehensiveness"), erased(asked.sides, order, step), strict=True):
            after = explain(asked.checkpoint, *texts(sides), records=()).probabilities[asked.target]
            assert getattr(curves["backwards"], name)[number] == pytest.approx(full - after, abs=2e-6)
    assert {"backwards", RANDOM} == curves.keys()


def test_permuted_and_uniform_attention():
    asked = ask("nli-esim")
    maps = own_maps(asked)
    own = moved(asked, maps, seed=1)
    flat = tuple(uniform(links) for links in maps)
    assert all(torch.allclose(rows, torch.full_like(rows, 1 / rows.shape[-1])) for rows in flat)
    expected = explain(asked.checkpoint, *GIRLS, override=flat, records=()).probabilities
    assert own.uniform == pytest.approx(expected, abs=1e-5)
    assert moved(asked, maps, seed=1) == own != moved(asked, maps, seed=2)
    assert 0 <= own.changed <= own.permutations == 100


def test_local_attention_stays_in_its_window_when_it_is_moved():
    asked = ask("nli-local")
    (links,) = own_maps(asked)
    for row, (start, end) in zip(uniform(links), links.reach, strict=True):
        assert not row[:start].any()
        assert not row[end:].any()
        assert row[start:end].tolist() == pytest.approx([1 / (end - start)] * (end - start), abs=1e-5)


@pytest.mark.parametrize("name", ["nli-attconv-light", "nli-two-sided"])
def test_the_adversary_keeps_its_constraint(name, monkeypatch):
    monkeypatch.setattr(adversaries, "ITERATIONS", 30)
    asked = ask(name)
    found = adversaries.adversary(asked, seconds=20)
    assert found is not None
    assert found.maps, "a start other than the model's rows always finds something"
    override = [torch.tensor(rows) for rows in found.maps]
    for rows in override:
        assert torch.allclose(rows.sum(1), torch.ones(len(rows)), atol=1e-5)
    put_back = tuple(override) if len(override) > 1 else override[0]
    after = np.array(explain(asked.checkpoint, *GIRLS, override=put_back, records=()).probabilities)
    own = np.array(asked.explanation.probabilities)
    assert abs(after - own).sum() / 2 <= LARGEST_CHANGE + 1e-5
    assert abs(after - own).sum() / 2 == pytest.approx(found.total_variation, abs=1e-5)
    assert 0 < found.divergence <= np.log(2)
    monkeypatch.setattr(adversaries, "ITERATIONS", 1)
    monkeypatch.setattr(adversaries, "logits_under", lambda asked, rows: torch.tensor([[9.0, 0.0, 0.0]]))
    assert adversaries.adversary(asked).maps == (), "put into the model once more, it gives another answer"


def test_moving_does_not_apply_to_scores():
    asked = ask("nli-abcnn")
    assert adversaries.adversary(asked) is None
    answer = faithfulness(Question(asked.checkpoint, *GIRLS, Sampling(1, 1)), methods=("dropped",))
    assert answer.moved is None
    assert "scores" in answer.sentence


def test_the_sentence_agrees_with_the_numbers():
    answer = faithfulness(Question(load_named("nli-attconv-light"), *GIRLS, Sampling(2, 2)))
    assert f"in {answer.moved.changed} of 100 permutations" in answer.sentence
    assert f"names {answer.named[0]} of the 3 words" in answer.sentence
    assert set(answer.curves) >= {"taken-away", "dropped", "integrated-gradients", "most-attended", RANDOM}


# --- the pointing game -----------------------------------------------------------------------------------------------


def rows(*pairs):
    return [Example(f"made-{i}", *pair) for i, pair in enumerate(pairs)]


def test_each_number_is_given_in_words_and_the_best_method_first():
    def curves(left, taken):
        return Curves((left,) * len(STEPS), (taken,) * len(STEPS))

    record = Faithfulness(
        model="made up",
        labels=("entailment", "contradiction"),
        verdict="contradiction",
        probabilities=(0.25, 0.75),
        curves={"dropped": curves(0.5, 0.25), "hidden": curves(9, 9), "norm": curves(3, 1.5), RANDOM: curves(1, -0.5)},
        titles={"dropped": "Dropped", "norm": "Gradient norm"},
        moved=Moved(100, 3, 0.125, (0.25, 0.75), (0.5, 0.5)),
        tau_b=(0.5, None),
        named=(2, 3),
        names=("yes", "no"),
    )
    assert [(one.title, one.left, one.taken) for one in record.methods] == [
        ("Gradient norm", 3, 1.5),
        ("Dropped", 0.5, 0.25),
    ]
    assert record.chance.steps[3] == "20 %: +1.00 with these alone, −0.50 without"
    told = {fact.name: fact.says.replace("\u00a0", " ") for fact in record.facts}
    assert told == {
        "Words named": "2 of the 3 words with the largest effect are among the 3 most attended.",
        "Permuted attention": "The verdict changes in 3 of 100 permutations; on average the class probabilities move "
        "by 12 percentage points (total variation).",
        "Uniform attention": "gives no 75 %, the same verdict.",
        "Weight against effect": "τ-b +0.50 between the weight of a link and the size of its effect, over all links.",
        "Moving attention": "does not apply: this model’s maps hold scores.",
    }
    assert all("cannot tell" in fact.more or "Scores" in fact.more for fact in record.facts)
    none = Adversary((), 0.0, 0.0, (0.5, 0.5), 1.0)
    for adversary, says in (
        (none, "None was found: "),
        (
            replace(none, maps=(((1.0,),),), divergence=0.01),
            "No other attention was found with this answer: the farthest",
        ),
        (
            replace(none, maps=(((1.0,),),), divergence=0.5),
            "Attention 0.50 of at most 0.69 nats from the model’s gives ",
        ),
    ):
        *_, last = record.with_adversary((), adversary).facts
        assert last.name == "An adversary" and last.says.startswith(says)
    silent = replace(record, moved=None, named=None, tau_b=())
    assert silent.facts == ()


def test_items_are_pairs_that_differ_in_one_word_and_in_label():
    data = rows(
        ("A man sleeps.", "A man rests.", "entailment"),
        ("A man sleeps.", "A man runs", "contradiction"),  # without its full stop
        ("A man sleeps.", "A man sings.", "contradiction"),
        ("A man sleeps.", "A tall man rests.", "neutral"),  # another length
        ("A dog sleeps.", "A man rests.", "contradiction"),  # the premise changed
    )
    items = list(items_of(data))
    assert [(item.hypothesis, item.index) for item in items] == [
        ("A man rests.", 2), ("A man runs", 2), ("A man sings.", 2),
    ]  # fmt: skip
    assert only_difference(["a"], ["a"]) is None


def test_ties_share_their_point():
    assert pointed([1.0, 2.0, 2.0], 1) == 0.5
    assert pointed([1.0, 3.0, 2.0], 1) == 1
    assert pointed([1.0, 3.0, 2.0], 2) == 0


def test_a_game_by_hand():
    checkpoint = load_named("nli-two-sided")
    items = [Item("1", *GIRLS, "contradiction", 0), Item("2", *GIRLS[::-1], "contradiction", 0)]
    game = play(checkpoint, items, ("taken-away", "gradient-norm", "least-attended"))
    assert game.scores["taken-away"] == [1, 1]
    assert game.scores["chance"] == pytest.approx([1 / 7, 1 / 7])
    # "Two" is too short for the rule, and no other word is new: any of the seven.
    assert game.scores["rule"] == pytest.approx([1 / 7, 1])
    assert len(game.without_rule["taken-away"]) == 1


def test_taken_away_is_compared_with_each_way_item_by_item():
    points = {"taken-away": [1, 1, 1, 0], "dropped": [1, 0, 1, 0], "least-attended": [1, 1], "rule": [1, 1, 1, 0]}
    points["zeroed"] = [1, 1, 1, 1]  # a method of earlier versions
    game = Game(points, {})
    beyond = game.beyond()
    assert beyond["dropped"][0] == 0.25
    low, high = beyond["dropped"][1]
    assert 0 <= low < 0.25 < high <= 1
    assert beyond["rule"] == (0, (0, 0)), "the same items have the same points"
    assert "least-attended" not in beyond, "it has no answer to half of the items"
    line = point.summary("model", "dev", {"judged_right": 4, "items": 5, "trained": game.to_dict()})
    assert line["best single way"] == "least-attended 1.000"
    assert line["taken away"].startswith("0.750")
    assert line["taken away beyond it"] == "–"


def test_the_commands(tmp_path: Path, capsys):
    snli, made = tmp_path / "snli", tmp_path / "made"
    snli.mkdir()
    made.mkdir()

    def write(path, *pairs):
        names = "sentence1", "sentence2", "gold_label", "pairID"
        path.write_text("".join(json.dumps(dict(zip(names, pair, strict=True))) + "\n" for pair in pairs))

    scene = "Three girls are playing in the park."
    two, three = "Two girls are playing.", "Three girls are playing."
    for name in ("snli_1.0_train_86k", "snli_1.0_dev"):
        write(snli / f"{name}.jsonl", (scene, two, "contradiction", "a-1"), (scene, three, "entailment", "a-2"))
    write(snli / "cad_revised_train.jsonl", (scene, "Girls are there.", "entailment", "c-1"))
    train, revised = str(snli / "snli_1.0_train_86k.jsonl"), str(snli / "cad_revised_train.jsonl")
    assert [item.index for item in point.read_items([Path(train), Path(revised)])] == [0, 0]
    file = str(snli / "snli_1.0_dev.jsonl")
    assert main(["point", "nli-two-sided", file, "--way", "taken-away", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["judged_right"] == 2
    assert answer["trained"]["ways"]["taken-away"]["items"] == 2
    assert main(["point", "nli-two-sided", revised]) == 2
    assert "holds no items of the pointing game" in capsys.readouterr().err

    assert main(["faithfulness", "nli-attconv-light", str(snli / "snli_1.0_dev.jsonl"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    taken = answer["ways"]["taken-away"]
    assert set(taken) == {"sufficiency", "comprehensiveness"}
    assert taken["sufficiency"]["steps"].keys() == set(STEPS)
    low, high = taken["comprehensiveness"]["interval"]
    assert low <= taken["comprehensiveness"]["mean"] <= high
    assert answer["permutations"]["mean"] >= 0
    assert RANDOM in answer["ways"]
