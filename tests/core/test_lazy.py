"""Packages whose modules import each other circularly, imported by two threads at once."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.lazy import import_alone

ROOT = Path(__file__).resolve().parents[2]
IMPORT = re.compile(r"^ +(?:from|import) (?:sklearn|openTSNE)\b", re.MULTILINE)


def test_two_threads_see_no_half_initialised_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "going_round"
    package.mkdir()
    (package / "__init__.py").write_text("import time\ntime.sleep(0.4)\nfrom going_round.base import late\n")
    (package / "base.py").write_text("import time\ntime.sleep(0.1)\nfrom going_round import other\nlate = True\n")
    (package / "other.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(import_alone, ("going_round", "going_round.base")))
    assert sys.modules["going_round"].late


def test_every_late_import_of_such_a_package_is_alone() -> None:
    late = [
        (path, source.splitlines(), source[: match.start()].count("\n"))
        for path in (*ROOT.glob("core/**/*.py"), *ROOT.glob("app/**/*.py"))
        if "node_modules" not in path.parts
        for source in [path.read_text()]
        for match in IMPORT.finditer(source)
    ]
    assert late
    for path, lines, number in late:
        before = [line for line in lines[:number][-3:] if "import_alone(" in line]
        assert before, f"{path.relative_to(ROOT)}, line {number + 1}: call import_alone before this import"
