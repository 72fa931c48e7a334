"""Modules that are slow to import are not loaded before they are used."""

import ast
import graphlib
import json
import subprocess
import sys
from pathlib import Path

from core.models import PairModel
from tests.app.made_up_models import make_checkpoint

ROOT = Path(__file__).parents[1]
SLOW = {"duckdb", "nltk", "pandas", "sacrebleu", "scipy", "sklearn", "sqlalchemy", "transformers"}


def test_no_step_of_a_server_or_a_stream_loads_what_it_does_not_use(tmp_path):
    """On a new server visitors would wait for it. Later steps have what earlier ones loaded."""
    make_checkpoint(tmp_path, "tiny", "Tiny", 1)
    (tmp_path / "rows.csv").write_text("premise,hypothesis,label\na dog,the cat is cold,neutral\n")
    given = [str(tmp_path / name) for name in ("tiny", "rows.csv", "parts/")]
    command = [sys.executable, "-m", "tests.imports_late", *given]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = {step: {*names} for step, names in json.loads(done.stdout.splitlines()[-1]).items()}
    assert [*loaded] == ["routes", "first_page", "answer", "stream"]
    assert not loaded["routes"] & {"torch", "core.effects"}
    assert [(step, names & SLOW) for step, names in loaded.items() if names & SLOW] == []
    assert [*(tmp_path / "parts").glob("*.parquet")]


def imported(path, names):
    """The modules among ``names`` that a file imports when it is imported, or for its types."""
    body = ast.parse(path.read_text("utf-8")).body
    inner = [part for block in body if isinstance(block, ast.If | ast.Try) for part in block.body]
    for part in (*body, *inner):
        if isinstance(part, ast.Import):
            yield from names & {each.name for each in part.names}
        elif isinstance(part, ast.ImportFrom):
            modules = {f"{part.module}.{each.name}" for each in part.names} & names
            yield from modules or names & {part.module}


def test_no_module_imports_itself_through_others():
    paths = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "core").rglob("*.py")}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    graph = {name: {*imported(path, paths.keys())} - {name} for name, path in paths.items()}
    assert graph["core.reading.reader"] and "core.evidence.explanation" in graph["core.evidence.attention_map"]
    graphlib.TopologicalSorter(graph).prepare()


def test_no_part_of_a_package_waits_for_the_package():
    """Of two threads that import both at once, as a new server's preloading and first page do, each would wait for the
    other, and the page fail; ``from package.part import name`` waits for the part alone."""
    found = []
    for package in ("core.checkpoint", "core.data", "core.effects"):
        for path in (ROOT / package.replace(".", "/")).rglob("[!_]*.py"):
            body = ast.parse(path.read_text("utf-8")).body
            found += [path.name for part in body if isinstance(part, ast.ImportFrom) and part.module == package]
    assert found == []


def test_the_interface_of_models_stays_small():
    own = {name for name in {*vars(PairModel), *PairModel.__annotations__} if not name.startswith("_")}
    assert len(own) <= 20, "give models a capability object, or let a settings class or a function have it"
