"""What words and links do, on the pages: after the verdict, and never in its way."""

import json
import threading
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from app.effects import late as telling
from app.effects import work
from app.panels.belief import belief
from core.checkpoint import load
from core.effects import METHODS, why
from core.effects.links import Taken
from core.effects.memory import Ended
from core.effects.why import what_links_do
from core.evaluation.adversary import believed
from core.evidence import Explanation
from core.evidence.effects import LinkEffects, links_csv
from core.explain import explain
from core.neighbours import TrainingRow, unit_vectors
from core.neighbours import save as save_index
from tests.app.pages import late, open_view, query

PAIR = {"first": "a man and a dog", "second": "the dog is not playing"}
PAIR_ROLES = ("premise", "hypothesis")


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """A page without a browser, which would ask again, waits until all is computed."""
    monkeypatch.setattr(telling, "PATIENCE", 60)


def explore(model="test-light", **parameters):
    return open_view("explore", **({"model": model} | PAIR | parameters))


def test_bars_are_what_why_says_and_the_strongest_word_is_selected(drawn, checkpoints):
    effects = why(load(checkpoints / "test-light"), *PAIR.values())
    app = explore()
    assert not app.exception
    heard = late(app)
    ways = heard["words"]["ways"]
    assert [bar[0] for role in ("premise", "hypothesis") for bar in ways["taken-away"][role]] == pytest.approx(
        [word.effect for word in effects.words], rel=1e-3
    )
    assert {bar[1] for bar in ways["dropped"]["premise"]} == {None}
    axis = {"premise": "column", "hypothesis": "row"}[effects.strongest.role]
    assert heard["selection"] == {"row": None, "column": None} | {axis: effects.strongest.index}
    assert heard["id"] == drawn(app)["id"] and heard["working"] == {}
    assert "select" not in query(app), "nobody has chosen it"
    # From then on it is in the drawing itself.
    assert drawn(app.run())["selection"] == heard["selection"]


def test_a_word_that_a_person_or_the_address_has_chosen_stays_selected(drawn):
    for chosen in ("x2", "none"):
        app = explore(select=chosen)
        assert late(app)["selection"] is None and drawn(app)["explicit"]


@pytest.mark.parametrize("method", METHODS)
def test_every_way_is_offered_with_what_it_cannot_tell(method, drawn):
    app = explore(method=method)
    panel = drawn(app)["by_kind"]["effects"]
    about = next(one for one in panel["methods"] if one["name"] == method)
    assert about["title"] and about["cannot"].endswith(".")
    heard = late(app)["words"]
    assert heard["method"] == ("taken-away" if method == "dropped" else method)
    assert len(heard["ways"][method]["hypothesis"]) == 5
    assert (heard["completeness"] is not None) == (method == "integrated-gradients")
    assert query(app).get("method", "taken-away") == method


def test_single_texts_and_models_without_attention_have_bars(drawn):
    for model in ("test-two-sided", "test-te", "test-alone"):
        assert late(explore(model))["words"]["ways"]["taken-away"]["premise"]


def test_an_unknown_way_in_a_link_is_one_sentence(drawn):
    app = explore(method="guess")
    assert any("asks what words do by “guess”" in notice for notice in drawn(app)["notices"])
    assert late(app)["words"]["method"] == "taken-away"


