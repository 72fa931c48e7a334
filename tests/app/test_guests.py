"""External models on the pages, without a browser: Explore with heads and costs, Compare, Models, Error desk."""

import json
import shutil

import pytest

from app.page_state.explore import ExploreState
from core.checkpoint import in_memory, load, load_named
from core.desk import store
from core.desk.prediction import prediction
from core.effects import METHODS, cost
from core.effects.question import Question
from core.effects.words import DROPPED, TAKEN_AWAY
from core.errors import UserError
from core.evidence import AttentionMap
from core.explain import explain
from tests.app.pages import answered, choose_model, components, open_file, open_view, query, sentences
from tests.app.test_models import models
from tests.core.made_up_runs import taxi
from tests.guests import LABELS, make, make_tower

PAIR = ("A man plays a red guitar.", "Three girls don't eat in the park!")
LARGEST = 200_000
"""Bytes of what the browser is given at once."""


@pytest.fixture(autouse=True)
def _here(guests, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(guests))


def explore(**link):
    app = open_view("explore", **({"model": "small-bert", "first": PAIR[0], "second": PAIR[1]} | link))
    assert not app.exception
    return app


def matrix(data):
    """The second text's words."""
    return next(one for one in data["explanation"]["evidence"] if one["kind"] == "attention_map")


def row_effects(app):
    """The models whose word effects the Error desk requests."""
    return [one for data in components(app) if data.get("view") == "rowEffects" for one in data["models"]]


def rounded(rows):
    return [pytest.approx(row, abs=6e-5) for row in rows]


def asked(data, kind, **more):
    """The API's answer to what the page asks about its pair."""
    return answered(kind, **data["why"]["question"], **more)


def test_explore_shows_verdict_and_matrix(drawn, guests, with_values):
    data = drawn(explore())
    record = explain(load(guests / "small-bert"), *PAIR).find(AttentionMap)
    shown = matrix(data)
    assert [one["label"] for one in data["verdict"]["classes"]] == list(LABELS)
    assert (shown["rows"], shown["name"]) == ("hypothesis", "mean of all layers and heads")
    assert shown["weights"] == rounded(record.weights)
    weights = [weight for row in record.weights for weight in row]
    end = max(*weights, 2 * sum(weights) / len(weights))
    assert with_values(shown)["high"] == pytest.approx(end, abs=6e-5), "special tokens do not darken the words"
    assert "cannot be set, only cut" in data["why"]["what_if"]["note"]


def test_a_head_is_chosen_by_the_address_and_by_the_browser(drawn, guests):
    app = explore(head="2.3")
    data = drawn(app)
    record = explain(load(guests / "small-bert"), *PAIR, head="2.3").find(AttentionMap)
    shown = matrix(data)
    assert (data["head"]["title"], data["asked"]["head"]) == ("layer 2, head 3", "2.3")
    assert shown["weights"] == rounded(record.weights)
    assert data["by_kind"]["attention_heads"]["head"] == query(app)["head"] == "2.3"
    choose_model(app, "Entailment", "nli-two-sided")
    assert "head" not in query(app), "it was the other model's"


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"head": "9.9"}, "can’t be used here, so the page is shown without them: head."),
        ({"head": "seven"}, "can’t be used here, so the page is shown without them: head."),
        ({"head": "2.3", "model": "nli-attconv-light"}, "the page is shown without them: head."),
        ({"show": "score"}, "the page is shown without them: show."),
        ({"edits": "cell 0 0 0 0.5 kept"}, "a transformer’s weights cannot be set, only cut"),
    ],
)
def test_a_feature_that_transformers_lack_gets_a_sentence(drawn, link, sentence):
    data = drawn(explore(**link))
    assert sum(sentence in notice for notice in data["notices"]) == 1
    assert data["verdict"]["what_if"] == ""


def test_columns_are_rescaled_to_one_only_in_the_browser(drawn, with_values):
    data = drawn(explore(show="column"))
    shown = matrix(data)
    shares = [max(column) / sum(column) for column in zip(*shown["weights"], strict=True)]
    assert data["show"] == "column"
    # The scale ends at the largest share, or at twice the mean of all where that is more.
    assert with_values(shown, "column")["high"] == pytest.approx(max(*shares, 2 / len(shown["weights"])), abs=1e-3)


