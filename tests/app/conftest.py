"""Small checkpoints made on the spot, and a real server with a real browser."""

from __future__ import annotations

import csv
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.components.v2 import manifest_scanner

from core import checkpoint, neighbours
from core.checkpoint import Checkpoint
from core.data import read
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.store import keep
from core.filter_map.map import FilterMap, codes_of, filter_sides
from core.json_types import JsonObject
from core.models import build
from core.reading.word_table import WordTable, default_table
from tests.app.pages import come_to_rest, components
from tests.core.made_up_runs import made_up_run
from tests.guests import make
from trainers.map import draw

PATIENCE = 60_000
"""Milliseconds to wait for the page: long, because a machine that trains beside the tests answers late."""
ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    "a", "an", "the", "is", "man", "woman", "dog", "cat", "animal", "toy", "snow", "cold", "weather", "outside",
    "playing", "jumping", "with", "not", "plastic", "bold", "smile",
]  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test in a real browser may fail once: on two busy cores an animation or a late answer comes in between. What
    fails twice is a fault; the summary counts what was run again."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


with_markup = pytest.mark.parametrize(
    ("first", "second"),
    [
        ("<img src=x onerror=alert(1)> a dog", "**bold** $x$ :smile: `code` [a](b)"),
        ("<script>alert(1)</script> dog", "&lt;b&gt; dog"),
    ],
    ids=["markup", "script"],
)
"""For a test of two sentences that show as they are typed."""


IDENTICAL = {"precision": 0.8, "recall": 0.7, "f1": 0.7466, "aer": 0.2534}
ALIGNMENT = {
    "threshold": 0.25,
    "both_ways": {},
    "fixed_on": "RTE-2 dev",
    "results": {
        "RTE-2 dev": {
            "threshold": 0.25,
            "precision": 0.5,
            "recall": 0.25,
            "f1": 1 / 3,
            "aer": 2 / 3,
            "content_on_function": 0.125,
            "entropy": 0.5,
            "both_ways": None,
            "identical_words": IDENTICAL,
            "command": "python -m trainers align test",
        }
    },
}
"""What a card says of a model whose attention was measured."""


def make_checkpoint(folder: Path, name: str, title: str, seed: int, context: str = "extra", **more: Any) -> None:
    """An untrained light model with a word table of its own, so that no test needs the shipped files."""
    generator = torch.Generator().manual_seed(seed)
    words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    torch.manual_seed(seed)
    config: JsonObject = more.get("config") or {"input_size": 16, "hidden": 12, "classes": 3, "context": context}
    model = build("attconv-light", config)
    card = {
        "name": name,
        "title": title,
        "architecture": "attconv-light",
        "config": config,
        "task": "entailment",
        "labels": ["entailment", "neutral", "contradiction"],
        "licence": "CC0",
        "seed": seed,
        "roles": {"first": "premise", "second": "hypothesis", "judged": "hypothesis"},
        "results": {"SNLI dev": {"accuracy": 0.5, "macro_f1": 0.5, "items": 10}},
        "data": [{"name": "none", "rows": 0}],
        "epochs": [{"epoch": 1, "loss": 1.0, "snli_dev": 0.4}, {"epoch": 2, "loss": 0.9, "snli_dev": 0.5}],
        "training": {"seconds": 61, "device": "CPU", "command": "python -m trainers train test"},
        "typical_length": {"premise": 30, "hypothesis": 30},
        **more,
    }
    checkpoint.save(folder / name, model, card, words)


def make_phrases(
    folder: Path, name: str, title: str, task: str, pooling: str, k: int, shared: bool = False, **more: Any
) -> None:
    """An untrained phrase model for entailment or answer selection, with a word table of its own or the shared one."""
    words = default_table() if shared else None
    if words is None:
        generator = torch.Generator().manual_seed(4)
        words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    entailment = task == "entailment"
    torch.manual_seed(k)
    config: JsonObject = {
        "input_size": words.width,
        "hidden": 8,
        "classes": 3 if entailment else 2,
        "pooling": pooling,
        "k": k,
    }
    first, second = ("premise", "hypothesis") if entailment else ("question", "answer")
    result = {"accuracy": 0.5, "items": 10} if entailment else {"map": 0.61234, "mrr": 0.7, "items": 126}
    card = {
        "name": name,
        "title": title,
        "architecture": "phrases",
        "config": config,
        "task": task,
        "labels": ["entailment", "neutral", "contradiction"] if entailment else ["0", "1"],
        "licence": "CC0",
        "roles": {"first": first, "second": second, "judged": second},
        "seed": 1,
        "results": {f"{task} dev": result},
        "token_limits": {} if entailment else {"answer": 40},
        "words": {"name": words.name, "sha256": words.sha256},
        **more,
    }
    checkpoint.save(folder / name, build("phrases", config), card, None if shared else words)


