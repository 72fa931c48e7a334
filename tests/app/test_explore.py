"""The page Explore without a browser: what it draws, and one sentence for every kind of bad input."""

import json

import pytest

from core.checkpoint import load
from core.evidence import AttentiveContext
from core.explain import explain, with_nearest
from tests.app.made_up_models import make_checkpoint
from tests.app.pages import answered, box, chooser, open_view, query

WITHOUT = "Some settings of this link can’t be used here, so the page is shown without them: {}."


def explore(file="explore", **parameters):
    return open_view(file, **({"model": "test-light"} | parameters))


def won_filters(data):
    """The answer with the words that won the filters, as their panel requests it."""
    return answered("explain", **data["why"]["shown"], records=["filter_provenance", "filter_products"])


def test_the_app_opens_on_explore_with_a_pair_and_its_gold_label(drawn):
    app = explore("streamlit_app.py")
    assert not app.exception
    data = drawn(app)
    assert [side["role"] for side in data["sides"]] == ["premise", "hypothesis"]
    assert "kids" in data["sides"][1]["tokens"]
    assert data["verdict"]["gold"] == {"label": "entailment", "source": "SICK"}
    assert query(app) == {"model": "test-light", "example": "playing-outdoors"}


def test_the_drawing_holds_verdict_and_attention_and_the_filters_that_add_up_to_it_are_asked_for(drawn):
    data = drawn(explore(first="A dog.", second="An animal"))
    assert [c["label"] for c in data["verdict"]["classes"]] == ["entailment", "neutral", "contradiction"]
    assert sum(c["p"] for c in data["verdict"]["classes"]) == pytest.approx(1)
    assert data["axes"] == ["hypothesis", "premise"]
    assert [sum(row) for row in data["by_kind"]["attention_map"]["weights"]] == pytest.approx([1, 1], abs=1e-4)
    assert data["by_kind"]["filter_provenance"]["filters"] == [], "they are large, and the verdict would wait for them"
    answer = won_filters(data)
    (won,) = answer["evidence"]
    for c, logit in enumerate(data["explanation"]["logits"]):
        total = sum(f["logit_shares"][c] for f in won["filters"]) + won["logit_bias"][c]
        assert total == pytest.approx(logit, abs=1e-4)
    assert data["selection"] is None


def test_a_link_opens_with_its_cell_selected(drawn, with_values):
    app = explore(first="A dog.", second="An animal", select="x2y1", show="score")
    data = drawn(app)
    assert data["selection"] == "x2y1"
    attention = data["by_kind"]["attention_map"]
    assert with_values(attention, data["show"])["values"] == attention["scores"]
    assert query(app)["select"] == "x2y1"


def test_a_mix_of_a_word_outside_the_table_has_no_nearest_words(checkpoints):
    checkpoint = load(checkpoints / "test-light")
    for first, line in {"Qqxz": "is mostly “Qqxz”, which is not in the word table", "A dog": "(cosine): "}.items():
        said = with_nearest(checkpoint, explain(checkpoint, first, "Qqxz sleeps"), 0)
        assert bool(said.find(AttentiveContext).nearest[0].nearest) == (first == "A dog")
        assert line in " ".join(said.find(AttentiveContext).to_text(said))


def test_a_column_is_the_models_own_weights_rescaled_to_add_up_to_one(drawn, with_values):
    data = drawn(explore(first="A dog runs", second="An animal", show="column"))
    attention = with_values(data["by_kind"]["attention_map"], data["show"])
    for j, column in enumerate(zip(*attention["weights"], strict=True)):
        shares = [weight / sum(column) for weight in column]
        assert [row[j] for row in attention["values"]] == pytest.approx(shares, abs=1e-4)
    assert [sum(column) for column in zip(*attention["values"], strict=True)] == pytest.approx([1, 1, 1], abs=1e-4)
    assert [sum(row) for row in attention["weights"]] == pytest.approx([1, 1], abs=1e-4)