def test_words_may_be_changed(drawn):
    data = drawn(explore(edits="drop 0 4"))
    assert "red" not in data["sides"][0]["tokens"] and data["why"]["what_if"]["at"] == 1
    assert data["why"]["what_if"]["steps"][1]["said"] == "“red” left out"


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


def test_a_fast_model_offers_all_methods_with_their_passes(drawn, monkeypatch):
    monkeypatch.setattr(cost, "BRISK", 1000)  # on however busy a machine
    why = drawn(explore())["why"]
    assert next(iter(why["methods"])) == TAKEN_AWAY
    costs = [method["cost"] for method in why["methods"].values()]
    assert all("passes, about" in cost or cost.startswith("1 pass") for cost in costs)


def test_a_slow_model_drops_words_first_and_the_rest_is_asked_for(drawn, monkeypatch):
    monkeypatch.setattr(cost, "BRISK", 0)
    data = drawn(explore())
    assert next(iter(data["why"]["methods"])) == data["asked"]["method"] == DROPPED
    others = explore(method=TAKEN_AWAY, drawn="few")
    assert drawn(others)["asked"]["method"] == TAKEN_AWAY and query(others)["drawn"] == "few"


def test_strongest_links_are_cut_when_asked_for_and_every_link_on_demand(drawn):
    data = drawn(explore(links="kept"))
    cells = 2 * len(data["sides"][0]["tokens"]) * len(data["sides"][1]["tokens"])
    knockouts = data["why"]["knockouts"]
    assert knockouts["strongest"].startswith("41 passes") and knockouts["every"].startswith(f"{cells + 1} passes")
    assert knockouts["heads"].startswith("13 passes")
    cut = [value for one in asked(data, "links", links="kept") for row in one["effects"] for value in row]
    assert len(cut) == cells and sum(value is not None for value in cut) == 40
    every_link = asked(data, "links", links="all")
    assert all(value is not None for one in every_link for row in one["effects"] for value in row)


def test_whole_heads_are_cut(drawn):
    guest = load_named("small-bert")
    app = explore(links="heads")
    assert drawn(app)["asked"]["links"] == query(app)["links"] == "heads"
    (heads,) = asked(drawn(app), "links", links="heads")
    (own,) = Question(guest, *PAIR).heads()
    assert heads["words"] == [[f"layer {i}" for i in (1, 2, 3)], [f"head {i}" for i in (1, 2, 3, 4)]]
    assert heads["units"] == "heads" and heads["effects"][2] == pytest.approx(own.effects[2], rel=1e-3)


def test_a_model_whose_weights_can_be_set_is_asked_for_its_links_where_a_link_asks_for_heads(drawn):
    assert drawn(explore(model="nli-attconv-light", links="heads"))["asked"]["links"] == "kept"


def test_all_that_can_be_asked_for_answers(drawn):
    data = drawn(explore())
    assert asked(data, "why", method="integrated-gradients")["completeness"] is not None
    assert all(asked(data, kind) for kind in ("change", "faithfulness", "offers"))
    with pytest.raises(UserError, match="trained elsewhere"):
        asked(data, "like")


def test_an_external_model_is_compared_with_one_of_ours():
    app = open_view("compare", model="small-bert", first=PAIR[0], second=PAIR[1], **{"with": "nli-two-sided"})
    assert not app.exception
    data = next(data for data in components(app) if data.get("view") == "compare")
    assert [section["problem"] for section in data["sections"]] == ["", ""]
    assert [section["title"] for section in data["sections"]] == ["small-bert", "Two-sided AttConv"]
    (transformer,), (ours,) = (section["drawing"]["explanation"]["evidence"] for section in data["sections"])
    assert transformer["null"] and transformer["own"] and ours["null"] and not ours.get("own")


@pytest.mark.parametrize("page", ["phrases", "filter_map", "lessons"])
def test_pages_of_other_evidence_do_not_offer_it(page):
    app = open_view(page)
    assert not app.exception
    assert not any("small-bert" in box.options for box in [*app.selectbox, *app.radio])


def test_error_desk_predicts_and_opens_a_row(tmp_path, monkeypatch):
    from core.data import read

    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    dataset = read(taxi(tmp_path))
    job = prediction(dataset, ["small-bert"])
    job.work(job)
    sha256 = load_named("small-bert").card["sha256"]
    app = open_view("error_desk", file=store.short(dataset.sha256), models=store.short(sha256), row="2n")
    assert not app.exception
    html = "".join(element.proto.body for element in app.get("html"))
    assert "small-bert" in html
    assert [one["question"]["model"] for one in row_effects(app)] == ["small-bert"]


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


