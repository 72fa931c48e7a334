"""External models on the pages, without a browser: Explore with heads and costs, Compare, Models, Error desk."""

import base64
import json
import shutil
import sys
from dataclasses import replace

import pytest

from app.effects import asking
from app.page_state.explore import ExploreState
from app.panels.attention_heads import PANEL
from core.checkpoint import in_memory, load, load_named
from core.desk import store
from core.desk.prediction import PredictionJob
from core.effects import cost
from core.effects.links import Taken
from core.effects.why import what_heads_do, what_links_do
from core.effects.words import DROPPED, FEW, TAKEN_AWAY
from core.evidence import AttentionMap
from core.evidence.attention_heads import AttentionHeads
from core.explain import explain
from tests.app.pages import choose_model, components, late, open_file, open_view, query, sentences
from tests.core.made_up_runs import taxi
from tests.guests import LABELS, make, make_tower

PAIR = ("A man plays a red guitar.", "Three girls don't eat in the park!")
LARGEST = 100_000
"""Bytes of what the browser is given at once."""


@pytest.fixture(autouse=True)
def _here(guests, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(guests))


def explore(**link):
    app = open_view("explore", **({"model": "small-bert", "first": PAIR[0], "second": PAIR[1]} | link))
    assert not app.exception
    return app


def matrix(data):
    """Of the second text's words."""
    return next(panel["data"] for panel in data["panels"] if panel["kind"] == "attention_map")


def rounded(rows):
    return [pytest.approx(row, abs=6e-5) for row in rows]


def heard(app, *names):
    """What the page is told late, when all of these are there."""
    for _ in range(200):
        data = late(app)
        if all(data[name] is not None for name in names):
            return data
        app.run()
    raise AssertionError(f"still computing: {data['working']}, {data['problems']}")


def test_explore_shows_verdict_matrix_and_where_attention_stays(drawn, guests, with_values):
    data = drawn(explore())
    record = explain(load(guests / "small-bert"), *PAIR).find(AttentionMap)
    shown = next(panel["data"] for panel in data["panels"] if panel["kind"] == "attention_map")
    assert [one["label"] for one in data["verdict"]["classes"]] == list(LABELS)
    assert (shown["rows"], shown["of"]) == ("hypothesis", "mean of all layers and heads")
    assert shown["weights"] == rounded(record.weights)
    assert shown["none"]["word"] == "special tokens" and shown["none"]["weights"] == pytest.approx(
        record.null, abs=6e-5
    )
    largest = max(map(max, record.weights))
    assert with_values(shown)["high"] == pytest.approx(largest, abs=6e-5), "special tokens do not darken the words"
    own = sum(record.own) / len(record.own)
    assert shown["stays"].startswith(f"On average a word of the hypothesis gives {100 * own:.0f}\u00a0% to its own")
    assert data["by_kind"]["what_if"]["maps"] == []
    assert "cannot be set, only cut" in data["by_kind"]["what_if"]["note"]


def test_a_head_is_chosen_by_the_address_and_by_the_browser(drawn, guests):
    app = explore(head="2.3")
    data = drawn(app)
    record = explain(load(guests / "small-bert"), *PAIR, head="2.3").find(AttentionMap)
    shown = next(panel["data"] for panel in data["panels"] if panel["kind"] == "attention_map")
    assert (shown["of"], data["asked"]["head"]) == ("layer 2, head 3", "2.3")
    assert shown["weights"] == rounded(record.weights)
    assert data["by_kind"]["attention_heads"]["head"] == query(app)["head"] == "2.3"
    choose_model(app, "Entailment", "nli-two-sided")
    assert "head" not in query(app), "it was the other model's"


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"head": "9.9"}, "this model has 3 layers of 4 heads: the mean of all layers and heads is shown"),
        ({"head": "seven"}, "can’t be used here, so the page is shown without them: head"),
        ({"head": "2.3", "model": "nli-attconv-light"}, "no heads to choose from"),
        ({"show": "score"}, "raw scores, which an external model does not have"),
        ({"temperature": "2"}, "a transformer’s weights cannot be set, only cut"),
        ({"edits": "cell 0 0 0 0.5 kept"}, "a transformer’s weights cannot be set, only cut"),
    ],
)
def test_what_a_transformer_does_not_have_is_said_in_a_sentence(drawn, link, sentence):
    data = drawn(explore(**link))
    assert sum(sentence in notice for notice in data["notices"]) == 1
    assert data["verdict"]["what_if"] == ""


