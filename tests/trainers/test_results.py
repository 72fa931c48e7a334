"""docs/results.md and README agree with cards, tables and maps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.checkpoint import PRETRAINED, read_card
from core.json_types import JsonObject
from trainers import recipe as recipes
from trainers.paper import results, results_from_tables
from trainers.paper.__main__ import main as paper
from trainers.paper.table.systems import TABLES

ROOT = PRETRAINED.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TRAINER = README.partition("### As a trainer")[2].partition("\n## ")[0]
COMPARED = "comparison,measure,dev,ours,theirs,difference,low,high,items,seeds,seeds_theirs"


def card(name: str, **changes: Any) -> JsonObject:
    source = {"name": "SICK train", "rows": 4500, "licence": "CC BY-NC-SA 3.0"}
    made = {"seconds": 93.6, "threads": 2, "device": "CPU (Abacus)", "torch": "9.9", "command": "train it --data DATA"}
    return {
        "schema_version": 1,
        "name": name,
        "title": "A <b>made-up</b> | model",
        "architecture": "phrases",
        "config": {},
        "task": "entailment",
        "labels": ["a", "b"],
        "roles": {"first": "x", "second": "y", "judged": "y"},
        "words": {"sha256": "0"},
        "licence": "free",
        "sha256": "0",
        "data": [source],
        "paper": {"SICK test": 0.871},
        "parameters": {"model": 1234, "projection": 56},
        "recipe": {"dev": {"name": "SICK trial"}},
        "seed": 7,
        "results": {"SICK trial": {"accuracy": 0.8125, "items": 500}},
        "training": made,
        "notes": "*Noted*.",
    } | changes


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def words() -> str:
    """The page without what the command writes."""
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    return results.BLOCK.sub(lambda block: f"{block[1]} -->\n<!-- end -->", page)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders ``pretrained`` (two checkpoints and the word table) and ``docs`` (the page's text)."""
    folder = tmp_path / "pretrained"
    monkeypatch.setattr(results, "PRETRAINED", folder)
    monkeypatch.setattr(results, "DOCS", tmp_path / "docs")
    write(tmp_path / "docs/results.md", words())
    write(folder / "sick-phrases-kmin/card.json", card("sick-phrases-kmin", init={"name": "earlier", "sha256": "1"}))
    write(
        folder / "sick-phrases-kmin/seeds.csv",
        "seed,best_epoch,dev,accuracy,command\n"
        "1,2,SICK trial,0.8,sweep again\n2,2,SICK trial,0.81,\n3,2,SICK trial,0.82,\n",
    )
    write(
        folder / "sick-phrases-kmin/figure6.csv",
        "model.pooling,model.k,seed,best_epoch,accuracy\n"
        "kmin,1,1,2,0.7\nkmin,2,1,2,0.72\nkmax,1,1,2,0.6\nkmax,2,1,2,0.625\n",
    )
    write(
        folder / "sick-phrases-kmin/comparisons.csv",
        f"{COMPARED}\nk-min against k-max,accuracy,SICK trial,0.8,0.7,0.1,0.05,0.15,500,3,3\n",
    )
    answers = {"WikiQA dev": {"map": 0.71234, "mrr": 0.72, "items": 126}}
    seeds = {"seeds": [1, 2], "results": {"SICK trial": {"values": [0.8, 0.9]}}}
    ranker = card("as-adaqa", task="answer selection", results=answers, paper={"WikiQA test MAP": 0.7107}, seeds=seeds)
    write(folder / "as-adaqa/card.json", ranker)
    quality = {"knn_filters": 0.94, "knn_plane": 0.92, "majority": 0.5, "trustworthiness": 0.98765, "knn_held_out": 0.9}
    write(
        folder / "as-adaqa/map/map.json",
        {
            "layouts": [{"name": "all filters", "quality": quality}],
            "items": [["a"]] * 1234,
            "quality_neighbours": 10,
            "data": {"file": "train.tsv"},
            "held_out": {"file": "dev.tsv", "texts": 321},
            "command": "map it",
        },
    )
    write(
        folder / "words/card.json",
        {
            "words": 102122,
            "width": 160,
            "licence": "CC BY-SA 4.0",
            "made_from": [{"name": "GloVe", "licence": "PDDL"}],
            "epochs": [{"epoch": 1, "snli_dev": 0.7}, {"epoch": 2, "snli_dev": 0.79}],
            "notes": "",
            "training": {"seconds": 25.1, "threads": 1, "torch": "9.9", "command": "words again"},
        },
    )
    return folder


