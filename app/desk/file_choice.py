"""Choosing a data file: an upload or one on the server, in its own layout or with columns picked by the user."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import streamlit as st

from app import page_style
from app.desk import annotator
from app.desk.open_run import database
from app.pair_form import once
from core.archives import MOST_MEMBERS, TooLargeError, pieces
from core.data import Dataset, Picked, read
from core.data.dataset import UnknownLayoutError
from core.data.lines import LARGEST
from core.data.picked import Seen
from core.data.stream import seen_in
from core.desk import source, store
from core.desk.annotations import Annotations
from core.desk.folders import SUFFIXES, data_file, data_files, datasets_folder, is_run
from core.desk.run import RunHeader, fitting
from core.errors import DeskError, UserError

_UNPACKED = 10
"""How many times its size limit an upload may reach when decompressed."""
_Read = TypeVar("_Read")
_NONE = "(none)"
_PARTS = {"first": "First text", "second": "Second text", "label": "Label", "id": "Id", "group": "Question"}
"""The form's labels for the parts of a row."""
_HELP = {
    "id": "Names the rows here and in exports. Without it, they are named by their lines.",
    "group": "For candidate answers: rows with one question are ranked, and scored by MAP. Otherwise leave it out.",
}
_HANDED = "desk file handed over"
_HEADER, _ROW = "names of the columns", "a row"


def chosen_file() -> tuple[Dataset, Mapping[str, str]] | RunHeader | None:
    """The uploaded or chosen data set with the names that its header gives to the texts, or the run copied to the desk;
    None if there is none or it cannot be read."""
    limit, names = int(st.get_option("server.maxUploadSize")), data_files()
    uploaded = st.file_uploader(
        f"Upload a file (up to {limit} MB)",
        [suffix[1:] for suffix in (*SUFFIXES, ".zip", ".xls")],  # .xls is accepted only to explain what to do
        key="desk upload",
        help="SNLI, MultiNLI, SICK, WikiQA, TrecQA, SelQA, MSRP, Quora, TaxiNLI, documents, or CSV, TSV, JSON, XML, "
        "Parquet or an Excel workbook; or a run that `python -m trainers predict … --out run/` wrote, packed as .zip.",
        max_upload_size=limit,
    )
    page_style.note(
        "All visitors to this server see all runs, with their texts, tags and notes. You can delete a run under Export "
        "if you made it with your name in the sidebar."
    )
    name = None
    if datasets_folder() is not None:
        name = st.selectbox("or choose a file on the server", names, None, placeholder="Files under PAIRLENS_DATASETS")
    shown = uploaded.name if uploaded is not None else name or ""
    if shown:
        leave()
    try:
        if uploaded is not None:
            largest = limit * _UNPACKED * 1_000_000
            return _read(uploaded.file_id, lambda: as_file(uploaded.name, uploaded.getvalue()), largest)
        if name:
            path = data_file(name)
            changed = max(file.stat().st_mtime_ns for file in (path, *(path.iterdir() if path.is_dir() else ())))
            return _read(f"{name} {changed}", lambda: nullcontext(path), LARGEST)
        if handed := st.session_state.get(_HANDED):
            return _read(hashlib.sha256(handed[1]).hexdigest(), lambda: as_file(*handed), LARGEST)
    except UserError as error:
        page_style.notice([f"{error}."])
    except OSError as error:  # its text contains the file's path on the server
        page_style.notice([f"{shown} cannot be read ({error.strerror}): choose it again, or another file."])
    return None


def hand_over(name: str, content: bytes) -> None:
    """Takes a file that a page wrote, as if it were uploaded."""
    st.session_state[_HANDED] = name, content


def leave() -> None:
    """Forgets the file that was handed over."""
    st.session_state.pop(_HANDED, None)


