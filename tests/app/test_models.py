"""The page Models, a card that says little, and tables of sweeps beside a card."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from app.models import card
from app.models import table as model_table
from core.checkpoint import load, read_card
from core.evaluation import sweeps
from core.evidence import AttentionMap, FilterProvenance
from core.explain import explain
from tests.app.made_up_models import ALIGNMENT
from tests.app.pages import components, open_view


def models(**link):
    """The page, and all that it shows as HTML; the table of all models as the browser is given it."""
    app = open_view("models", **link)
    assert not app.exception
    return app, "".join([*(h.proto.body for h in app.get("html")), json.dumps(components(app), ensure_ascii=False)])


def rows(app):
    """The table's rows by model: each cell's text."""
    data = next(data for data in components(app) if "models" in data)
    return {one["name"]: {column: cell["text"] for column, cell in one["cells"].items()} for one in data["models"]}


def test_every_card_is_shown_as_text_and_broken_ones_get_one_sentence_each():
    app, page = models()
    assert rows(app)["test-light"] | {"time": ""} == {
        "title": "Test light",
        "task": "entailment",
        "data": "none",
        "score": "50.0\u00a0%",
        "paper": "–",
        "size": "627",
        "time": "",
    }
    assert rows(app)["test-other"]["title"] == "**Other** <b>:smile:</b>"
    assert page.count('class="pl-notice"') == 2
    assert "test-foreign" in page
    assert "test-no-json" in page
    assert "python -m trainers train test" in models(model="test-light")[1]
    assert "<span>--data</span> DATA <span>--set</span> epochs=2" in models(model="nli-two-sided")[1]
    assert "**Other** &lt;b&gt;:smile:&lt;/b&gt;" in models(model="test-other")[1]


def test_all_models_are_timed_and_one_that_cannot_be_used_has_no_time():
    app, _ = models()
    shown = rows(app)
    assert all(re.fullmatch(r"[\d.]+ ms", shown[name]["time"]) for name in ("test-light", "test-te", "test-topics"))
    assert shown["test-truncated"]["time"] == "–"
    assert shown["nli-attconv-light"]["paper"] == "86.3\u00a0%"
    assert shown["wikiqa-phrases-kmax"]["score"].startswith("MAP ")


def test_what_is_not_timed_yet_says_so(checkpoints):
    card = read_card(checkpoints / "test-light") | {"sha256": "never timed"}
    assert model_table.row("test-light", card, checkpoints / "test-light").cells["time"].text == "…"


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("test-light", ["Explore", "Compare"]),
        ("test-te", ["Explore", "Compare", "Phrases"]),
        ("test-topics", ["Filter map"]),
        ("nli-chain", ["Compare"]),
    ],
)
def test_a_card_leads_to_the_pages_that_show_the_model(name, pages):
    app, _ = models(model=name)
    links = [link.proto for link in app.get("page_link")]
    assert [link.label for link in links] == pages
    assert all(f"model={name}" in link.query_string for link in links)


def test_the_score_of_a_best_seed_or_of_data_that_was_trained_on_gives_way_to_the_mean_of_runs():
    app, _ = models()
    cells = {one["name"]: one["cells"]["score"] for one in next(d for d in components(app) if "models" in d)["models"]}
    assert re.fullmatch(r"MAP 0\.\d{4} ± 0\.\d{4}", cells["as-adaqa"]["text"])
    names = ("as-adaqa", "as-adaqa-att", "wikiqa-phrases-kmax", "sick-phrases-kmin")
    notes = [re.fullmatch(r"(\w+ \w+), \d (folds|seeds)", cells[name]["note"])[1] for name in names]
    assert notes == ["WikiQA dev"] * 3 + ["SICK trial"]
    assert cells["nli-two-sided"]["note"] == "SNLI dev"
    assert not any("trained on" in cell["note"] for cell in cells.values())


def test_a_wrong_link_to_a_card_gets_a_sentence_and_the_table():
    app, page = models(model="gone", sort="colour")
    assert "asks for the card of “gone”, which is not here: all models are shown" in page
    assert "asks to sort by “colour”" in page
    assert "test-light" in rows(app)


def test_sections_stand_beside_their_paper_and_parameters_in_thousands():
    _, page = models(model="as-adaqa")
    assert "(Shen et al. 2018, section 3.3)" in page
    assert "191 k + 8,050 word projection" in page
    advanced = models(model="nli-attconv-advanced")[1]
    assert "1.35 M + 48 k word projection" in advanced
    assert re.search(r"(?<!\d, )sections? \d", page + advanced) is None


def test_attention_against_peoples_alignments_stands_on_the_card_that_has_it(checkpoints, tmp_path, monkeypatch):
    for name in ("test-light", "test-other"):
        shutil.copytree(checkpoints / name, tmp_path / name)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    assert not models(model="test-other")[0].expander
    app, page = models(model="test-light")
    assert [one.label for one in app.expander] == ["Attention against people’s word alignments"]
    table = page.partition('pl-sweep">')[2].partition("</table>")[0]
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", table.partition("<tbody>")[2])
    assert cells == [
        "RTE-2 dev",
        "largest weight, above .25",
        ".333",
        ".500",
        ".250",
        ".667",
        ".125",
        "0.50",
        "RTE-2 dev",
        "identical words",
        ".747",
        ".800",
        ".700",
        ".253",
        "–",
        "–",
    ]
    assert "(fixed on RTE-2 dev)" in page and "python -m trainers align test" in page


def test_how_far_pictures_can_be_believed_stands_on_the_card_that_has_it(checkpoints, tmp_path, monkeypatch):
    shutil.copytree(checkpoints / "test-other", tmp_path / "test-other")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    figure = {"mean": 0.5, "interval": [0.25, 0.75]}
    worse = {"mean": 0.125, "interval": [0.0, 0.25]}
    ways = {
        "dropped": {"sufficiency": worse, "comprehensiveness": worse},
        "random": {"sufficiency": figure, "comprehensiveness": figure},
        "taken-away": {"sufficiency": worse, "comprehensiveness": figure},
    }
    measured = {"rows": 500, "ways": ways, "permutations": None, "tau_b": figure, "command": "python -m trainers ask"}
    file = tmp_path / "test-other" / "card.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"faithfulness": {"SNLI dev": measured}}))
    app, page = models(model="test-other")
    assert [one.label for one in app.expander] == ["How far its pictures can be believed"]
    table = page.partition('pl-sweep">')[2].partition("</table>")[0]
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", table.partition("<tbody>")[2])
    assert cells[:4] == ["SNLI dev", "taken away", "0.500 (0.250 to 0.750)", "0.125 (0.000 to 0.250)"]
    assert cells[5] == "dropped" and cells[9] == "random orders", "the most telling first, random orders last"
    assert "SNLI dev, 500 rows; τ-b 0.500 (0.250 to 0.750)." in page and "python -m trainers ask" in page


def test_the_line_under_the_matrix_says_what_its_rows_are():
    roles = {"first": "premise", "second": "hypothesis"}
    line = card.agreement({"roles": roles, "alignment": ALIGNMENT})
    assert (line.rows, line.text) == ("hypothesis", "F1 .33 against people’s word alignments (RTE-2 dev)")
    assert card.agreement({"roles": roles}) is None


def test_one_bad_card_costs_its_own_line_on_every_page(checkpoints, tmp_path, monkeypatch):
    changes = {
        "words": "no",
        "architecture": ["phrases"],
        "title": None,
        "config": 5,
        "labels": ["a", "b"],
        "roles": {"first": "a", "second": "a", "judged": "a"},
        "typical_length": {"premise": "long"},
        "token_limits": {"premise": "long"},
        "results": {"SNLI dev": 3},
        "epochs": 5,
        "data": 5,
        "recipe": 5,
        "seeds": {"mean": "x"},
        "training": {"seconds": 1e308},
        "parameters": {"model": 1, "projection": "x"},
        "alignment": {"threshold": 1},
    }
    for key, value in changes.items():
        shutil.copytree(checkpoints / "test-light", tmp_path / f"bad-{key}")
        card_file = tmp_path / f"bad-{key}" / "card.json"
        card_file.write_text(json.dumps(json.loads(card_file.read_text()) | {key: value}))
    shutil.copytree(checkpoints / "test-light", tmp_path / "bad-depth")
    (tmp_path / "bad-depth" / "card.json").write_text("[" * 100_000 + "]" * 100_000)
    for good in ("test-light", "test-te", "test-topics"):
        shutil.copytree(checkpoints / good, tmp_path / good)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    _, shown = models()
    assert all(name in shown for name in ("bad-depth", "bad-words", "bad-architecture", "bad-results"))
    assert all(title in shown for title in ("Test light", "Test entailment phrases", "Test topics"))
    for view in ("phrases", "filter_map"):
        assert not open_view(view).exception, view
    app = open_view("explore")
    assert not app.exception
    for name in ("bad-labels", "bad-roles", "bad-depth", "bad-token_limits", "bad-typical_length"):
        app.query_params["model"] = name
        assert not app.run().exception, name


def test_without_models_the_page_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path)
    assert "No model is installed" in models()[1]


def test_a_bare_card_is_enough(tmp_path):
    bare = {"name": "own", "title": "Own", "architecture": "attconv-light", "licence": "CC0", "words": {}}
    assert card.results(bare) == []
    assert card.curve(bare) == []
    assert "trainers train own" in card.command(bare)
    assert ("Licence of the weights", "CC0") in card.facts(bare, tmp_path)


def test_a_full_card_is_told_in_words(tmp_path):
    full = {
        "name": "own",
        "title": "Own",
        "architecture": "attconv-light",
        "licence": "CC0",
        "words": {"name": "w"},
        "results": {"SNLI dev": {"accuracy": 0.7914, "macro_f1": 0.79, "items": 9842}},
        "paper": {"SNLI test": 0.863},
        "config": {},
        "seed": 1,
        "seeds": {"seeds": [1, 2, 3], "mean": 0.79, "spread": 0.002},
        "parameters": {"model": 360000},
        "training": {"seconds": 660, "device": "CPU"},
        "epochs": [{"epoch": 1, "loss": 0.9, "snli_dev": 0.6, "seconds": 0.5}],
        "notes": "Made by `x y`.",
    }
    assert card.description(full).endswith(" Made by “x y”.")
    assert card.results(full)[0] == ("SNLI dev", "79.1\u00a0%", "9,842 pairs, macro-F1 79.0\u00a0%")
    assert card.results(full)[1][:2] == ("SNLI test, in the paper", "86.3\u00a0%")
    facts = dict(card.facts(full, tmp_path))
    assert facts["Seed"] == "1; over 3 seeds 79.0\u00a0% ± 0.2"
    assert facts["Training took"] == "11 min on CPU"
    assert card.curve(full) == [{"epoch": 1, "set": "SNLI dev", "score": 0.6, "measure": "accuracy"}]


def test_a_card_of_fact_checking_tells_what_stands_beside_its_accuracy():
    scores = {"accuracy": 0.861, "macro_f1": 0.85, "items": 6000, "accuracy_with_evidence": 0.9, "evidence_cut": 0.016}
    ((_, _, notes),) = card.results({"results": {"FEVER dev": scores}, "task": "fact checking"})
    assert notes.endswith(
        "90.0\u00a0% of the claims with evidence of their own, 1.6\u00a0% have more evidence than is read"
    )


def test_a_rankers_card_tells_map_and_mrr_and_the_classifier_that_was_kept(tmp_path):
    ranked = {
        "name": "as",
        "title": "AS",
        "architecture": "phrases",
        "licence": "CC0",
        "words": {"name": "w"},
        "results": {"WikiQA dev": {"map": 0.67123, "mrr": 0.684, "items": 126}},
        "paper": {"WikiQA test MAP": 0.7124, "WikiQA test MRR": 0.7237},
        "seed": 1,
        "seeds": {"seeds": [1, 2], "mean": 0.67, "spread": 0.004},
        "classifier": "linear SVM, C = 0.1",
        "classifiers": {"network": {"map": 0.66, "mrr": 0.67}, "linear SVM, C = 0.1": {"map": 0.67123, "mrr": 0.684}},
        "epochs": [{"epoch": 1, "loss": 0.9, "wikiqa_dev": 0.6, "wikiqa_dev_mrr": 0.61}],
    }
    assert card.results(ranked) == [
        ("WikiQA dev", "MAP 0.6712", "MRR 0.6840, 126 questions"),
        ("WikiQA test MAP, in the paper", "0.7124", "other training data"),
        ("WikiQA test MRR, in the paper", "0.7237", "other training data"),
    ]
    facts = dict(card.facts(ranked, tmp_path))
    assert facts["Classifier kept"] == (
        "linear SVM, C = 0.1, MAP 0.6712 on dev, the best of 2; the network’s own MAP 0.6600"
    )
    assert facts["Seed"] == "1; over 2 seeds MAP 0.6700 ± 0.0040"
    assert card.curve(ranked) == [{"epoch": 1, "set": "WikiQA dev", "score": 0.6, "measure": "MAP"}]
    assert card.made_and_measured(ranked) == ["seed 1", "WikiQA dev MAP 0.6712"]
    assert card.made_and_measured({"results": {"x": 3, "y": {"map": "high"}}}) == []
    (tmp_path / "ablation.csv").write_text("a,b\n")
    assert [path.name for path in card.tables(tmp_path)] == ["ablation.csv"]


def test_tables_have_one_line_a_cell_and_a_filter(checkpoints):
    explanation = explain(load(checkpoints / "test-light"), "=A dog plays", "A cat")
    cells = explanation.find(AttentionMap).to_csv(explanation).splitlines()
    assert cells[0] == "hypothesis_position,hypothesis_word,premise_position,premise_word,score,weight"
    assert len(cells) == 1 + 2 * 4
    lines = list(csv.DictReader(io.StringIO(explanation.find(FilterProvenance).to_csv(explanation))))
    assert len(lines) == 12 + 1
    for label, logit in zip(explanation.labels, explanation.logits, strict=True):
        assert sum(float(line[f"share_{label}"]) for line in lines) == pytest.approx(logit, abs=1e-4)


@pytest.mark.parametrize("name", ["test-qa", "test-qa-bare"])
def test_either_text_has_a_table_of_filters_that_adds_up(name, checkpoints):
    explanation = explain(load(checkpoints / name), "is a dog outside", "the dog is playing with a toy")
    records = [record for record in explanation.evidence if isinstance(record, FilterProvenance)]
    assert [record.rows for record in records] == ["answer", "question"]
    for record, other in zip(records, records[::-1], strict=True):
        lines = list(csv.DictReader(io.StringIO(record.to_csv(explanation))))
        assert [line["text"] for line in lines[:7]] == [record.rows] * 7
        for line in lines[:7]:
            parts = [line[f"word_{i}"] for i in range(1, 6)]
            assert sum(map(float, [*parts, line["bias"]])) == pytest.approx(float(line["preactivation"]), abs=1e-5)
        if name == "test-qa":
            beside = {"products of both texts’ filters", "the classifier’s bias", f"all filters over the {other.rows}"}
            assert {line["filter"] for line in lines[7:]} == beside
            for label, logit in zip(explanation.labels, explanation.logits, strict=True):
                assert sum(float(line[f"share_{label}"]) for line in lines) == pytest.approx(logit, abs=1e-4)
        else:
            assert len(lines) == 7
            assert not any(column.startswith("share") for column in lines[0])


def test_a_card_of_single_texts_counts_texts_and_its_map(checkpoints):
    facts = dict(card.facts(load(checkpoints / "test-topics").card, checkpoints / "test-topics"))
    assert "45 texts" in facts["Trained on"]
    assert "its filter map 0.0 MB" in facts["Size on disk"]
    alone = explain(load(checkpoints / "test-alone"), "A dog", "A cat")
    assert not any(isinstance(r, AttentionMap) for r in alone.evidence)


HEAD = "seed,best_epoch,classifier,accuracy,macro_f1,accuracy (network),accuracy (linear SVM)\n"


def table(folder, name, head, *rows):
    path = folder / name
    path.write_text("\n".join([head.strip(), *rows]) + "\n", encoding="utf-8")
    return path


def test_a_table_has_a_row_a_variant_with_means_intervals_and_plain_names(tmp_path):
    ablation = sweeps.read(
        table(
            tmp_path,
            "ablation.csv",
            "model.features,model.extra," + HEAD,
            "rep+simi,none,1,3,network,0.80,0.7,0.79,0.80",
            "simi,entailment,1,3,network,0.9,0.7,0.9,",
            "rep+simi,none,2,3,network,0.82,0.7,0.80,0.81",
            "rep+simi,none,3,3,network,0.84,0.7,0.81,0.85",
        )
    )
    (first, means), (second, single) = ablation.variants
    assert sweeps.label(first) == "rep + simi, without extra"
    assert sweeps.label(second) == "simi, with extra"
    # t(.975, 2) = 4.30265, s = 0.02, n = 3: 4.30265 · 0.02 / √3 = 0.049683
    assert means["accuracy"] == pytest.approx((0.82, 0.049683, 3), abs=1e-6)
    assert sweeps.text(means["accuracy"], "accuracy") == "82.0 ± 5.0 %"
    assert sweeps.text(means["accuracy (network)"], "accuracy (network)") == "80.0 ± 2.5 %"
    assert sweeps.text(single["accuracy"], "accuracy") == "90.0 %"
    assert "accuracy (linear SVM)" not in single
    assert list(ablation.columns.values()) == ["accuracy", "network", "linear SVM"]
    assert ablation.points() == []
    assert sweeps.caption(ablation, "SICK dev", bars=False) == (
        "Accuracy on SICK dev with the classifier that was kept; then accuracy of each kind of classifier. "
        "±: half the 95\u00a0% interval of the mean over 3 runs (Student’s t); a single run has none."
    )


def test_names_are_plain_words():
    assert sweeps.label({"model.pooling": "kmin", "model.k": "5"}) == "k-min pooling, k = 5"
    assert sweeps.label({"architecture": "attentive-lstm"}) == "A-LSTM"
    assert sweeps.label({"architecture": "own", "model.hidden": "50"}) == "architecture own, hidden 50"
    assert sweeps.label({}) == "as the recipe says"


def test_k_is_drawn_as_points_and_one_seed_has_no_interval(tmp_path):
    head = "model.pooling,model.k,seed,best_epoch,classifier,map,mrr"
    path = table(
        tmp_path,
        "figure6.csv",
        head,
        "kmin,1,1,3,network,0.61,0.7",
        "kmax,1,1,3,network,0.62,0.7",
        "kmin,10,1,3,network,0.65,0.7",
    )
    sweep = sweeps.read(path)
    assert [(p["line"], p["x"], p["mean"], p["low"], p["high"], p["text"]) for p in sweep.points()] == [
        ("k-min pooling", 1, 0.61, 0.61, 0.61, "0.6100"),
        ("k-max pooling", 1, 0.62, 0.62, 0.62, "0.6200"),
        ("k-min pooling", 10, 0.65, 0.65, 0.65, "0.6500"),
    ]
    assert sweeps.caption(sweep, "WikiQA dev", bars=True) == (
        "MAP on WikiQA dev with the classifier that was kept. One run each, so there is no interval."
    )
    seeds = sweeps.read(
        table(
            tmp_path,
            "two.csv",
            head.partition(",")[2],
            *(f"{k},{seed},3,network,{0.6 + seed / 100},0.7" for k in (1, 2) for seed in (1, 2)),
        )
    )
    # t(.975, 1) = 12.7062, s = 0.00707107, n = 2: half = 0.063531
    assert [(p["low"], p["high"]) for p in seeds.points()] == [pytest.approx((0.551469, 0.678531), abs=1e-6)] * 2
    assert "Bars: the 95\u00a0% interval of the mean over 2 runs" in sweeps.caption(seeds, "WikiQA dev", bars=True)


def test_question_words_and_numbers_of_filters_are_drawn_too(tmp_path):
    tail = "seed,best_epoch,dev,questions,map,mrr"
    words = sweeps.read(
        table(
            tmp_path,
            "figure3b.csv",
            "model.adaptivity,model.matching,question_word," + tail,
            *(
                f"{kind},{matching},{word},{seed},3,WikiQA dev,9,0.{seed},0.7"
                for word in ("how", "other")
                for seed in (5, 7)
                for kind, matching in (("none", "none"), ("two-way", "none"), ("two-way", "multi-perspective"))
            ),
        )
    )
    assert words.axis and words.axis.kinds
    assert [(p["x"], p["line"], p["look"], p["mean"]) for p in words.points()[:3]] == [
        ("how (9)", "fixed filters", "none", 0.6),
        ("how (9)", "the other text’s filters", "two-way", 0.6),
        ("how (9)", "the other text’s filters, with matching", "multi-perspective", 0.6),
    ]
    head = "model.filters,model.adaptivity,seed,best_epoch,accuracy"
    drawn = sweeps.read(
        table(
            tmp_path, "figure3a.csv", head, *(f"{k},{kind},1,3,0.5" for k in (1, 10, 300) for kind in ("none", "self"))
        )
    )
    assert drawn.axis and drawn.axis.logarithmic
    assert [p["x"] for p in drawn.points()] == [1, 1, 10, 10, 300, 300]
    two = sweeps.read(table(tmp_path, "two.csv", head, "1,none,1,3,0.5", "100,none,1,3,0.5"))
    assert two.axis is None and sweeps.label(two.variants[1][0]) == "K = 100, fixed filters"


COMPARED = "comparison,measure,dev,ours,theirs,difference,low,high,items,seeds,seeds_theirs"


def test_comparisons_say_what_is_resolved(tmp_path):
    sweep = sweeps.read(
        table(
            tmp_path,
            "comparisons.csv",
            COMPARED,
            "a,accuracy,SICK trial,0.96,0.95,0.01,0.002,0.02,6600,3,3",
            "b,map,WikiQA dev,0.65,0.66,-0.01,-0.03,0.01,126,3,3",
            "c,map,WikiQA dev,0.6,0.7,-0.1,-0.2,-0.05,126,3,3",
        )
    )
    assert [tuple(row.values()) for row in sweep.rows] == [
        ("a", "SICK trial: 6,600 items, 3 seeds", "accuracy 96.0 % against 95.0 %", "+1.0 [+0.2, +2.0]", "higher"),
        (
            "b",
            "WikiQA dev: 126 items, 3 seeds",
            "MAP 0.6500 against 0.6600",
            "−0.0100 [−0.0300, +0.0100]",
            "unresolved",
        ),
        ("c", "WikiQA dev: 126 items, 3 seeds", "MAP 0.6000 against 0.7000", "−0.1000 [−0.2000, −0.0500]", "lower"),
    ]
    for broken in ("a,map,x,0.9,0.8,nan,0,0,1,1,1", "a,map,x,9,0.8,0.1,0,0,1,1,1", "a,map,x,0.9,0.8,0,0,0,z,1,1"):
        with pytest.raises(sweeps.SweepError, match="cannot be read"):
            sweeps.read(table(tmp_path, "broken.csv", COMPARED, broken))


def test_folds_are_told_one_by_one_and_together(tmp_path):
    folds = sweeps.read(
        table(
            tmp_path,
            "folds.csv",
            "seed,fold,best_epoch,classifier,accuracy,macro_f1",
            "1,1,3,network,0.8,0.7",
            "1,2,3,network,0.9,0.7",
        )
    )
    assert [sweeps.label(varied) for varied, _ in folds.variants] == ["fold 1", "fold 2", "all folds"]
    assert folds.variants[2][1]["accuracy"].value == pytest.approx(0.85)
    assert "cross-validation over train and dev (2 folds)" in sweeps.caption(folds, "SICK dev", bars=False)


def test_a_table_that_names_its_dev_set_is_not_said_to_be_of_another(tmp_path: Path) -> None:
    (tmp_path / "seeds.csv").write_text("seed,best_epoch,dev,accuracy\n1,2,SICK trial,0.8\n2,2,SICK trial,0.9\n")
    sweep = sweeps.read(tmp_path / "seeds.csv")
    assert sweeps.caption(sweep, "SICK trial (trained on)", bars=False).startswith(
        "Accuracy on SICK trial with the classifier"
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no runs"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"epoch,loss\n1,2\n", "does not name"),
        (HEAD.encode() + b"1,3,network,0.8\n", "longer or shorter"),
        (HEAD.encode() + b'1,"3\n', "end of data"),
        (HEAD.encode() + b"1,3,network,nan,1,1,1\n", "accuracy holds 'nan'"),
        (b"seed," + HEAD.encode() + b"1," * 7 + b"1", "does not name"),
        (HEAD.encode() + b"1,3,network,84.1,1,1,1\n", "from 0 to 1"),
        (b"x" * 1_000_001, "1 MB"),
    ],
)
def test_a_broken_or_foreign_table_gets_one_sentence(tmp_path, content, why):
    (tmp_path / "own.csv").write_bytes(content)
    with pytest.raises(sweeps.SweepError, match=why) as error:
        sweeps.read(tmp_path / "own.csv")
    assert str(error.value).startswith(f"own.csv beside the card of {tmp_path.name}")
    with pytest.raises(sweeps.SweepError, match="No such file"):
        sweeps.read(tmp_path / "gone.csv")


def test_tables_are_drawn_as_text_beside_their_card_and_can_be_downloaded(checkpoints, tmp_path, monkeypatch):
    folder = tmp_path / "own"
    shutil.copytree(checkpoints / "test-te", folder)
    made = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(made | {"recipe": {"dev": {"name": "<i>dev</i>"}}}))
    table(folder, "a_b<b>.csv", "model.<img src=x>," + HEAD, "<script>1</script>**x**,1,3,network,0.8,0.7,0.79,0.80")
    table(folder, "broken.csv", "<u>a</u>")
    table(folder, "figure6.csv", "model.k," + HEAD, *(f"{k},1,3,network,0.8,0.7,0.79,0.8" for k in (1, 2)))
    table(folder, "comparisons.csv", COMPARED, "<b>x</b>,map,<u>dev</u>,0.6,0.5,0.1,0.05,0.2,9,1,1")
    words = [f"{word},1,3,network,0.8,0.7,0.79,0.8,trainers <b>again</b>" for word in ("how", "<i>why</i>")]
    table(folder, "figure3b.csv", "question_word," + HEAD.strip() + ",command", *words)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    app, page = models(model="own")
    assert "&lt;img src=x&gt; &lt;script&gt;1&lt;/script&gt;**x**" in page
    assert [one.label for one in app.expander] == [
        r"A b\<b\>",
        "Comparisons",
        "Accuracy by question word",
        "Accuracy at each k",
    ]
    assert "Accuracy on &lt;i&gt;dev&lt;/i&gt;" in page
    assert not any(tag in page for tag in ("<script", "<img", "<i>", "<u>", "<b>"))
    assert page.count('class="pl-notice"') == 1
    assert "broken.csv beside the card of own" in page
    assert "Test entailment phrases" in page
    kinds, sizes = app.get("arrow_vega_lite_chart") or app.get("vega_lite_chart")
    assert "Accuracy at each k" in sizes.proto.spec and "Accuracy by question word" in kinds.proto.spec
    assert "<code>trainers &lt;b&gt;again&lt;/b&gt;</code>" in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page and "+0.1000 [+0.0500, +0.2000]" in page and "higher" in page
    assert [button.proto.label for button in app.get("download_button")] == [
        r"a\_b\<b\>\.csv",
        r"comparisons\.csv",
        r"figure3b\.csv",
        r"figure6\.csv",
    ]