def test_typing_swapping_and_examples_change_pair_and_link(drawn):
    app = explore()
    box(app, "first").input("A man").run()
    box(app, "second").input("A woman").run()
    assert query(app) == {"model": "test-light", "first": "A man", "second": "A woman"}
    app.button(key="swap").click().run()
    assert query(app)["first"] == "A woman"
    assert drawn(app)["sides"][0]["tokens"] == ["A", "woman"]
    chooser(app, "Example").select("negation").run()
    assert query(app)["example"] == "negation"
    assert not app.exception


def test_an_example_whose_name_its_closed_list_cuts_is_named_below_it():
    whole = "Another story (AttConv, table 2): where the model fails"
    app = explore(example="firefighters")
    assert chooser(app, "Example").value == "firefighters"
    assert any(whole in str(html.proto.body) for html in app.get("html"))
    chooser(app, "Example").select("negation").run()
    assert not any("One word of negation" in str(html.proto.body) for html in app.get("html"))


def test_ten_thousand_words_are_cut_with_a_notice_and_offered_as_a_file(drawn):
    app = explore()
    box(app, "first").input("dog and cat " * 3334).run()
    assert not app.exception
    data = drawn(app)
    assert len(data["sides"][0]["tokens"]) == 200
    assert any("cut" in notice for notice in data["notices"])
    assert any("too long for a link" in notice for notice in data["notices"])
    assert query(app) == {"model": "test-light"}
    app.run()
    assert box(app, "first").value.startswith("dog and cat")


def test_a_model_without_attention_shows_its_filters(drawn):
    data = drawn(explore(model="test-alone", first="A dog", second="A cat"))
    assert list(data["by_kind"]) == ["filter_provenance"] and data["axes"] == ["hypothesis", "premise"]


@pytest.mark.parametrize("adaptivity", ["two-way", "one-way", "none"])
def test_filters_made_from_a_text_lead_to_the_map_and_stay_with_the_server(adaptivity, drawn):
    name = {"two-way": "test-qa", "one-way": "test-qa-one-way", "none": "test-qa-fixed"}[adaptivity]
    app = explore(model=name, first="is a dog outside", second="the dog is playing with a toy")
    assert not app.exception
    data = drawn(app)
    assert list(data["by_kind"]) == ["filter_provenance"], "a bank of filters is large"
    kinds = {record["kind"] for record in won_filters(data)["evidence"]}
    assert kinds == {"filter_provenance", "filter_products"}
    links = app.get("page_link")
    assert [link.proto.page for link in links] == ([] if adaptivity == "none" else ["filter-map"])


def test_attention_over_windows_has_the_rows_of_the_page(drawn):
    app = explore(model="test-qa-bare", first="is a dog outside in the snow", second="the dog is playing with a toy")
    assert not app.exception
    data = drawn(app)
    assert data["axes"] == ["answer", "question"] and data["by_kind"]["attention_map"]["units"] == "windows"
    won = next(r for r in won_filters(data)["evidence"] if r["kind"] == "filter_provenance")
    assert won["filters"] and not any(one["logit_shares"] for one in won["filters"])


def test_models_of_single_texts_belong_to_another_page(drawn):
    app = explore(model="test-topics")
    assert not app.exception
    assert not any("Test topics" in option for option in chooser(app, "Model").options)
    assert any("“test-topics” isn’t available on this page; showing" in notice for notice in drawn(app)["notices"])


def test_a_models_title_is_text(drawn):
    app = explore(model="test-other")
    assert chooser(app, "Model").options[chooser(app, "Model").index] == "**Other** <b>:smile:</b>"  # a list that opens
    assert drawn(app)["footer"][0] == "**Other** <b>:smile:</b>"


def test_the_json_that_is_saved_is_the_explanation(drawn, checkpoints):
    from core.checkpoint import load
    from core.evidence import Explanation
    from core.explain import explain

    data = drawn(explore(first="A dog", second="A cat"))
    explanation = explain(load(checkpoints / "test-light"), "A dog", "A cat")
    assert Explanation.from_dict(json.loads(explanation.to_json())).logits == explanation.logits
    assert data["explanation"]["logits"] == pytest.approx(explanation.logits, rel=1e-5)


