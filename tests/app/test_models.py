"""The page Models, a minimal card, and tables of sweeps in a checkpoint's folder."""

import csv
import io
import itertools
import json
import re
import shutil
from types import SimpleNamespace

import pytest

from app.models import card, sizes
from app.models import table as model_table
from app.page_state.models import ModelsState
from core.checkpoint import PRETRAINED, load, read_card
from core.evidence import AttentionMap, FilterProvenance
from core.explain import explain
from tests.app.pages import lines_of, open_view


def models(**link):
    """The page, and all that it shows: HTML, Markdown, commands and small tables."""
    app = open_view("models", **link)
    assert not app.exception
    texts = [*(part.proto.body for part in app.get("html")), *(part.value for part in [*app.markdown, *app.code])]
    return app, "\n".join([*texts, *itertools.chain(*map(cells, app.table))])


def cells(table):
    return [cell for line in lines_of(table) for cell in line]


def rows(app):
    """The table's rows by the models' titles: each cell's text."""
    return {row["title"]: row for row in app.dataframe[0].value.to_dict("records")}


def test_every_card_is_shown_as_text_and_broken_ones_get_one_sentence_each():
    app, page = models()
    assert rows(app)["Test light (test-light)"] == {
        "title": "Test light (test-light)",
        "task": "entailment",
        "data": "none",
        "score": "50.0\u00a0% (SNLI dev)",
        "paper": "–",
        "size": "627 + 204 word projection",
    }
    assert "**Other** <b>:smile:</b>" in rows(app)
    assert page.count('class="pl-notice"') == 2
    assert "test-foreign" in page
    assert "test-no-json" in page
    assert "python -m trainers train test" in models(model="test-light")[1]
    assert "--data DATA --set" in models(model="as-adaqa")[1]
    assert "**Other** &lt;b&gt;:smile:&lt;/b&gt;" in models(model="test-other")[1]


