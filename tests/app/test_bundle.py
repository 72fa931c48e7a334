"""The scripts joined into one module: each sees what it imports, and nothing else."""

import pytest

from app.components.bundle import bundle

SCRIPTS = {
    "low.js": "const own = 1;\nexport const shown = own + 1;\n",
    "middle.js": 'import { shown } from "./low.js";\n\nconst own = 10;\n'
    "export function sum() {\n  return own + shown;\n}\n",
    "entry.js": 'import { COLOURS } from "./constants.js";\nimport { sum } from "./middle.js";\n\n'
    'export default [typeof own, typeof shown, sum(), COLOURS].join(" ");\n',
}


@pytest.fixture
def folder(tmp_path):
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_name_is_visible_only_where_it_is_imported(folder, run_script):
    text = bundle(folder / "entry.js", [folder / "middle.js"], {"COLOURS": ["red", "blue"]})
    assert run_script(text) == "undefined undefined 12 red,blue"


def test_a_name_that_is_not_exported_is_refused(folder):
    (folder / "low.js").write_text("const shown = 2;\n")
    with pytest.raises(ValueError, match=r"^middle.js imports shown, which low.js does not export$"):
        bundle(folder / "entry.js", [], {"COLOURS": []})


def test_imports_in_a_circle_are_refused(folder):
    (folder / "low.js").write_text('import { sum } from "./middle.js";\n\nexport const shown = sum();\n')
    with pytest.raises(ValueError, match=r"^middle.js imports itself through the modules that it imports$"):
        bundle(folder / "entry.js", [], {"COLOURS": []})