def test_a_newer_pair_ends_the_older_computation(monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def slow(*args, drawing):
        progress = args[-1]
        begun.set()
        try:
            for done in range(10_000):
                progress(done, 10_000)
                ended.wait(0.01)
        except Ended:
            ended.set()
            raise

    monkeypatch.setattr(telling, "PATIENCE", 0)
    monkeypatch.setattr(telling, "kept_why", slow)
    app = explore()
    assert begun.wait(600)
    heard = late(app.run())
    assert heard["words"] is None and heard["working"]["words"][1] in (0, 10_000)
    app.text_input[1].input("a cat sleeps").run()
    assert ended.wait(600)
    for now in app.session_state[work._SESSION].values():
        now.end()


def test_what_is_stopped_begins_only_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(work.st, "session_state", {})
    release = threading.Event()

    def make(progress):
        release.wait(600)
        progress(1, 2)
        return "answer"

    (one,) = work.at_work({"question": make}).values()
    work.stop()
    release.set()
    (same,) = work.at_work({"question": make}).values()
    assert same is one and one.stopped and one.finished
    work.again()
    (other,) = work.at_work({"question": make}).values()
    other.wait(600)
    assert other.answer == "answer"


@pytest.mark.parametrize("model", ["test-light", "test-two-sided", "test-te"])
@pytest.mark.parametrize("taken", Taken)
def test_links_are_drawn_when_they_are_asked_for(model, taken, drawn, checkpoints):
    assert late(explore(model))["links"] is None
    app = explore(model, links=taken)
    maps = late(app)["links"]
    known = what_links_do(load(checkpoints / model), *PAIR.values(), taken)
    assert [(one["rows"], one["columns"], one["renormalised"]) for one in maps] == [
        (one.rows, one.columns, one.renormalised) for one in known
    ]
    for one, links in zip(maps, known, strict=True):
        assert [len(words) for words in one["words"]] == [len(one["values"]), len(one["values"][0])]
        assert one["values"][0] == pytest.approx(links.effects[0], rel=1e-4, abs=1e-9)
        assert (one["least"] is not None) == (model == "test-te")
    assert query(app)["links"] == taken and drawn(app)["asked"]["links"] == taken


def test_a_model_without_attention_offers_no_links(drawn):
    app = explore("test-alone")
    assert "links" not in drawn(app)["by_kind"]
    asked = late(explore("test-alone", links="kept"))
    assert asked["links"] is None and "has no attention" in asked["problems"]["links"]


def test_cells_whose_weight_and_effect_disagree_are_marked():
    weights = tuple(tuple(0.9 if i == j else 0.01 * j for j in range(5)) for i in range(4))
    effects = [[0.001 * (i + j) for j in range(5)] for i in range(4)]
    effects[0][0], effects[3][1], effects[2][2] = 0.0, -2.0, 1.5
    links = LinkEffects("b", "a", "words", False, False, None, weights, tuple(map(tuple, effects)), 0.1)
    heavy, telling = links.disagreeing
    assert (0, 0) in heavy and (2, 2) not in heavy
    assert telling == ((3, 1),)
    flat = replace(links, effects=((0.0,) * 5,) * 4)
    assert flat.disagreeing[1] == (), "where all effects are the same none stands out"
    table = links_csv([links], [(tuple("wxyz"), tuple("abcde"))]).splitlines()
    assert table[1] == "b,a,1,w,1,a,0.9,0.0" and len(table) == 21


def test_files_hold_effects_in_the_words_of_the_page(checkpoints):
    app = explore(links="kept")
    files = {button.label: button for button in app.get("download_button")}
    assert {"All numbers (JSON)", "Effects of words (CSV)", "Effects of links (CSV)"} <= files.keys()
    questions = telling.Questions(load(checkpoints / "test-light"), tuple(PAIR.values()), "dropped", "kept")
    effects = questions.effects()
    head, first, *_ = effects.to_csv().splitlines()
    assert head.startswith("sentence,position,word,effect,spread,log_odds,p_entailment,")
    assert "effect_dropped" in head and first.startswith("premise,1,a,")
    whole = explain(load(checkpoints / "test-light"), *PAIR.values())
    whole = replace(whole, evidence=(*whole.evidence, effects))
    assert Explanation.from_dict(json.loads(whole.to_json())) == whole


@pytest.mark.parametrize("model", ["test-light", "test-two-sided", "test-te", "test-alone"])
def test_how_far_it_can_be_believed_is_said_when_it_is_asked_for(model, drawn, checkpoints):
    app = explore(model)
    assert late(app)["believed"] is None and drawn(app)["asked"]["believed"] == ""
    app = explore(model, believed="on")
    said = late(app)["believed"]
    known = believed(load(checkpoints / model), *PAIR.values())
    assert said["sentence"] == known.sentence.replace("'", "’")
    assert len(said["ways"]) == (4 if model in ("test-te", "test-alone") else 6)
    by_title = {way["title"]: way for way in said["ways"]}
    left, taken = known.curves["dropped"].aopc
    assert (by_title["Dropped"]["left"], by_title["Dropped"]["taken"]) == pytest.approx((left, taken), abs=1e-4)
    assert [way["taken"] for way in said["ways"]] == sorted((way["taken"] for way in said["ways"]), reverse=True)
    facts = {fact["name"]: fact for fact in said["facts"]}
    for fact in facts.values():
        assert "cannot tell" in fact["more"] or "Scores" in fact["more"]
    assert ("Permuted attention" in facts) == (model in ("test-light", "test-two-sided"))
    assert ("Moving attention" in facts) == (model == "test-te")
    assert len(said["maps"]) == {"test-light": 1, "test-two-sided": 2}.get(model, 0)
    for pair in said["maps"]:
        assert [len(words) for words in pair["words"]] == [len(pair["own"]), len(pair["own"][0])]
        assert [sum(row) for row in pair["other"]] == pytest.approx([1] * len(pair["other"]), abs=1e-2)
    assert query(app)["believed"] == "on"
    assert "Faithfulness (CSV)" in {button.label for button in app.get("download_button")}


def test_another_pair_is_asked_for_anew_and_files_hold_what_was_found(drawn, checkpoints):
    app = explore(believed="on")
    app.text_input[1].input("a cat sleeps").run()
    assert drawn(app)["asked"]["believed"] == "" and late(app)["believed"] is None
    questions = telling.Questions(load(checkpoints / "test-light"), tuple(PAIR.values()), "dropped", believed=True)
    measured = questions.faithfulness()
    whole = explain(load(checkpoints / "test-light"), *PAIR.values())
    whole = replace(whole, evidence=(*whole.evidence, measured))
    assert Explanation.from_dict(json.loads(whole.to_json())) == whole
    table = measured.to_csv().splitlines()
    assert table[0] == "number,of,at,value" and table[1].startswith("sufficiency,taken-away,1,")
    cells = [line for line in table if line.startswith("weight of the adversary,map 1,")]
    assert len(cells) == len(PAIR["first"].split()) * len(PAIR["second"].split())
    app = explore(believed="perhaps")
    assert any("“perhaps” of whether it can be believed" in notice for notice in drawn(app)["notices"])


def test_no_adversary_is_an_answer(checkpoints):
    measured = believed(load(checkpoints / "test-light"), *PAIR.values())
    whole = explain(load(checkpoints / "test-light"), *PAIR.values())
    none = replace(measured, adversary=replace(measured.adversary, maps=(), divergence=0.0))
    said = belief(none, whole)
    assert said.maps == () and "None was found" in said.facts[-1].says
    near = belief(replace(measured, adversary=replace(measured.adversary, divergence=0.01)), whole)
    assert "No other attention was found" in near.facts[-1].says


def test_models_side_by_side_have_their_effects_on_one_page(drawn, checkpoints):
    names = ("test-light", "test-two-sided", "test-te")
    app = open_view("compare", model=names[0], **PAIR, **{"with": ",".join(names[1:])})
    assert not app.exception
    heard, page = late(app), drawn(app)
    assert heard["id"] == page["id"] and heard["working"] == {}
    for name, column, section in zip(names, heard["columns"], page["sections"], strict=True):
        known = why(load(checkpoints / name), *PAIR.values())
        bars = [bar[0] for side in section["read"] for bar in column["ways"]["taken-away"][side["role"]]]
        assert bars == pytest.approx([word.effect for word in known.words], rel=1e-3)
        assert [len(side["words"]) for side in section["read"]] == [len(known.of(role)) for role in PAIR_ROLES]
        assert section["followed"] == known.verdict
    broken = open_view("compare", model="test-light", **PAIR, **{"with": "test-truncated"})
    assert late(broken)["columns"][1] is None


def test_training_rows_like_the_pair_come_late_or_the_command_that_indexes_them(checkpoints, monkeypatch, tmp_path):
    assert "“python -m trainers neighbours test-light --data DATA”" in late(explore())["problems"]["like"]
    monkeypatch.setenv("PAIRLENS_NEIGHBOURS", str(tmp_path))
    checkpoint = load(checkpoints / "test-light")
    texts = [("a <b>dog</b> & a toy", "the dog"), ("a man", "the man is cold"), ("a man", "x" * 9000)]
    rows = [TrainingRow(*own, label, "made up") for own, label in zip(texts, checkpoint.labels, strict=True)]
    vectors = unit_vectors(checkpoint, [checkpoint.read(*own) for own in texts])
    save_index(checkpoint, rows, vectors, 90, "")
    like = late(explore())["like"]
    assert (like["searched"], like["of"]) == (3, 90)
    assert [one["name"] for one in like["classes"]] == list(checkpoint.labels)
    first, _, long = (one["rows"][0] for one in like["classes"])
    assert parse_qs(first["link"][1:]) == {"model": ["test-light"], "first": [texts[0][0]], "second": [texts[0][1]]}
    assert first["first"] == texts[0][0] and -1 <= first["cosine"] <= 1 and long["link"] == ""
