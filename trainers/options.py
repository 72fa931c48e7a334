"""Options that several commands have in common, each described once, and what becomes of their values."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from core.command_line import add_class_names
from core.data import Dataset
from core.errors import RunError
from core.files import check_writable
from core.json_types import JsonObject

OPTIONS: dict[str, JsonObject] = {
    "checkpoint": {"metavar": "CHECKPOINT", "help": "a shipped name or a checkpoint folder"},
    "recipe": {"metavar": "RECIPE", "help": "a recipe, by its name or the path of a YAML file"},
    "--data": {"type": Path, "help": "the data folder (default: $PAIRLENS_DATA)"},
    "--device": {"choices": ("auto", "cpu", "cuda"), "default": "auto", "help": "default: cuda where it is"},
    "--threads": {"type": int, "default": 0, "metavar": "N", "help": "CPU threads of a process"},
    "--json": {"action": "store_true", "help": "print all figures as JSON"},
    "--card": {"metavar": "NAME", "help": "write the figures into the card, under this name of the data"},
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "KEY=VALUE",
        "dest": "changes",
        "help": "change a key of the recipe, such as lr=0.001 or model.match=bilinear; may be given again",
    },
    "--label": {
        "action": "append",
        "default": [],
        "metavar": "FILE=MODEL",
        "dest": "translate",
        "help": "call a label of the file by the model's name, such as entails=entailment; may be given again",
    },
}


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Some of :data:`OPTIONS`, in this order."""
    for name in names:
        parser.add_argument(name, **OPTIONS[name])
        if name == "checkpoint":
            add_class_names(parser)


def out_files(out: Path, *endings: str) -> list[Path]:
    """The files of --out NAME, one an ending. Raises FileError where one cannot be written."""
    paths = [out.with_name(f"{out.name}.{ending}") for ending in endings]
    for path in paths:
        check_writable(path, "--out")
    return paths


def add_ray(parser: argparse.ArgumentParser, what: str) -> None:
    """The option --ray; ``what`` the cluster does."""
    parser.add_argument(
        "--ray", metavar="ADDRESS", help=f"{what} on the Ray cluster at HOST:PORT, or auto: this machine's own"
    )


def data_folder(option: Path | None) -> Path:
    """The data folder of --data or $PAIRLENS_DATA. Raises RunError when there is none."""
    folder = option or (Path(os.environ["PAIRLENS_DATA"]) if os.environ.get("PAIRLENS_DATA") else None)
    if folder is None:
        raise RunError("no data folder; give --data FOLDER or set PAIRLENS_DATA")
    if not folder.is_dir():
        raise RunError(f"the data folder {folder} does not exist; give another --data")
    return folder


def pick_device(name: str) -> torch.device:
    """The device of --device. Raises RunError for CUDA where there is none."""
    if name == "cuda" and not torch.cuda.is_available():
        raise RunError("no CUDA device is available; use --device cpu, or install torch's CUDA build and a driver")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def use_threads(count: int) -> None:
    """As --threads says; 0 leaves torch's own number."""
    if count:
        torch.set_num_threads(count)


def translation(pairs: Sequence[str]) -> Callable[[Dataset], Dataset]:
    """What renames the labels of a data set as the ``FILE=MODEL`` pairs of --label say. Raises RunError for other
    texts."""
    names = {}
    for pair in pairs:
        ours, sign, theirs = pair.partition("=")
        if not sign or not ours or not theirs:
            raise RunError(f"--label wants FILE=MODEL, such as entails=entailment, got {pair!r}")
        names[ours.strip().lower()] = theirs.strip()
    return (lambda dataset: dataset.relabelled(names)) if names else lambda dataset: dataset
