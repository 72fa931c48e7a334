"""The page Phrases without a browser: what it draws, and one sentence for every kind of bad input."""

import csv
import io
import itertools
import json
import shutil
from dataclasses import replace

import pytest

from app.examples import PHRASE_EXAMPLES
from app.panels import phrase_selection
from core.checkpoint import load
from core.evidence import PhraseSelection
from core.explain import explain
from tests.app.made_up_models import make_phrases
from tests.app.pages import box, chooser, open_view, query, sentences


def page(file="phrases", **parameters):
    return open_view(file, **({"model": "test-te"} | parameters))


def test_the_page_opens_on_the_first_pair_of_figure_1(drawn):
    app = page()
    assert not app.exception
    data = drawn(app)
    assert [side["role"] for side in data["sides"]] == ["premise", "hypothesis"]
    record = data["by_kind"]["phrase_selection"]
    assert [len(side["phrases"]) for side in record["sides"]] == [63, 56]
    assert (record["pooling"], record["k"]) == ("kmin", 5)
    assert data["k"] == 5
    assert data["gold"] == {"label": "entailment", "source": "SICK"}
    assert query(app) == {"model": "test-te", "example": "entailed"}


def test_the_drawing_holds_the_choices_of_every_k(drawn):
    data = drawn(page())
    record = data["by_kind"]["phrase_selection"]
    choices = {(choice["pooling"], choice["k"]): choice for choice in record["choices"]}
    for pooling, k in itertools.product(("kmin", "kmax"), range(1, 11)):
        choice = choices[pooling, k]
        assert sum(choice["probabilities"]) == pytest.approx(1, abs=1e-3)
        for side, indices in zip(record["sides"], choice["kept"], strict=True):
            assert len(indices) == k
            assert indices == sorted(indices)
            rest = [phrase["score"] for i, phrase in enumerate(side["phrases"]) if i not in indices]
            pooled = [side["phrases"][i]["score"] for i in indices]
            if pooling == "kmin":
                assert max(pooled) <= min(rest) + 1e-4
            else:
                assert min(pooled) >= max(rest) - 1e-4
    assert [c["p"] for c in data["classes"]] == pytest.approx(choices["kmin", 5]["probabilities"], abs=1e-4)
    assert len(data["readings"]) == 10
    assert data["readings"][4].startswith("k-min judges by the least matched phrases, here “")


def test_phrases_are_in_the_papers_order(drawn):
    side = drawn(page(first="A man with snow", second="dog"))["by_kind"]["phrase_selection"]["sides"][0]
    assert [phrase["span"] for phrase in side["phrases"]] == [
        [0, 1],
        [1, 2],
        [0, 2],
        [2, 3],
        [1, 3],
        [0, 3],
        [3, 4],
        [2, 4],
        [1, 4],
        [0, 4],
    ]
    assert {phrase["partner"] for phrase in side["phrases"]} == {0}


def test_one_word_a_side_keeps_its_one_phrase(drawn):
    data = drawn(page(example="one-word"))
    kept = {(one["pooling"], one["k"]): one["kept"] for one in data["by_kind"]["phrase_selection"]["choices"]}
    assert kept["kmin", 10] == kept["kmax", 1] == [[0], [0]]
    assert "“\u2068dog\u2069” in the premise and “\u2068puppy\u2069” in the hypothesis" in data["readings"][9]


def test_answer_selection_has_readable_classes_and_its_own_roles(drawn):
    app = page(model="test-as", example="answer")
    data = drawn(app)
    assert [c["label"] for c in data["classes"]] == ["not an answer", "answer"]
    assert box(app, "first").label == "Question (the context)"
    assert data["readings"][5].startswith("k-max judges by the best matched phrases, here “")
    assert "answer selection dev MAP 0.6123" in data["footer"]


def test_k_and_phrase_of_a_link_are_shown_and_kept_in_it(drawn):
    app = page(k="7", select="b3")
    assert drawn(app)["k"] == 7
    assert drawn(app)["select"] == "b3"
    assert query(app) == {"model": "test-te", "example": "entailed", "k": "7", "select": "b3"}
    assert any(button.label == "Phrases at k = 7 (CSV)" for button in app.get("download_button"))


def test_typing_swapping_and_examples_change_pair_and_link(drawn):
    app = page(k="3", select="a2")
    box(app, "first").input("A man").run()
    box(app, "second").input("A woman").run()
    assert query(app) == {"model": "test-te", "first": "A man", "second": "A woman", "k": "3"}
    app.button(key="swap").click().run()
    assert drawn(app)["sides"][0]["tokens"] == ["A", "woman"]
    chooser(app, "Example").select("no-answer").run()
    about = {"model": "wikiqa-phrases-kmax", "example": "no-answer", "k": "3"}
    assert query(app) == about, "an example about answers sets a model of answers"
    chooser(app, "Model").set_value("test-as").run()
    assert box(app, "second").label == "Answer (the sentence judged)"
    assert box(app, "second").value == next(e for e in PHRASE_EXAMPLES if e.slug == "no-answer").texts[0].second
    assert not app.exception


def test_a_late_value_of_another_widget_does_not_undo_typing():
    app = page(first="A man", second="A woman")
    box(app, "first").input("A girl")
    chooser(app, "Example").select("answer").run()  # selected for the pair before: it arrives with the typed text
    pair = {name: query(app).get(name) for name in ("first", "second", "example")}
    assert pair in (
        {"first": "A girl", "second": "A woman", "example": None},
        {"first": None, "second": None, "example": "answer"},
    )
    assert [box(app, "first").value, box(app, "second").value] != ["A man", "A woman"]