@contextmanager
def as_file(name: str, data: bytes) -> Iterator[Path]:
    """The uploaded bytes as a temporary file with this name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name.replace("\\", "/")).name[-100:] or "upload")
        path.write_bytes(data)
        yield path


def _read(
    token: str, file: Callable[[], AbstractContextManager[Path]], largest: int
) -> tuple[Dataset, Mapping[str, str]] | RunHeader | None:
    """The file in its recognised layout, or with columns picked by the user; it may decompress to ``largest`` bytes."""

    def reading(read: Callable[[Path], _Read]) -> _Read:
        with file() as path:
            return read(path)

    known = once("desk file", token, lambda: reading(lambda path: _adopted(path, largest)))
    if isinstance(known, RunHeader):
        return known
    if isinstance(known, Dataset):
        page_style.note(known.summary())
        if not st.checkbox("Choose the columns myself", key=f"desk columns {token}"):
            return known, {}
        seen = once("desk seen", token, lambda: reading(lambda path: seen_in(path, largest)))
    else:
        seen = known
        guessed = "The columns are guessed from the first rows: change what is wrong."
        asked = "PairLens does not recognise these columns: choose one for each part of a row."
        page_style.note(guessed if seen.guess() else asked)
    picked = _picked(seen, token)
    if picked is None:
        return None
    data = once("desk picked", (token, picked), lambda: reading(lambda path: _read_by(path, largest, picked)))
    page_style.note(data.summary())
    return data, {"first": picked.first, "second": picked.second} if picked.header else {}


def _picked(seen: Seen, token: str) -> Picked | None:
    """The columns picked by the user; None until the first text is picked and the first line of a table is decided."""
    header = _has_header(seen, token)
    if header is None:
        return None
    names = list(seen.names) if header else [str(place) for place in range(1, len(seen.first) + 1)]
    shown = dict(zip(names, seen.first, strict=False)) if not header else {}
    guess = seen.guess() if header else {}
    chosen = {
        part: column.selectbox(
            what,
            [_NONE, *names],
            1 + names.index(guess[part]) if part in guess else 0,
            format_func=lambda name: f"{name}: {shown[name][:40]}" if name in shown else name,
            key=f"desk pick {what} {header} {token}",
            help=_HELP.get(part),
        )
        for column, (part, what) in zip(st.columns(len(_PARTS)), _PARTS.items(), strict=True)
    }
    if chosen["first"] == _NONE:
        page_style.hint("Choose the column of the first text.")
        return None
    return Picked.of({part: name for part, name in chosen.items() if name != _NONE}, header)


def _has_header(seen: Seen, token: str) -> bool | None:
    """The user's answer on whether a table's first line is a header; no default if it looks like a row. True for
    JSON."""
    if not seen.first:
        return True
    line = " · ".join(cell.strip() for cell in seen.first)
    page_style.note(f"First line: {line[:120]}{'…' if len(line) > 120 else ''}")
    answer = st.radio(
        "What is the first line?",
        [_HEADER, _ROW],
        None if seen.doubtful else 0,
        horizontal=True,
        key=f"desk header {token}",
    )
    return None if answer is None else answer == _HEADER


def _adopted(path: Path, largest: int) -> Dataset | RunHeader | Seen:
    """The file as :func:`recognised`; a new run is the visitor's."""
    before = {run.sha256 for run in store.runs()}
    known = recognised(path, largest)
    if isinstance(known, RunHeader) and known.sha256 not in before:
        Annotations(database()).made(annotator.name(), known.sha256)
    return known


def recognised(path: Path, largest: int) -> Dataset | RunHeader | Seen:
    """The data set, the run after copying it to the desk, or the columns to pick from. Raises DataError if there are
    none, and for a file that cannot be read or decompresses to more than ``largest`` bytes."""
    if path.suffix == ".zip":
        with _unpacked(path, largest) as folder:
            return store.adopt(folder, largest)
    if is_run(path):
        return store.adopt(path, largest)
    try:
        return _read_by(path, largest)
    except UnknownLayoutError:
        seen = seen_in(path, largest)
        if len(seen.names) < 2 and seen.first:  # text without columns
            raise
        return seen


@contextmanager
def _unpacked(path: Path, largest: int) -> Iterator[Path]:
    """The files of a zipped run, which may be inside a folder, as a temporary folder with the name of the upload."""
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / path.name  # errors name it
        folder.mkdir()
        try:
            with path.open("rb") as file:
                for name, piece in pieces(file, largest):
                    with (folder / Path(name).name).open("ab" if piece else "wb") as target:
                        target.write(piece)
        except TooLargeError:
            raise DeskError(
                f"{path.name} unpacks to more than {largest / 1e6:,.0f} MB or {MOST_MEMBERS:,} files: upload a smaller "
                "run"
            ) from None
        except (OSError, ValueError):
            raise DeskError(f"{path.name} is not a readable .zip: pack the folder of a run") from None
        yield folder


def _read_by(path: Path, largest: int, picked: Picked | None = None) -> Dataset:
    dataset = fitting(read(path, labelled=False, largest=largest, columns=picked))
    return replace(dataset, source=source.source_of(dataset, path, picked))
