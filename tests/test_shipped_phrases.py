"""The phrase models that come with the repository: whole, with their tables, and of sound judgement."""

import csv
import json

import pytest

from core.checkpoint import available, load_named
from core.evidence import PhraseSelection
from core.explain import explain
from trainers.__main__ import main

ENTAILMENT = ("te-phrases-kmin", "te-phrases-kmax")
ANSWERS = ("as-phrases-kmax", "as-phrases-kmin")
BARS = ("sick-phrases-kmin", "wikiqa-phrases-kmax")
NAMES = (*ENTAILMENT, *ANSWERS, *BARS)


@pytest.mark.parametrize("name", NAMES)
def test_the_card_names_its_training(name):
    card = load_named(name).card
    assert card["licence"] and all(source["licence"] and source["rows"] > 0 for source in card["data"])
    assert card["training"]["command"] and card["training"]["seconds"] > 0 and card["recipe"]["name"] == name
    if any("SICK" in source["name"] for source in card["data"]):
        assert "NC" in card["licence"]


def test_entailment_keeps_the_worst_and_answer_selection_the_best_aligned():
    told = {name: load_named(name).card["config"] for name in NAMES}
    assert {name: config["pooling"] for name, config in told.items()} == {name: name.split("-")[2] for name in NAMES}
    # Users type any words: these models read the shared table and need no WordNet.
    assert all(told[name]["extra"] == "none" for name in (*ENTAILMENT, *ANSWERS))
    assert not any(load_named(name).card["words"].get("own") for name in NAMES)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "verdict"),
    [
        ("A man is playing a guitar on the stage.", "A man is playing a guitar.", "entailment"),
        ("A woman is running along the beach.", "A woman is running.", "entailment"),
        ("Two dogs are running through a field.", "Two cats are sleeping on a couch.", "contradiction"),
        ("The man is playing the guitar", "The man is not playing the guitar", "contradiction"),
    ],
)
def test_plain_pairs(premise, hypothesis, verdict):
    assert explain(load_named("te-phrases-kmin"), premise, hypothesis).verdict == verdict


def test_the_unmatched_phrase_is_kept_by_kmin_and_left_by_kmax():
    found = explain(load_named("te-phrases-kmin"), "A man is playing a guitar", "A man is playing a trombone")
    record = found.find(PhraseSelection)
    kept = {pooling: record.choice(pooling, 5).kept[1] for pooling in ("kmin", "kmax")}
    words = {
        pooling: {i for index in indices for i in range(*record.sides[1].phrases[index].span)}
        for pooling, indices in kept.items()
    }
    assert 5 in words["kmin"] and 5 not in words["kmax"]


def test_a_right_answer_is_ranked_above_a_wrong_one():
    for name in ANSWERS:
        checkpoint = load_named(name)
        question = "how many people live in Auburndale"
        right = explain(checkpoint, question, "The city of Auburndale had a population of 12,381 people in 2010")
        wrong = explain(checkpoint, question, "The song was written by two brothers and released in May")
        assert right.probabilities[1] > wrong.probabilities[1], name


@pytest.mark.slow
def test_the_systems_of_the_bars_score_official_layouts(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sick = tmp_path / "SICK_test.txt"
    pairs = [
        ("A man is playing a guitar", "A man is playing an instrument", "ENTAILMENT"),
        ("A woman is slicing an onion", "There is no woman slicing an onion", "CONTRADICTION"),
        ("A dog is running through the snow", "A group of people is dancing on a stage", "NEUTRAL"),
    ]
    sick.write_text(
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
        + "".join(f"{i}\t{a}\t{b}\t3\t{label}\n" for i, (a, b, label) in enumerate(pairs))
    )
    assert main(["evaluate", "pretrained/sick-phrases-kmin", str(sick), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
    wikiqa = tmp_path / "WikiQA-test.tsv"
    head = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
    rows = [
        ("The city had a population of 12,381 and is the largest of the county", 1),
        ("The song was released in May", 0),
        ("Its colours are red and blue", 0),
    ]
    wikiqa.write_text(
        head + "".join(f"Q1\thow big is the city\tD1\tt\tD1-{i}\t{s}\t{label}\n" for i, (s, label) in enumerate(rows))
    )
    assert main(["evaluate", "wikiqa-phrases-kmax", str(wikiqa), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["map"] == 1.0 and found["questions"] == 1


@pytest.mark.parametrize("name", BARS)
def test_the_tables_are_in_the_cards_folder(name):
    folder = available()[name]
    measure = "map" if name.startswith("wikiqa") else "accuracy"
    tables = {path.stem: path for path in folder.glob("*.csv")}
    assert "seeds" in tables
    for name, path in tables.items():
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) >= 5 and all(0 < float(row[measure]) < 1 for row in rows), name
