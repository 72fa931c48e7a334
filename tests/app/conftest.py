"""Small checkpoints made on the spot, and a real server with a real browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner

from app import palette, panels
from app.components.bundle import bundle
from core.desk.run import Run
from core.evidence.explanation import kinds_of_every_model
from core.json_types import JsonObject
from tests.app import visitors
from tests.app.made_up_models import make_all
from tests.app.pages import components
from tests.app.servers import Server, start_app
from tests.core.made_up_runs import keep, made_up_run
from tests.shared import shared

CONSTANTS = {
    "API": "/api",
    "CIVIDIS": palette.CIVIDIS,
    "DIVERGING": palette.DIVERGING,
    "PAPER": palette.COLOURS["paper"],
}
"""The data that Python passes to the scripts."""

MARKUP = (
    "<img src=x onerror=alert(1)> a dog",
    "**bold** $x$ :smile: `code` [a](b)",
    "<script>alert(1)</script> dog",
    "&lt;b&gt; dog",
)
"""Sentences that must be shown verbatim."""


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of :func:`~tests.app.made_up_models.make_all`. No test changes it."""

    def make(folder: Path) -> str:
        folder.mkdir()
        make_all(folder)
        return str(folder)

    with shared(tmp_path_factory, "checkpoints", make) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """External models with random weights: a small one, and one whose classes are only numbered."""

    def make(folder: Path) -> str:
        from tests import guests  # Hugging Face's library takes a second

        guests.make(folder / "small-bert")
        numbers = {number: f"LABEL_{number}" for number in range(3)}
        names = {name: number for number, name in numbers.items()}
        guests.make(folder / "small-numbered", seed=1, id2label=numbers, label2id=names)
        return str(folder)

    with shared(tmp_path_factory, "guests", make) as folder:
        yield Path(folder)


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
    """Address of the running app (:func:`~tests.app.servers.start_app`), one for all test processes."""

    def make(folder: Path) -> dict[str, Any]:
        started = start_app(folder, checkpoints, guests)
        return {"address": started.address, "pid": started.pid, "folder": str(folder)}

    with shared(tmp_path_factory, "server", make, lambda known: Server(**known).end()) as known:
        yield known["address"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    yield from visitors.chromium()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> visitors.Tabs:
    """The tabs that tests use one after the other."""
    return visitors.Tabs(browser)


@pytest.fixture
def open_page(server: str, tabs: visitors.Tabs) -> Iterator[visitors.Visits]:
    """Opens a path of the app in a tab, and checks afterwards that nothing left this machine, no dialog opened and no
    script failed."""
    visits = visitors.Visits(server, tabs)
    yield visits
    visits.end()


@pytest.fixture
def drawn() -> Callable[[Any], JsonObject]:
    """Reads from an AppTest what the page gave to the browser component, with the model's records ``by_kind``, and its
    sentences (``sides``) with their words as text."""

    def read(app: Any) -> JsonObject:
        data = next(data for data in components(app) if "drawing" in data)
        told = data.get("explanation", {})
        sentences = [told["first"], *told["contexts"]] if told else []
        sides = [side | {"tokens": [token["text"] for token in side["tokens"]]} for side in sentences]
        others = {kind.kind for kind in kinds_of_every_model()}
        records = {record["kind"]: record for record in told.get("evidence", ()) if record["kind"] not in others}
        return {**data, "sides": sides, "by_kind": records}

    return read


@pytest.fixture(scope="session")
def node() -> str:
    """Node.js: the machine's own, or what `make lint` has put into the virtual environment."""
    found = shutil.which("node", path=os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)]))
    assert found, "scripts are run by Node.js"
    return found


@pytest.fixture
def run_script(tmp_path: Path, node: str) -> Callable[[str], str]:
    """The default export of a module, run by Node.js."""

    def run(text: str) -> str:
        (tmp_path / "bundle.mjs").write_text(text)
        program = "import value from './bundle.mjs'; process.stdout.write(String(value))"
        (tmp_path / "run.mjs").write_text(program)
        return subprocess.run([node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    return run


@pytest.fixture
def with_values(tmp_path: Path, run_script: Callable[[str], str]) -> Callable[..., JsonObject]:
    """The browser's view of an attention record: the values of its cells, and both ends of their scale."""
    folder = Path(panels.__file__).parent / "attention_map"
    scripts = [folder / "cells.js", folder / "records.js"]
    entry = tmp_path / "entry.js"
    entry.write_text(
        'import { ATTENTION, SHOW } from "./constants.js";\n'
        f'import {{ withValues }} from "{scripts[0]}";\n'
        f'import {{ wordMap }} from "{scripts[1]}";\n'
        "export default JSON.stringify(withValues(wordMap(ATTENTION, SHOW)));\n"
    )

    def read(attention: JsonObject, show: str = "weight") -> JsonObject:
        constants = {"ATTENTION": attention, "SHOW": show, **CONSTANTS}
        made: JsonObject = json.loads(run_script(bundle(entry, scripts, constants)))
        return made

    return read


@pytest.fixture
def own_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk without runs, and no other database or data. Without the shipped models: a page searches all cards several
    times for a run's models, which took up to two fifths of its processor time."""
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    monkeypatch.delenv("PAIRLENS_DATASETS", raising=False)


@pytest.fixture
def kept_run(tmp_path: Path, own_desk: None) -> Run:
    """The made-up run, kept on that desk."""
    made = made_up_run(tmp_path)
    keep(made)
    return made
