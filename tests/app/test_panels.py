"""Panels by the records that came: what each draws, and that nothing but its folder names it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from app import components, panels
from app.panels import verdict
from core.evidence import AttentionMap, AttentiveContext, FilterProvenance, PhraseSelection
from tests.app.made_up import POOLED, Unseen, WordLength, pair, with_more_panels

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ((0.5, 0.2, 0.2, 0.1), (0.1, 0.7, 0.1, 0.1), (0.25, 0.25, 0.25, 0.25))
TURNED = tuple(zip(*WEIGHTS, strict=True))


@pytest.fixture
def more_panels(monkeypatch):
    """The panels of the tests beside the app's; afterwards the app's alone."""
    monkeypatch.setattr(panels, "__path__", list(panels.__path__))
    with_more_panels()
    components.bundled.cache_clear()
    yield
    panels.folders.cache_clear()
    components.bundled.cache_clear()


def kinds(explanation):
    return [panel.kind for panel in panels.drawing(explanation).panels]


def axes(explanation):
    return [(side.role, side.axis) for side in panels.drawing(explanation).sides]


def test_every_folder_declares_the_panel_of_its_name_and_its_script_registers_it():
    for folder, panel in panels.folders().items():
        assert panel.kinds[0] == folder.name
        scripts = "".join(script.read_text(encoding="utf-8") for script in folder.glob("*.js"))
        assert (f"PANELS.{folder.name} =" in scripts) == bool(scripts)
    assert {folder.name for folder in panels.folders()} == {
        "attention_heads",
        "attention_map",
        "attentive_context",
        "belief",
        "effects",
        "filter_provenance",
        "generated_filters",
        "like_these",
        "links",
        "phrase_selection",
        "pooled_attention",
        "what_if",
    }


def test_a_record_without_a_panel_is_passed_over():
    assert kinds(pair(Unseen())) == []
    assert kinds(pair(Unseen(), *POOLED)) == ["pooled_attention"]


def test_a_new_record_needs_one_folder(more_panels):
    drawn = panels.drawing(pair(WordLength("word lengths", (3, 4)), *POOLED)).panels
    assert (drawn[0].kind, drawn[0].place, drawn[0].data.letters) == ("word_length", "below", (3, 4))
    scripts = components.bundled()
    assert "PANELS.word_length =" in scripts
    assert json.dumps(".word_length {\n& { letter-spacing: 3px; }\n}")[1:-1] in scripts


def test_the_views_name_no_record_and_the_scripts_look_at_nothing_outside_their_own_root():
    names = "|".join(c.__name__ for c in (AttentionMap, AttentiveContext, FilterProvenance, PhraseSelection))
    assert not re.search(names, (ROOT / "app/views/explore.py").read_text(encoding="utf-8"))
    for script in (script for part in ("components", "panels") for script in (ROOT / "app" / part).rglob("*.js")):
        text = script.read_text(encoding="utf-8")
        assert not re.search(r"document\.(query|getElement|body)|\bid: \"", text), script


def test_pooled_attention_of_both_sides_is_one_panel():
    (panel,) = panels.drawing(pair(*POOLED)).panels
    assert [vars(side) for side in panel.data.sides] == [
        {"role": "question", "weights": (0.1, 0.6, 0.1, 0.2), "high": 0.6},
        {"role": "answer", "weights": (0.7, 0.2, 0.1), "high": 0.7},
    ]
    assert (panel.data.shares, panel.data.name) == (True, "attentive pooling")
    unnormalised = replace(POOLED[1], weights=(3.0, 2.0, 1.0))
    assert not panels.drawing(pair(POOLED[0], unnormalised)).panels[0].data.shares


@pytest.mark.parametrize("judged", ["question", "answer", "both"])
def test_rows_and_columns_are_the_records_own_whoever_is_judged(judged):
    by_answer = AttentionMap("attention", "answer", "question", WEIGHTS, WEIGHTS)
    by_question = AttentionMap("attention", "question", "answer", TURNED, TURNED)
    explanation = pair(by_answer, judged=judged)
    assert axes(explanation) == [("question", "column"), ("answer", "row")]
    assert panels.drawing(explanation).directions == ["answer"]
    assert by_answer.to_csv(explanation).splitlines()[1] == "1,Ann,1,who,0.5,0.5"
    both = pair(by_question, by_answer, judged=judged)
    assert axes(both) == [("question", "row"), ("answer", "column")]
    assert [(p.data.rows, len(p.data.weights)) for p in panels.drawing(both).panels] == [
        ("question", 4),
        ("answer", 3),
    ]
    assert verdict.class_names(pair(judged="both")) == ("not an answer", "answer")


def test_a_final_state_is_one_row_that_stands_for_the_last_word():
    once = AttentionMap("attention", "answer", "question", WEIGHTS[1:2], WEIGHTS[1:2], units="final state")
    explanation = pair(once)
    (panel,) = panels.drawing(explanation).panels
    assert (panel.data.units, panel.data.weights) == ("final state", (WEIGHTS[1],))
    assert once.to_csv(explanation).splitlines()[2] == "3,final state,2,made,0.7,0.7"
    assert once.to_text(explanation)[1:] == [
        "Where the final state of the answer looks in the question:",
        "       final state  made 70%, who 10%, the 10%, film 10%",
    ]
    assert "final state" in once.to_html(explanation)


def test_a_sentence_that_attends_to_itself_stands_on_both_edges():
    own = tuple((0.5, 0.3, 0.2) for _ in range(3))
    explanation = pair(AttentionMap("attention", "answer", "answer", own, own))
    assert axes(explanation) == [("answer", "column"), ("answer", "row")]


@pytest.mark.parametrize(("judged", "edges"), [("question", ["row", "column"]), ("both", ["column", "row"])])
def test_without_a_map_the_judged_sentence_or_the_second_has_the_rows(judged, edges):
    assert [axis for _, axis in axes(pair(judged=judged))] == edges
