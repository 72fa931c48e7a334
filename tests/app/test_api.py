"""The API: its answers are the command line's, bad requests get one sentence, and other sites get nothing."""

import json
import re
import shlex
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import components
from app.api import endpoint, routes
from app.api.answers import filter_map
from app.api.door import LONGEST_BODY
from app.api.endpoint import ENDPOINTS
from core.__main__ import main
from core.checkpoint import load_named
from core.checkpoint import save as save_checkpoint
from core.evidence import Explanation
from core.evidence.as_json import from_dict
from core.evidence.attentive_context import AttentiveContext
from core.evidence.effects import LinkEffects
from tests.app.servers import save_neighbours
from tests.core.made_up import make_checkpoint, make_table

ROOT = Path(__file__).resolve().parents[2]
PAIR = {"model": "test-light", "first": "A dog is outside", "second": "A cat is cold"}
OPTIONS = ["--first", PAIR["first"], "--second", PAIR["second"], "--json"]


@pytest.fixture
def client(checkpoints):
    with TestClient(Starlette(routes=routes()), base_url="http://localhost:8501") as client:
        yield client


def lines(response):
    return [json.loads(line) for line in response.text.splitlines()]


def answer(client, kind, **more):
    response = client.post(f"/api/{kind}", json=PAIR | more)
    *progress, last = lines(response)
    assert response.status_code == 200 and all(set(line) == {"progress"} for line in progress)
    return last["answer"]


def refused(client, kind, body, **headers):
    response = client.post(f"/api/{kind}", json=body, headers=headers)
    return response.status_code, response.json()["error"]


def printed(capsys, *command):
    assert main([*command, *OPTIONS]) == 0
    return json.loads(capsys.readouterr().out)


def timeless(record):
    return {key: value for key, value in record.items() if key != "milliseconds"}


@pytest.mark.parametrize(
    ("kind", "command", "body", "more"),
    [
        ("explain", ["explain", "--model", "test-light"], {}, []),
        ("explain", ["explain", "--model", "test-light"], {"word": {"side": 1, "index": 0}}, ["--word", "0"]),
        ("why", ["why", "test-light"], {}, []),
        ("why", ["why", "test-light"], {"method": "dropped"}, ["--method", "dropped"]),
        ("why", ["why", "small-bert"], {"model": "small-bert", "all": True}, ["--all"]),
    ],
)
def test_an_answer_is_what_the_command_line_prints(client, capsys, guest_models, kind, command, body, more):
    assert timeless(answer(client, kind, **body)) == timeless(printed(capsys, *command, *more))


def test_the_context_asked_for_is_that_of_the_words_own_text(client):
    first, second = {"premise": [1]}, {"hypothesis": [1]}
    cases = (
        ("test-light", 0, {}),
        ("test-light", 1, second),
        ("test-two-sided", 0, first),
        ("test-two-sided", 1, second),
    )
    for model, side, filled in cases:
        found = Explanation.from_dict(answer(client, "explain", model=model, word={"side": side, "index": 1}))
        records = [record for record in found.evidence if isinstance(record, AttentiveContext)]
        places = {one.rows: [row for row, near in enumerate(one.nearest) if near is not None] for one in records}
        assert {rows: given for rows, given in places.items() if given} == filled, model


@pytest.fixture
def guest_models(checkpoints, guests, tmp_path, monkeypatch):
    """The models of the tests with an external one."""
    for folder in (*checkpoints.iterdir(), guests / "small-bert"):
        (tmp_path / folder.name).symlink_to(folder)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))


def test_links_and_changes_are_those_of_the_command_line(client, capsys, guest_models):
    (cut,) = answer(client, "links")
    (links,) = printed(capsys, "why", "test-light", "--links")["links"]
    assert cut == links | {"words": cut["words"]}
    assert cut["words"] == [["A", "cat", "is", "cold"], ["A", "dog", "is", "outside"]]
    assert from_dict(cut, LinkEffects).words[0][1] == "cat"
    heads = answer(client, "links", model="small-bert", links="heads")
    assert [one["units"] for one in heads] == ["heads"]
    every = answer(client, "links", model="small-bert", links="all")
    assert None not in every[0]["effects"][0]
    assert answer(client, "change") == printed(capsys, "turn", "test-light")
    reason = answer(client, "reason", edits=["replace 1 1 dog"])
    assert reason["clauses"][0]["text"] in reason["sentence"] and reason["passes"] <= 40
    assert answer(client, "reason", model="small-bert", all=True)["clauses"]