def test_columns_add_up_to_one_in_the_browser_alone(drawn, with_values):
    shown = next(one["data"] for one in drawn(explore(show="column"))["panels"] if one["kind"] == "attention_map")
    shares = [max(column) / sum(column) for column in zip(*shown["weights"], strict=True)]
    assert "values" not in shown and shown["show"] == "column"
    # The scale ends at the largest share, or at twice the mean of all where that is more.
    assert with_values(shown)["high"] == pytest.approx(max(*shares, 2 / len(shown["weights"])), abs=1e-3)


def test_words_may_be_changed(drawn):
    data = drawn(explore(edits="drop 0 4"))
    assert "red" not in data["sides"][0]["tokens"] and data["by_kind"]["what_if"]["at"] == 1
    assert data["by_kind"]["what_if"]["steps"][1]["said"] == "“red” left out"


def test_a_saved_file_brings_the_head_back(drawn):
    app = explore()
    open_file(app, ExploreState(model="small-bert", head="rollout").to_file().encode())
    assert not app.exception and query(app)["head"] == "rollout"


def test_sixty_words_by_sixty_of_a_large_model_are_a_small_message(tmp_path, monkeypatch):
    make(tmp_path / "wide", num_hidden_layers=24, num_attention_heads=16)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    words = [" ".join(f"{word}{number}" for number in range(30) for word in kind) for kind in ("ab", "cd")]
    app = explore(model="wide", first=words[0], second=words[1], head="24.16")
    sizes = [len(one.proto.json.encode()) for one in app.get("bidi_component") if '"pair"' in one.proto.json]
    assert len(sizes) == 1 and 60_000 < sizes[0] <= LARGEST


def test_pictures_of_heads_are_those_of_the_record(guests):
    explanation = explain(load(guests / "small-bert"), *PAIR)
    record = explanation.find(AttentionHeads)
    (picker,) = PANEL.payloads([record], explanation, "weight")
    assert (picker.layers, picker.heads) == (3, 4)
    for looking, whole, across in zip(picker.looking, record.thumbnails, record.across, strict=True):
        halves = base64.b64decode(looking.shades)
        shades = [shade for byte in halves for shade in (byte >> 4, byte & 15)]
        assert shades == [byte >> 4 for byte in base64.b64decode(whole)]
        assert looking.across[2][3] == pytest.approx(across[2][3], abs=6e-4)
    assert [one.role for one in picker.looking] == ["hypothesis", "premise"]


def test_a_fast_model_is_asked_three_ways_and_says_its_passes(drawn, monkeypatch):
    monkeypatch.setattr(cost, "BRISK", 1000)  # on however busy a machine
    app = explore()
    effects = drawn(app)["by_kind"]["effects"]
    words = heard(app, "words")["words"]
    assert effects["methods"][0]["name"] == words["method"] == TAKEN_AWAY
    assert all("passes, about" in one["cost"] or one["cost"].startswith("1 pass") for one in effects["methods"])
    assert effects["more"].startswith("all 16 replacements of each word: ")
    assert " passes in " in words["took"]


def test_a_slow_model_drops_words_first_and_the_rest_is_asked_for(drawn, monkeypatch, guests):
    monkeypatch.setattr(cost, "BRISK", 0)
    app = explore()
    data = drawn(app)
    assert data["by_kind"]["effects"]["methods"][0]["name"] == data["asked"]["method"] == DROPPED
    assert set(heard(app, "words")["words"]["ways"]) == {DROPPED}
    asked = explore(method=TAKEN_AWAY, drawn="few")
    assert drawn(asked)["asked"]["method"] == TAKEN_AWAY and query(asked)["drawn"] == "few"
    assert {TAKEN_AWAY, DROPPED} == set(heard(asked, "words")["words"]["ways"])
    guest = load_named("small-bert")
    assert asking.way(guest, PAIR, TAKEN_AWAY, "few").drawing == FEW
    assert asking.way(guest, PAIR, "related", "").computed == "related"
    assert asking.way(guest, PAIR, "related", "all").drawing.related == 8


def test_strongest_links_are_cut_when_asked_for_and_every_link_on_demand(drawn):
    app = explore(links="kept")
    data = drawn(app)
    cells = 2 * len(data["sides"][0]["tokens"]) * len(data["sides"][1]["tokens"])
    knockouts = data["by_kind"]["links"]["knockouts"]
    assert knockouts["strongest"].startswith("41 passes") and knockouts["every"].startswith(f"{cells + 1} passes")
    assert knockouts["heads"].startswith("13 passes") and knockouts["layers"] == 3
    cut = [value for one in heard(app, "links")["links"] for row in one["values"] for value in row]
    assert len(cut) == cells and sum(value is not None for value in cut) == 40
    every_link = heard(explore(links="all"), "links")["links"]
    assert all(value is not None for one in every_link for row in one["values"] for value in row)


