"""Command-line programs with one module per command, each with ``add_arguments(parser)`` and ``run(args)``."""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from core.command_line import ending_at_once, joined, status_of
from core.errors import UserError

INSTALL = "run `make trainers`, or `pip install -r requirements-trainers.txt`"


@functools.cache
def commands_of(package: str) -> dict[str, str]:
    """The summary of each command in a package: the first clause of its module's docstring. Modules are parsed, not
    imported, because torch alone takes a second."""
    folder = Path(__file__).resolve().parents[1].joinpath(*package.split("."))
    found = {}
    for path in (*folder.glob("*.py"), *folder.glob("*/__init__.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        functions = {part.name for part in module.body if isinstance(part, ast.FunctionDef)}
        if {"add_arguments", "run"} <= functions:
            name = path.parent.name if path.stem == "__init__" else path.stem
            first, _, _ = re.sub(r"[.:;](?=\s)", "\n\n", ast.get_docstring(module) or name).partition("\n\n")
            found[name.replace("_", "-")] = f"{first[0].lower()}{first[1:]}".replace("\n", " ")
    return dict(sorted(found.items()))


NOT_RECORDED = {
    "help", "parser", "class_names", "data", "out", "csv", "runs", "json", "ray", "resume", "overwrite", "save_every",
    "server",
}  # fmt: skip
"""Options that do not change what a command computes."""


def as_typed(command: str, *names: str, **options: object) -> str:
    """A command line for records: a checkpoint and files by ``names``, without this machine's folders, and the options
    that are set; a list repeats its option for each element."""
    parts = ["python", "-m", *command.split(), *names]
    for name, given in options.items():
        for value in given if isinstance(given, list) else [given]:
            if value is not None and value is not False:
                text = value.name if isinstance(value, Path) else str(value)
                parts += [f"--{name.replace('_', '-')}", *([] if value is True else [text])]
    return shlex.join(parts)


def given(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, object]:
    """The options for :func:`as_typed` that were given another value than their default."""
    options = (action for action in parser._actions if action.option_strings and action.dest not in NOT_RECORDED)
    return {
        option.option_strings[-1].removeprefix("--"): getattr(args, option.dest)
        for option in options
        if getattr(args, option.dest) != option.default
    }


class Program:
    """``python -m PACKAGE COMMAND``, with all commands of the package (:func:`commands_of`)."""

    def __init__(self, package: str, description: str) -> None:
        self.package, self.description, self.commands = package, description, commands_of(package)

    def parser(self, command: str | None) -> argparse.ArgumentParser:
        """The argument parser, with options only for this command, whose module is imported."""
        parser = argparse.ArgumentParser(f"python -m {self.package}", description=self.description)
        commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
        with ending_at_once():
            for name, summary in self.commands.items():
                module = self._module(name) if name == command else None
                sub = commands.add_parser(
                    name,
                    help=summary,
                    description=module.__doc__ if module else summary,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                )
                if module:
                    module.add_arguments(sub)
                    sub.set_defaults(parser=sub)
        return parser

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run one command. Errors the user can fix are one sentence on stderr, with exit status 2."""
        argv = joined(sys.argv[1:] if arguments is None else arguments)
        command = next((word for word in argv if word in self.commands), None)
        hint = "; --resume continues from the last saved state" if command == "train" else ""
        return status_of(lambda: self._run(argv, command), f"python -m {self.package} {command}", hint)

    def _run(self, argv: list[str], command: str | None) -> int | None:
        """Raises UserError if a package that the command needs is missing, even while it runs."""
        try:
            parser = self.parser(command)
            args = parser.parse_args(argv)
            args.given = given(vars(args).pop("parser"), args)
            status: int | None = self._module(args.command).run(args)
            return status
        except ModuleNotFoundError as error:
            if (error.name or "core").partition(".")[0] in ("core", "trainers"):
                raise
            raise UserError(f"{error.name} is not installed: {INSTALL}") from error

    def _module(self, command: str) -> ModuleType:
        return importlib.import_module(f"{self.package}.{command.replace('-', '_')}")
