"""Options shared by several commands, each defined once, and functions that process their values."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import torch

from core.card import ranked_by
from core.checkpoint import Checkpoint
from core.command_line import add_class_names
from core.data import Picked
from core.data import labels as meanings
from core.data.labels import CountsAs, Scale, key, question
from core.data.picked import PARTS
from core.errors import RunError
from core.files import check_writable
from core.json_types import JsonObject
from core.wording import counted

OPTIONS: dict[str, JsonObject] = {
    "checkpoint": {"metavar": "CHECKPOINT", "help": "a shipped name or a checkpoint folder"},
    "recipe": {"metavar": "RECIPE", "help": "a recipe, by its name or the path of a YAML file"},
    "--data": {"type": Path, "help": "the data folder (default: $PAIRLENS_DATA)"},
    "--device": {"choices": ("auto", "cpu", "cuda"), "default": "auto", "help": "default: cuda if available"},
    "--threads": {"type": int, "default": 0, "metavar": "N", "help": "CPU threads per process"},
    "--json": {"action": "store_true", "help": "print all figures as JSON"},
    "--card": {"metavar": "NAME", "help": "write the figures to the card under this data set name"},
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "KEY=VALUE",
        "dest": "changes",
        "help": "change a key of the recipe, such as lr=0.001 or model.match=bilinear; repeatable",
    },
    "--label": {
        "action": "append",
        "default": [],
        "metavar": "LABEL=CLASS[,CLASS]",
        "dest": "counts_as",
        "help": "the model's class or classes for a label in the file, such as entails=entailment or "
        "non-entailment=neutral,contradiction; empty: its rows are not scored; repeatable",
    },
    "--columns": {
        "metavar": "PART=COLUMN,…",
        "help": "the file's columns for each part, such as premise=sent1,hypothesis=sent2,label=gold: by name, in "
        "JSON also nested (example.premise), or by number without a header (premise=1,hypothesis=2,label=3); "
        "text=COLUMN for single texts; also id and group, the question that an answer belongs to",
    },
}


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Adds some of :data:`OPTIONS`, in this order."""
    for name in names:
        parser.add_argument(name, **OPTIONS[name])
        if name == "checkpoint":
            add_class_names(parser)


def out_files(out: Path, *endings: str) -> list[Path]:
    """The files for --out NAME, one per suffix. Raises FileError if one cannot be written."""
    paths = [out.with_name(f"{out.name}.{ending}") for ending in endings]
    for path in paths:
        check_writable(path, "--out")
    return paths


def add_ray(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds the option --ray; ``what`` describes the cluster's work."""
    parser.add_argument(
        "--ray", metavar="ADDRESS", help=f"{what} on the Ray cluster at HOST:PORT, or auto: this machine's own"
    )


def data_folder(option: Path | None) -> Path:
    """The data folder from --data or $PAIRLENS_DATA. Raises RunError if there is none."""
    folder = option or (Path(os.environ["PAIRLENS_DATA"]) if os.environ.get("PAIRLENS_DATA") else None)
    if folder is None:
        raise RunError("no data folder; give --data FOLDER or set PAIRLENS_DATA")
    if not folder.is_dir():
        raise RunError(f"the data folder {folder} does not exist; give another --data")
    return folder


def pick_device(name: str) -> torch.device:
    """The device for --device. Raises RunError for CUDA if it is not available."""
    if name == "cuda" and not torch.cuda.is_available():
        raise RunError("no CUDA device is available; use --device cpu, or install torch's CUDA build and a driver")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def use_threads(count: int) -> None:
    """Sets torch's thread count to --threads; 0 keeps torch's default."""
    if count:
        torch.set_num_threads(count)


_NEXT_PART = re.compile(rf",(?=\s*(?:{'|'.join(PARTS)})\s*=)", re.IGNORECASE)
"""A comma before another part: column names may contain commas."""


def columns(option: str | None) -> Picked | None:
    """The columns in --columns, None without it. Raises RunError for a malformed value."""
    if option is None:
        return None
    picked: dict[str, str] = {}
    for pair in _NEXT_PART.split(option):
        part, _, column = (side.strip() for side in pair.partition("="))
        field = PARTS.get(part.lower())
        if field is None or not column or field in picked:
            raise RunError(
                f"--columns wants each part once, such as premise=sent1,hypothesis=sent2,label=gold, got {pair!r}; "
                f"parts are {', '.join(PARTS)}"
            )
        picked[field] = column
    if "first" not in picked:
        raise RunError("--columns names no text; give premise=…,hypothesis=… for pairs or text=… for single texts")
    return Picked.of(picked)


def mapped(pairs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The classes for each ``LABEL=CLASS,CLASS`` in --label, by the label's key. Raises RunError for a malformed
    value."""
    out: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        label, sign, names = pair.partition("=")
        if not sign or not label.strip():
            raise RunError(f"--label wants LABEL=CLASS, such as entails=entailment, got {pair!r}")
        classes = (name.strip() for name in names.split(","))
        out[key(label)] = (*out.get(key(label), ()), *filter(None, classes))
    return out


def scales_of(checkpoints: Sequence[Checkpoint], counts_as: CountsAs) -> list[Scale]:
    """The scale of each checkpoint, with those mapped classes it has. Raises RunError for a class that no checkpoint
    has, and for a label without a class in one of them."""
    known = {key(name) for checkpoint in checkpoints for name in checkpoint.labels}
    for label, names in counts_as.items():
        for checkpoint in checkpoints:
            own = {key(name) for name in checkpoint.labels}
            strange = [name for name in names if key(name) not in known] or [*names]
            if names and not (own & {*map(key, names)} and {*map(key, names)} <= known):
                raise RunError(
                    f"--label {label}={','.join(names)}: {strange[0]} is not a class of {checkpoint.name}; its classes "
                    f"are {', '.join(checkpoint.labels)}"
                )
    return [scale_of(checkpoint, counts_as) for checkpoint in checkpoints]


def named_by(checkpoints: Sequence[Checkpoint], counts_as: CountsAs) -> frozenset[str]:
    """The labels that these checkpoints or --label name (:func:`core.data.labels.names_of`)."""
    return meanings.names_of([name for checkpoint in checkpoints for name in checkpoint.labels], counts_as)


def scale_of(checkpoint: Checkpoint, counts_as: CountsAs) -> Scale:
    """The scale of one checkpoint."""
    return Scale(checkpoint.labels, meanings.own(counts_as, checkpoint.labels), ranked_by(checkpoint.card))


def check_labels(
    checkpoint: Checkpoint, scale: Scale, file: str, labels: Collection[str], *, ranking: bool = False
) -> None:
    """Raises RunError with the --label options to add if labels in the file match no class of the model; in a
    ``ranking`` set 0 and 1 always match."""
    unknown = scale.unknown(sorted(labels))
    if unknown and not (ranking and {*unknown} <= {"0", "1"}):
        grades = scale.positive is not None and not ranking
        raise RunError(question(file, sorted(labels), unknown, checkpoint.name, checkpoint.labels, grades))


def truncated_rows(checkpoint: Checkpoint, rows: int) -> str:
    """One sentence about the rows of which a checkpoint did not read the end."""
    return f"{checkpoint.name} read only the beginning of {counted(rows, 'row')}; the rest of these texts is too long"


def mismatch(file: str, labels: Collection[str], task: str, checkpoint: Checkpoint) -> str:
    """A one-sentence warning if a file with these labels and a layout for ``task`` belongs to another task than the
    model's; else empty."""
    return meanings.mismatch(file, meanings.task_of(labels, task), checkpoint.name, str(checkpoint.card["task"]))
