"""The checkpoints that come with the repository: whole, small, and of sound judgement."""

import json

import pytest

from core.__main__ import main
from core.checkpoint import PRETRAINED, available, load_named
from core.evidence import AttentionMap, FilterProvenance
from core.explain import explain

NAMES = ("nli-attconv-light", "nli-attconv-advanced", "nli-hypothesis-only")
READERS = NAMES[:2]


def test_the_readmes_promises_hold_and_files_are_small():
    assert set(NAMES) <= available().keys()
    assert sum(f.stat().st_size for f in PRETRAINED.rglob("*") if f.is_file()) <= 95_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_card_names_its_training(name):
    card = load_named(name).card
    assert card["licence"] and all(source["licence"] and source["rows"] > 0 for source in card["data"])
    assert not any("sick" in source["name"].lower() for source in card["data"])  # non-commercial: never trained on
    assert len(card["epochs"]) >= 1 and card["training"]["seconds"] > 0 and card["training"]["command"]
    assert {"SNLI dev", "SICK trial", "MNLI dev-matched"} <= card["results"].keys()
    best = max(epoch["snli_dev"] for epoch in card["epochs"])
    assert card["results"]["SNLI dev"]["accuracy"] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("premise", "hypothesis", "verdict"),
    [
        ("A man is playing a guitar on the stage.", "A man is playing a guitar.", "entailment"),
        ("A woman is running along the beach.", "A person is outdoors.", "entailment"),
        ("Two dogs are running through a field.", "Two cats are sleeping on a couch.", "contradiction"),
        ("A boy is swimming in a pool.", "The boy is asleep in his bed.", "contradiction"),
        ("A woman is walking down the street.", "A woman is walking to meet her husband for dinner.", "neutral"),
    ],
)
def test_plain_pairs(name, premise, hypothesis, verdict):
    assert explain(load_named(name), premise, hypothesis).verdict == verdict


@pytest.mark.parametrize("name", READERS)
def test_a_word_looks_at_itself(name):
    sentence = "A brown dog jumps over the wooden fence near Telemundos"
    weights = explain(load_named(name), sentence, sentence).find(AttentionMap).weights
    here = [max(range(len(row)), key=row.__getitem__) == i for i, row in enumerate(weights)]
    assert sum(here) >= len(here) - 1


@pytest.mark.parametrize("name", NAMES)
def test_contributions_add_up_in_the_shipped_weights(name):
    result = explain(load_named(name), "An animal is outside in the cold weather", "A dog jumping in the snow")
    provenance = result.find(FilterProvenance)
    for f in provenance.filters:
        assert f.left + f.self_ + f.right + f.context + f.bias == pytest.approx(f.preactivation, abs=1e-5)
    for c, logit in enumerate(result.logits):
        assert sum(f.logit_shares[c] for f in provenance.filters) + provenance.logit_bias[c] == pytest.approx(
            logit, abs=1e-4
        )


def test_the_hypothesis_alone_is_blind_to_the_premise():
    checkpoint = load_named("nli-hypothesis-only")
    one, other = (explain(checkpoint, premise, "Nobody sleeps") for premise in ("A dog", "Ten men eat"))
    assert one.logits == other.logits and one.find(AttentionMap) is None


def test_command_line_and_library_give_the_same_numbers(capsys):
    pair = ("An animal is outside in the cold weather, playing with a plastic toy", "A dog jumping for a Frisbee")
    assert main(["explain", "--model", NAMES[0], "--first", pair[0], "--second", pair[1], "--json"]) == 0
    expected = explain(load_named(NAMES[0]), *pair).to_dict()
    assert json.loads(capsys.readouterr().out)["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)
