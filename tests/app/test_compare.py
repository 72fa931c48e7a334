"""The page Compare without a browser: what is equal, what differs, and one sentence for every kind of bad input."""

from __future__ import annotations

import json
import re
from html import escape

import numpy as np
import pytest

from app.compare import comparison
from app.compare.comparison import Looks, PredictionsError
from core.checkpoint import load
from core.explain import explain
from core.shared_memory import SharedMemory
from tests.app.pages import box, chooser, components, open_view, query, sentences

PAIR = {"first": "A man in snow", "second": "A dog in the cold"}


def page(**parameters):
    return open_view("compare", **({"model": "test-light"} | PAIR | parameters))


def drawn(app):
    """The data that the browser draws."""
    return next(data for data in components(app) if data.get("view") == "compare")


def titles(app):
    return [section["title"].replace(" (test-light)", "") for section in drawn(app)["sections"]]


def test_models_are_shown_side_by_side_with_verdict_parameters_time_and_attention(checkpoints):
    app = page(**{"with": "test-other,test-two-sided"})
    assert not app.exception
    assert titles(app) == ["Test light", "**Other** <b>:smile:</b>", "Test two-sided"]
    for name, section in zip(("test-light", "test-other", "test-two-sided"), drawn(app)["sections"], strict=True):
        said = explain(load(checkpoints / name), *PAIR.values())
        verdict, (parameters, time) = section["verdict"], section["facts"]
        assert [(c["label"], c["p"]) for c in verdict["classes"]] == list(
            zip(said.labels, said.probabilities, strict=True)
        )
        assert "parameters" in parameters and re.fullmatch(r"explained in \d+ ms", time)
    assert len(drawn(app)["differences"]) == 2 and len(drawn(app)["agreement"]["heads"]) == 2
    assert query(app)["with"] == "test-other,test-two-sided"


def test_an_examples_gold_label_is_shown_with_each_model():
    app = open_view("compare", model="test-light", example="negation")
    assert [section["facts"][-1] for section in drawn(app)["sections"]] == 2 * ["gold label: contradiction"]


def test_a_pair_is_explained_once(monkeypatch):
    read, real = [], explain

    def counted(*args, records=None, **more):
        if records is None:  # requests for word effects pass the records that they need
            read.append(args[1:])
        return real(*args, records=records, **more)

    monkeypatch.setattr("core.explain.explain", counted)
    monkeypatch.setattr("core.explain._EXPLANATIONS", SharedMemory(400))
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


def test_a_model_with_the_null_word_has_a_column_for_it(checkpoints):
    light, two_sided = (one["matrix"] for one in drawn(page(**{"with": "test-two-sided"}))["sections"])
    assert light["none"] is None and light["words"] == two_sided["words"] == [
        PAIR["second"].split(),
        PAIR["first"].split(),
    ]
    looks = comparison.looks(explain(load(checkpoints / "test-two-sided"), *PAIR.values()), "hypothesis")
    assert np.array(two_sided["weights"]) == pytest.approx(np.array(looks.weights), rel=1e-3)
    assert two_sided["none"] == pytest.approx(looks.none, rel=1e-3)


def test_a_saved_figures_caption_names_model_pair_and_verdict():
    shown = drawn(page(**{"with": "test-two-sided"}))
    figures = [*shown["sections"], *shown["differences"], shown["agreement"]]
    for figure, models in zip(figures, (("light",), ("two-sided",), *[("light", "two-sided")] * 2), strict=True):
        lines = figure["about"]["lines"]
        assert lines[:2] == ["Premise: A man in snow", "Hypothesis: A dog in the cold"]
        verdicts = lines[2:]
        assert len(verdicts) == len(models)
        for verdict, model in zip(verdicts, models, strict=True):
            assert re.match(rf"Test {model}: \w+ \d", verdict)
        assert all(f"test-{model}" in figure["about"]["file"] for model in models)
    # A figure's name says its kind, too: only the difference and how far they disagree are of the same models.
    assert len({figure["about"]["file"] for figure in figures}) == 3


def test_differences_are_those_of_the_weights(checkpoints):
    one, other = (explain(load(checkpoints / name), *PAIR.values()) for name in ("test-light", "test-two-sided"))
    first, second = (comparison.looks(said, "hypothesis") for said in (one, other))
    differs = comparison.difference(first, second)
    assert differs.none is not None and second.none is not None and first.none is None
    for i, row in enumerate(differs.weights):
        theirs = [*second.weights[i], second.none[i]]
        expected = [a - b for a, b in zip([*first.weights[i], 0.0], theirs, strict=True)]
        assert [*row, differs.none[i]] == pytest.approx(expected)
        assert differs.variation[i] == pytest.approx(sum(map(abs, expected)) / 2)
        assert 0 <= differs.variation[i] <= 1
    assert comparison.difference(first, first).mean == 0


def test_weight_on_words_of_only_one_version_counts_as_moved():
    before = Looks(("dog",), ("red", "cat"), ((0.75, 0.25),))
    after = Looks(("dog", "runs"), ("red", "toy"), ((0.5, 0.5), (1.0, 0.0)))
    differs = comparison.difference(before, after)
    assert (differs.rows, differs.columns, differs.weights) == (("dog",), ("red",), ((0.25,),))
    assert differs.variation == (0.5,)
    assert comparison.difference(before, Looks(("cat",), ("red",), ((1.0,),))) is None


def marked(app):
    """The marked words of all versions."""
    lines = [line for section in drawn(app)["sections"] for line in section["sentences"]]
    return [line["words"][i] for line in lines for i in line["marked"]]


def test_two_versions_mark_the_changed_words():
    app = page(compare="versions", first2="A man in snow", second2="A cat in the cold")
    assert not app.exception
    assert titles(app)[:2] == ["This version", "The other version"]
    assert marked(app) == ["dog", "cat"]
    version = next(w for w in app.text_input if w.label == "The other version’s hypothesis")
    version.set_value("A dog in the cold snow").run()
    assert marked(app) == ["snow"]
    assert query(app)["second2"] == "A dog in the cold snow"
    box(app, "second").set_value("A dog in the snow").run()
    assert query(app)["second2"] == "A dog in the cold snow", "typing one version keeps the other"


def test_the_page_opens_with_two_models_and_takes_up_to_three_more():
    app = page()
    assert len(titles(app)) == 2
    others = app.multiselect[0]
    others.set_value(["test-other", "test-alone"]).run()
    assert drawn(app)["sections"][2]["matrix"] is None
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
    assert "is truncated" in drawn(app)["sections"][1]["problem"] and "at least two of them" in drawn(app)["hint"]


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
        comparison.predictions(lines(ROWS), "a.jsonl"), comparison.predictions(table, "b.csv")
    )
    assert [(one.first, one.predicted, other.predicted) for one, other in pairs] == [("a b", "x", "y"), ("d", "x", "y")]
    for text in ("", "a,b\n1,2\n", '{"first": 1}', "[1]", '{"first": "a", "predicted": "x", "p_x": "many"}'):
        with pytest.raises(PredictionsError, match="trainers predict"):
            comparison.predictions(text, "x.csv")