def test_every_kind_of_file_reaches_the_page(made_up: Path) -> None:
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    for line in (
        # t(.975, 2) = 4.30265, s = 0.01, n = 3: 4.30265 · 0.01 / √3 = 0.0248
        r"| `sick-phrases-kmin` | A \<b\>made-up\</b\> \| model | 81.2 % | SICK trial 81.0 ± 2.5 % (3 seeds) "
        "| SICK test 87.1 % | 1,234 + 56 | 1.6 minutes, 2 threads | `earlier` | SICK train (4,500, CC BY-NC-SA 3.0) "
        "| free |",
        "| `as-adaqa` | A \\<b\\>made-up\\</b\\> \\| model | MAP 0.7123, MRR 0.7200 "
        # t(.975, 1) = 12.7062, s = 0.0707107, n = 2: half = 0.63531
        "| SICK trial 85.0 ± 63.5 % (2 seeds) | WikiQA test MAP 0.7107 | 1,234 + 56 | 1.6 minutes, 2 threads "
        "| random weights |",
        "| `sick-phrases-kmin` | figure6: each k of k-min and k-max pooling (the paper’s figure 6) | 4 "
        "| pooling = kmin, k = 1: 70.0 % | pooling = kmin, k = 2: 72.0 % | pooling = kmax, k = 1: 60.0 % | accuracy |",
        r"| k-min against k-max | SICK trial: 500 items, 3 seeds | accuracy 80.0 % against 70.0 % "
        r"| +10.0 \[+5.0, +15.0] | higher | `sick-phrases-kmin` |",
        "| `as-adaqa` | all filters | 1,234 of train.tsv | 10 | 94.0 % | 92.0 % | 90.0 % (321 of dev.tsv) | 50.0 % "
        "| 0.988 |",
        "| 102,122 | 160 | GloVe (PDDL) | 79.0 % | 25 seconds, 1 thread, torch 9.9 | CC BY-SA 4.0 |",
    ):
        assert line in page
    assert "No speeds are stored yet" in page
    assert not re.search(r"^    \S", page, re.M)  # whole commands are on the cards alone


def test_the_page_is_short_and_only_names_commands() -> None:
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 540 and not re.search(r"^    \S", page, re.M)


def test_tables_of_systems_show_the_papers_numbers_and_their_command(made_up: Path) -> None:
    rows = "system,ours: SST-5 dev,runs,not run\nCNN,41.23,1,\nParagraph vector,–,–,no reader\n"
    write(made_up.parent / "docs/tables/comparison-sst5.csv", rows)
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    assert "| CNN | 41.23 | 1 |  |\n| Paragraph vector | – | – | no reader |" in page
    assert "By `python -m trainers.paper table sentiment --train comparison-sst5`." in page
    assert {name for name in recipes.names() if name.startswith("comparison-")} == {
        recipe for table in TABLES.values() for recipe in table.titles
    }


def test_a_figures_points_are_a_table_with_its_command(made_up: Path) -> None:
    rows = (
        "checkpoint,title,group,first,last,items,right,accuracy,low,high\n"
        "a,A,1,1,1,4,2,0.5000,0.1500,0.8500\na,A,2,2,2,1,1,1.0000,0.2065,1.0000\n"
        "b,B,1,1,1,4,1,0.2500,0.0456,0.6994\nb,B,2,2,2,1,0,0.0000,0.0000,0.7935\n"
    )
    write(made_up.parent / "docs/tables/figure-evidence.csv", rows)
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    assert "| run | 1 (4 rows) | 2 (1 rows) |" in page
    assert "| a | 50.0 (15.0 to 85.0) | 100.0 (20.6 to 100.0) |\n| b | 25.0 (4.6 to 69.9) |" in page
    assert "by `python -m trainers.paper figure evidence`" in page


