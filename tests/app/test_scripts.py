"""The scripts' pure functions, tested by Node.js: tests/scripts/*.test.mjs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from app.panels.panel import scale_end
from tests.app.conftest import SCALES

FOLDER = Path(__file__).parents[1] / "scripts"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.test.mjs")))
def test_pure_functions_of_the_scripts(name, node):
    done = subprocess.run(
        [node, "--import", FOLDER / "hooks.mjs", FOLDER / name],
        env=os.environ | {"CONSTANTS": json.dumps(SCALES)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_that_work_out_a_scale_themselves_end_it_as_the_scripts_do():
    """The numbers of marks.test.mjs."""
    ends = [scale_end([0.1] * 10, 1), scale_end([0.91] + [0.01] * 9, 1), scale_end([1.0, 1.0], 1)]
    assert [*ends, scale_end([15, 15]), scale_end([], 1)] == pytest.approx([0.2, 0.91, 1, 30, 1e-9])
