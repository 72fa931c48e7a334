"""Runs that are kept: a file for each checkpoint's part, by the checksums of data file and checkpoint, and beside them
one that says in which order the checkpoints of a data file stand. They lie on a shelf (:mod:`core.desk.shelf`), which
may be another folder's where a function takes one."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.data import Dataset
from core.desk.run import Run, RunHeader, load, read_header, save
from core.desk.shelf import Kept, Shelf, of_desk
from core.errors import DeskError
from core.files import json_text, parse_json

_RUNS = "runs"
DIGITS = 16
"""Hexadecimal digits of a checksum in a name."""


def short(checksum: str) -> str:
    """A checksum as names of runs and addresses have it."""
    return checksum[:DIGITS]


def _part(file: str, checkpoint: str) -> str:
    """The name of the run of a file's and a checkpoint's checksum. Raises DeskError for what is no checksum."""
    for checksum in (file, checkpoint):
        if not re.fullmatch(r"[0-9a-f]{16,64}", checksum):
            raise DeskError(f"{checksum[:40]!r} is no checksum of a file or a checkpoint: choose a run from the list")
    return f"{_RUNS}/{short(file)}-{short(checkpoint)}.parquet"


def _order_name(file: str) -> str:
    return f"{_RUNS}/{short(file)}.json"


def keep(run: Run, folder: Path | None = None) -> None:
    """Store a run, each of its models by itself, on the desk's shelf or in another folder. Raises UserError where
    that cannot be written."""
    shelf = of_desk(folder)
    for model in run.models:
        with shelf.writing(_part(run.dataset.sha256, model.sha256)) as path:
            save(run.with_models((model,)), path)
    put_first(run.dataset.sha256, [model.sha256 for model in run.models], folder)


def put_first(file: str, checkpoints: Sequence[str], folder: Path | None = None) -> None:
    """Let these checkpoints, in this order, stand before all others of the file's: those of its last run. Raises
    UserError where that cannot be written."""
    shelf, first = of_desk(folder), [short(checkpoint) for checkpoint in checkpoints]
    others = [checkpoint for checkpoint in _order(shelf, file) if checkpoint not in first]
    with shelf.writing(_order_name(file)) as scratch:
        scratch.write_text(json_text({"models": [*first, *others]}, indent=None), encoding="utf-8")


def _order(shelf: Shelf, file: str, there: Sequence[Kept] | None = None) -> dict[str, int]:
    """The places of a file's checkpoints (beginnings of their checksums) in its runs, from 0: A first. Parts that no
    order names come last, as they were written. ``there``: what is known to lie beside them."""
    if there is None:
        there = shelf.listed(_RUNS, short(file))
    named = [name for kept in there if kept.name == _order_name(file) for name in _named(shelf, kept)]
    own = [kept for kept in there if kept.name.startswith(f"{_RUNS}/{short(file)}-") and _is_part(kept)]
    parts = sorted(own, key=lambda part: part.changed)
    names = dict.fromkeys([*named, *(Path(part.name).stem.partition("-")[2] for part in parts)])
    return {name: place for place, name in enumerate(names)}


def _is_part(kept: Kept) -> bool:
    return kept.name.endswith(".parquet")


@functools.lru_cache(maxsize=1000)
def _named(shelf: Shelf, kept: Kept) -> tuple[str, ...]:
    """What a file that says the order says; nothing where it cannot be read."""
    try:
        with shelf.opened(kept.name) as opened:
            known = parse_json(opened.read().decode("utf-8"))
        return tuple(name for name in known["models"] if isinstance(name, str))
    except DeskError:
        raise
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def stored(dataset: Dataset, checkpoint_sha256: str) -> bool:
    """Whether a run of this file by this checkpoint is kept."""
    return of_desk().kept(_part(dataset.sha256, checkpoint_sha256)) is not None


def open_run(file: str, checkpoints: Sequence[str]) -> Run:
    """The kept run of these checksums, its models in this order. Labels of parts of version 1 may have different names:
    those of the file's last run hold, in whatever order they are asked for. Raises DeskError where a part is not there,
    or has other rows."""
    if not checkpoints:
        raise DeskError("a run needs a checkpoint: choose one to four")
    shelf = of_desk()
    parts = {short(checkpoint): _loaded(shelf, _part(file, checkpoint)) for checkpoint in checkpoints}
    places = _order(shelf, file)
    last = parts[min(parts, key=lambda checkpoint: places.get(checkpoint, len(places)))]
    if any(len(part.dataset.rows) != len(last.dataset.rows) for part in parts.values()):
        raise DeskError(f"the models read other rows of {last.dataset.name}: predict it again with all of them")
    models = tuple(parts[short(checkpoint)].models[0] for checkpoint in checkpoints)
    return replace(last, models=models, lost_labels=max(part.lost_labels for part in parts.values()))


def _loaded(shelf: Shelf, name: str) -> Run:
    try:
        return load(shelf.path / name)
    except FileNotFoundError:
        raise _no_run() from None


def _no_run() -> DeskError:
    return DeskError("there is no such run: predict the file again")


def written(file: str, checkpoints: Sequence[str]) -> tuple[str, ...]:
    """Other texts whenever the kept runs of these checksums or their order were written; a run is written again when
    its labels get other names. Raises DeskError where one is not there."""
    shelf = of_desk()
    parts = [shelf.kept(_part(file, checkpoint)) for checkpoint in checkpoints]
    order = shelf.kept(_order_name(file))
    if None in parts:
        raise _no_run()
    return (*(part.version for part in parts if part), order.version if order else "")


def runs() -> list[RunHeader]:
    """One of each data set's runs, those used last first, the models of one file together in the order of its runs.
    Raises DeskError where a store cannot be used."""
    shelf = of_desk()
    there = shelf.listed(_RUNS)
    by_file: dict[str, list[RunHeader]] = {}
    for kept in sorted(filter(_is_part, there), key=lambda kept: -kept.changed):
        with contextlib.suppress(DeskError, OSError):
            header = _header(shelf, kept)
            by_file.setdefault(header.sha256, []).append(header)
    merged = []
    for file, headers in by_file.items():
        places = _order(shelf, file, there)
        models = sorted(
            (model for header in headers for model in header.models),
            key=lambda model: places.get(short(model.sha256), len(places)),
        )
        merged.append(replace(headers[0], models=tuple(models)))
    return merged


@functools.lru_cache(maxsize=1000)
def _header(shelf: Shelf, kept: Kept) -> RunHeader:
    """What a run said of itself in this version: a page asks with every answer."""
    with shelf.opened(kept.name) as file:
        return read_header(Path(kept.name), opened=file)
