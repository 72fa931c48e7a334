"""Programs of several commands: one module a command, each with ``add_arguments(parser)`` and ``run(args)``."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from core.command_line import ending_at_once, status_of

PAPER = ("words", "make-pairs", "near-pairs", "table", "figure", "results", "seeds", "baselines")
MOVED = {"bench": "trainers.bench", **{name: f"trainers.paper {name}" for name in PAPER}}
"""What follows `python -m` today for what records know as a command of `python -m trainers`."""


def today(record: str) -> str:
    """A record's text with every command in it as it is typed today."""
    return re.sub(r"(?<=python -m )trainers ([a-z-]+)", lambda match: MOVED.get(match[1], match[0]), record)


@dataclass(frozen=True)
class Program:
    """``python -m PACKAGE COMMAND``. ``commands``: what each does; its module is named like it."""

    package: str
    description: str
    commands: Mapping[str, str]

    def parser(self, command: str | None) -> argparse.ArgumentParser:
        """The command line, with the options of this command alone. No other module is imported: torch alone takes a
        second."""
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
        return parser

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run one command. Errors that a person can mend are one sentence on stderr, with exit status 2."""
        argv = list(sys.argv[1:] if arguments is None else arguments)
        parser = self.parser(next((word for word in argv if word in self.commands), None))
        if argv and argv[0] in MOVED and argv[0] not in self.commands:
            parser.error(f"{argv[0]} has moved: type python -m {MOVED[argv[0]]}")
        args = parser.parse_args(argv)
        hint = "; --resume goes on from the last saved state" if args.command == "train" else ""
        return status_of(lambda: self._module(args.command).run(args), f"{parser.prog} {args.command}", hint)

    def _module(self, command: str) -> ModuleType:
        return importlib.import_module(f"{self.package}.{command.replace('-', '_')}")
