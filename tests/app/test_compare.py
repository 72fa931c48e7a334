"""The page Compare without a browser: what is equal, what differs, and one sentence for every kind of bad input."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest

from app.compare import comparison
from app.compare.comparison import PredictionsError
from core.checkpoint import load, read_card
from core.desk.exchange import to_csv
from core.desk.table import open_table
from core.evidence import AttentionMap
from core.explain import explain
from core.shared_cache import SharedCache
from tests.app.desk_page import texts as body
from tests.app.pages import box, chooser, components, open_view, query, sentences
from tests.core.made_up_runs import keep, made_up_run

PAIR = {"first": "A man in snow", "second": "A dog in the cold"}


def page(**parameters):
    return open_view("compare", **({"model": "test-light"} | PAIR | parameters))


def drawn(app):
    """The data that the browser draws."""
    return next(data for data in components(app) if data.get("view") == "compare")


def attention(section):
    """The attention that a column shows, None where it shows none."""
    records = section["drawing"]["explanation"]["evidence"]
    return next((record for record in records if record["kind"] == "attention_map"), None)


def titles(app):
    return [section["title"].replace(" (test-light)", "") for section in drawn(app)["sections"]]


def test_models_are_shown_side_by_side_with_verdict_parameters_time_and_attention(checkpoints):
    app = page(**{"with": "test-other,test-two-sided"})
    assert not app.exception
    assert titles(app) == ["Test light", "**Other** <b>:smile:</b>", "Test two-sided"]
    for name, section in zip(("test-light", "test-other", "test-two-sided"), drawn(app)["sections"], strict=True):
        said = explain(load(checkpoints / name), *PAIR.values())
        verdict, (parameters, time) = section["drawing"]["verdict"], section["frame"]["footer"]
        assert [(c["label"], c["p"]) for c in verdict["classes"]] == list(
            zip(said.labels, said.probabilities, strict=True)
        )
        assert "parameters" in parameters and re.fullmatch(r"explained in \d+ ms", time)
    assert [attention(section)["rows"] for section in drawn(app)["sections"]] == 3 * ["hypothesis"]
    assert query(app)["with"] == "test-other,test-two-sided"


def test_an_examples_gold_label_is_shown_with_each_model():
    app = open_view("compare", model="test-light", example="negation", **{"with": "test-other"})
    labels = [section["drawing"]["verdict"]["gold"]["label"] for section in drawn(app)["sections"]]
    assert labels == 2 * ["contradiction"]


def test_a_pair_is_explained_once(monkeypatch):
    read, real = [], explain

    def counted(*args, records=None, **more):
        if records is None:  # requests for word effects pass the records that they need
            read.append(args[1:])
        return real(*args, records=records, **more)

    monkeypatch.setattr("core.explain.explain", counted)
    monkeypatch.setattr("core.explain._EXPLANATIONS", SharedCache(400))
    app = page(**{"with": "test-other"})
    for dog in ("A red dog", "A big dog", "A small dog"):
        box(app, "second").input(dog).run()
    chooser(app, "Attention of the words of the").set_value("first").run()
    typed = [pair for pair in read if pair != ("A sentence.", "A sentence.")]
    assert len(typed) == 2 * 4 == 2 * len(set(typed)), "each of two models reads each of four pairs once"


def test_a_warning_shared_by_all_models_is_shown_once(checkpoints):
    app = page(first="dgo snwo qqxz", **{"with": "test-other"})
    warnings = explain(load(checkpoints / "test-light"), "dgo snwo qqxz", PAIR["second"]).warnings
    assert warnings and sorted(map(" ".join(sentences(app)).count, map(escape, warnings))) == [1] * len(warnings)


def test_a_single_models_warning_names_the_model():
    notices = " ".join(sentences(page(first="A dog in snow " * 20, **{"with": "test-two-sided"})))
    assert re.search(r"Test light( \(test-light\))?: the premise has 80 words", notices)


def test_columns_show_attention_of_the_words_that_the_page_asks_for(checkpoints):
    for rows, role in (("second", "hypothesis"), ("first", "premise")):
        light, two_sided = map(attention, drawn(page(rows=rows, **{"with": "test-two-sided"}))["sections"])
        said = explain(load(checkpoints / "test-two-sided"), *PAIR.values())
        known = next(one for one in said.evidence if isinstance(one, AttentionMap) and one.rows == role)
        assert two_sided["rows"] == role and two_sided["weights"] == [
            pytest.approx(row, rel=1e-4) for row in known.weights
        ]
        assert two_sided["null"] == pytest.approx(known.null, rel=1e-4)
        assert light is None if role == "premise" else light["null"] == []


def test_a_saved_figures_caption_names_model_pair_and_verdict():
    shown = drawn(page(**{"with": "test-two-sided"}))
    for section, model in zip(shown["sections"], ("light", "two-sided"), strict=True):
        *texts, verdict = section["frame"]["about"]["lines"]
        assert texts == ["Premise: A man in snow", "Hypothesis: A dog in the cold"]
        assert re.match(rf"Test {model}: \w+ \d", verdict) and f"test-{model}" in section["frame"]["about"]["file"]


def changed(app):
    """The words that only one of the versions has."""
    sections = drawn(app)["sections"]
    sides = [section["drawing"]["explanation"] for section in sections]
    return [
        token["text"]
        for own, side in enumerate(sides)
        for sentence in (side["first"], *side["contexts"])
        for place, token in enumerate(sentence["tokens"])
        if place not in {places[own] for places in sections[1]["same"][sentence["role"]]}
    ]


def test_two_versions_name_the_words_that_they_share():
    app = page(compare="versions", first2="A man in snow", second2="A cat in the cold")
    assert not app.exception
    assert titles(app)[:2] == ["This version", "The other version"]
    assert changed(app) == ["dog", "cat"]
    version = next(w for w in app.text_input if w.label == "The other version’s hypothesis")
    version.set_value("A dog in the cold snow").run()
    assert changed(app) == ["snow"]
    assert query(app)["second2"] == "A dog in the cold snow"
    box(app, "second").set_value("A dog in the snow").run()
    assert query(app)["second2"] == "A dog in the cold snow", "typing one version keeps the other"


def test_the_page_opens_with_the_best_second_opinion_and_takes_up_to_three_more(monkeypatch):
    monkeypatch.setattr("app.model_choice.SECOND_OPINION", "test-two-sided")
    app = page()
    assert titles(app) == ["Test light", "Test two-sided"] and "with" not in query(app)
    others = app.multiselect[0]
    others.set_value(["test-other", "test-alone"]).run()
    assert attention(drawn(app)["sections"][2]) is None
    assert query(app)["with"] == "test-other,test-alone"


def test_another_task_has_other_models():
    app = page(**{"with": "test-other"})
    chooser(app, "Task").set_value("answer selection").run()
    assert not app.exception and "Test light" not in titles(app)


def test_unusable_link_parameters_are_reported():
    app = page(**{"with": "nothing,test-other", "compare": "apples", "rows": "third"})
    assert any("shown without them: compare, rows, with." in said for said in sentences(app))
    assert len(titles(app)) == 2


def test_a_broken_model_is_shown_with_the_others_and_its_error():
    app = page(**{"with": "test-truncated"})
    assert not app.exception
    first, broken = drawn(app)["sections"]
    assert first["drawing"] and "is truncated" in broken["problem"] and broken["drawing"] is None


ROWS = [("a b", "c", "x", 0.9), ("d", "e", "x", 0.6), ("f", "g", "x", 0.8)]


def test_files_of_predictions_give_the_pairs_that_two_models_judge_differently():
    def lines(rows):
        return "\n".join(
            json.dumps({"id": 1, "first": a, "second": b, "label": "", "predicted": v, f"p_{v}": p})
            for a, b, v, p in rows
        )

    rows = ("id,first,second,label,predicted,p_x,p_y", "1,a b,c,x,y,.1,.9", "2,d,e,,y,.2,.8", "3,f,g,y,x,.9,.1")
    table = "\n".join(rows)
    pairs = comparison.disagreements(
        *comparison.predictions(lines(ROWS), "a.jsonl"), *comparison.predictions(table, "b.csv")
    )
    assert pairs[["first", "predicted", "predicted_other"]].values.tolist() == [["a b", "x", "y"], ["d", "x", "y"]]
    assert set(pairs["label"]) == {""}
    a, b = (
        pd.DataFrame([(*row[0], *row[1:], "") for row in some], columns=["first", "second", "predicted", "p", "label"])
        for some in (
            [("ab", "x", 0.5), ("cb", "x", 0.9), ("ad", "x", 0.6), ("ee", "x", 1)],
            [("ab", "y", 0.5), ("ad", "y", 0.9), ("cb", "y", 0.7), ("ee", "x", 1), ("ab", "z", 1), ("ef", "y", 1)],
        )
    )
    found = comparison.disagreements(a, b)[["first", "second", "p", "predicted_other", "p_other"]].values.tolist()
    assert found == [["c", "b", 0.9, "y", 0.7], ["a", "d", 0.6, "y", 0.9], ["a", "b", 0.5, "y", 0.5]]
    for text in (
        "",
        "a,b\n1,2\n",
        "predicted,p_x\nx,.5\n",
        "first,predicted\n",
        '{"first": 1}',
        "[1]",
        '{"first": ' + "[" * 100_000,
        '{"first": "a", "predicted": "x", "p_x": "many"}',
    ):
        with pytest.raises(PredictionsError, match="trainers predict"):
            comparison.predictions(text, "x.csv")


def test_pairs_of_a_run_on_the_error_desk_open_with_the_models_that_disagree(own_desk, tmp_path, checkpoints):
    assert "Predict a file with two models on the Error desk" in body(page())
    shas = [read_card(checkpoints / name)["sha256"] for name in ("test-other", "test-light")]
    run = made_up_run(tmp_path)
    models = (replace(run.models[0], sha256=shas[0], title="The <b>"), replace(run.models[1], sha256=shas[1]))
    keep(replace(run, models=models))
    app = page()
    chooser(app, "Run of the Error desk").select_index(0).run()
    assert not app.exception and "3 pairs; the pairs that both models are most sure of come first." in body(app)
    found = [button for button in app.button if (button.key or "").startswith("tried-disagreement")]
    # 1n: .6 · .8; 1c: .7 · .6; 2n: .6 · .5.
    assert [re.split(": | or | \\(", button.label.replace("\\", ""))[1:3] for button in found] == [
        ["entailment", "neutral"],
        ["contradiction", "entailment"],
        ["neutral", "entailment"],
    ]
    found[0].click().run()
    address = query(app)
    assert (address["first"], address["second"]) == ("a man is cold", "the man is in the red snow")
    assert (address["model"], address["with"]) == ("test-other", "test-light")
    export = to_csv(open_table(run, known=bool), np.ones(6, dtype=bool))
    pairs = comparison.disagreements(*comparison.predictions(export, "pairlens-taxi-rows.csv"))
    texts = [row.first for row in run.dataset.rows]
    assert pairs["first"].tolist() == [texts[2], texts[1], texts[4]]
    assert pairs["second"].tolist()[2] == "=SUM(A1) <b>toy</b>" and pairs["label"].tolist()[0] == "neutral"
