"""Commands on an external model, by its folder and by a listed name: their output, and the files that they write into
its folder."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from core.__main__ import main as core
from core.checkpoint import load, read_card
from core.data.alignments import read
from core.evaluation import alignment
from tests.guests import LABELS, make
from tests.trainers.conftest import WORDS, pair
from tests.trainers.test_align import PAIRS
from trainers.__main__ import main

MORE = [
    {"source": "the red dog isn't in the snow .", "target": "the dog isn't red .", "sureAlign": "0-0 2-1 3-2 1-3"},
    {"source": "two girls eat ice cream", "target": "girls don't eat", "sureAlign": "1-0 2-2", "possibleAlign": "4-2"},
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A guest, a file of pairs, two of alignments, one of questions, one of the pointing game."""
    folder, source = tmp_path_factory.mktemp("commands"), random.Random(0)
    make(folder / "models/my-bert")
    rows = [pair(source, number) for number in range(24)]
    (folder / "nli.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "rte.json").write_text(json.dumps([*PAIRS[:2], *MORE]))
    (folder / "others.json").write_text(json.dumps(MORE[::-1]))
    twins = [{**row, "sentence2": f"{row['sentence2']} {end}"} for row in rows for end in ("dog", "cat")]
    twins[1::2] = [{**row, "gold_label": LABELS[LABELS.index(row["gold_label"]) - 1]} for row in twins[1::2]]
    twins = [{**row, "pairID": str(number)} for number, row in enumerate(twins)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in twins))
    asked = [f"what is {word}\tthe {other}\t{int(word == other)}\n" for word in WORDS[:6] for other in WORDS[:6]]
    (folder / "answers.csv").write_text("".join(["question\tanswer\tlabel\n", *asked]).replace("\t", ","))
    return folder


@pytest.fixture
def guest(shared, tmp_path, monkeypatch):
    """A copy of it that is also listed, with its files."""
    shutil.copytree(shared, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "models"))
    return tmp_path / "models/my-bert"


