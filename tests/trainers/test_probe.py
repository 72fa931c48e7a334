"""The suite of simple pairs, and `python -m trainers probe` on made-up checkpoints."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch

from app.models import card
from core.checkpoint import load, save
from core.evaluation.probe import KindChange, suits
from core.evaluation.suites import SUITES
from core.explain import explain
from tests.core.made_up import make_checkpoint, make_table
from trainers.__main__ import main

KINDS = {
    "paraphrase",
    "dropped",
    "added",
    "swapped",
    "scene",
    "negation",
    "antonym",
    "number",
    "colour",
    "co-hyponym",
    "hypernym",
    "hyponym",
}


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint after two epochs on made-up pairs."""
    out = tmp_path_factory.mktemp("trained") / "mine"
    changes = ["model.hidden=8", "epochs=2", "batch_size=16", "warmup=2", "report=[]"]
    more = [part for change in changes for part in ("--set", change)]
    assert main(["train", "nli-attconv-light", "--data", str(data), "--out", str(out), *more]) == 0
    return out


def test_the_suite_is_whole_and_balanced() -> None:
    rows = SUITES["simple"].pairs.rows
    assert len(rows) >= 150 and {row.columns["kind"] for row in rows} == KINDS
    assert len({(row.first, row.second) for row in rows}) == len(rows)
    labels = Counter(row.label for row in rows)
    assert set(labels) == {"entailment", "neutral", "contradiction"} and max(labels.values()) < 0.4 * len(rows)
    assert all(text.endswith(".") for row in rows for text in (row.first, row.second))


def test_the_suite_on_order_quantity_and_binding_is_whole_and_balanced() -> None:
    rows = SUITES["order"].pairs.rows
    assert len({(row.first, row.second) for row in rows}) == len(rows) == 200
    kinds, labels = Counter(row.columns["kind"] for row in rows), Counter(row.label for row in rows)
    assert set(kinds) == {"order", "quantity", "binding"} and min(kinds.values()) >= 60
    assert set(labels) == {"entailment", "neutral", "contradiction"} and min(labels.values()) >= 50