def make_two_sided(folder: Path, name: str, title: str, shared: bool = False) -> None:
    """An untrained two-sided model, whose words find their like by their vectors alone, and else the null word."""
    words = default_table() if shared else None
    if words is None:
        generator = torch.Generator().manual_seed(1)
        words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    torch.manual_seed(2)
    config: JsonObject = {"input_size": words.width, "hidden": 12, "filters": 20, "classes": 3}
    card = {
        "name": name,
        "title": title,
        "architecture": "two-sided",
        "config": config,
        "task": "entailment",
        "labels": ["entailment", "neutral", "contradiction"],
        "licence": "CC0",
        "seed": 2,
        "roles": {"first": "premise", "second": "hypothesis", "judged": "both"},
        "words": {"name": words.name, "sha256": words.sha256},
    }
    checkpoint.save(folder / name, build("two-sided", config), card, None if shared else words)


TOPICS = {
    "film": "man woman smile playing jumping",
    "animal": "dog cat animal toy",
    "place": "snow cold weather outside",
}


def make_filters(folder: Path, name: str, title: str, map: bool = True, **settings: Any) -> Checkpoint:
    """An untrained model that makes filters: of single texts, or with ``adaptivity`` of questions and answers. With
    a small ``map`` of made-up texts."""
    generator = torch.Generator().manual_seed(5)
    words = WordTable.from_vectors(WORDS, torch.randn(len(WORDS), 16, generator=generator), 1.0, "test words")
    pairs, labels = "adaptivity" in settings, list(TOPICS)
    torch.manual_seed(6)
    config = {"input_size": 16, "projection": 8, "filters": 7, "code": 6, "classes": 2 if pairs else 3, **settings}
    architecture = "adaqa" if pairs else "acnn"
    card = {
        "name": name,
        "title": title,
        "architecture": architecture,
        "config": config,
        "licence": "CC0",
        "seed": 1,
        "task": "answer selection" if pairs else "text classification",
        "labels": ["0", "1"] if pairs else labels,
        "roles": {"first": "question", "second": "answer", "judged": "answer"}
        if pairs
        else {"first": "text", "second": "", "judged": "text"},
        "results": {"test dev": {"accuracy": 0.5, "items": 10}},
        "data": [{"name": "made up", "rows": 45}],
    }
    checkpoint.save(folder / name, build(architecture, config), card, words)
    loaded = checkpoint.load(folder / name)
    if map:
        make_map(loaded, make_data(folder / "data", pairs))
    return loaded


def make_data(folder: Path, pairs: bool) -> Path:
    """A table of 45 made-up texts with titles, or of 45 questions and answers."""
    source, topics, rows = random.Random(7), list(TOPICS), []
    for i in range(45):
        topic = topics[i % 3]
        first, second = (" ".join(source.choices(TOPICS[topic].split(), k=6)) for _ in range(2))
        rows.append((f"row {i}", first, second, i % 2) if pairs else (f"row {i}", f"**Row** <b>{i}</b>", first, topic))
    file = folder / ("qa/pairs.csv" if pairs else "topics/texts.csv")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        second, third = ("question", "answer") if pairs else ("title", "text")
        csv.writer(out).writerows([("id", second, third, "label"), *rows])
    return file