def test_whole_heads_are_cut_and_links_from_a_layer_on(drawn):
    guest = load_named("small-bert")
    app = explore(links="heads")
    assert drawn(app)["asked"]["links"] == query(app)["links"] == "heads"
    (heads,) = heard(app, "links")["links"]
    (own,) = what_heads_do(guest, *PAIR)
    assert heads["words"] == [[f"layer {i}" for i in (1, 2, 3)], [f"head {i}" for i in (1, 2, 3, 4)]]
    assert heads["units"] == "heads" and heads["values"][2] == pytest.approx(own.effects[2], rel=1e-3)
    app = explore(links="kept", layer="3")
    assert drawn(app)["asked"]["layer"] == query(app)["layer"] == "3"
    first = heard(app, "links")["links"][0]
    expected = what_links_do(guest, *PAIR, Taken.KEPT, layer=2)[0]
    assert first["layer"] == 2
    assert first["values"][0] == [None if v is None else pytest.approx(v, abs=1e-9) for v in expected.effects[0]]
    app = explore(links="kept", layer="9")
    assert heard(app, "links")["links"][0]["layer"] == 0
    assert any("cuts links from layer 9 on; this model has 3 layers" in one for one in drawn(app)["notices"])


def test_a_model_whose_weights_can_be_set_is_asked_for_its_links_where_a_link_asks_for_heads():
    app = explore(model="nli-attconv-light", links="heads")
    assert heard(app, "links")["links"][0]["units"] == "words"


def test_all_that_can_be_asked_for_answers(drawn):
    app = explore(turns="on", believed="on", method="integrated-gradients")
    data = heard(app, "words", "turns", "believed", "offers")
    assert data["words"]["completeness"] is not None
    assert list(data["problems"]) == ["like"] and "trained elsewhere" in data["problems"]["like"]


def test_compare_beside_a_model_of_ours():
    app = open_view("compare", model="small-bert", others="nli-two-sided", first=PAIR[0], second=PAIR[1])
    assert not app.exception
    data = next(data for data in components(app) if data.get("view") == "compare")
    assert [section["problem"] for section in data["sections"]] == ["", ""] and data["differences"]
    assert [section["title"] for section in data["sections"]] == ["small-bert", "Two-sided AttConv"]
    assert [section["matrix"]["none_word"] for section in data["sections"]] == ["special tokens", "(no word)"]
    assert data["differences"][0]["matrix"]["none_word"] == "special tokens / (no word)"


@pytest.mark.parametrize("page", ["phrases", "filter_map", "lessons"])
def test_pages_of_other_evidence_do_not_offer_it(page):
    app = open_view(page)
    assert not app.exception
    assert not any("small-bert" in box.options for box in [*app.selectbox, *app.radio])


def test_error_desk_predicts_and_opens_a_row(tmp_path, monkeypatch):
    from core.data import read

    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    monkeypatch.setattr("app.effects.late.PATIENCE", 60)
    dataset = read(taxi(tmp_path))
    PredictionJob(dataset, ["small-bert"]).work()
    sha256 = load_named("small-bert").card["sha256"]
    app = open_view("error_desk", file=store.short(dataset.sha256), models=store.short(sha256), row="2n")
    assert not app.exception
    html = "".join(element.proto.body for element in app.get("html"))
    assert "small-bert" in html and "what each word does" in html


def test_without_the_libraries_the_page_says_how_to_install_them(guests, tmp_path, monkeypatch):
    shutil.copytree(guests / "small-bert", tmp_path / "other")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setitem(sys.modules, "transformers", None)
    app = explore(model="other")
    assert any("make guests" in sentence for sentence in sentences(app))


FUNCTION = """
class Overlap:
    labels = ("entailment", "neutral", "contradiction")
    title = "Shared words"

    def probabilities(self, pairs):
        shares = [len({*a.split()} & {*b.split()}) / 20 + 0.1 for a, b in pairs]
        return [[share, 0.9 - share, 0.1] for share in shares]

    def attention(self, first, second):
        return [[0.9 * (a == b) / max(1, first.count(b)) for a in first] for b in second]
"""


def test_a_function_has_all_but_what_nobody_can_know_of_it(drawn, tmp_path, monkeypatch):
    (tmp_path / "own_guest.py").write_text(FUNCTION)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PAIRLENS_GUESTS", "own_guest:Overlap")
    name = "own_guest:Overlap"
    app = explore(model=name, first="a dog runs", second="a dog sleeps", show="score", edits="uniform 0", turns="on")
    data = drawn(app)
    shown = data["by_kind"]["attention_map"]
    assert (shown["show"], shown["stays"], shown["weights"][1]) == ("weight", "", [0, 0.9, 0])
    assert "cannot be changed" in data["by_kind"]["what_if"]["note"] and data["by_kind"]["what_if"]["maps"] == []
    assert any("cannot be changed: undo it" in notice for notice in data["notices"])
    assert not {"links", "attention_heads"} & set(data["by_kind"])
    assert not any(one["gradient"] for one in data["by_kind"]["effects"]["methods"])
    assert heard(app, "words", "turns")["words"]["method"] in (TAKEN_AWAY, DROPPED)
    assert "function, external" in models(model=name)[1]
    assert not open_view("compare", model=name, others="small-bert").exception


