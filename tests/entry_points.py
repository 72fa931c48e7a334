"""Prints, as JSON, the environment in which each entry point loads torch. Runs in a separate process without torch."""

import importlib
import importlib.abc
import json
import os
import runpy
import sys
from unittest import mock

VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


class LoadsTorch(BaseException):
    """Torch would be loaded now."""


class Watch(importlib.abc.MetaPathFinder):
    """Raises when torch is imported."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise LoadsTorch
        return


def serve():
    """Like `streamlit run` at start-up: import the script and run its lifespan, which preloads."""
    importlib.import_module("streamlit_app")
    importlib.import_module("app.preloading").load()


def module(name, *arguments):
    """``python -m NAME ARGUMENTS``."""

    def run():
        with mock.patch.object(sys, "argv", [name, *arguments]):
            runpy.run_module(name, run_name="__main__", alter_sys=True)

    return run


def seen(run, given):
    """The variables when torch is asked for, None where it is not; ``given`` is what the person has set."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("core", "trainers", "app")]:
        del sys.modules[name]
    others = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    with mock.patch.dict(os.environ, others | given, clear=True):
        try:
            run()
        except LoadsTorch:
            return {name: os.environ[name] for name in VARIABLES if name in os.environ}
        except SystemExit:
            pass
    return None


if __name__ == "__main__":
    sys.meta_path.insert(0, Watch())
    entries = {name: module("trainers", name, "--help") for name in ("train", "predict")}
    entries |= {"bench": module("trainers", "bench", "--help"), "figure": module("trainers.paper", "figure", "--help")}
    entries |= {"import core": lambda: importlib.import_module("core.explain")}
    entries |= {"explain": module("core", "models"), "server": serve}
    given = {}, *({name: "7"} for name in VARIABLES)
    print(json.dumps({name: [seen(run, each) for each in given] for name, run in entries.items()}))
