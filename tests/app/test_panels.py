"""Panels by the records that came: what each draws, and that nothing but its folder names it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from app import components, panels
from app.panels import verdict
from core.evidence import AttentionMap, AttentiveContext, FilterProvenance, GeneratedFilters, PhraseSelection
from tests.app.made_up import POOLED, pair, with_more_panels

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ((0.5, 0.2, 0.2, 0.1), (0.1, 0.7, 0.1, 0.1), (0.25, 0.25, 0.25, 0.25))
TURNED = tuple(zip(*WEIGHTS, strict=True))


@pytest.fixture
def more_panels(monkeypatch):
    """The tests' panels in addition to the app's; removed again afterwards."""
    monkeypatch.setattr(panels, "__path__", list(panels.__path__))
    with_more_panels()
    components.bundled.cache_clear()
    yield
    components.bundled.cache_clear()


def test_every_folder_registers_the_panel_of_its_name():
    for folder in panels.folders():
        scripts = "".join(script.read_text(encoding="utf-8") for script in folder.glob("*.js"))
        assert f"PANELS.{folder.name} =" in scripts
    styled = {style.parent.name for style in (ROOT / "app/panels").glob("*/style.css")}
    assert styled <= {folder.name for folder in panels.folders()}


def test_a_new_record_needs_one_folder(more_panels):
    scripts = components.bundled()
    assert "PANELS.word_length =" in scripts
    assert json.dumps(".word_length {\n& { letter-spacing: 3px; }\n}")[1:-1] in scripts


def test_the_views_name_no_record_and_the_scripts_look_at_nothing_outside_their_own_root():
    names = "|".join(c.__name__ for c in (AttentionMap, AttentiveContext, FilterProvenance, PhraseSelection))
    assert not re.search(names, (ROOT / "app/views/explore.py").read_text(encoding="utf-8"))
    for script in (script for part in ("components", "panels") for script in (ROOT / "app" / part).rglob("*.js")):
        if script.name == "filter_map.js":  # adds the user's texts to the chart that Streamlit draws
            continue
        text = script.read_text(encoding="utf-8")
        assert not re.search(r"document\.(query|getElement|body)|\bid: \"", text), script


@pytest.mark.parametrize("judged", ["question", "answer", "both"])
def test_rows_and_columns_are_the_records_own_whoever_is_judged(judged):
    by_answer = AttentionMap("attention", "answer", "question", WEIGHTS, WEIGHTS)
    by_question = AttentionMap("attention", "question", "answer", TURNED, TURNED)
    explanation = pair(by_answer, judged=judged)
    assert panels.axes(explanation) == ("answer", "question")
    assert by_answer.to_csv(explanation).splitlines()[1] == "1,Ann,1,who,0.5,0.5"
    assert panels.axes(pair(by_question, by_answer, judged=judged)) == ("question", "answer")
    assert pair(judged="both").class_names == ("not an answer", "answer")


def test_a_final_state_is_one_row_labelled_by_the_last_word():
    once = AttentionMap("attention", "answer", "question", WEIGHTS[1:2], WEIGHTS[1:2], units="final state")
    explanation = pair(once)
    assert panels.word_maps(explanation) == [once]
    assert once.to_csv(explanation).splitlines()[2] == "3,final state,2,made,0.7,0.7"
    assert once.to_text(explanation)[1:] == [
        "Where the final state of the answer looks in the question:",
        "       final state  made 70%, who 10%, the 10%, film 10%",
    ]
    assert "final state" in once.to_html(explanation)


def test_a_sentence_that_attends_to_itself_labels_both_edges():
    own = tuple((0.5, 0.3, 0.2) for _ in range(3))
    assert panels.axes(pair(AttentionMap("attention", "answer", "answer", own, own))) == ("answer", "answer")


@pytest.mark.parametrize(("judged", "edges"), [("question", ("question", "answer")), ("both", ("answer", "question"))])
def test_without_a_map_the_judged_sentence_or_the_second_has_the_rows(judged, edges):
    assert panels.axes(pair(judged=judged)) == edges


def test_matches_of_phrases_and_generated_filters_stay_with_the_server():
    phrases = AttentionMap("alignment", "answer", "question", WEIGHTS, (), units="phrases")
    filters = GeneratedFilters("filters", "question", "answer", (0.5,), (((0.1,),),))
    assert panels.drawable(pair(phrases, filters, *POOLED)).evidence == POOLED
    assert panels.axes(pair(phrases)) == panels.axes(pair())


def test_a_verdict_in_one_line_has_the_three_most_probable_classes():
    told = lambda **chances: verdict.summary(  # noqa: E731
        SimpleNamespace(probabilities=tuple(chances.values()), class_names=tuple(chances))
    ).replace("\u00a0", " ")
    assert told(artist=0.03, film=0.83, place=0.02, album=0.12) == "film 83 %, album 12 %, artist 3.0 %"
    assert told(artist=0.009, film=0.991) == "film 99 %"
    assert told(**{f"c{n}": 1 / 200 for n in range(200)}).startswith("c99 ")
