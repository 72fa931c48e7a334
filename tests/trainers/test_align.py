"""The command align and the card fields that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.checkpoint import CheckpointError, load, read_card
from core.data.alignments import read
from core.evaluation import alignment
from tests.core.made_up import make_checkpoint, make_table
from trainers.__main__ import main

PAIRS = [
    {"source": "the red dog plays in snow", "target": "a dog plays", "sureAlign": "2-1 3-2", "possibleAlign": "0-0"},
    {"source": "a man is in the snow .", "target": "the man run .", "sureAlign": "1-1 6-3", "possibleAlign": ""},
    {"source": "a dog", "target": "an animal", "sureAlign": "5-1"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint, words.json and others.json."""
    make_checkpoint(tmp_path / "tiny", make_table())
    (tmp_path / "words.json").write_text(json.dumps(PAIRS))
    (tmp_path / "others.json").write_text(json.dumps(PAIRS[:1]))
    return tmp_path


def align(capsys: pytest.CaptureFixture[str], folder: Path, file: str, *options: str) -> tuple[int, str, str]:
    status = main(["align", str(folder / "tiny"), str(folder / file), *options])
    return status, *capsys.readouterr()


def test_a_threshold_is_fixed_once_kept_in_the_card_and_used_for_other_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = read_card(folder / "tiny")
    status, out, err = align(capsys, folder, "words.json", "--json")
    assert (status, out) == (2, "") and err == (
        "python -m trainers align: the card of tiny has no threshold for links: fix it with "
        '`python -m trainers align tiny rte2_dev.json --fix-threshold --card "RTE-2 dev"`\n'
    )
    # Without --card nothing is written.
    fixed = json.loads(align(capsys, folder, "words.json", "--fix-threshold", "--json")[1])
    assert read_card(folder / "tiny") == before
    attended = list(alignment.attend(load(folder / "tiny"), read(folder / "words.json").pairs))
    assert fixed["threshold"] == alignment.fixed_threshold(attended)
    assert (fixed["checkpoint"], fixed["file"], fixed["pairs"], fixed["sure"]) == ("tiny", "words.json", 2, 4)
    assert fixed["broken"] == ["entry 3: sureAlign has 5-1, but the sentences have 2 and 2 words"]

    assert align(capsys, folder, "words.json", "--fix-threshold", "--card", "Made up")[0] == 0
    other = json.loads(align(capsys, folder, "others.json", "--card", "Others", "--json")[1])
    assert other["threshold"] == fixed["threshold"]
    card = read_card(folder / "tiny")
    assert {**card, "alignment": None} == {**before, "alignment": None}
    stored = card["alignment"]
    assert (stored["threshold"], stored["fixed_on"], list(stored["results"])) == (
        fixed["threshold"],
        "Made up",
        ["Made up", "Others"],
    )
    assert stored["results"]["Made up"]["f1"] == fixed["f1"] and stored["results"]["Others"]["aer"] == other["aer"]
    assert stored["results"]["Others"]["command"] == "python -m trainers align tiny others.json --card Others"
    # A new threshold removes the figures of the old one.
    assert align(capsys, folder, "others.json", "--fix-threshold", "--card", "Others")[0] == 0
    assert list(read_card(folder / "tiny")["alignment"]["results"]) == ["Others"]


def test_the_figures_are_shown_with_the_baseline_and_broken_entries(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = align(capsys, folder, "words.json", "--fix-threshold", "--card", "Made up")
    assert "tiny on words.json: 2 pairs, links above 0." in out and "1 broken entries were left out (entry 3: " in out
    assert "identical words" in out


@pytest.mark.parametrize(
    ("architecture", "settings"),
    [
        ("phrases", {}),
        ("attconv-light", {"context": "intra"}),
        ("attconv-light", {"context": "none"}),
        ("acnn", {}),
    ],
)
def test_a_model_without_attention_between_the_words_gets_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], architecture: str, settings: dict[str, str]
) -> None:
    make_checkpoint(folder / "tiny", make_table(), architecture, **settings)
    status, _, err = align(capsys, folder, "words.json", "--fix-threshold")
    assert status == 2 and err.count("\n") == 1
    assert "tiny has no attention from the second sentence to the first: choose" in err


@pytest.mark.parametrize("changes", [{"threshold": "high"}, {"fixed_on": "x"}, {"results": {"Made up": {"f1": 1}}}])
def test_a_card_with_damaged_figures_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object]
) -> None:
    align(capsys, folder, "words.json", "--fix-threshold", "--card", "Made up")
    path = folder / "tiny/card.json"
    card = json.loads(path.read_text())
    path.write_text(json.dumps(card | {"alignment": card["alignment"] | changes}))
    with pytest.raises(CheckpointError, match="damaged"):
        read_card(folder / "tiny")
