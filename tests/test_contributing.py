"""Follows CONTRIBUTING.md in a scratch copy of the project, adding its files and no other line."""

import importlib
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

from core import tasks
from core.checkpoint import load_named
from core.data.labels import mismatch
from core.desk import charts, perturbations
from core.effects import attention_edits, edits
from core.effects.attention_edits import explain_under
from core.effects.history import parse_edit, words_after
from core.evaluation import scores
from core.explain import explain
from tests.core.made_up_runs import made_up_run
from trainers import evaluate
from trainers.__main__ import main as trainers

ROOT = Path(__file__).parents[1]
WORDS = ("man", "dog", "woman", "child", "red", "blue", "runs", "sleeps", "park", "house", "not", "a")
FOLLOWED = """
import contextlib
import io
import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.__main__ import main as core
from trainers.__main__ import main as trainers


def printed(main, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(arguments) == 0, arguments
    return out.getvalue()


sizes = ("--set", "batch_size=12", "--set", "epochs=1")
data = ("--data", "data", "--vectors", "data/vectors.txt", "--device", "cpu")
printed(trainers, "train", "aligned-means", *data, *sizes)
assert json.loads(Path("runs/aligned-means/card.json").read_text())["training"]["steps"] == 2
assert "Aligned means, SICK" in printed(core, "models")
pair = ("--model", "aligned-means", "--first", "a man runs", "--second", "a dog sleeps")
assert "Where each word of the hypothesis looks in the premise" in printed(core, "explain", *pair)
for page in ("explore", "models"):
    app = AppTest.from_file(f"app/views/{page}.py", default_timeout=600)
    app.query_params["model"] = "aligned-means"
    app.query_params["first"], app.query_params["second"] = "a man runs", "a dog sleeps"
    app.run()
    assert not app.exception, app.exception
    parts = [str(element.proto) for kind in ("html", "bidi_component") for element in app.get(kind)]
    drawn = "".join([*parts, *(str(option) for box in app.selectbox for option in box.options)])
    assert "Aligned means, SICK" in drawn, page
conformance = map(str, Path("tests").glob("test_conformance*.py"))
assert pytest.main(["-p", "no:cacheprovider", *conformance, "-k", "aligned-means"]) == 0
"""
"""The model of the page, trained and asked, all in one process, as loading torch takes seconds."""


def section(title):
    """(path, text) of the files that a section of CONTRIBUTING.md shows; a file is named last before its text."""
    text = re.search(rf"^## {title}$(.*?)(?=^## )", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M | re.S)[1]
    blocks = re.finditer(r"^```\w+\n(.*?)^```", text, re.M | re.S)
    return [(re.findall(r"`(\w+/[\w/.-]+\.\w+)`", text[: block.start()])[-1], block[1]) for block in blocks]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with the page's model, and made-up data in the layout that its recipe names. What has been
    compiled is copied too, except files that another process is just writing."""
    folder = tmp_path_factory.mktemp("project")
    others = shutil.ignore_patterns("*.pyc.*", "node_modules")
    for name in ("core", "trainers", "app", "tests", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name, ignore=others)
    for name in ("streamlit_app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    files = section("Add a model")
    assert [Path(path).suffix for path, _ in files] == [".py", ".yaml", ".py"]
    for path, text in files:
        assert not (folder / path).exists()
        (folder / path).write_text(text, "utf-8")
    source = random.Random(0)
    (folder / "data/sick").mkdir(parents=True)
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    for name, count in (("SICK_train.txt", 24), ("SICK_trial.txt", 9)):
        texts = [" ".join(source.choices(WORDS, k=4)) for _ in range(2 * count)]
        labels = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
        rows = [f"{i}\t{texts[2 * i]}\t{texts[2 * i + 1]}\t3\t{labels[i % 3]}" for i in range(count)]
        (folder / "data/sick" / name).write_text("\n".join([head, *rows, ""]))
    vectors = (" ".join([word, *(f"{source.gauss(0, 1):.4f}" for _ in range(16))]) for word in WORDS)
    (folder / "data/vectors.txt").write_text("".join(line + "\n" for line in vectors))
    return folder


def run(project, program):
    """The output of a Python program in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(project), "PAIRLENS_CHECKPOINTS": "runs"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