def test_a_pair_models_verdict_is_shown_with_the_hypothesis_only_verdict(drawn):
    app = explore(model="nli-two-sided", first="A man sleeps", second="A man is awake")
    verdict = drawn(app)["verdict"]
    assert verdict["alone"]["judged"] == "hypothesis" and verdict["alone"]["model"] == "Hypothesis alone"


def test_the_verdict_without_crossings_is_shown_with_the_models_own(drawn, checkpoints):
    pair = {"first": "the dog is playing", "second": "playing is the dog"}
    app = explore(model="test-two-sided", edits="uncrossed", **pair)
    verdict, checkpoint = drawn(app)["verdict"], load(checkpoints / "test-two-sided")
    assert verdict["what_if"] == "crossing words not counted (q = 0)"
    for classes, crossings in ((verdict["classes"], False), (verdict["trained"], True)):
        expected = explain(checkpoint, *pair.values(), crossings=crossings).probabilities
        assert [c["p"] for c in classes] == pytest.approx(expected, abs=1e-6)
    assert set(drawn(app)["by_kind"]["attention_map"]["crossings"]) == {0}
    assert drawn(app)["why"]["verdict"] == max(verdict["trained"], key=lambda one: one["p"])["label"]
    app = explore(model="test-two-sided", edits="uncrossed\ntemperature 2", **pair)
    assert drawn(app)["verdict"]["what_if"] == "crossing words not counted (q = 0) and attention at temperature 2"
    app = explore(edits="uncrossed", **pair)
    assert drawn(app)["verdict"]["what_if"] == "" and "crossed_by" not in drawn(app)["by_kind"]["attention_map"]
    (notice,) = drawn(app)["notices"]
    assert notice.endswith("is not made: test-light does not count crossing words: undo it.")


def test_the_direction_that_is_looked_at_is_in_the_address(drawn):
    pair = {"model": "test-two-sided", "first": "the dog is playing", "second": "a dog is not playing"}
    app = explore(direction="premise", **pair)
    assert drawn(app)["direction"] == query(app)["direction"] == "premise"
    assert drawn(app)["notices"] == []
    app = explore(direction="<b>", **pair)
    assert drawn(app)["notices"] == [WITHOUT.format("direction")]
    assert drawn(explore(direction="answer", select="x99"))["notices"][0] == WITHOUT.format("select, direction")


def test_a_model_of_one_text_that_looks_at_itself_has_one_box_and_names_its_classes(drawn, tmp_path, monkeypatch):
    roles = {"first": "text", "second": "", "judged": "text"}
    labels, config = list("01234"), {"input_size": 16, "hidden": 12, "classes": 5, "context": "intra"}
    make_checkpoint(
        tmp_path,
        "test-alone",
        "Test sentiment",
        1,
        "intra",
        labels=labels,
        roles=roles,
        config=config,
        task="text classification",
        typical_length={"text": 30},
    )
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    app = explore(model="test-alone", first="A dog in snow", second="An animal")
    assert not app.exception
    assert [widget.label for widget in app.text_input] == ["Text"]
    data = drawn(app)
    assert [c["label"] for c in data["verdict"]["classes"]][1:4] == ["negative", "neutral", "positive"]
    attention = data["by_kind"]["attention_map"]
    assert attention["rows"] == attention["columns"] == "text" and len(attention["weights"]) == 4
    box(app, "first").set_value("A cat").run()
    assert not app.exception and query(app)["first"] == "A cat"


