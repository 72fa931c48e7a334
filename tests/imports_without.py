"""Import the app, core and the commands of predictions where only the packages named as arguments are installed.

    python -m tests.imports_without PACKAGE...

Prints the modules' names, and then what a command that trains says of a missing package.
"""

import ast
import importlib
import importlib.abc
import pkgutil
import re
import sys
from importlib import metadata
from pathlib import Path

import app
import core
from core.checkpoint import available, read_card, records_of

COMMANDS = ("trainers.predict", "trainers.evaluate", "trainers.compare")


class Missing(importlib.abc.MetaPathFinder):
    """Finds no module of a distribution that is not among ``packages``."""

    def __init__(self, packages):
        self.packages = packages
        self.distributions = metadata.packages_distributions()

    def find_spec(self, name, path=None, target=None):
        owners = {re.sub("[-_.]+", "-", owner).lower() for owner in self.distributions.get(name.partition(".")[0], ())}
        if owners and not owners & self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def modules():
    """All modules of app and core but the pages, which draw themselves as they are imported, and the commands."""
    for package in (app, core):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not re.search(r"\.views\.|__main__|\.migrations\.", module.name):
                yield module.name
    yield from COMMANDS


def main():
    sys.meta_path.insert(0, Missing(set(sys.argv[1:])))
    for name in modules():
        importlib.import_module(name)
        print(name)
    for page in sorted(Path("app/views").glob("*.py")):
        imports = [part for part in ast.parse(page.read_text()).body if isinstance(part, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), page, "exec"), {})
        print(page)
    listed = {name: records_of(read_card(folder)) for name, folder in available().items()}
    assert "guest-minilm" in listed and not {"transformers", "accelerate"} & set(sys.modules)
    assert importlib.import_module("trainers.paper.__main__").main(["words"]) == 2


if __name__ == "__main__":
    main()