def test_a_card_begins_with_the_models_kind_accuracy_and_purpose():
    page = models(model="nli-two-sided")[1]
    parts = ["What it is:", "How good:", "What for:", "“neutral” or “contradiction”"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    good = re.search(r"How good:\*\* (.*)", page)[1]
    assert "SNLI dev 8" in good and "in the paper" not in good
    assert "Licence of the weights" in page


def test_times_are_measured_only_by_a_button():
    app, _ = models()
    assert "time" not in app.dataframe[0].value.columns
    shown = rows(app)
    assert shown["AttConv light"]["paper"] == "86.3\u00a0% (SNLI test)"
    assert shown["GRU k-max-max, WikiQA"]["score"].startswith("MAP ")


def test_the_models_are_timed_on_request_and_one_that_cannot_be_used_has_no_time(monkeypatch):
    wanted = ("test-light", "test-truncated")
    untimed = model_table.untimed
    monkeypatch.setattr(model_table, "untimed", lambda cards: [name for name in untimed(cards) if name in wanted])
    app, _ = models()
    next(button for button in app.button if button.label.startswith("Time")).click().run()
    shown = rows(app)
    assert re.fullmatch(r"[\d.]+ ms", shown["Test light (test-light)"]["time"])
    assert shown["Test light (test-truncated)"]["time"] == shown["AttConv light"]["time"] == "–"
    assert not [button for button in app.button if button.label.startswith("Time")]


def test_a_time_is_the_median_after_a_warm_up(monkeypatch):
    took = iter([90.0, 3.0, 9.44, 5.0])
    monkeypatch.setattr(model_table, "load_named", lambda name: None)
    monkeypatch.setattr(model_table, "explain", lambda *_: SimpleNamespace(milliseconds=next(took)))
    monkeypatch.setattr(model_table, "TIMES", {})
    own = {"sha256": "a", "roles": {"second": "hypothesis"}}
    model_table.measure("x", own)
    assert model_table.TIMES == {("x", "a"): 5.0}
    times = {None: "–", 5.0: "5.0 ms", 9.44: "9.4 ms", 9.6: "10 ms", 1_234.4: "1234 ms"}
    assert {time: model_table._milliseconds(time) for time in times} == times


def test_accuracies_and_maps_are_sorted_apart():
    results = [("62.0\u00a0%", "accuracy", 0.62), ("MAP 0.9", "map", 0.9), ("83.0\u00a0%", "accuracy", 0.83), None]
    cells = [model_table._measured(one and card.Result(one[0], "dev", one[1], one[2])) for one in results]
    shown = {str(at): {"score": cell} for at, cell in enumerate(cells)}
    assert [cell.text for cell in cells] == ["62.0\u00a0% (dev)", "MAP 0.9 (dev)", "83.0\u00a0% (dev)", "–"]
    assert model_table.ordered(shown, "-score") == [*"2013"] and model_table.ordered(shown, "score") == [*"1023"]
    assert model_table.ordered(shown, None) == [*"0123"]


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
    def score(name):
        return model_table.row(name, name, read_card(PRETRAINED / name), PRETRAINED / name)["score"].text

    assert re.match(r"MAP 0\.\d{4} ± 0\.\d{4} ", score("as-adaqa"))
    names = ("as-adaqa", "as-adaqa-att", "wikiqa-phrases-kmax", "sick-phrases-kmin")
    sets = [re.search(r"\((\w+ \w+), \d (folds|seeds)\)$", score(name))[1] for name in names]
    assert sets == ["WikiQA dev"] * 3 + ["SICK trial"]
    assert score("nli-two-sided").endswith("% (SNLI dev)")


def test_a_click_on_a_columns_name_sorts_by_it_with_unknown_values_last():
    cells = {
        name: {"size": model_table.Cell(name, size), "title": model_table.Cell(name, name)}
        for name, size in {"b": 2, "a": 1, "none": None}.items()
    }
    state = ModelsState().sorted_by("size")
    assert (state.sort, model_table.ordered(cells, state.sort)) == ("-size", ["b", "a", "none"])
    state = state.sorted_by("size")
    assert (state.sort, model_table.ordered(cells, state.sort)) == ("size", ["a", "b", "none"])
    state = state.sorted_by("title")
    assert (state.sort, model_table.ordered(cells, state.sort)) == ("title", ["a", "b", "none"])
    assert model_table.ordered(cells, None) == ["b", "a", "none"]


def test_a_wrong_link_to_a_card_gets_a_sentence_and_the_table():
    app, page = models(model="gone", sort="colour")
    assert "Model “gone” isn’t available on this page." in page
    assert "the page is shown without them: sort." in page
    assert "Test light (test-light)" in rows(app)


def test_sections_are_shown_with_their_paper_and_parameters_in_thousands():
    _, page = models(model="as-adaqa")
    assert "(Shen et al. 2018, section 3.3)" in page
    assert "191 k + 8,050 word projection" in page
    advanced = models(model="nli-attconv-advanced")[1]
    assert "2.40 M + 64 k word projection" in advanced
    assert re.search(r"(?<!\d, )sections? \d", page + advanced) is None


def test_a_card_with_alignment_results_shows_them(checkpoints, tmp_path, monkeypatch):
    for name in ("test-light", "test-other"):
        shutil.copytree(checkpoints / name, tmp_path / name)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    assert not models(model="test-other")[0].expander
    app, page = models(model="test-light")
    assert [one.label for one in app.expander] == ["Attention against people’s word alignments"]
    assert cells(app.expander[0].table[0]) == [
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


def test_a_card_with_faithfulness_results_shows_them(checkpoints, tmp_path, monkeypatch):
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
    scores = {
        "items": 40,
        "at_1": {"chance": worse, "dropped": figure},
        "precision": {"chance": worse, "dropped": worse},
    }
    people = {"rows": 60, "judged_right": 50, "sides": {"premise": {"all labels": scores}}, "command": "ask people"}
    more = {"faithfulness": {"SNLI dev": measured}, "people": {"e-SNLI dev": people}}
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    app, page = models(model="test-other")
    labels = ["Faithfulness of the explanations", "Effects against people’s own reasons"]
    assert [one.label for one in app.expander] == labels
    first = ["e-SNLI dev, premise (40)", "dropped", "0.500 (0.250 to 0.750)", "0.125 (0.000 to 0.250)"]
    faithfulness, people = (cells(part.table[0]) for part in app.expander)
    assert people[:4] == first and "ask people" in page
    assert faithfulness[:4] == ["SNLI dev", "taken away", "0.500 (0.250 to 0.750)", "0.125 (0.000 to 0.250)"]
    assert faithfulness[5] == "dropped", "the most telling first"
    assert faithfulness[9] == "random orders", "last"
    assert "SNLI dev, 500 rows; τ-b 0.500 (0.250 to 0.750)." in page and "python -m trainers ask" in page


def test_a_bad_card_only_hides_its_own_model(checkpoints, tmp_path, monkeypatch):
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
    app, shown = models()
    assert all(name in shown for name in ("bad-depth", "bad-words", "bad-architecture", "bad-results"))
    assert {"Test light (test-light)", "Test entailment phrases", "Test topics"} <= rows(app).keys()
    for view in ("phrases", "filter_map"):
        assert not open_view(view).exception, view
    app = open_view("explore")
    assert not app.exception
    for name in ("bad-labels", "bad-roles", "bad-depth", "bad-token_limits", "bad-typical_length"):
        app.query_params["model"] = name
        assert not app.run().exception, name


def test_without_models_the_page_shows_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path)
    assert "No model is installed" in models()[1]


def test_a_bare_card_is_enough(tmp_path):
    bare = {"name": "own", "title": "Own", "architecture": "attconv-light", "licence": "CC0", "words": {}}
    assert card.results(bare) == []
    assert card.curve(bare) == []
    assert "trainers train own" in card.command(bare)
    assert ("Licence of the weights", "CC0") in card.facts(bare, tmp_path)


def test_a_full_card_is_described_in_words(tmp_path):
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


def test_numbers_on_cards_are_shortened_in_the_same_way():
    numbers = {950: "950", 9_949: "9,949", 9_950: "10 k", 999_499: "999 k", 999_500: "1.00 M", 1_350_000: "1.35 M"}
    assert {number: card.count(number) for number in numbers} == numbers
    seconds = {89.4: "89 s", 90: "2 min", 5_399: "90 min", 5_400: "1.5 h"}
    assert {number: card.duration(number) for number in seconds} == seconds
    assert card.written(0.863) == card.written(86.3) == "86.3\u00a0%" and card.written(1.0) == "100.0\u00a0%"
    assert card.written(0.86349, ranked=True) == "0.8635"


def test_routes_begin_with_the_kind_of_most_pairs():
    few, many = (
        {"pairs": pairs, "routes": {name: {"share": share} for name, share in (("looks", looks), ("words", 1 - looks))}}
        for pairs, looks in ((3, 0.25), (9, 0.75))
    )
    (line,) = card.routes({"routes": {"simple": {"colour": few, "number": many}}})
    words = line[2].replace("\u00a0", " ")
    assert line[0].endswith(": difference carried by looks") and line[1].replace("\u00a0", " ") == "75 %"
    assert words == "words 25 % (number, 9 pairs); looks of other kinds: colour 25 %"
    (line,) = card.routes({"routes": {"simple": {"colour": few}}})
    assert line[2].replace("\u00a0", " ") == "words 75 % (colour, 3 pairs)"


def test_a_taught_models_card_names_its_teacher_and_its_unlabelled_pairs():
    facts = dict(card.facts(read_card(PRETRAINED / "nli-esim"), PRETRAINED / "nli-esim"))
    assert facts["Labels mixed with"] == "the probabilities of guest-minilm (share 1.0)"
    assert facts["Trained on"].endswith("; 200,000 pairs recombined from them, without labels")


def test_a_fact_checking_card_explains_its_other_scores():
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
            others = {"products of both texts’ filters", "the classifier’s bias", f"all filters over the {other.rows}"}
            assert {line["filter"] for line in lines[7:]} == others
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


def test_accuracy_is_plotted_against_size_and_names_models_that_beat_smaller_ones():
    names = ("nli-two-sided", "nli-attconv-advanced", "guest-minilm", "as-adaqa")
    folders = {name: PRETRAINED / name for name in names}
    points = sizes.sizes({name: read_card(folder) for name, folder in folders.items()}, folders)
    assert [(point.model, point.kind) for point in points] == [
        ("Two-sided AttConv", sizes.OURS),
        ("AttConv advanced", sizes.PAPERS),
        ("MiniLM", sizes.PRETRAINED),
    ]
    assert points[0].parameters == 655_934 + 40_250 and 80 < points[0].accuracy < points[2].accuracy < 90
    marks, names_drawn = sizes.chart(points).layer
    assert marks.data["model"].tolist() == ["Two-sided AttConv", "AttConv advanced", "MiniLM"]
    assert names_drawn.data["model"].tolist() == ["Two-sided AttConv", "MiniLM"], (
        "the advanced one is larger and less accurate"
    )
    near = sizes.Size("nearly as good", sizes.PAPERS, points[1].parameters, points[0].accuracy + 0.9)
    assert sizes.chart([points[0], near, points[2]]).layer[1].data["model"].tolist() == ["Two-sided AttConv", "MiniLM"]
