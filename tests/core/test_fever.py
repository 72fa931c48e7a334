"""FEVER and SciTail files, and what fills claims without evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.data import DataError, read
from core.data.dataset import Example
from core.data.fever import filled
from tests.core.made_up import make_table
from trainers.loop import train
from trainers.recipe import Recipe
from trainers.set_up import Options
from trainers.sources import DataSource
from trainers.training_data import load_data

CLAIMS = [
    {"id": 1, "label": "SUPPORTS", "claim": "A dog runs.", "evidence": ["The red dog runs .", "It is a man ."]},
    {"id": 2, "label": "REFUTES", "claim": "The man is in the snow.", "evidence": ["The man is in the house ."]},
    {"id": 3, "label": "NOT ENOUGH INFO", "claim": "The snow is red and a dog runs.", "evidence": []},
    {"id": 4, "label": "NOT ENOUGH INFO", "claim": "Zyzzyva.", "evidence": [[[7, None, None, None]]]},
]


def write(path: Path, records: list[dict]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def nested(record: dict) -> dict:
    """The official layout, groups of [annotation, evidence, page, line], with the texts behind."""
    groups = [[[10, 20 + k, "A_page", k, text] for k, text in enumerate(record["evidence"])]]
    return record if record["label"].startswith("NOT") else {**record, "evidence": groups}


def test_both_layouts_are_equivalent_and_each_sentence_appears_once(tmp_path: Path) -> None:
    flat = read(write(tmp_path / "flat.jsonl", CLAIMS))
    assert flat.layout == "FEVER jsonl" and not flat.problems
    assert [(row.id, row.label) for row in flat.rows] == [
        ("1", "supports"),
        ("2", "refutes"),
        ("3", "not enough info"),
        ("4", "not enough info"),
    ]
    assert flat.rows[0].second == "The red dog runs .\nIt is a man ."
    assert read(write(tmp_path / "nested.jsonl", [nested(record) for record in CLAIMS])).rows == flat.rows
    twice = nested(CLAIMS[0])
    twice["evidence"] *= 2
    assert read(write(tmp_path / "twice.jsonl", [twice])).rows[0].second == flat.rows[0].second


def test_claims_without_evidence_get_the_nearest_sentences_of_others(tmp_path: Path) -> None:
    rows = read(write(tmp_path / "x.jsonl", CLAIMS)).rows
    theirs = {text for row in rows[:2] for text in row.second.split("\n")}
    for row in rows[2:]:
        assert row.second and set(row.second.split("\n")) <= theirs
    assert rows[2].second.split("\n")[0] == "The red dog runs ."  # red, dog and runs are rarer than man
    assert rows == read(tmp_path / "x.jsonl").rows


def test_as_many_sentences_are_given_as_the_other_classes_have() -> None:
    own = [Example(str(i), "x", "\n".join(f"a{i} b{j}" for j in range(1 + i % 3)), "supports") for i in range(300)]
    out = filled([*own, *(Example(f"n{i}", f"a{i}", "", "not enough info") for i in range(300))])
    shares = [sum(row.second.count("\n") == n for row in out[300:]) / 300 for n in range(3)]
    assert all(share == pytest.approx(1 / 3, abs=0.08) for share in shares) and sum(shares) == pytest.approx(1)
    assert all(len(set(row.second.split("\n"))) == row.second.count("\n") + 1 for row in out)


def test_sentences_are_given_from_the_nearest_and_as_many_as_claims_that_hold_or_not_have() -> None:
    rows = [
        Example("1", "x", "red dogs run fast", "supports"),
        Example("2", "x", "cats sleep", "refutes"),
        Example("3", "x", "red dogs\nred houses burn\ngreen cars", "not enough info"),
    ]
    empty = [Example(f"n{number}", "red dogs", "", "not enough info") for number in range(20)]
    assert {row.second for row in filled([*rows, *empty])[3:]} == {"red dogs"}
    rows[:2] = [Example(f"{number}", "x", f"red dogs run\ncats sleep {number}", "supports") for number in range(2)]
    assert {row.second for row in filled([*rows, *empty])[3:]} == {"red dogs\nred dogs run"}


def test_a_claim_without_a_word_is_named(tmp_path: Path) -> None:
    told = [{**CLAIMS[0], "claim": claim} for claim in (" ", "\u200b", 7)]
    problems = read(write(tmp_path / "x.jsonl", [*told, CLAIMS[1]])).problems
    assert [(one.line, one.what) for one in problems] == [
        (1, "the claim is empty"), (2, "the claim is empty"), (3, "no claim"),
    ]  # fmt: skip


def test_blocks_of_a_file_are_filled_as_files_of_their_own(tmp_path: Path) -> None:
    other = [{**record, "id": 10 + record["id"], "claim": f"{record['claim']} Not so."} for record in CLAIMS]
    other[0]["evidence"], other[1]["evidence"] = ["A red dog in the snow ."], ["No dog runs ."]
    path = write(tmp_path / "x.jsonl", [*CLAIMS, *other])
    rows = read(path, block=4).rows
    assert [row.second for row in rows[:4]] == [row.second for row in read(write(path, CLAIMS)).rows]
    assert [row.second for row in rows[4:]] == [row.second for row in read(write(path, other)).rows]
    with pytest.raises(DataError, match="leave block out"):
        read(write(path, [{"text": "x", "label": "1"}]), block=4)


def test_evidence_without_text_is_named(tmp_path: Path) -> None:
    pages = {**CLAIMS[0], "evidence": [[[10, 20, "A_page", 0]]]}
    dataset = read(write(tmp_path / "x.jsonl", [pages, CLAIMS[1], {**CLAIMS[1], "label": "MAYBE"}]))
    assert [problem.line for problem in dataset.problems] == [1]
    assert dataset.rows[1].label_text == "MAYBE"
    assert "pages without their text" in dataset.problems[0].what
    with pytest.raises(DataError, match="no other claim of the file has any"):
        read(write(tmp_path / "none.jsonl", CLAIMS[2:3]))


def test_a_fever_run_reports_scores_on_claims_with_evidence(tmp_path: Path) -> None:
    source = DataSource("FEVER", write(tmp_path / "x.jsonl", CLAIMS * 3).name)
    recipe = Recipe(
        "made-up",
        "Made up",
        "attconv-light",
        train=(source,),
        dev=source,
        model={"hidden": 4},
        task="fact checking",
        labels=("supports", "refutes", "not enough info"),
        roles=("claim", "evidence"),
        judged="claim",
        epochs=1,
        token_limits={"evidence": 9},
    )
    card = train(recipe, load_data(recipe, tmp_path), make_table(), Options(tmp_path / "out", device="cpu"), False)
    scores = card["results"]["FEVER"]
    assert scores["accuracy_with_evidence"] * 6 == pytest.approx(round(scores["accuracy_with_evidence"] * 6))
    assert 3 / 12 <= scores["evidence_cut"] < 1


def test_scitail_rows(tmp_path: Path) -> None:
    path = tmp_path / "scitail.tsv"
    path.write_text('A "dog" runs.\tIt moves.\tentails\nx\ty\tneutral\nx\ty\tmaybe\nx\t\tneutral\nx\ty\n')
    dataset = read(path)
    assert dataset.layout == "SciTail" and [problem.line for problem in dataset.problems] == [4, 5]
    assert [(row.first, row.second, row.label) for row in dataset.rows] == [
        ('A "dog" runs.', "It moves.", "entails"),
        ("x", "y", "neutral"),
        ("x", "y", "maybe"),
    ]