def make_map(model: Checkpoint, file: Path) -> None:
    """The checkpoint's map of the file, as `python -m trainers map` makes it, after few iterations."""
    dataset = read(file)
    drawn = draw(model, dataset, filter_sides(model), 90, seed=0, titles=model.single)
    codes = np.concatenate([codes_of(model, [text], item.side) for item, text in drawn])
    about = {"data": {"file": file.name, "sha256": dataset.sha256}}
    made = FilterMap.fit(model, [item for item, _ in drawn], codes, perplexity=5, iterations=(50, 50), about=about)
    made.save(model.folder / "map")


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good checkpoints (one whose title is Markdown), one that reads the hypothesis alone, one that reads each
    evidence sentence of a claim by itself, two phrase models, those that make filters (with and without a map), and
    broken ones. The folder data beside them has what the maps were made of."""
    folder = tmp_path_factory.mktemp("checkpoints")
    make_checkpoint(folder, "test-light", "Test light", 1, alignment=ALIGNMENT)
    make_checkpoint(folder, "test-other", "**Other** <b>:smile:</b>", 2)
    make_checkpoint(folder, "test-alone", "Test alone", 3, context="none")
    make_checkpoint(
        folder,
        "test-with-evidence",
        "Test claims",
        1,
        task="fact checking",
        labels=["supports", "refutes", "unknown"],
        roles={"first": "claim", "second": "evidence", "judged": "claim"},
        config={"input_size": 16, "hidden": 12, "classes": 3, "context": "each"},
    )
    make_two_sided(folder, "test-two-sided", "Test two-sided")
    make_phrases(folder, "test-te", "Test entailment phrases", "entailment", "kmin", 5)
    make_phrases(folder, "test-as", "Test answer phrases", "answer selection", "kmax", 6)
    make_filters(folder, "test-topics", "Test topics")
    make_filters(folder, "test-qa", "Test questions and answers", adaptivity="two-way")
    make_filters(folder, "test-qa-one-way", "Test one way", adaptivity="one-way")
    make_filters(
        folder, "test-qa-bare", "Test without a map", map=False, adaptivity="self", matching="multi-perspective"
    )
    make_filters(folder, "test-qa-fixed", "Test fixed filters", map=False, adaptivity="none")
    shutil.copytree(folder / "test-topics", folder / "test-map-truncated")
    (folder / "test-map-truncated" / "map" / "map.safetensors").write_bytes(b"short")
    for whole, broken in (("test-light", "test-truncated"), ("test-te", "test-te-truncated")):
        shutil.copytree(folder / whole, folder / broken)
        weights = folder / broken / "weights.safetensors"
        weights.write_bytes(weights.read_bytes()[:200])
    (folder / "test-foreign").mkdir()
    (folder / "test-foreign" / "card.json").write_text('{"model_type": "bert"}')
    (folder / "test-no-json").mkdir()
    (folder / "test-no-json" / "card.json").write_bytes(b"\x80\x04pickle")
    return folder


@pytest.fixture(scope="session")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models from elsewhere with random weights: a small one, and one whose classes are only numbered."""
    folder = tmp_path_factory.mktemp("guests")
    make(folder / "small-bert")
    numbers = {number: f"LABEL_{number}" for number in range(3)}
    names = {name: number for number, name in numbers.items()}
    make(folder / "small-numbered", seed=1, id2label=numbers, label2id=names)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _manifests_are_read_once() -> Iterator[None]:
    """Each AppTest would read the metadata of every installed package in search of components: .3 s a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def _own_checkpoints(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(checkpoints))
    monkeypatch.delenv("PAIRLENS_DATA", raising=False)
    monkeypatch.setenv("PAIRLENS_NEIGHBOURS", str(checkpoints / "no indices"))


@pytest.fixture(scope="session")
def server(checkpoints: Path, guests: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the running app, whose Error desk has a run over the made-up file, with tags of Ann and Bob, and where
    test-other has an index of training rows. Beside the checkpoints it has a model from elsewhere."""
    folder = tmp_path_factory.mktemp("server")
    own = folder / "checkpoints"
    own.mkdir()
    for model in (*checkpoints.iterdir(), guests / "small-bert"):
        (own / model.name).symlink_to(model)
    run = made_up_run(folder)
    keep(run, folder / "desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRLENS_DESK", str(folder / "desk"))
        patch.delenv("PAIRLENS_DB", raising=False)
        annotations = Annotations(open_database())
        for annotator, tag in (("Ann", "misled by noise"), ("Bob", "misled by noise"), ("Bob", "other")):
            annotations.give(annotator, run.dataset.sha256, "1c", tag)
        patch.setenv("PAIRLENS_NEIGHBOURS", str(folder / "neighbours"))
        save_neighbours(checkpoint.load(checkpoints / "test-other"))
    yield from serve("streamlit_app.py", own, folder / "log.txt")


TRAINING_ROWS = [
    neighbours.TrainingRow("A dog is outside", "A dog is <b>outside</b>", "entailment", "made up"),
    neighbours.TrainingRow("A man with a toy", "The cat is cold", "neutral", "made up"),
    neighbours.TrainingRow("An animal is playing", "A dog is playing", "neutral", "made up"),
]


def save_neighbours(model: Checkpoint) -> None:
    """An index of :data:`TRAINING_ROWS`."""
    vectors = neighbours.unit_vectors(model, [model.read(row.first, row.second) for row in TRAINING_ROWS])
    neighbours.save(model, TRAINING_ROWS, vectors, 9, "")


