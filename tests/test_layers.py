"""Import directions: core imports neither trainers nor app, trainers import core, the app imports core."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def imported(folder):
    """Every module that a package imports, with the file that does."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += ((name, path.relative_to(ROOT)) for name in names)
    return found


def test_packages_import_in_one_direction():
    assert len(imported("core")) > 100
    assert [found for found in imported("core") if found[0].split(".")[0] in ("app", "trainers", "streamlit")] == []
    assert [found for found in imported("trainers") if found[0].split(".")[0] == "app"] == []
    known = [(name, path) for name, path in imported("app") if name.split(".")[0] == "trainers"]
    assert [found for found in known if not found[0].startswith("core.data.")] == []


def test_the_tool_knows_neither_the_workshop_nor_the_benchmarks():
    tool = [found for found in imported("trainers") if found[1].parts[1] not in ("paper", "bench")]
    assert len(tool) > 100
    assert [found for found in tool if found[0].startswith(("trainers.paper", "trainers.bench"))] == []