def test_a_model_that_reads_each_text_by_itself_shows_how_alike_words_are(drawn, with_values, tmp_path, monkeypatch):
    make_tower(tmp_path / "tower")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    data = drawn(explore(model="tower", show="column", turns="on"))
    shown = data["by_kind"]["attention_map"]
    record = explain(load(tmp_path / "tower"), *PAIR).find(AttentionMap)
    assert (shown["units"], shown["show"], shown["stays"]) == ("similarity", "weight", "")
    assert shown["weights"] == rounded(record.weights)
    assert with_values(shown)["low"] == pytest.approx(min(map(min, record.weights)), abs=6e-5)
    assert "each text by itself" in data["by_kind"]["what_if"]["note"]
    assert not {"links", "attention_heads"} & set(data["by_kind"])
    assert "bert, external" in models(model="tower")[1]
    assert not open_view("compare", model="tower", others="small-bert").exception


def test_the_head_nearest_to_people_is_offered_with_its_measure(guests):
    explanation = explain(load(guests / "small-bert"), *PAIR)
    record = replace(explanation.find(AttentionHeads), measured="2.3", f1=0.784, random_95=0.45)
    (picker,) = PANEL.payloads([record], explanation, "weight")
    assert picker.measured == "2.3"
    assert picker.about == "F1 .78 against people’s alignments of words; the best of as many random maps: .45"


def models(**link):
    app = open_view("models", **link)
    assert not app.exception
    return app, "".join(element.proto.body for element in app.get("html"))


def test_models_lists_it_without_loading_it(guests, tmp_path, monkeypatch):
    shutil.copytree(guests / "small-bert", tmp_path / "unopened")
    shutil.copytree(guests / "small-numbered", tmp_path / "numbered")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("app.models.table.unmeasured", lambda cards: [])
    app, _ = models()
    rows = {one["name"]: one["cells"] for one in components(app)[0]["models"]}
    assert rows["unopened"]["time"]["text"] == "–" and rows["unopened"]["size"]["note"].endswith("MB on disk")
    assert rows["numbered"]["task"]["text"] == "not said yet"
    _, card = models(model="unopened")
    numbers = sum(one.numel() for one in load(tmp_path / "unopened").model.parameters())
    for fact in (
        "bert, 3 layers × 4 heads",
        "not stated",
        "premise, then hypothesis",
        f"{numbers:,}",
        "model.safetensors",
    ):
        assert fact in card
    assert "Train it again" not in card and "larger than" not in card and not in_memory("unopened")
    monkeypatch.setenv("PAIRLENS_MEMORY_MB", "0.1")
    assert "larger than PAIRLENS_MEMORY_MB (0.1 MB): alone in memory" in models(model="unopened")[1]


def test_numbered_classes_are_asked_about_once_and_written_down(guests, tmp_path, monkeypatch):
    shutil.copytree(guests / "small-numbered", tmp_path / "numbered")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert any("only numbered" in sentence for sentence in sentences(explore(model="numbered")))
    app, _ = models(model="numbered")
    boxes = [box.label for box in app.selectbox]
    assert boxes == ["Task", *(f"LABEL\\_{number} means" for number in range(3))]
    next(button for button in app.button if button.label.startswith("Suggest by 20")).click().run()
    assert not app.exception and any("of 20 pairs" in element.proto.body for element in app.get("html"))
    suggested = [box.value for box in app.selectbox[1:4]]
    assert sorted(suggested) == sorted(LABELS)
    app.selectbox[1].set_value(suggested[1]).run()
    save = next(button for button in app.button if button.label == "Write it down")
    save.click().run()
    assert any("different names" in sentence for sentence in sentences(app))
    app.selectbox[2].set_value(suggested[0])
    app.radio[0].set_value("hypothesis first, then premise")
    next(button for button in app.button if button.label == "Write it down").click().run()
    assert not app.exception and not app.selectbox
    written = json.loads((tmp_path / "numbered/pairlens.json").read_text())
    assert written == {
        "task": "entailment",
        "labels": [suggested[1], suggested[0], suggested[2]],
        "second_first": True,
    }
    assert load_named("numbered").labels == tuple(written["labels"])
