"""The routes of a difference: shares that add up, equal a slow computation, and are right where the answer is known."""

import dataclasses
import itertools
import json
import math
import shutil

import pytest
import torch

from app.models import card
from core.__main__ import main
from core.checkpoint import PRETRAINED, load_named, read_card
from core.effects import Question
from core.effects.routes import RoutesError, log_odds, shapley
from core.evaluation.routes import Divided, by_kind
from core.evaluation.suites import SUITES
from core.evidence.routes import RouteShare, sentence_of, signed
from core.models import REGISTRY
from core.models.base import PairModel
from core.models.intervention import Intervention
from core.models.routes import ATTENDED, ATTENTION, OWN, WEIGHTS, Patching, subsets
from tests import routes
from tests.models import batch_of, every_settings, make, single
from trainers.__main__ import main as trainers

GIRLS = ("Three girls play in a park.", "Two girls play in a park.")
"""A pair, whose first text is also its own other version."""


def test_every_model_of_pairs_takes_all_routes_or_none():
    """Under all settings that change the equations, for models that name routes or have a checkpoint here."""
    without = set()
    for architecture, settings in every_settings():
        model = make(architecture, **settings)
        config = dataclasses.asdict(model.config)
        one, other = (batch_of(model, [(4, 3)], seed=seed) for seed in (1, 2))
        if not routes.check(model, config, one, other, 1e-9):
            without.add((architecture, config.get("context")))
    told = {read_card(folder.parent)["architecture"] for folder in PRETRAINED.glob("*-*/card.json")}
    told |= {name for name, spec in REGISTRY.items() if spec.model.routes.__func__ is not PairModel.routes.__func__}
    assert all(context == "none" for name, context in without if name in told and not single(name)), without
    assert ("attconv-light", "none") in without and len(without) < len(REGISTRY) / 2


def test_shares_equal_an_average_over_all_orders():
    """The slow path: one forward pass per subset, and one sum per order, for pairs with one difference."""
    checkpoint, pairs = load_named("lesson-light"), SUITES["one_word"].pairs.rows[::4]
    chosen, compared = subsets(ATTENTION), 0
    for row in pairs:
        versions = [checkpoint.read(row.first, text) for text in (row.second, row.first)]
        batches = [checkpoint.reader.batch(version) for version in versions]
        if batches[0].second.mask.shape != batches[1].second.mask.shape:
            continue
        rows = [routes.patched(checkpoint.model, *batches, ATTENTION, [subset]) for subset in chosen]
        target = int(rows[0][0].argmax())
        odds = dict(zip(chosen, log_odds(torch.cat(rows), target).tolist(), strict=True))
        if abs(odds[chosen[0]] - odds[chosen[-1]]) < 0.06:
            continue
        found = Question(checkpoint, row.first, row.second).routes(row.first, row.first)
        for route, share in zip(ATTENTION, found.routes, strict=True):
            changes = []
            for order in itertools.permutations(ATTENTION):
                before = frozenset(order[: order.index(route)])
                changes.append(odds[before] - odds[before | {route}])
            assert share.share == pytest.approx(sum(changes) / 6, abs=1e-4)
        assert math.fsum(one.share for one in found.routes) == pytest.approx(found.difference, abs=1e-5)
        compared += 1
    assert compared >= 200


def divided(model, one, other):
    """Each route's Shapley value in the difference of logit 0."""
    chosen = subsets(ATTENTION)
    logits = routes.patched(model, one, other, ATTENTION, chosen)[:, 0]
    return shapley(dict(zip(chosen, logits.tolist(), strict=True)), ATTENTION), float(logits[-1] - logits[0])


@pytest.mark.parametrize(
    ("read", "carry"),
    [
        (slice(10, None), {WEIGHTS}),  # crossings only: they follow the weights
        (slice(0, 5), {OWN}),  # words only, which are compared with nothing
        (slice(5, 10), {WEIGHTS, ATTENDED}),  # contexts only
    ],
)
def test_a_model_that_reads_one_part_has_its_difference_from_there(read, carry):
    model = make("two-sided")
    hidden = model.config.hidden
    assert hidden == 5
    columns = slice(4 * hidden, None) if read.start == 10 else read
    kept = torch.zeros_like(model.compare.weight)
    kept[:, columns] = model.compare.weight[:, columns].detach()
    model.compare.weight.data.copy_(kept)
    shares, whole = divided(model, *(batch_of(model, [(6, 6)], seed=seed) for seed in (3, 4)))
    assert abs(whole) > 1e-3 and sum(shares.values()) == pytest.approx(whole)
    assert {route for route, share in shares.items() if abs(share) > 1e-9} == carry


def test_attention_and_values_share_what_only_both_change():
    """f = w·v: from w = v = 0 to 1, neither changes anything alone, and half of it is each one's."""
    values = {subset: float({WEIGHTS, ATTENDED} <= subset) for subset in subsets(ATTENTION)}
    assert shapley(values, ATTENTION) == {WEIGHTS: 0.5, ATTENDED: 0.5, OWN: 0.0}
    values = {subset: 3.0 * (WEIGHTS in subset) - 1.0 * (OWN in subset) for subset in subsets(ATTENTION)}
    assert shapley(values, ATTENTION) == pytest.approx({WEIGHTS: 3, ATTENDED: 0, OWN: -1})