def test_faithfulness_is_tabulated_for_measured_models(made_up: Path) -> None:
    def figure(mean: float) -> dict[str, object]:
        return {"mean": mean, "interval": [mean - 0.01, mean + 0.02]}

    ways = {
        way: {"sufficiency": {"steps": {}, **figure(low)}, "comprehensiveness": {"steps": {}, **figure(high)}}
        for way, low, high in (("gradient-norm", 0.0, 0.5), ("taken-away", 0.25, 0.75), ("random", 0.375, 0.25))
    }
    measured = {"rows": 1500, "seed": 1, "ways": ways, "permutations": figure(0.125), "tau_b": None, "command": "ask"}
    write(made_up / "nli/card.json", card("nli", faithfulness={"SNLI dev": measured}))
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    assert "| gradient norm | taken away | random orders |" in page
    rest = "0.500 (0.490 to 0.520) | 0.750 (0.740 to 0.770) | 0.250 (0.240 to 0.270) |"
    assert f"| `nli` | SNLI dev | 1,500 | 0.125 (0.115 to 0.145) | – | {rest}" in page


def test_peoples_words_have_a_row_a_model(made_up: Path) -> None:
    ways = {"taken-away": 0.75, "dropped": 0.5, "attention": 0.625, "chance": 0.375, "new-words": 0.25}
    figures = {way: {"mean": mean, "interval": [0.125, 0.875]} for way, mean in ways.items()}
    side = {"all labels": {"items": 40, "at_1": figures, "precision": figures}}
    measured = {"rows": 60, "judged_right": 50, "sides": {"premise": side, "hypothesis": side}, "command": "ask"}
    write(made_up / "nli/card.json", card("nli", people={"e-SNLI dev": measured}))
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    of_side = "0.750 (0.125 to 0.875) | attention 0.625 | 0.375 | 0.250 |"
    assert f"| `nli` | e-SNLI dev, 60 pairs | {of_side} {of_side}" in page


def test_attention_that_was_measured_gets_a_table(made_up: Path) -> None:
    links = {"precision": 0.5, "recall": 0.25, "f1": 1 / 3, "aer": 2 / 3}
    measured = links | {"threshold": 0.25, "content_on_function": 0.125, "entropy": 0.5, "identical_words": links}
    stored = {"threshold": 0.25, "fixed_on": "RTE-2 dev", "results": {"RTE-2 dev": measured | {"command": "align it"}}}
    write(made_up / "nli/card.json", card("nli", alignment=stored))
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    assert "| checkpoint | RTE-2 dev: F1 | RTE-2 dev: precision | RTE-2 dev: recall | RTE-2 dev: AER |" in page
    assert "| `nli` | .333 | .500 | .250 | .667 | .333 |" in page


def test_a_stored_run_of_bench_becomes_the_table_of_speeds(made_up: Path) -> None:
    row = {"name": "explain", "value": 1.854, "unit": "ms", "bar": 3, "at_most": True, "note": "median", "met": True}
    machine = {"device": "CPU (Abacus)", "cores": 2, "threads": 1, "torch": "9.9", "python": "3.11"}
    machine |= {"load_before": 0.04, "date": "2026-11-21"}
    seen = row | {"name": "seen", "bar": None, "met": None}
    fast = row | {"name": "fast", "value": 1.4}
    rows = [row, seen, fast, row | {"name": "app", "value": None, "met": None, "note": "no browser"}]
    runs = [{"machine": machine, "benchmarks": {"explain": rows}}]
    write(made_up.parent / "docs/speed.json", {"runs": runs})
    assert paper(["results"]) == 0
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    assert "| explain | 1.85 ms | ≤ 3 ms | yes | median | 1 |\n| app | - | ≤ 3 ms | not measured | no browser |" in page
    assert "Run 1: 2026-11-21 on CPU (Abacus) (2 cores, 1 thread, load 0.0 before; Python 3.11, torch 9.9" in page
    assert "| seen |" not in page  # without a bar
    assert "| fast |" not in page and "Left out: 1 measurement below half of their maximum" in page


