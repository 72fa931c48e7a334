"""Writes cards: a checkpoint's card when it is trained, and later the figures of commands."""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from core.checkpoint import Checkpoint, read_card
from core.checkpoint.files import format_of
from core.json_types import JsonObject
from core.reading.word_table import WordTable
from trainers.recipe import Recipe
from trainers.tables import told


def slug(name: str) -> str:
    """A data set's name as a key: ``SNLI dev`` is ``snli_dev``."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def fingerprint(recipe: Recipe, data: str, words: WordTable, processes: int, precision: str) -> str:
    """SHA-256 over everything that determines a run's weights (except machine, device and threads)."""
    table = hashlib.sha256(words.codes.numpy().tobytes() + words.scales.numpy().tobytes())
    table.update("\n".join(words.words).encode())
    parts = [recipe.to_dict(), data, table.hexdigest(), processes, precision]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def device_name(device: torch.device) -> str:
    """Name of the processor or GPU."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.is_file() else None
    return f"CPU ({model.group(1).strip() if model else platform.machine()})"


def add_to_card(folder: Path, **fields: object) -> None:
    """Replaces fields on a finished checkpoint's card, or in an external model's ``pairlens.json``. Raises FileError if
    the operating system refuses, and RunError for a function, which has no folder."""
    format_of(folder).add_to_card(folder, **fields)


def report(
    checkpoint: Checkpoint, args: argparse.Namespace, kind: str, figures: JsonObject, shown: Callable[[JsonObject], str]
) -> int:
    """Last step of a command that evaluates a checkpoint on a file: writes the figures to the card's field ``kind``,
    under the name in --card if given, and prints them with ``shown`` or as JSON."""
    if args.card:
        known: Any = read_card(checkpoint.folder).get(kind, {})
        add_to_card(checkpoint.folder, **{kind: {**known, args.card: figures}})
    file = args.file if isinstance(args.file, Path) else args.file[0]
    result = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], "file": file.name, **figures}
    print(told(result, shown(result), args.json))
    return 0