@pytest.mark.parametrize(
    ("shares", "alone", "sentence"),
    [
        ((1.9, 0.1, 0), None, "by LOOKS: 95 % of the difference."),
        (
            (1.02, 0, -0.02),
            None,
            "by LOOKS: 102 % of the difference, more than the whole because another part works against it: "
            "WORDS (−2 %).",
        ),
        (
            (1.006, -0.003, -0.003),
            None,
            "by LOOKS: 101 % of the difference, more than the whole because another part works against it: "
            "WORDS (0 %).",
        ),
        ((-1.9, -0.1, 0), None, "by LOOKS: 95 % of the difference."),
        ((1, 0.8, 0.2), None, "by LOOKS (50 % of the difference), ATTENDED (40 %) and WORDS (10 %)."),
        ((1, 1, 0), (0.1, 0, 0), "only by LOOKS (50 %) and ATTENDED (50 %) together: none of them is enough alone."),
        (
            (2.6, -0.4, -0.2),
            None,
            "by LOOKS: 130 % of the difference, more than the whole because other parts work against it: WORDS (−10 %) "
            "and ATTENDED (−20 %).",
        ),
        ((1.4, 1, -0.4), None, "by LOOKS (70 % of the difference) and ATTENDED (50 %); against it: WORDS (−20 %)."),
    ],
)
def test_every_case_has_its_sentence(shares, alone, sentence):
    each = zip(ATTENTION, shares, shares if alone is None else alone, strict=True)
    divided = [RouteShare(route.name, route.by, share, own, share) for route, share, own in each]
    said = sentence_of("The colour", divided, sum(shares))
    for route, short in zip(ATTENTION, ("LOOKS", "ATTENDED", "WORDS"), strict=True):
        sentence = sentence.replace(short, route.by)
    assert said.replace("\u00a0", " ") == f"The colour is noticed {sentence}"


def test_bad_input_is_refused_in_one_sentence():
    ask = lambda first, second, model="nli-attconv-light": Question(load_named(model), *GIRLS).routes(first, second)  # noqa: E731
    long = "dogs and " * 300
    for given, expected in (
        (("Three girls play.", GIRLS[1]), "The premise has 7 words in this version and 4 in the other"),
        (GIRLS, "reads the same words in both versions: change a word"),
        (("three GIRLS play in a park.", GIRLS[1]), "reads the same words"),
        ((GIRLS[0], ""), "The hypothesis is empty"),
        ((long, GIRLS[1]), "longer than the model reads"),
        ((*GIRLS[::-1], "nli-hypothesis-only"), "the model nli-hypothesis-only has no parts to tell apart: choose one"),
    ):
        with pytest.raises(Exception, match=expected) as raised:
            ask(*given)
        assert "\n" not in str(raised.value)
    with pytest.raises(RoutesError, match="nothing to divide: change a word"):  # words of equal vectors, nearly
        shirts = [f"A man in a {colour} shirt plays an instrument ." for colour in ("green", "red")]
        Question(load_named("nli-abcnn"), "A man in a red shirt plays a guitar .", shirts[0]).routes(
            "A man in a red shirt plays a guitar .", shirts[1]
        )
    two_lines = Question(load_named("fever-attconv"), "A man sings.", "One.\nTwo.")
    with pytest.raises(RoutesError, match=r"words in this version|lines"):
        two_lines.routes("A man sings.", "One. Two.\nThree.")


def test_the_command_prints_the_record_and_its_sentence(capsys):
    pair = ["--first", "A red car", "--second", "A blue car"]
    command = ["routes", "nli-attconv-light", *pair, "--other-second", "A red car"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "The colour is noticed by where attention looks" in printed and "attention weights" in printed
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"] == [["A red car", "A blue car"], ["A red car", "A red car"]]
    assert sum(one["share"] for one in found["routes"]) == pytest.approx(found["difference"], abs=1e-5)
    assert f"this minus the other: {signed(found['difference'])} log-odds" in found["change"]
    assert main(command[:-2]) == 2 and "same words" in capsys.readouterr().err


def test_the_table_by_kind_is_printed_and_written_to_the_card(tmp_path, capsys):
    folder = shutil.copytree(PRETRAINED / "lesson-light", tmp_path / "mine")
    assert trainers(["routes", str(folder), "--suite", "simple", "--card", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["lesson-light"]["simple"]
    assert told == read_card(folder)["routes"]["simple"]
    assert told["colour"]["pairs"] >= 3
    for kind in told.values():
        assert [*kind["routes"]] == [route.name for route in ATTENTION]
        for route in kind["routes"].values():
            low, high = route["interval"]
            assert low <= route["share"] <= high
    (line,) = [line for line in card.routes(read_card(folder)) if line[0].startswith("Simple pairs")]
    assert line[0].endswith("carried by attention weights") and "own words" in line[2]
    assert trainers(["routes", str(folder), "--suite", "simple"]) == 0
    assert "attended words" in capsys.readouterr().out
    assert trainers(["routes", "sentiment-acnn"]) == 2 and "no routes between two texts" in capsys.readouterr().err


def test_medians_by_kind_count_clear_differences_of_either_sign():
    pairs = [
        Divided("colour", whole, (RouteShare("r", "looks", share * whole, alone * whole, last * whole),))
        for whole, share, alone, last in ((-1, 0.25, 0.5, 0.125), (2, 0.5, 0.75, 0), (-4, 1, 1, 0.5), (0.99, 9, 9, 9))
    ]
    two = [pairs[0]._replace(kind="number")] * 2
    found = by_kind([*two, *pairs])
    assert found == {"colour": {"pairs": 3, "routes": {"r": found["colour"]["routes"]["r"]}}}
    route = found["colour"]["routes"]["r"]
    assert (route["share"], route["alone"], route["last"]) == (0.5, 0.75, 0.125)
    assert route["interval"] == [0.25, 1]


def test_a_model_without_routes_refuses_to_patch_them():
    checkpoint = load_named("nli-hypothesis-only")
    batch = checkpoint.reader.batch(checkpoint.read("A dog", "A cat"))
    with pytest.raises(ValueError, match="no routes to tell apart"):
        checkpoint.model.under(batch, Intervention(patching=Patching()))
