"""Download data sets in their official layouts from their official addresses into the data folder.

    python -m trainers data                                   # list the data sets, and those already in the folder
    python -m trainers data snli multinli --to DATA
    python -m trainers data glove --to DATA --registry mirror.yaml

An interrupted download resumes where it stopped, and files already in the folder are not downloaded again. Data sets
that require a form or manual steps are listed with their web page. docs/data.md lists the files each recipe reads and
their licences. ``--registry`` names a file in the format of trainers/data/registry.yaml, for example with a mirror's
addresses.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import RunError
from core.files import check_writable
from core.wording import hint
from trainers.data.download import fetch
from trainers.data.registry import REGISTRY, Archive, DataSet, load
from trainers.data.unpack import unpack

PARTS = ".downloads"
"""Subfolder of the data folder for unfinished downloads."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers data`."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="a data set; without any: a list of all")
    parser.add_argument("--to", type=Path, metavar="DATA", help="the data folder (default: $PAIRLENS_DATA)")
    parser.add_argument("--registry", type=Path, default=REGISTRY, metavar="YAML", help="another file of addresses")


def run(args: argparse.Namespace) -> int:
    """Download missing files. Raises RunError for an unknown name or a data set that must be fetched by hand, before
    downloading anything."""
    known = load(args.registry)
    folder = args.to or (Path(os.environ["PAIRLENS_DATA"]) if os.environ.get("PAIRLENS_DATA") else None)
    if not args.names:
        show(known, folder)
        return 0
    if folder is None:
        raise RunError("no data folder; give --to FOLDER or set PAIRLENS_DATA")
    for name in args.names:
        if name not in known:
            raise RunError(f"unknown data set {name!r}{hint(name, known)}")
        if known[name].by_hand:
            raise RunError(f"{name} has to be fetched by hand: {known[name].by_hand}; see {known[name].page}")
    check_writable(folder, "--to", folder=True)
    for name in dict.fromkeys(args.names):
        bring(name, known[name], folder)
    return 0


def show(known: Mapping[str, DataSet], folder: Path | None) -> None:
    """Prints all data sets, and whether the folder has them."""
    for name, data_set in known.items():
        there = "by hand" if data_set.by_hand else ""
        if folder and not data_set.by_hand:
            there = "not here yet" if data_set.missing(folder) else "here"
        print(f"{name:<12} {there:<14} {data_set.title}; {data_set.page}")


def bring(name: str, data_set: DataSet, folder: Path) -> None:
    """Downloads and unpacks the missing files of a data set. Raises UserError; completed downloads are kept."""
    if not data_set.missing(folder):
        print(f"{name}: all there already")
        return
    parts = folder / PARTS
    parts.mkdir(parents=True, exist_ok=True)
    print(f"{name}: its licence is at {data_set.page}", flush=True)
    try:
        with FileLock(parts / f"{name}.lock", timeout=0):
            for archive in data_set.missing(folder):
                bring_archive(archive, folder, parts)
    except Timeout:
        raise RunError(f"another process is fetching {name} into this folder; wait for it to end") from None


def bring_archive(archive: Archive, folder: Path, parts: Path) -> None:
    """Downloads one address, unless an earlier call already did, and puts its files in their places."""
    # The name contains a hash of the address: another registry's file is a different file.
    path = parts / f"{hashlib.sha256(archive.address.encode()).hexdigest()[:12]}-{Path(archive.address).name}"
    if not path.is_file():
        fetch(archive.address, path, archive.bytes)
    if archive.file:
        target = folder / archive.file
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    else:
        unpack(path, archive, folder)
        path.unlink()
    for target_name in archive.targets:
        print(f"  {target_name}: {(folder / target_name).stat().st_size:,} bytes", flush=True)