def test_a_transformers_map_arrives_layer_by_layer_and_its_file_with_the_last(client, guest_models):
    other = {"first": PAIR["first"], "second": "A dog is cold"}
    *known, last = lines(client.post("/api/routes", json={**PAIR, "model": "small-bert", "other": other}))
    whole, parts = last["answer"], [line["part"] for line in known if "part" in line]
    assert len(parts) == whole["layers"] - 1 > 0
    for number, part in enumerate(parts, 1):
        assert part["states"] == [pytest.approx(row, abs=1e-6) for row in whole["states"][:number]]
        assert part["layers"] == whole["layers"] and part["words"] == whole["words"]
        assert "csv" not in part and part["sentence"] == ""
    assert whole["csv"].startswith("part,layer,number,name,share\nstate,1,1,A,")


def test_a_model_that_is_being_loaded_holds_up_no_other_models_answers(client, monkeypatch):
    loading, loaded = threading.Event(), threading.Event()

    def slow(name):
        if name == "test-other":
            loading.set()
            assert loaded.wait(60)
        return load_named(name)

    monkeypatch.setattr(endpoint, "load_named", slow)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(answer, client, "preview", model="test-other")
        assert loading.wait(60)
        other = threads.submit(answer, client, "preview")
        try:
            assert other.result(60)["model"] == "test-light" and not waiting.done()
        finally:
            loaded.set()
        assert waiting.result(60)["model"] == "test-other"


def test_edits_come_before_the_question(client):
    edits = ["replace 1 1 dog", "cell 0 1 1 1 renormalised"]
    explanation = Explanation.from_dict(answer(client, "explain", edits=edits))
    assert explanation.second.text == "A dog is cold" and explanation.evidence[0].weights[1][1] == 1
    assert [word["text"] for word in answer(client, "why", edits=edits, method="dropped")["words"]][5] == "dog"
    warm = Explanation.from_dict(answer(client, "explain", edits=["temperature 5"])).evidence[0]
    assert warm.overridden


def test_faithfulness_offers_and_models(client, guest_models, tmp_path):
    measured = answer(client, "faithfulness")
    assert measured["kind"] == "faithfulness" and measured["verdict"] in measured["labels"]
    offered = answer(client, "offers", second="Two dogs")
    assert "three" in offered["words"][1][0]["number"]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "card.json").write_text("{}")
    models = lines(client.get("/api/models"))[0]["answer"]
    assert models["test-light"]["classes"][0].keys() == {"label", "name", "light", "dark"}
    assert "attention_map" in models["test-light"]["records"] and models["broken"].keys() == {"problem"}


def test_training_rows_and_places_on_the_map(client, tmp_path, monkeypatch):
    assert "are not on this machine" in refused(client, "like", PAIR)[1]
    monkeypatch.setenv("PAIRLENS_NEIGHBOURS", str(tmp_path))
    save_neighbours(load_named("test-light"))
    found = answer(client, "like")
    assert found["searched"] == 3 and found["by_label"]["entailment"][0]["row"]["second"] == "A dog is <b>outside</b>"
    river = {"model": "topic-acnn", "first": "A river in France", "count": 2}
    (place,) = answer(client, "map", **river)
    assert place["layout"] == "all filters" and len(place["nearest"]) == 2
    assert place["nearest"][0]["distance"] <= place["nearest"][1]["distance"]
    assert refused(client, "map", PAIR)[0] == 422
    monkeypatch.setattr(filter_map, "available_map", lambda checkpoint: None)
    assert "has no map" in refused(client, "map", PAIR | river)[1]