def test_a_function_has_everything_except_unknowable_facts(drawn, tmp_path, monkeypatch):
    (tmp_path / "own_guest.py").write_text(FUNCTION)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PAIRLENS_GUESTS", "own_guest:Overlap")
    name = "own_guest:Overlap"
    app = explore(model=name, first="a dog runs", second="a dog sleeps", show="score", edits="uniform 0", turns="on")
    data = drawn(app)
    shown = data["by_kind"]["attention_map"]
    assert (shown["scores"], shown["weights"][1]) == ([], [0, 0.9, 0])
    assert "cannot be changed" in data["why"]["what_if"]["note"]
    assert any("cannot be changed: undo it" in notice for notice in data["notices"])
    assert "attention_heads" not in data["by_kind"] and data["why"]["knockouts"] is None
    assert {"dropped"} <= data["why"]["methods"].keys() <= METHODS.keys() - {"gradient-norm", "integrated-gradients"}
    assert asked(data, "why")["method"] == TAKEN_AWAY and asked(data, "change")
    assert "function, external" in models(model=name)[1]
    assert not open_view("compare", model=name, others="small-bert").exception


def test_a_model_that_encodes_texts_separately_shows_word_similarities(drawn, with_values, tmp_path, monkeypatch):
    make_tower(tmp_path / "tower")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    data = drawn(explore(model="tower", show="column", turns="on"))
    shown = data["by_kind"]["attention_map"]
    record = explain(load(tmp_path / "tower"), *PAIR).find(AttentionMap)
    assert (shown["units"], shown["scores"]) == ("similarity", [])
    assert shown["weights"] == rounded(record.weights)
    assert with_values(shown, "column")["low"] == pytest.approx(min(map(min, record.weights)), abs=6e-5)
    assert "each text separately" in data["why"]["what_if"]["note"]
    assert "attention_heads" not in data["by_kind"] and data["why"]["knockouts"] is None
    assert "bert, external" in models(model="tower")[1]
    assert not open_view("compare", model="tower", others="small-bert").exception


def test_models_lists_it_without_loading_it(guests, tmp_path, monkeypatch):
    shutil.copytree(guests / "small-bert", tmp_path / "unopened")
    shutil.copytree(guests / "small-numbered", tmp_path / "numbered")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    app, _ = models()
    rows = app.dataframe[0].value.set_index("title").to_dict("index")
    assert rows["unopened"]["size"].endswith("MB on disk)")
    assert rows["numbered"]["task"] == "not named yet: open its card"
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
    assert "larger than PAIRLENS_MEMORY_MB (0.1 MB): it evicts all others" in models(model="unopened")[1]


def test_numbered_classes_are_asked_about_once_and_written_down(guests, tmp_path, monkeypatch):
    shutil.copytree(guests / "small-numbered", tmp_path / "numbered")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert any("only numbered" in sentence for sentence in sentences(explore(model="numbered")))
    app, _ = models(model="numbered")
    boxes = [box.label for box in app.main.selectbox]
    assert boxes == ["Task", *(f"LABEL\\_{number} means" for number in range(3))]
    next(button for button in app.button if button.label.startswith("Suggest labels from 20")).click().run()
    assert not app.exception and any("of 20 simple pairs right" in element.proto.body for element in app.get("html"))
    suggested = [box.value for box in app.main.selectbox[1:4]]
    assert sorted(suggested) == sorted(LABELS)
    app.main.selectbox[1].set_value(suggested[1]).run()
    save = next(button for button in app.button if button.label == "Save labels")
    save.click().run()
    assert any("different names" in sentence for sentence in sentences(app))
    app.main.selectbox[2].set_value(suggested[0])
    app.radio[0].set_value("hypothesis first, then premise")
    next(button for button in app.button if button.label == "Save labels").click().run()
    assert not app.exception and not app.main.selectbox
    written = json.loads((tmp_path / "numbered/pairlens.json").read_text())
    assert written == {
        "task": "entailment",
        "labels": [suggested[1], suggested[0], suggested[2]],
        "second_first": True,
    }
    assert load_named("numbered").labels == tuple(written["labels"])