FOLLOWED_FURTHER = """
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from streamlit.testing.v1 import AppTest

from app.api.answers import question
from app.components import bundled
from app.components.bundle import bundle
from app.pages import address, pages
from core.checkpoint import load_named
from core.data import read
from core.desk import features, run_folder
from core.desk.exchange import to_csv
from core.desk.filters import rows_of
from core.desk.slices import slices
from core.desk.table import open_table
from core.effects.methods import MEASURED
from core.evidence import Explanation, record_kinds
from core.evidence.as_json import to_dict
from core.errors import UserError
from core.explain import explain
from tests.app.made_up_models import make_checkpoint
from tests.app.pages import query
from tests.core.made_up_runs import ROWS, made_up_run
from trainers.__main__ import main

DRAWS = '''
import { PANELS } from "./app/components/view.js";
globalThis.document = { createElementNS: (_, tag) => ({
  setAttribute() {}, append(...children) { this.text = `${tag}(${children.map((one) => one.text ?? one).join()})`; },
}) };
const view = { sideOf: (role) => ({ premise: { tokens: ["the", "old", "dog"] } })[role] };
process.stdout.write(PANELS.shared_words.make(view, RECORD).element.text);
'''  # by the panel's own script, with elements that only know their text

# The record, which no model names, is made for every pair, read back from JSON and shown everywhere.
pair = ("--model", "aligned-means", "--first", "the old dog", "--second", "a dog")
assert "Words of both: dog" in printed(core, "explain", *pair)
told = Explanation.from_dict(json.loads(printed(core, "explain", *pair, "--json")))
assert "Words of both: dog" in told.to_text() and "Words of both: dog" in told._repr_html_()
record = told.find(record_kinds()["shared_words"])
assert record.title == "shared words" and record.pairs == ((2, 1),)
assert explain(load_named("aligned-means"), "a dog", "a dog", records=()).evidence == ()
asked = {"model": "aligned-means", "first": "the old dog", "second": "a dog"}
answer = lambda kind, **more: json.loads(question(kind, asked | more)[1](lambda done, of: None))
assert answer("explain", records=["shared_words"])["evidence"] == [to_dict(record)]
assert "shared_words" in json.loads(question("models", {})[1](lambda done, of: None))["aligned-means"]["records"]
(app := AppTest.from_file("app/views/explore.py", default_timeout=600)).query_params.update(asked)
assert "shared_words" in "".join(str(part.proto) for part in app.run().get("bidi_component"))
assert "PANELS.shared_words =" in bundled()
script = Path("app/panels/shared_words/shared.js")
Path("entry.js").write_text(DRAWS.replace("RECORD", json.dumps(to_dict(record))))
Path("drawn.mjs").write_text(bundle(Path("entry.js"), [script], {}))
node = shutil.which("node", path=os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)]))
drawn = subprocess.run([node, "drawn.mjs"], capture_output=True, text=True, check=True).stdout
assert drawn == "section(p(dog))", drawn

# The column is on the desk, also for a run whose features were stored before it was added.
features.default_table = lambda: SimpleNamespace(sha256="", known=bool)
Path("taxi").mkdir()
rows = [(first, second + ", too" * (i > 0), *more) for i, (first, second, *more) in enumerate(ROWS)]
run = made_up_run(Path("taxi"), rows)
every, features.FEATURES = features.FEATURES, features.FEATURES[:-1]
assert "commas" not in open_table(run).columns and (run.folder / run_folder.FEATURES).is_file()
features.FEATURES = every
table = open_table(run)
assert table.columns["commas"].about == "commas in the hypothesis"
assert rows_of("commas = 1", table).tolist() == [False] + [True] * 5
parts = {part.expression: part.rows for part in slices(table)}
assert parts["commas <= 0"] == 1 and parts["commas > 0 and commas <= 1"] == 5
assert ",commas," in to_csv(table, rows_of("", table)).splitlines()[0]

# The method is in all lists, and its title travels with the answers.
name, title = "made-up-word", "Replaced by a made-up word"
pair = ("--first", "a man runs", "--second", "a dog sleeps", "--method", name, "--json")
effects = json.loads(printed(core, "why", "aligned-means", *pair))
assert effects["method"] == name and effects["passes"] == 7 and {word["effect"] for word in effects["words"]} != {None}
asked |= {"first": "a man runs", "second": "a dog sleeps"}
(app := AppTest.from_file("app/views/explore.py", default_timeout=600)).query_params.update(asked | {"method": name})
app.run()
assert not app.exception and title in "".join(str(element.proto) for element in app.get("bidi_component"))
assert [word["effect"] for word in answer("why", method=name)["words"]] == [one["effect"] for one in effects["words"]]
measured = answer("faithfulness")
assert measured["titles"][name] == title and len(measured["curves"][name]["aopc"]) == 2
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    trainers(["people", "--help"])
assert name in "".join(out.getvalue().split()) and name in MEASURED  # help is wrapped at hyphens

# The route answers, and refuses a field that it does not have.
swapped = answer("swapped", edits=["drop 0 0"])
assert (swapped["first"]["text"], swapped["contexts"][0]["text"]) == ("a dog sleeps", "man runs")
try:
    answer("swapped", head="1.1")
except UserError as error:
    assert "head" in str(error)

# The page is found by its file, and its field is in links.
make_checkpoint(Path("runs"), "made-up", "Made up", 1)
assert pages()["both_ways"] == "Both ways" and address("both_ways") == "both-ways"
app = AppTest.from_file("streamlit_app.py", default_timeout=600)
app.query_params["model"], app.query_params["first"], app.query_params["second"] = "made-up", "a <b>dog", "a cat"
app.run().switch_page("app/views/both_ways.py").run()
assert not app.exception, app.exception
table = app.table[0].value
shown = table[table.columns[-1]].str.replace("\\\\", "")
assert len(shown) == 3 and all(len(number.partition(".")[2]) == 2 for number in shown), table
app.slider[0].set_value(4).run()
assert query(app)["digits"] == "4" and app.text_input[0].value == "a <b>dog"
app.button[0].click().run()
assert app.text_input[0].value == "a cat"

# The layout is recognised, and a broken line is named.
Path("pairs.txt").write_text("a dog | an animal | yes\\na dog | a cat\\na cat | an animal | yes\\n")
dataset = read("pairs.txt")
assert dataset.layout == "lines with pipes"
assert [row.second for row in dataset.rows] == ["an animal"] * 2
assert list(map(str, dataset.problems)) == ["line 2: 2 parts instead of 3"]

# The command is listed, runs, and a file that is not there is one sentence.
with contextlib.suppress(SystemExit):
    main(["--help"])
assert main(["lengths", "data/sick/SICK_trial.txt"]) == 0
assert main(["lengths", "data/none.txt"]) == 2
"""
"""What the other sections of the page add."""


