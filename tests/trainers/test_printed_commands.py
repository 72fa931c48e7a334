"""Every command that is printed anywhere, in a document, a docstring, a message or a record, can be typed today."""

from __future__ import annotations

import argparse
import csv
import functools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import core.__main__ as core_program
from core.errors import UserError
from trainers import __main__ as tool
from trainers import recipe as recipes
from trainers.paper import __main__ as paper

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"trainers": tool.PROGRAM, "trainers.paper": paper.PROGRAM}
PRINTED = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("pretrained/*/*.md"),
    *(
        path
        for top in ("core", "trainers", "app")
        for kind in ("py", "yaml")
        for path in ROOT.glob(f"{top}/**/*.{kind}")
    ),
]
TYPED = re.compile(r"python -m ((?:core|trainers)(?:\.[a-z]+)?)\b(?: ([a-z][a-z-]*)\b(?!\.))?")


@functools.cache
def parser(program: str, command: str | None) -> argparse.ArgumentParser:
    if program in PROGRAMS:
        return PROGRAMS[program].parser(command)
    return core_program.parser()


def fault(line: str) -> str | None:
    """The command, unless its argparse accepts it, and its recipe the changes."""
    typed = TYPED.search(line)
    try:
        assert typed
        args = parser(*typed.groups()).parse_args(shlex.split(line[typed.end(1) :], comments=True))
        if typed[2] in ("train", "sweep") and args.recipe in recipes.names():
            recipes.load(args.recipe, args.changes)
    except (AssertionError, SystemExit, UserError):
        return line
    return None


def options(program: str, command: str | None) -> set[str]:
    """The options that may follow a command."""
    every = [parser(program, command)]
    for action in every[0]._actions:
        if isinstance(action, argparse._SubParsersAction) and command in action.choices:
            every.append(action.choices[command])
    return {option for one in every for action in one._actions for option in action.option_strings}


def faults(text: str) -> Iterator[str]:
    """The commands in a text that cannot be typed today."""
    text = text.replace("\\\\\n", " ").replace("\\\n", " ")
    for shown in re.findall(r"`trainers/([a-z]+)\.py`", text):  # a command that the text shows how to add
        if shown not in tool.PROGRAM.commands:
            text = text.replace(f"python -m trainers {shown}", "its command")
    flowing = re.sub(r"\s*\n *(?:# )?", " ", text)
    for program, command in TYPED.findall(flowing):
        if program not in (*PROGRAMS, "core") or (
            program in PROGRAMS and command not in ("", *PROGRAMS[program].commands)
        ):
            yield f"{program} {command}"
    for line in re.findall(r"^ *(?:[A-Z_]+=\S+ )?python -m (?:core|trainers).*", text, re.M):
        if fault(line):
            yield line
    for quoted in re.findall(r"[`“](python -m (?:core|trainers)[^`”]*)[`”]", flowing):
        program, command = TYPED.match(quoted).groups()
        if not {*re.findall(r"(?<=\s)--[a-z][a-z-]*", quoted)} <= options(program, command or None):
            yield quoted


def test_commands_in_texts_are_understood() -> None:
    assert len(PRINTED) > 300
    found = {str(path.relative_to(ROOT)): [*faults(path.read_text(encoding="utf-8"))] for path in PRINTED}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_commands_in_the_notes_of_cards_are_understood() -> None:
    cards = {path.parent.name: json.loads(path.read_text()) for path in ROOT.glob("pretrained/*/card.json")}
    found = {name: str(card["notes"]) for name, card in cards.items() if "python -m" in str(card.get("notes"))}
    assert len(found) > 4
    assert {name: lines for name, notes in found.items() if (lines := [*faults(notes)])} == {}


def test_a_command_that_cannot_be_typed_is_found() -> None:
    for command in (
        "trainers trian",
        "trainers probe x --sweet",
        "trainers.bench",
        "trainers train nli-esim --set lr=x",
    ):
        assert [*faults(f"    python -m {command}")], command
        assert [*faults(f"See `python -m {command}`.")] or "--set" in command, command
    assert [*faults("    python -m trainers probe x --suite order\n")] == []


def commands(stored: Any) -> Iterator[str]:
    if isinstance(stored, dict):
        if isinstance(stored.get("command"), str):
            yield stored["command"]
        stored = list(stored.values())
    if isinstance(stored, list):
        for part in stored:
            yield from commands(part)


def test_commands_of_records_are_understood() -> None:
    found: set[str] = set()
    for path in (*ROOT.glob("pretrained/**/*.json"), *ROOT.glob("docs/*.json")):
        found |= {*commands(json.loads(path.read_text(encoding="utf-8")))}
    for path in (*ROOT.glob("pretrained/**/*.csv"), *ROOT.glob("docs/**/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:  # a table's command does not say where it was written
            found |= {f"{command} --csv {path.name}" for command in commands(list(csv.DictReader(file))) if command}
    assert len(found) > 60
    assert [command for command in found if fault(command)] == []