def serve(script: str, checkpoints: Path, log: Path) -> Iterator[str]:
    """Address of this script (``streamlit run`` in a process of its own); afterwards no error may stand in the log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--server.fileWatcherType", "none"],
            cwd=ROOT,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            env={
                **os.environ,
                "PAIRLENS_CHECKPOINTS": str(checkpoints),
                "PAIRLENS_DATA": "",
                "PAIRLENS_NEIGHBOURS": str(log.parent / "neighbours"),
                "PAIRLENS_DB": "",
                "PAIRLENS_DESK": str(log.parent / "desk"),
                "PAIRLENS_DATASETS": "",
                "PAIRLENS_LOG_SECONDS": "0",
            },
        )
    address = f"http://localhost:{port}"
    try:
        _wait(address, process, log)
        yield address
        text = log.read_text(errors="replace")
        # A page closed in the middle of its handshake makes the web server log a traceback too: only ours count.
        ours = [f'File "{ROOT / part}' for part in ("app", "core", "trainers", "streamlit_app.py")]
        assert not any(sign in text for sign in ("Uncaught app execution", *ours)), text
    finally:
        process.terminate()
        process.wait(20)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped:\n{log.read_text(errors='replace')}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not answer in 30 s:\n{log.read_text(errors='replace')}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
    program = next((path for path in map(shutil.which, names) if path), None)
    if program is None:
        pytest.fail("The browser tests need Chromium: install it with `apt-get install chromium`.", pytrace=False)
    switches = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=switches)
        yield started
        started.close()


@pytest.fixture(scope="session")
def tabs() -> dict[tuple[Any, ...], Any]:
    """The tabs that tests use one after the other: a tab that has run the app's scripts before opens a page in half
    the time. No two of them share a browser context."""
    return {}


def _tab(browser: Any, tour: bool, **options: Any) -> Any:
    context = browser.new_context(**options)
    if not tour:
        context.add_init_script("localStorage.setItem('pairlens tour', 'left')")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    return page


def _forget(page: Any) -> None:
    """Leaves nothing of a test in its tab."""
    for tab in page.context.pages:
        if tab is not page:
            tab.close()
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.context.clear_cookies()
    page.context.clear_permissions()
    page.goto("about:blank")


@pytest.fixture
def open_page(server: str, browser: Any, tabs: dict[tuple[Any, ...], Any]) -> Iterator[Callable[..., Any]]:
    """Opens a path of the app in a tab, and checks afterwards that nothing left this machine, no dialog opened and no
    script failed. Each call of a test is another visitor, with a browser context of its own."""
    pages: dict[tuple[Any, ...], Any] = {}
    wrong: list[str] = []

    def outside(url: str) -> bool:
        return not url.startswith((server, server.replace("http", "ws"), "data:", "blob:", "about:blank"))

    listeners: dict[str, Callable[[Any], object]] = {
        "request": lambda request: wrong.append(request.url) if outside(request.url) else None,
        "websocket": lambda socket: wrong.append(socket.url) if outside(socket.url) else None,
        "dialog": lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()),
        "pageerror": lambda error: wrong.append(f"script error {error}"),
    }

    def opener(
        path: str = "/", wait: str = ".pairlens footer", tour: bool = False, color_scheme: str = "light", **options: Any
    ) -> Any:
        viewport = options.pop("viewport", {"width": 1280, "height": 800})
        key = (len(pages), tour, *sorted(options.items()))
        page = pages[key] = tabs[key] = tabs.get(key) or _tab(browser, tour, **options)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(path if path.startswith("http") else server + path)
        page.wait_for_selector(wait)
        come_to_rest(page)
        return page

    yield opener
    for key, page in pages.items():
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        try:
            _forget(page)
        except Exception:  # of a tab that the test has closed or left hanging
            del tabs[key]
            page.context.close()
    assert wrong == []


@pytest.fixture
def drawn() -> Callable[[Any], JsonObject]:
    """Reads from an AppTest what the page gave to the browser component, with ``by_kind``: the panels' data by kind."""

    def read(app: Any) -> JsonObject:
        data, *others = (data for data in components(app) if "drawing" in data)
        below = (one for one in others if one["view"] == "below" and one["of"] == data["number"])
        panels = [panel for one in (data, *below) for panel in one.get("panels", ())]
        return {**data, "panels": panels, "by_kind": {panel["kind"]: panel["data"] for panel in panels}}

    return read