def test_what_the_page_adds_is_everywhere_without_another_line(project):
    (entry,) = section("Add a column")
    path = project / entry[0]
    before, after = path.read_text("utf-8").split('\n)\n"""The features in the order', 1)
    path.write_text(f'{before}\n{entry[1]},\n)\n"""The features in the order{after}', "utf-8")
    added = (
        "an evidence record",
        "a word-effect method",
        "an API endpoint",
        "a page",
        "a reader of data files",
        "a command",
    )
    for path, text in (file for thing in added for file in section(f"Add {thing}")):
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text(text, "utf-8")
    told = run(project, FOLLOWED + FOLLOWED_FURTHER)
    assert "passed" in told or "[100%]" in told
    assert re.search(r"lengths +count the words of a data file\n", told)
    assert "first: 4.0 words, 4 at most\nsecond: 4.0 words, 4 at most\n" in told


def test_the_lists_of_smaller_things_are_where_the_page_says_and_one_entry_is_enough(monkeypatch, tmp_path, capsys):
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Add something smaller")[2].partition("\n## ")[0]
    places = re.findall(r"`(\w+)` in `([\w/]+)\.py`", text)
    assert len(places) > 8
    for name, path in places:
        assert hasattr(importlib.import_module(path.replace("/", ".")), name), name
    classes, same = ("agrees", "disagrees", "discusses", "unrelated"), {perturbations.ANY: perturbations.SAME}
    twice = edits.EditKind(("side", "index"), lambda edit, word, _: f"“{word}” twice", lambda *_: "a a dog")
    only = attention_edits.AttentionEditKind(
        ("map",), "only the largest", lambda edit, row, *_: 1.0 * (row == row.max())
    )
    for entries, name, entry in (
        (scores.MEASURES, "misses", scores.Measure("misses", lambda gold, predicted: float((gold != predicted).sum()))),
        (edits.EDIT_KINDS, "repeat", twice),
        (attention_edits.ATTENTION_EDITS, "largest", only),
        (perturbations.PERTURBATIONS, "loud", perturbations.Perturbation("Loud", lambda _: ("A!", "B!"), same)),
        (tasks.TASKS, "stance", tasks.Task(("headline", "body"), (classes,))),
    ):
        monkeypatch.setitem(entries, name, entry)

    run = made_up_run(tmp_path)
    told = charts.classes(run, 0, np.full(len(run.rows), True), dict.fromkeys(run.models[0].labels, "")).how
    assert "misses 200.0" in told
    about = {"checkpoint": "", "file": "", "layout": "", "rows": 6, "dropped_without_gold_label": 0, "broken": []}
    measured = scores.classification(np.array([0, 1]), np.array([0, 0]), ["yes", "no"])
    more = {"notes": [], "accuracy_interval_95": [0.0, 1.0]}
    assert "misses 1.0000" in evaluate.table(about | more | measured)

    repeat = parse_edit("repeat 0 1")
    assert (str(repeat), repeat.describe(("a dog", "a cat"))) == ("repeat 0 1", "“dog” twice")
    assert words_after(("a dog", "a cat"), [repeat]) == ("a a dog", "a cat")
    (map_,) = explain(load_named("nli-attconv-light"), "a dog", "a cat").evidence[:1]
    (changed,) = explain_under(load_named("nli-attconv-light"), "a dog", "a cat", [parse_edit("largest 0")]).evidence[
        :1
    ]
    assert [*map(max, changed.weights)] == [1.0] * len(map_.weights) and parse_edit("largest 0").describe((), ())
    assert perturbations.promises.__wrapped__("stance")["loud"] == ("Loud", "A! / B!", "any label: same prediction")
    with pytest.raises(SystemExit):
        trainers(["perturb", "--help"])
    assert "loud" in capsys.readouterr().out
    assert tasks.task_of_classes([*classes]) == "stance" and tasks.texts_of("stance")[0] == "headline"
    assert "a data set for stance" in mismatch("file", "stance", "model", "entailment")