def test_check_notices_a_deviating_card(made_up: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paper(["results", "--check"]) == 1  # nothing is written yet
    assert paper(["results"]) == 0 and paper(["results", "--check"]) == 0
    capsys.readouterr()
    write(made_up / "as-adaqa/card.json", card("as-adaqa", results={"WikiQA dev": {"accuracy": 0.5, "items": 126}}))
    page = (made_up.parent / "docs/results.md").read_text(encoding="utf-8")
    assert paper(["results", "--check"]) == 1
    assert capsys.readouterr().err == (
        "docs/results.md does not match the cards and tables: run `python -m trainers.paper results`.\n"
    )
    assert (made_up.parent / "docs/results.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("path", "content", "why"),
    [
        ("as-adaqa/card.json", "{", "as-adaqa/card.json is not readable JSON"),
        (
            "as-adaqa/card.json",
            json.dumps({k: v for k, v in card("as-adaqa").items() if k != "training"}),
            "as-adaqa/card.json lacks training: train the checkpoint again",
        ),
        (
            "sick-phrases-kmin/figure6.csv",
            "epoch\n1\n",
            "figure6.csv in the folder of sick-phrases-kmin cannot be read",
        ),
        (
            "sick-phrases-kmin/seeds.csv",
            f"{COMPARED}\na,map,x,0.6,0.5,0.1,0,0.2,9,1,1\n",
            "seeds.csv is a table of compar",
        ),
        ("as-adaqa/map/map.json", "[", "map/map.json is not readable JSON"),
        ("words/card.json", "", "words/card.json is not readable JSON"),
        ("../docs/speed.json", "{", "docs/speed.json is not a readable JSON"),
    ],
)
def test_a_broken_file_gets_one_sentence(
    made_up: Path, capsys: pytest.CaptureFixture[str], path: str, content: str, why: str
) -> None:
    write(made_up / path, content)
    assert paper(["results"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("python -m trainers.paper results: ") and why in message and message.count("\n") == 1
    assert (made_up.parent / "docs/results.md").read_text(encoding="utf-8") == words()


def test_a_task_that_the_page_has_no_place_for_is_named(made_up: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(made_up / "as-adaqa/card.json", card("as-adaqa", task="reading"))
    assert paper(["results"]) == 2
    assert "no place for reading: add `<!-- written: reading -->`" in capsys.readouterr().err


def test_the_page_agrees_with_the_shipped_cards() -> None:
    assert paper(["results", "--check"]) == 0


def test_the_words_around_the_tables_hold_no_measured_number() -> None:
    prose = "\n".join([words(), *results_from_tables.CLAIMS.values(), *results_from_tables.FIGURES.values()])
    assert not re.findall(r"\d*\.\d+|\d+ ?%", prose.replace("95 % interval", ""))


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    assert len(README.splitlines()) < 130
    for link in re.findall(r"\]\(([^)]+)\)", README):
        path, _, anchor = link.partition("#")
        assert (ROOT / path).is_file(), link
        headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.M) if anchor else []
        assert not anchor or anchor in [re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in headings]


def test_the_layout_in_contributing_is_there() -> None:
    parent, contributing = ROOT, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.findall(r"^ {4}( {2})?([a-z_]+/?) {2,}\S", contributing.partition("## Repository layout")[2], re.M)
    assert len(lines) > 10
    for indent, name in lines:
        parent = parent if indent else ROOT / name
        assert parent.is_dir() if not indent else any(parent.glob(f"{name}*")), name


def test_numbers_of_trainings_in_readme_are_the_cards() -> None:
    lines = re.findall(r"python -m trainers train (\S+) .*# (.+)", TRAINER)
    assert len(lines) == 3
    for name, comment in lines:
        made = read_card(PRETRAINED / name)
        dev, epochs = made["recipe"]["dev"]["name"], made["training"]["seconds"] / 60 / len(made["epochs"])
        threads = {1: ", 1 thread", 2: ""}[made["training"]["threads"]]
        assert comment in (
            f"{results.minutes(made)}, {dev} {results.scores(made['results'][dev])}{threads}",
            f"{epochs:.1f} minutes an epoch, {len(made['epochs'])} epochs{threads}",
        )
        assert made["training"]["device"] == "CPU (AMD EPYC)"
    assert not re.findall(r"\d+(?:\.\d+)? ?(?:%|seconds|minutes|hours|points)", re.sub("#.+", "", TRAINER))


def test_claims_explain_their_other_scores():
    scores = {"accuracy": 0.861, "macro_f1": 0.85, "items": 6000, "accuracy_with_evidence": 0.9, "evidence_cut": 0.016}
    assert results.scores(scores) == "86.1 %, with evidence of their own 90.0 %, evidence cut 1.6 %"
