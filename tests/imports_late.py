"""Prints, as JSON, the packages loaded after each of several steps of a server, and then of a command, in one process.

python -m tests.imports_late CHECKPOINT FILE OUT
"""

import importlib
import json
import sys


def routes():
    """Streamlit imports the routes before the server starts."""
    importlib.import_module("app.api").routes()


def first_page():
    """What the first visitor's page and the linguistic features import."""
    from app import preloading

    for name in ("core.linguistics.features", *preloading.MODULES):
        importlib.import_module(name)


def answer():
    """The reason and the effects of words, for which a visitor of a new server waits."""
    from core.checkpoint import load_named
    from core.effects import METHODS, Question

    asked = Question(load_named("nli-two-sided"), "Two girls play", "Three girls play")
    asked.reason(), asked.words(next(iter(METHODS)))


def stream():
    """The rows of a file and their predictions."""
    from trainers.__main__ import main

    assert main(["predict", *sys.argv[1:3], "--out", sys.argv[3]]) == 0


if __name__ == "__main__":
    loaded = {}
    for step in (routes, first_page, answer, stream):
        step()
        loaded[step.__name__] = [*sys.modules]
    print(json.dumps(loaded))