def test_evidence_is_typed_one_sentence_a_line_and_read_as_a_whole(drawn, tmp_path, monkeypatch):
    roles = {"first": "claim", "second": "evidence", "judged": "claim"}
    labels = ["supports", "refutes", "not enough info"]
    make_checkpoint(tmp_path, "test-fever", "Test claims", 1, labels=labels, roles=roles, task="fact checking")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    app = explore(model="test-fever", first="A dog in snow", second="An animal\nA toy in snow")
    assert not app.exception
    (area,) = app.text_area
    assert (area.label, area.value) == ("Evidence (the context), one sentence per line", "An animal\nA toy in snow")
    assert drawn(app)["sides"][1]["tokens"] == ["An", "animal", "A", "toy", "in", "snow"]
    area.set_value("A toy\nA cat").run()
    assert not app.exception and query(app)["second"] == "A toy\nA cat"


def test_a_model_of_another_task_opens_with_an_example_for_it(tmp_path, monkeypatch):
    roles = {"first": "claim", "second": "evidence", "judged": "claim"}
    make_checkpoint(tmp_path, "claims", "Claims", 1, roles=roles, task="fact checking")
    make_checkpoint(tmp_path, "pairs", "Pairs", 1)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert query(explore(model="claims")) == {"model": "claims", "example": "claim"}
    app = explore(model="pairs")
    chooser(app, "Task").select("fact checking").run()
    assert query(app) == {"model": "fever-two-sided", "example": "claim"}
    own = {"first": "A dog", "second": "An animal"}
    app = explore(model="pairs", **own)
    chooser(app, "Task").select("fact checking").run()
    assert query(app) == {"model": "fever-two-sided", **own}


def test_each_evidence_sentence_has_its_block_of_the_matrix_and_its_share_of_the_filters(drawn, tmp_path, monkeypatch):
    roles = {"first": "claim", "second": "evidence", "judged": "claim"}
    for name, context in (("each", "each"), ("whole", "extra")):
        config = {"input_size": 16, "hidden": 12, "classes": 3, "context": context}
        make_checkpoint(tmp_path, name, name, 1, roles=roles, task="fact checking", config=config)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    link = {"first": "A dog plays", "second": "The dog is outside.\nA cat in the snow"}
    each, whole = (drawn(explore(**link, model=model)) for model in ("each", "whole"))
    apart, together = (data["by_kind"]["attention_map"] for data in (each, whole))
    assert (apart["apart"], together["apart"]) == (True, False)
    for row in apart["weights"]:
        assert (sum(row[:5]), sum(row[5:])) == pytest.approx((1, 1), abs=1e-4)
    assert [sum(row) for row in together["weights"]] == pytest.approx([1, 1, 1], abs=1e-4)
    won, none = (won_filters(data)["evidence"][0]["filters"] for data in (each, whole))
    assert len(won) == 12 and {one["beside"] for one in won} <= {0, 1}
    assert {one["beside"] for one in none} == {None}


def test_a_model_with_only_a_verdict_is_left_to_compare():
    shown = chooser(explore(), "Model").options
    assert "ESIM" in shown and not {"Bi-CNN", "Chained LSTM"} & set(shown)


def test_a_second_model_is_asked_unless_it_is_off_or_the_one_that_is_open(drawn, monkeypatch):
    def second(name, model="test-light"):
        monkeypatch.setenv("PAIRLENS_SECOND", name)
        return drawn(explore(model=model, first="A dog", second="An animal"))["why"]["second"]

    assert second("test-two-sided")["model"] == "test-two-sided" and second("")["model"] == "guest-minilm"
    assert second("off") is None and second("test-light") is None and second("test-as") is None
    assert second("test-two-sided", "test-as") is None


def test_a_preview_has_the_verdict_under_edits_and_attention_alone():
    asked = {"model": "test-light", "first": "A dog is outside", "second": "An animal", "edits": ["temperature 50"]}
    preview, whole = answered("preview", **asked), answered("explain", **asked)
    assert preview["probabilities"] == whole["probabilities"]
    assert preview["probabilities"] != answered("preview", **asked | {"edits": []})["probabilities"]
    assert [record["kind"] for record in preview["evidence"]] == ["attention_map"]
    assert preview["evidence"][0]["weights"] == whole["evidence"][0]["weights"]