def test_the_other_suite_is_evaluated_and_changes_by_typing_are_reported(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    assert main(["probe", str(folder), "--suite", "order", "--json", "--card"]) == 0
    result = json.loads(capsys.readouterr().out)["suites"]["order"]
    assert result["total"] == 200
    card_figures = json.loads((folder / "card.json").read_text())["suites"]["order"]
    named, right, kinds = card.simple_pairs(json.loads((folder / "card.json").read_text()))[1]
    assert (named, right) == ("Word order", f"{result['right']} of 200")
    assert kinds.startswith(f"order {result['kinds']['order']['right']} of 70, quantity ")
    assert card_figures == {key: result[key] for key in ("right", "total", "kinds")}
    # The share by hand: verdicts of the suite as it is, against verdicts of every text without its full stop.
    checkpoint, rows = load(folder), SUITES["order"].pairs.rows
    plain, bare = (
        [explain(checkpoint, change(row.first), change(row.second)).verdict for row in rows]
        for change in (str, lambda text: text.rstrip("."))
    )
    same = sum(one == other for one, other in zip(plain, bare, strict=True)) / 200
    assert result["typing"]["without full stop"] == pytest.approx(same, abs=1e-4)
    assert main(["probe", str(folder), "--suite", "order"]) == 0
    assert "Word order, " in capsys.readouterr().out


def test_training_ends_with_the_figures_and_probe_lists_the_wrong_pairs(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    figures = json.loads((folder / "card.json").read_text())["suites"]
    assert list(figures) == list(SUITES)
    figures = figures["simple"]
    assert main(["probe", str(folder), "--suite", "simple", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    result = told["suites"]["simple"]
    assert figures == {key: result[key] for key in ("right", "total", "kinds")}
    assert (
        result["right"] + len(result["wrong"]) == result["total"] == sum(n["total"] for n in result["kinds"].values())
    )
    assert all(1 / 3 <= pair["probability"] <= 1 and pair["verdict"] != pair["label"] for pair in result["wrong"])
    assert main(["probe", str(folder), "--suite", "simple"]) == 0
    assert f"Simple pairs, {result['right']} of {result['total']} pairs right" in capsys.readouterr().out
    bare = {key: value for key, value in json.loads((folder / "card.json").read_text()).items() if key != "suites"}
    (folder / "card.json").write_text(json.dumps(bare))
    assert main(["probe", str(folder), "--suite", "simple", "--card"]) == 0
    written = load(folder).card
    assert written["suites"] == {"simple": figures} and written["sha256"] == told["sha256"]
    assert card.simple_pairs(written)[0][:2] == ("Simple pairs", f"{figures['right']} of {figures['total']}")


def test_a_model_that_counts_crossings_reports_how_many_verdicts_turn_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_checkpoint(tmp_path / "mine", make_table(), "two-sided", "both").folder
    checkpoint, rows = load(folder), SUITES["simple"].pairs.rows
    with torch.no_grad():
        checkpoint.model.compare.weight[:, -1] *= 30  # so that crossings count
    save(folder, checkpoint.model, dict(checkpoint.card), words=checkpoint.words)
    checkpoint = load(folder)
    assert main(["probe", str(folder), "--suite", "simple", "--json", "--card"]) == 0
    without = json.loads(capsys.readouterr().out)["suites"]["simple"]["without_crossings"]

    def turns(pair: tuple[str, str]) -> bool:
        verdicts = {explain(checkpoint, *pair, crossings=counted, records=()).verdict for counted in (True, False)}
        return len(verdicts) > 1

    swapped = [(row.first, row.second) for row in rows if row.columns["kind"] == "swapped"]
    turned = {pair: turns(pair) for pair in swapped}
    assert without["kinds"]["swapped"] == sum(turned.values()) > 0
    exchanged = [pair for pair in turned if sorted(pair[0].lower().split()) == sorted(pair[1].lower().split())]
    assert without["turned"] >= sum(turned[pair] for pair in exchanged) and without["total"] >= len(exchanged)
    written = load(folder).card
    assert written["suites"]["simple"]["without_crossings"] == without
    assert card.simple_pairs(written)[0][2].endswith(
        f"without crossings (q = 0) the verdicts of {without['turned']} of {without['total']} exchanged pairs turn"
    )
    assert main(["probe", str(folder), "--suite", "simple"]) == 0
    assert f"{without['turned']} of {without['total']} pairs with the same words" in capsys.readouterr().out


def test_a_card_without_figures_or_with_broken_ones_has_no_line() -> None:
    for probed in (None, 5, {}, {"right": "x", "total": 3}, {"right": 1, "total": 0}):
        assert card.simple_pairs({"suites": {"simple": probed}}) == []


def test_other_models_are_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("topic-acnn", "para-adaqa", "no-such-model"):
        assert main(["probe", name]) == 2
        message = capsys.readouterr().err
        assert name in message and len(message.strip().splitlines()) == 1
    assert not suits({"labels": ["entailment", "neutral", "contradiction"], "roles": 5})


def test_the_other_suites_have_kinds_of_many_pairs_and_labels_that_every_model_can_give() -> None:
    one_word, structure = (SUITES[name].pairs.rows for name in ("one_word", "structure"))
    assert len(one_word) == 1087 and len(structure) == 666
    for rows in (one_word, structure):
        kinds = Counter(row.columns["kind"] for row in rows)
        assert len(kinds) > 20 and min(kinds.values()) >= 17
    scale = SUITES["structure"].scale(("neutral", "entailment", "contradiction"))
    assert -1 not in scale.of([row.label for row in structure])
    # Neutral and contradiction count together: .3 + .3 against .4 means not entailment.
    answers = scale.sums(torch.tensor([[0.3, 0.4, 0.3], [0.2, 0.6, 0.2]]).numpy()).argmax(1)
    assert [scale.names[best] for best in answers] == ["non-entailment", "entailment"]


@pytest.mark.parametrize(
    ("total", "old", "new", "p", "falls"),
    [(40, 40, 37, 0.25, True), (40, 40, 38, 0.5, False), (1000, 900, 899, 0.04, True), (40, 30, 40, 0.001, False)],
)
def test_a_kind_falls_by_more_than_two_pairs_or_significantly(
    total: int, old: int, new: int, p: float, falls: bool
) -> None:
    assert KindChange("kind", total, old, new, p).falls is falls


def test_a_checkpoint_is_compared_with_another_one_kind_by_kind(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worse = tmp_path / "worse"
    shutil.copytree(trained, worse)
    checkpoint = load(worse)
    with torch.no_grad():  # answers entailment to everything
        checkpoint.model.classifier.weight.zero_()
        checkpoint.model.classifier.bias.copy_(torch.tensor([1.0, 0.0, 0.0]))
    save(worse, checkpoint.model, dict(checkpoint.card), words=checkpoint.words)
    file = tmp_path / "more.tsv"
    lines = ["A man sleeps.\tA man is asleep.\tentailment", "A man sleeps.\tA dog sleeps.\tneutral"]
    file.write_text("\n".join(["premise\thypothesis\tlabel", *lines]) + "\n")
    given = ["--against", str(trained), "--suite", "structure", "--file", str(file), "--json"]
    assert main(["probe", str(worse), *given]) == 1
    result = json.loads(capsys.readouterr().out)
    assert main(["probe", str(trained), "--suite", "structure", "--json"]) == 0
    before = json.loads(capsys.readouterr().out)["suites"]["structure"]["kinds"]
    told = {kind["kind"]: kind for kind in result["sets"]["Structure"]}
    for kind, counts in before.items():
        expected = {"entailment": counts["total"], "non-entailment": 0}
        label = next(row.label for row in SUITES["structure"].pairs.rows if row.columns["kind"] == kind)
        assert (told[kind]["old"], told[kind]["new"]) == (counts["right"], expected[label])
        assert told[kind]["falls"] == (f"Structure, {kind}" in result["falls"])
    of_file = {kind["kind"]: (kind["total"], kind["new"]) for kind in result["sets"]["more.tsv"]}
    assert of_file == {"all": (2, 1), "entailment": (1, 1), "neutral": (1, 0)}
    assert {figure["figure"] for figure in result["cards"]} >= {"SNLI dev, accuracy"}
    assert main(["probe", str(trained), "--against", str(trained), "--suite", "order"]) == 0
    said = capsys.readouterr().out
    assert "no kind falls" in said and f"{trained} against {trained}: " in said
    for wrong in (["--file", str(file)], ["--against", str(trained), "--card"]):
        assert main(["probe", str(trained), *wrong]) == 2
