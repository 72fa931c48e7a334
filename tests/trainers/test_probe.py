"""The suite of simple pairs, and `python -m trainers probe` on made-up checkpoints."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch

from app.models import card
from core.checkpoint import load, save
from core.data import read
from core.evaluation.probe import SUITES, suits
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
    rows = read(SUITES["simple"]).rows
    assert len(rows) >= 150 and {row.columns["kind"] for row in rows} == KINDS
    assert len({(row.first, row.second) for row in rows}) == len(rows)
    labels = Counter(row.label for row in rows)
    assert set(labels) == {"entailment", "neutral", "contradiction"} and max(labels.values()) < 0.4 * len(rows)
    assert all(text.endswith(".") for row in rows for text in (row.first, row.second))


def test_the_suite_on_order_quantity_and_binding_is_whole_and_balanced() -> None:
    rows = read(SUITES["order"]).rows
    assert len({(row.first, row.second) for row in rows}) == len(rows) == 200
    kinds, labels = Counter(row.columns["kind"] for row in rows), Counter(row.label for row in rows)
    assert set(kinds) == {"order", "quantity", "binding"} and min(kinds.values()) >= 60
    assert set(labels) == {"entailment", "neutral", "contradiction"} and min(labels.values()) >= 50


def test_the_other_suite_is_put_and_what_typing_changes_is_said(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    assert main(["probe", str(folder), "--suite", "order", "--json", "--card"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["suite"] == "order" and result["total"] == 200
    card_figures = json.loads((folder / "card.json").read_text())["probe_order"]
    named, right, kinds = card.simple_pairs(json.loads((folder / "card.json").read_text()))[1]
    assert (named, right) == ("Order pairs", f"{result['right']} of 200")
    assert kinds.startswith(f"order {result['kinds']['order']['right']} of 70, quantity ")
    assert card_figures == {key: result[key] for key in ("right", "total", "kinds")}
    # The share by hand: verdicts of the suite as it is, against verdicts of every text without its full stop.
    checkpoint, rows = load(folder), read(SUITES["order"]).rows
    plain, bare = (
        [explain(checkpoint, change(row.first), change(row.second)).verdict for row in rows]
        for change in (str, lambda text: text.rstrip("."))
    )
    same = sum(one == other for one, other in zip(plain, bare, strict=True)) / 200
    assert result["typing"]["without full stop"] == pytest.approx(same, abs=1e-4)
    assert main(["probe", str(folder), "--suite", "order"]) == 0
    assert "of 200 order pairs right" in capsys.readouterr().out


def test_training_ends_with_the_figures_and_probe_says_which_went_wrong(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    figures = json.loads((folder / "card.json").read_text())["probe"]
    assert main(["probe", str(folder), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert figures == {key: result[key] for key in ("right", "total", "kinds")}
    assert (
        result["right"] + len(result["wrong"]) == result["total"] == sum(n["total"] for n in result["kinds"].values())
    )
    assert all(1 / 3 <= pair["probability"] <= 1 and pair["verdict"] != pair["label"] for pair in result["wrong"])
    assert main(["probe", str(folder)]) == 0
    assert f"{result['right']} of {result['total']} simple pairs right" in capsys.readouterr().out
    bare = {key: value for key, value in json.loads((folder / "card.json").read_text()).items() if key != "probe"}
    (folder / "card.json").write_text(json.dumps(bare))
    assert main(["probe", str(folder), "--card"]) == 0
    written = load(folder).card
    assert written["probe"] == figures and written["sha256"] == result["sha256"]
    assert card.simple_pairs(written)[0][:2] == ("Simple pairs", f"{figures['right']} of {figures['total']}")


def test_a_model_that_counts_crossings_says_how_many_verdicts_turn_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_checkpoint(tmp_path / "mine", make_table(), "two-sided", "both").folder
    checkpoint, rows = load(folder), read(SUITES["simple"]).rows
    with torch.no_grad():
        checkpoint.model.compare.weight[:, -1] *= 30  # so that crossings count
    save(folder, checkpoint.model, dict(checkpoint.card), words=checkpoint.words)
    checkpoint = load(folder)
    assert main(["probe", str(folder), "--json", "--card"]) == 0
    without = json.loads(capsys.readouterr().out)["without_crossings"]

    def turns(pair: tuple[str, str]) -> bool:
        verdicts = {explain(checkpoint, *pair, crossings=counted, records=()).verdict for counted in (True, False)}
        return len(verdicts) > 1

    swapped = [(row.first, row.second) for row in rows if row.columns["kind"] == "swapped"]
    turned = {pair: turns(pair) for pair in swapped}
    assert without["kinds"]["swapped"] == sum(turned.values()) > 0
    exchanged = [pair for pair in turned if sorted(pair[0].lower().split()) == sorted(pair[1].lower().split())]
    assert without["turned"] >= sum(turned[pair] for pair in exchanged) and without["total"] >= len(exchanged)
    written = load(folder).card
    assert written["probe"]["without_crossings"] == without
    assert card.simple_pairs(written)[0][2].endswith(
        f"without crossings (q = 0) the verdicts of {without['turned']} of {without['total']} exchanged pairs turn"
    )
    assert main(["probe", str(folder)]) == 0
    assert f"{without['turned']} of {without['total']} pairs with the same words" in capsys.readouterr().out


def test_a_card_without_figures_or_with_broken_ones_has_no_line() -> None:
    for probed in (None, 5, {}, {"right": "x", "total": 3}, {"right": 1, "total": 0}):
        assert card.simple_pairs({"probe": probed}) == []


def test_other_models_are_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("topic-acnn", "para-adaqa", "no-such-model"):
        assert main(["probe", name]) == 2
        message = capsys.readouterr().err
        assert name in message and len(message.strip().splitlines()) == 1
    assert not suits({"labels": ["entailment", "neutral", "contradiction"], "roles": 5})