@pytest.mark.parametrize(("model", "length"), [("test-te", 200), ("test-as", 40)])
def test_ten_thousand_words_are_cut_with_a_notice_and_offered_as_a_file(model, length, drawn):
    app = page(model=model)
    box(app, "second").input("dog and cat " * 3334).run()
    assert not app.exception
    data = drawn(app)
    side = data["sides"][1]
    assert len(side["tokens"]) == length
    assert side["truncated"] == 3 * 3334 - length
    assert any(f"cut after {length} words" in notice for notice in data["notices"])
    assert any("too long for a link" in notice for notice in data["notices"])
    assert query(app) == {"model": model}


def test_without_a_phrase_model_the_page_shows_the_remedy(tmp_path, checkpoints, monkeypatch):
    shutil.copytree(checkpoints / "test-light", tmp_path / "test-light")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    app = page()
    assert not app.exception
    assert any("No phrase model is installed: train one" in sentence for sentence in sentences(app))


def test_open_vocabulary_models_of_the_task_are_compared_with_their_own_poolings(
    tmp_path, checkpoints, monkeypatch, drawn
):
    make_phrases(tmp_path, "te-phrases-kmin", "TE", "entailment", "kmin", 5, shared=True, listed=1)
    make_phrases(tmp_path, "as-phrases-kmax", "AS", "answer selection", "kmax", 6, shared=True)
    make_phrases(tmp_path, "as-phrases-kmin", "AS min", "answer selection", "kmin", 5, shared=True)
    shutil.copytree(checkpoints / "test-te", tmp_path / "a-closed")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    app = page(model="as-phrases-kmax", example="answer")
    assert chooser(app, "Model").options == ["AS", "AS min"]
    assert chooser(page(), "Model").options == ["TE", "Test entailment phrases (words of its data set)"]
    rows = drawn(app)["models"]
    assert [(row["name"], row["how"], row["shown"]) for row in rows] == [
        ("as-phrases-kmax", "answer selection; k-max, k = 6", True),
        ("as-phrases-kmin", "answer selection; k-min, k = 5", False),
    ]
    assert [c["p"] for c in rows[0]["classes"]] == pytest.approx([c["p"] for c in drawn(app)["classes"]])
    closed = drawn(page(model="a-closed"))["models"]
    assert [(row["name"], row["shown"]) for row in closed] == [("te-phrases-kmin", False), ("a-closed", True)]


def test_the_table_has_one_line_a_phrase(checkpoints):
    explanation = explain(load(checkpoints / "test-te"), "=A dog plays", "A cat")
    record = explanation.find(PhraseSelection)
    lines = list(csv.DictReader(io.StringIO(record.table(explanation, 2))))
    assert len(lines) == sum(len(side.phrases) for side in record.sides)
    assert lines[0] == {
        "side": "premise",
        "phrase": "'=",
        "first_word": "1",
        "last_word": "1",
        "score": str(record.sides[0].phrases[0].score),
        "partner": lines[0]["partner"],
        "kept_by_kmin_2": lines[0]["kept_by_kmin_2"],
        "kept_by_kmax_2": lines[0]["kept_by_kmax_2"],
    }
    assert lines[2]["phrase"] == "'= A"
    for pooling in ("kmin", "kmax"):
        assert sum(int(line[f"kept_by_{pooling}_2"]) for line in lines) == 4
    assert {line["side"] for line in lines} == {"premise", "hypothesis"}
    assert json.loads(explanation.to_json())["evidence"][0]["kind"] == "phrase_selection"
    other = explain(load(checkpoints / "test-light"), "A dog", "A cat")
    assert other.find(PhraseSelection) is None
    with pytest.raises(LookupError):
        phrase_selection.Phrases.of(other)


def test_the_reading_quotes_two_phrases_a_side_that_share_no_word(checkpoints):
    explanation = explain(
        load(checkpoints / "test-te"), "A dog is playing with a toy", "A cat jumping outside in the snow"
    )
    for k in (1, 10):
        text = phrase_selection.reading(explanation, k)
        assert text.count("“") <= (2 if k == 1 else 4)
        assert "\n" not in text
        assert text.endswith(" in the hypothesis.")
    record = explanation.find(PhraseSelection)
    for pooling, first in (("kmin", min), ("kmax", max)):
        shown = replace(record, pooling=pooling)
        text = phrase_selection.reading(replace(explanation, evidence=(shown,)), 3)
        sides = zip((explanation.first, explanation.second), record.sides, shown.choice(pooling, 3).kept, strict=True)
        for words, side, kept in sides:
            phrases = [side.phrases[index] for index in kept]
            told = first(round(phrase.score, 5) for phrase in phrases)
            tied = [phrase.span for phrase in phrases if round(phrase.score, 5) == told]
            longest = [words.words(span) for span in tied if span[1] - span[0] == max(e - s for s, e in tied)]
            assert any(f"“\u2068{one}\u2069”" in text for one in longest), pooling


def test_explore_shows_each_poolings_phrases_and_links_to_this_page(drawn, checkpoints):
    app = page("app/views/explore.py", first="A dog", second="A cat")
    assert not app.exception
    assert list(drawn(app)["by_kind"]) == ["phrase_selection"]
    app.session_state["save and open"] = True
    app.run()
    assert "Phrases (CSV)" in [button.label for button in app.get("download_button")]
    link = app.get("page_link")[0].proto
    assert link.page == "phrases"
    assert link.query_string == "model=test-te&first=A+dog&second=A+cat"


def test_explore_reads_a_ranker(drawn):
    data = drawn(page("app/views/explore.py", model="test-as", first="A dog", second="A cat"))
    assert data["verdict"]["label"] in ("answer", "not an answer")
    assert "answer selection dev MAP 0.6123" in data["footer"]