def test_a_reason_changes_with_the_model_that_reads_one_text(client, tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))

    def save(name, **settings):
        checkpoint = make_checkpoint(tmp_path / name, make_table(), judged="second", classes=2, **settings)
        with torch.no_grad():
            checkpoint.model.classifier.bias.copy_(torch.tensor([50.0, 0.0]))  # it always says the same
        save_checkpoint(tmp_path / name, checkpoint.model, {**checkpoint.card, "name": name}, words=checkpoint.words)

    save("test-sure")
    said = "reads only the hypothesis is as sure"
    assert said not in answer(client, "reason", model="test-sure")["sentence"]
    save("test-alone", context="none")
    assert said in answer(client, "reason", model="test-sure")["sentence"]


@pytest.mark.parametrize(
    ("kind", "more", "status", "said"),
    [
        ("why", {"model": "test-lihgt"}, 404, "There is no model 'test-lihgt'; did you mean 'test-light'?"),
        ("wyh", {}, 404, "There is no answer 'wyh'; did you mean 'why'?"),
        ("why", {"metod": "x"}, 422, "Unknown key metod; did you mean 'method'?"),
        ("why", {"first": 3}, 422, "First must be text, got 3."),
        ("why", {"first": " "}, 422, "The premise is empty: type a sentence with at least one word."),
        ("why", {"model": "test-truncated"}, 422, None),
        ("links", {"links": "x"}, 422, "Links must be one of kept, renormalised, all, heads, got 'x'."),
        ("explain", {"head": "1.1"}, 422, "Test-light has no heads to choose from: leave head out."),
        ("explain", {"word": {"side": 1, "index": 4}}, 422, None),
        ("explain", {"edits": ["drop 1 9"]}, 422, None),
        ("explain", {"records": ["filters"]}, 422, None),
        ("explain", {"edits": ["drop 1 0"] * 41}, 422, "41 edits are more than 40: leave some out."),
    ],
)
def test_a_bad_request_gets_one_sentence(client, kind, more, status, said):
    code, sentence = refused(client, kind, PAIR | more)
    assert code == status and sentence[-1] in ".?" and "\n" not in sentence
    assert said in (None, sentence)


def test_bodies_that_are_too_long_or_no_object_are_refused(client):
    assert client.post("/api/why", content=b" " * (LONGEST_BODY + 1)).status_code == 413
    for content in (b"", b"[1]", b"\xff", b"{", b"[" * 100_000, b'{"a":' * 100_000):
        response = client.post("/api/why", content=content)
        assert response.status_code == 422 and response.json()["error"].endswith("must be a JSON object.")


def test_with_a_base_path_the_routes_are_there_with_and_without_it(monkeypatch):
    monkeypatch.setattr("streamlit.get_option", {"server.baseUrlPath": "/lens/"}.get)
    paths = [route.path for route in routes()]
    there = [path.removeprefix("/lens") for path in paths if path.startswith("/lens")]
    assert there == [path for path in paths if not path.startswith("/lens")] and "/api/{kind}" in there


def test_browsers_keep_the_scripts_under_the_address_of_their_version_alone(client):
    now, older = client.get(f"/scripts/{components.version()}.js"), client.get("/scripts/0123456789abcdef.js")
    assert now.text == older.text == components.bundled(), "a page of another server finds this one's scripts"
    assert now.headers["content-type"].startswith("text/javascript")
    assert ["immutable" in response.headers["cache-control"] for response in (now, older)] == [True, False]


def test_every_line_of_the_documentation_is_answered(server):
    text = (ROOT / "docs" / "api.md").read_text()
    commands = re.findall(r"^    (curl .*)$", text, re.MULTILINE)
    listed = re.findall(r"`(?:GET|POST) /api/(\w+)`", text)
    assert {*listed} == ENDPOINTS.keys(), "docs/api.md has a line for each endpoint"
    assert {f"/api/{name}" for name in listed} == {re.search(r"/api/\w+", command)[0] for command in commands}
    for command in commands:
        done = subprocess.run(shlex.split(command.replace("localhost:8501", server)), capture_output=True, check=True)
        (last,) = json.loads(done.stdout.splitlines()[-1]).items()
        assert last[0] == "answer" or ("/like" in command and "are not on this machine" in last[1]), command