def test_the_page_about_a_typed_pair_names_files_and_functions_that_exist():
    text = (ROOT / "docs/how-a-pair-becomes-a-picture.md").read_text("utf-8")
    assert re.findall(r"^(\d+)\. ", text, re.M) == [str(number) for number in range(1, 11)]
    for part in re.split(r"\n(?=\d+\. |\n)", text):
        names = re.findall(r"`([^`]+)`", part)
        files = [name for name in names if "/" in name]
        code = "".join((ROOT / name).read_text("utf-8") for name in files)
        for name in {*names} - {*files}:
            for own in name.split("."):
                assert re.search(rf"\b(?:def|class|function) {own}\b", code), name


def test_a_term_of_the_glossary_is_in_the_code_and_a_class_has_a_name_of_its_own():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| .+ \| `([\w.]+)` \|$", text.partition("## Tests")[0], re.M)
    terms = [term for term, _ in rows]
    assert terms == sorted({*terms}) and 30 < len(terms) <= 40
    for _, name in rows:
        module, last = name.rpartition(".")[::2]
        assert last in vars(importlib.import_module(module)) or importlib.import_module(name), name
    files = [path for folder in ("app", "core", "trainers") for path in (ROOT / folder).rglob("*.py")]
    classes = [name for path in files for name in re.findall(r"^class ([A-Z]\w*)", path.read_text("utf-8"), re.M)]
    assert [name for name, count in Counter(classes).items() if count > 1] == []


def test_an_installation_for_notebooks_has_all_packages_but_the_tests():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    found = {init.parent.name for init in ROOT.glob("*/__init__.py")}
    named = {name for name in found if any(fnmatch(name, pattern) for pattern in settings["include"])}
    assert named == found - {"tests"} == {"app", "core", "trainers"}
