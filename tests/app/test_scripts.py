"""The scripts' pure functions, tested by Node.js: tests/scripts/*.test.mjs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from app.palette import MAP_SYMBOLS
from tests.app.conftest import CONSTANTS

FOLDER = Path(__file__).parents[1] / "scripts"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_pure_functions_of_the_scripts(name, node):
    done = subprocess.run(
        [node, "--import", FOLDER / "hooks.mjs", FOLDER / name],
        env=os.environ | {"CONSTANTS": json.dumps(CONSTANTS), "SYMBOLS": json.dumps(MAP_SYMBOLS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
