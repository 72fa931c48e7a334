"""Why this verdict: the sentence names the difference between the texts, and forward passes confirm it."""

import csv
from collections import Counter
from importlib.resources import files

import pytest

from core.__main__ import main
from core.checkpoint import load_named
from core.effects import Question
from core.effects.edits import edited
from core.effects.reason import KINDS, ORDER, only_in, order_candidates, stretch_candidates
from core.errors import UserError
from core.explain import explain
from core.reading.tokens import tokenize

NAMED = ("negation", "antonym", "number", "colour", "co-hyponym")


def suite(kinds):
    """Pairs of the suites with one of these kinds, but for entailed ones, with their label."""
    for name in ("simple_pairs", "order_pairs"):
        with (files("core.evaluation") / f"{name}.tsv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if row["kind"] in kinds and row["label"] != "entailment":
                    yield row["kind"], row["label"], row["premise"], row["hypothesis"]


def test_the_sentence_names_the_difference_of_pairs_that_are_judged_right():
    """Of each kind at least 95 % name a word that only one text has; of pairs with the same words 90 % the order."""
    checkpoint = load_named("nli-two-sided")
    right, named = Counter(), Counter()
    for kind, label, *texts in suite({*NAMED, "swapped", "order"}):
        question = Question(checkpoint, *texts)
        premise, hypothesis = map(tokenize, texts)
        same_words = any(order_candidates(premise, hypothesis))
        if checkpoint.labels[question.target] != label or (kind not in NAMED and not same_words):
            continue
        reason = question.reason()
        assert reason.passes <= sum(most for most, _ in KINDS.values()) + 1 == 40
        kind = "order" if same_words else kind
        right[kind] += 1
        differing = {(0, i) for i in only_in(premise, hypothesis)} | {(1, i) for i in only_in(hypothesis, premise)}
        named[kind] += reason.kind == ORDER if same_words else bool(differing & set(reason.named))
    assert all(right[kind] >= 10 for kind in (*NAMED, "order")), right
    assert all(named[kind] >= 0.95 * right[kind] for kind in NAMED), (named, right)
    assert named["order"] >= 0.9 * right["order"], (named, right)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "sentence"),
    [
        ("Three girls play.", "Two girls play.", "“Two” decides: with “three” instead, entailment ("),
        ("The dog is chasing the cat.", "The cat is chasing the dog.", "The order decides: in the premise's order, "),
        ("A man is playing a guitar.", "A man is not playing a guitar.", "“not” decides: without “not” in the "),
        ("A woman is wearing a dress.", "A woman is wearing a purple dress.", "“purple” decides: without “purple” in"),
    ],
)
def test_the_change_in_the_sentence_has_its_probability(premise, hypothesis, sentence, capsys):
    """The model alone, asked about the changed texts, says the same; `core why` begins with the sentence."""
    checkpoint = load_named("nli-two-sided")
    reason = Question(checkpoint, premise, hypothesis).reason()
    assert reason.sentence.startswith(sentence)
    after = explain(checkpoint, *edited((premise, hypothesis), reason.edits))
    assert after.verdict == reason.verdict != explain(checkpoint, premise, hypothesis).verdict
    assert max(after.probabilities) == pytest.approx(reason.probability, abs=1e-6)
    assert main(["why", "nli-two-sided", "--first", premise, "--second", hypothesis]) == 0
    assert capsys.readouterr().out.splitlines()[0] == reason.sentence


def test_without_a_change_that_flips_it_the_sentence_says_what_is_left():
    texts = "Either the cook or the waiter broke the glass.", "The waiter broke the glass."
    reason = Question(load_named("nli-two-sided"), *texts).reason()
    assert reason.kind == "" and reason.sentence.startswith("No change of one or two words flips it; the strongest, ")


def test_candidates_leave_the_rest_of_the_hypothesis_as_it_is():
    premise, hypothesis = "A policeman arrested the thief.", "The thief arrested a policeman."
    (order,) = order_candidates(tokenize(premise), tokenize(hypothesis))
    assert edited((premise, hypothesis), order.edits)[1] == "The policeman arrested a thief."
    premise, hypothesis = "There is a small dog here.", "There is here."
    assert not [*stretch_candidates(tokenize(premise), tokenize(hypothesis))], "three words"
    premise = "There is nobody here."
    (stretch,) = stretch_candidates(tokenize(premise), tokenize(hypothesis))
    assert edited((premise, hypothesis), stretch.edits)[1] == premise


def test_a_model_of_single_texts_has_no_reason():
    with pytest.raises(UserError, match="a reason needs a pair of texts"):
        Question(load_named("sentiment-attconv"), "A good film.").reason()


@pytest.mark.parametrize("name", ["nli-two-sided", "as-adaqa-att", "fever-attconv", "snli-phrases-kmin"])
def test_the_reason_flips_the_verdict_of_ranking_models_and_of_long_texts(name):
    checkpoint = load_named(name)
    texts = "A dog is asleep " + "near a very old tree " * 60, "A cat is not asleep " + "near a very old tree " * 60
    for pair in (texts, ("Who wrote Hamlet?", "Shakespeare wrote Hamlet.")):
        verdict, reason = explain(checkpoint, *pair).verdict, Question(checkpoint, *pair).reason()
        after = explain(checkpoint, *edited(pair, reason.edits))
        assert after.verdict == reason.verdict and (reason.verdict != verdict) == bool(reason.kind)
