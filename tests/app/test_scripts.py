"""The scripts' pure functions, tested by Node.js: tests/scripts/*.test.mjs."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from app.palette import MAP_SYMBOLS
from tests.app.conftest import CONSTANTS

FOLDER = Path(__file__).parents[1] / "scripts"
THIRD = (
    'data:text/javascript,export const mount = (call) => `${call} at 3`; if (!import.meta.url.endsWith("3")) throw 1;//'
)
"""Scripts that only come with the third address."""


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_pure_functions_of_the_scripts(name, node):
    done = subprocess.run(
        [node, "--import", FOLDER / "hooks.mjs", FOLDER / name],
        env=os.environ | {"CONSTANTS": json.dumps(CONSTANTS | {"SCRIPTS": THIRD}), "SYMBOLS": json.dumps(MAP_SYMBOLS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_scripts_exchange_has_types():
    app = FOLDER.parents[1] / "app"
    scripts = [path for path in app.rglob("*.js") if "node_modules" not in path.parts]
    untyped = [path.name for path in scripts for _ in re.findall(r"\bany\b", path.read_text(encoding="utf-8"))]
    assert len(untyped) <= 7, f"words on screen and of the browser only: {untyped}"
