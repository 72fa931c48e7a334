"""The Error desk's computations in the background, and what they add to a run: words, perturbed rows, a map."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from app.desk.jobs import _progress
from core.checkpoint import read_card
from core.desk.database import open_database
from core.desk.jobs import Job
from core.desk.strongest_words import StrongestWord, StrongestWords
from tests.app.desk_page import button, figures, page, texts
from tests.app.pages import chart_rows, open_view, query, sentences
from tests.core.made_up_runs import ONE, keep

pytestmark = pytest.mark.usefixtures("own_desk")


def test_the_words_with_the_largest_effect_are_computed_and_become_filters(kept_run, checkpoints, monkeypatch):
    assert "is not here, so no more can be computed" in texts(page(kept_run, view="words"))
    sha256, job = read_card(checkpoints / "test-light")["sha256"], "desk strongest words job"
    keep(replace(kept_run, models=(replace(kept_run.models[0], sha256=sha256),)))
    app = open_view("error_desk", file=kept_run.dataset.sha256[:16], models=sha256[:16], view="words")
    assert not app.exception and "Which words drive predictions?" in texts(app)
    button(app, "Compute for 6 rows").click().run()
    app.session_state[job].future.result(600) if job in app.session_state else None
    app.run()
    drawn = unescape(figures(app))
    assert not app.exception and "Of all 6 rows 33.3" in drawn
    assert not chart_rows(app) and "with fewer than 5 rows can be found only in the file" in drawn
    monkeypatch.setattr("core.desk.charts.LEAST_ROWS", 1)
    app.run()
    assert not any(one.label.startswith("Compute for") for one in app.button), "nothing is left to compute"
    expression = next(mark["filter"] for rows in chart_rows(app) for mark in rows)
    assert expression.startswith("A.strongest_word = ")
    app = open_view("error_desk", file=kept_run.dataset.sha256[:16], models=sha256[:16], filter=expression)
    assert re.search("[1-6] of 6 rows", texts(app)) and "All rows are shown" not in " ".join(sentences(app))


def test_perturbed_rows_become_a_run_with_the_failure_rates(kept_run, checkpoints):
    assert "is not here: choose models that are" in texts(page(kept_run, view="perturbations"))
    sha256, job = read_card(checkpoints / "test-light")["sha256"], "desk perturbation job"
    keep(replace(kept_run, models=(replace(kept_run.models[0], sha256=sha256),)))
    address = {"file": kept_run.dataset.sha256[:16], "models": sha256[:16], "view": "perturbations"}
    app = open_view("error_desk", **address, filter="gold = contradiction")
    button(app, "Test 2 rows").click().run()
    app.session_state[job].future.result(600) if job in app.session_state else None
    app.run()
    assert not app.exception and "taxi.tsv, perturbed" in texts(app)
    files = open_view("error_desk", **query(app) | {"view": "files"})
    assert "save pairlens-taxi-perturbed-rows.csv" in {button.key for button in files.get("download_button")}
    drawn = unescape(figures(app))
    assert "Both texts swapped same prediction 2" in drawn and "becomes contradiction" not in drawn
    mark = next(mark for rows in chart_rows(app) for mark in rows)
    assert "failed has word" in mark["filter"]
    failures = open_view("error_desk", **query(app) | {"filter": mark["filter"], "view": "rows"})
    assert re.search(rf"\b{round(2 * mark['score'])} of \d+ rows", texts(failures))
    app = open_view("error_desk", **query(app) | {"filter": "premise.words < 2"})
    assert not app.exception, "no row is left to count"


def test_the_map_is_made_once_and_shows_similar_rows(kept_run, checkpoints):
    assert "so no map can be made" in texts(page(kept_run, view="map"))
    sha256, job = read_card(checkpoints / "test-light")["sha256"], "desk map job"
    again = (("", "0"), (" The man is cold.", "1"))
    rows = tuple(
        replace(row, id=f"{row.id}-{i}", first=row.first + more) for more, i in again for row in kept_run.dataset.rows
    )
    chances = np.tile(kept_run.models[0].probabilities, (2, 1))
    model = replace(kept_run.models[0], sha256=sha256, probabilities=chances)
    keep(replace(kept_run, dataset=replace(kept_run.dataset, rows=rows), models=(model,)))
    address = {"file": kept_run.dataset.sha256[:16], "models": sha256[:16]}
    app = open_view("error_desk", **address, view="map")
    assert "Similar rows" not in [one.label for one in app.expander]
    button(app, "Map 12 rows").click().run()
    app.session_state[job].future.result(600) if job in app.session_state else None
    app.run()
    assert not app.exception and "classifier, all 12 rows" in texts(app)
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert [(trace["name"], len(trace["customdata"])) for trace in drawn] == [("no", 4), ("yes", 8)]
    for by, names in (("gold", [*model.labels]), ("A.p", ["A.p"]), ("tags", ["none"])):
        next(box for box in app.selectbox if box.label == "Colour by").set_value(by).run()
        drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
        assert not app.exception and [trace["name"] for trace in drawn] == names
    app = open_view("error_desk", **address, view="map", filter="A.map_x < 0 or A.map_x >= 0")
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert not app.exception and sum(len(trace["customdata"]) for trace in drawn) == 12
    assert "Similar rows" in [one.label for one in open_view("error_desk", **address, row="1e-0").expander]


def test_peoples_words_stand_under_the_models_and_agreement_is_a_slice(kept_run):
    columns = {"Explanation_1": "<b>dogs</b> play", "Explanation_2": "a dog plays", "Explanation_3": "the snow"}
    rows = tuple(replace(row, columns=columns) for row in kept_run.dataset.rows)
    run = replace(kept_run, dataset=replace(kept_run.dataset, rows=rows))
    keep(run)
    found = {"1e": StrongestWord("dog", "premise"), "1c": StrongestWord("snow", "premise")}
    StrongestWords(open_database()).keep(run.dataset.sha256, ONE, found)
    app = page(run, row="1e", filter="A.people_agree")
    assert not app.exception and "1 of 6 rows" in texts(app)
    assert "<dt>People name in the premise</dt><dd>dog, plays</dd>" in texts(app)
    assert "People name" not in texts(page(run, row="2e")), "they name none of its words"
    assert "agreement with people" in figures(page(run, view="slices"))
    assert "they name the row’s word, too, in 50.0" in figures(page(run, view="words"))


def test_a_job_shows_the_time_left_for_its_rows_and_its_next_step():
    job = Job("Adapting", 100_000, lambda job: None)
    job.then = "the classifier is fitted"
    job.begin()
    job._began -= 10
    job.progress(50_000)
    assert (
        _progress(job)
        == "50,000 of 100,000 rows, 5,000 rows a second, 10 s left to read them, then the classifier is fitted"
    )
    job.step("fitting")
    assert _progress(job) == "fitting"
    job._step_began -= 60
    job.step("fitting")
    assert _progress(job) == "fitting, 60 s so far", "nothing else would show that the job is still running"
    job.then = ""
    job.step("")
    assert _progress(job).endswith("rows a second, 10 s left")