def test_scores_are_written_to_the_models_folder_and_listed(guest, capsys):
    data = str(guest.parents[1] / "nli.jsonl")
    assert main(["evaluate", "my-bert", data, "--json", "--card", "Made pairs"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert main(["evaluate", str(guest), data]) == 0
    assert f"accuracy {scores['accuracy']:.2%}" in capsys.readouterr().out
    assert main(["probe", "my-bert", "--suite", "simple", "--card"]) == 0
    assert main(["probe", str(guest), "--suite", "order", "--card"]) == 0
    assert main(["faithfulness", "my-bert", data, "--rows", "1", "--card", "Made pairs"]) == 0
    assert "integrated gradients" in capsys.readouterr().out
    kept = json.loads((guest / "pairlens.json").read_text())
    assert kept["results"]["Made pairs"] == {name: scores[name] for name in ("accuracy", "macro_f1", "items")}
    assert kept["suites"]["simple"]["total"] == kept["suites"]["order"]["total"] == 200
    assert kept["faithfulness"]["Made pairs"]["rows"] == 1
    assert {name: read_card(guest)[name] for name in kept} == kept
    assert core(["models"]) == 0
    assert f"Made pairs {scores['accuracy']:.1%}" in capsys.readouterr().out
    (guest / "pairlens.json").write_text(json.dumps({**kept, "results": {"x": {"accuracy": "high"}}}))
    assert core(["models"]) == 0 and "pairlens.json is damaged" in capsys.readouterr().err


def test_predictions_are_those_of_one_pair_after_the_other(guest, capsys):
    out = guest.parents[1] / "run.jsonl"
    assert main(["predict", "my-bert", str(guest.parents[1] / "nli.jsonl"), "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 24
    for row in rows[:3]:
        capsys.readouterr()
        explained = ["explain", "--model", str(guest), "--first", row["first"], "--second", row["second"], "--json"]
        assert core(explained) == 0
        chances = json.loads(capsys.readouterr().out)["probabilities"]
        assert [row[f"p_{label}"] for label in LABELS] == pytest.approx(chances, abs=1e-5)
    run = guest.parents[1] / "run"
    data = str(guest.parents[1] / "nli.jsonl")
    assert (
        main(["predict", "my-bert", "nli-hypothesis-only", data, "--out", str(run)]) == 0
        and (run / "data.parquet").stat().st_size
    )


def test_a_head_is_chosen_on_one_file_measured_on_another_and_shown(guest, capsys):
    """Its figures equal the usual measure on that head's maps."""
    one, other = (str(guest.parents[1] / name) for name in ("rte.json", "others.json"))
    asked = ["align", "my-bert", one, "--heads", "--card", "RTE", "--also", other, "Others"]
    assert main(asked) == 0
    out = capsys.readouterr().out
    stored = json.loads((guest / "pairlens.json").read_text())
    head, heads = stored["head"], stored["alignment"]["heads"]
    assert len(heads["f1"]) == 3 * 4 + 2 and heads["f1"][head] == max(heads["f1"].values())
    pairs = read(one).pairs
    attended = list(alignment.attend(load(guest), pairs, head))
    threshold = alignment.fixed_threshold(attended)
    measured = stored["alignment"]["results"]
    assert measured["RTE"]["f1"] == alignment.word_scores(attended, threshold)["f1"]
    by_other = alignment.word_scores(list(alignment.attend(load(guest), read(other).pairs, head)), threshold)
    assert measured["Others"]["f1"] == by_other["f1"] and measured["Others"]["threshold"] == threshold
    for name in ("1.2", "mean", "rollout"):
        alone = list(alignment.attend(load(guest), pairs, name))
        assert heads["f1"][name] == alignment.word_scores(alone, alignment.fixed_threshold(alone))["f1"]
    last = f"F1 {by_other['f1']:.2f} against people’s word alignments (Others)".replace("0.", ".")
    assert out.splitlines()[-1].endswith(last)
    assert core(["explain", "--model", "my-bert", "--first", "A dog.", "--second", "A cat."]) == 0
    shown = capsys.readouterr().out
    assert f"F1 {by_other['f1']:.2f} against people".replace("0.", ".") in shown
    assert load(guest).card["config"]["head"] == head
    assert main(["align", "my-bert", other]) == 0 and "links above" in capsys.readouterr().out
    assert main(["align", "nli-two-sided", one, "--heads"]) == 2
    assert "has no heads to choose from" in capsys.readouterr().err


def test_the_pointing_game_and_a_ranker(guest, capsys):
    items = str(guest.parents[1] / "items.jsonl")
    assert main(["point", "my-bert", items, "--way", "dropped", "--way", "frequent", "--way", "most-attended"]) == 0
    out = capsys.readouterr().out
    assert all(way in out for way in ("dropped", "frequent", "most-attended", "chance"))
    explained = guest.parents[1] / "explained.jsonl"
    rows = [json.loads(line) for line in (guest.parents[1] / "nli.jsonl").read_text().splitlines()]
    rows = [row | {"explanation": row["sentence2"].split()[-1]} for row in rows]
    explained.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for asked in (["point", "my-bert", items, "--way"], ["people", "my-bert", str(explained), "--methods"]):
        assert main([*asked, "dropped", "--card", "Made pairs"]) == 0
    capsys.readouterr()
    kept = json.loads((guest / "pairlens.json").read_text())
    assert kept["people"]["Made pairs"]["rows"] == 24 and read_card(guest)["people"] == kept["people"]
    assert kept["pointing"]["Made pairs"]["items"] == 48
    make(guest, id2label={0: "0", 1: "1"}, label2id={"0": 0, "1": 1})
    (guest / "pairlens.json").write_text('{"task": "answer selection", "labels": ["0", "1"]}')
    answers = str(guest.parents[1] / "answers.csv")
    status = main(["calibrate", "my-bert", answers, "--card", "Answers"])
    told = capsys.readouterr()
    kept = json.loads((guest / "pairlens.json").read_text())
    if status == 0:  # with random weights it may rank right answers below wrong ones
        assert kept["calibration"]["fixed_on"] == "Answers" and read_card(guest)["calibration"]["pairs"] == 36
    else:
        assert "ranks wrong answers" in told.err
