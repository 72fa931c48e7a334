"""Finds labels to check: each row's probability of its label by a model that learned from the other rows, as a column
that is stored in the run's folder."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from core.adaptation.label_check import label_probabilities
from core.checkpoint import load_named
from core.desk.columns import CHECKED, cells
from core.desk.filters import quoted
from core.desk.jobs import Job
from core.desk.run import Run
from core.desk.run_folder import read_header
from core.desk.table import RunTable
from core.evaluation.predict import check_texts
from core.files import whole_file

SLICE_NAME = "labels to check"
SHARE = 0.1
"""The share of the labelled rows in the slice."""
_FILE = "label-check.safetensors"


def stored(run: Run) -> np.ndarray | None:
    """The probability of each row's label, float ``[N]``, NaN for rows without one; None if it was not computed for
    these rows and labels."""
    path = run.folder / _FILE
    try:
        return _stored(path, path.stat().st_mtime_ns, _state(run))
    except (OSError, SafetensorError, KeyError, ValueError):
        return None


@functools.lru_cache(maxsize=4)
def _stored(path: Path, changed: int, state: str) -> np.ndarray | None:
    with safe_open(path, "numpy") as file:
        known = (file.metadata() or {}).get("state")
        found: np.ndarray = file.get_tensor("p")
    return found if known == state else None


def _state(run: Run) -> str:
    """A text that changes with the rows' texts and labels."""
    return f"{read_header(run.folder).texts} {run.labels_sha256}"


def with_label_check(table: RunTable, found: np.ndarray | None) -> RunTable:
    """The table with the column, if it was computed."""
    if found is None:
        return table
    about = "probability of the file’s label by a model that learned from the other rows"
    return table.joined("checked", None, {CHECKED: cells(found.astype(float).round(6), "number", about, share=True)})


def suspects(found: np.ndarray) -> str:
    """The filter for the tenth of the labelled rows whose label is least probable."""
    known = np.sort(found[~np.isnan(found)])
    limit = known[max(0, round(SHARE * len(known)) - 1)]
    return f"{quoted(CHECKED)} <= {100 * float(limit):.4f}%"


def check_job(run: Run, checkpoint: str) -> Job:
    """A job that computes the column with a checkpoint's features."""
    labelled = int((run.gold != "").sum())
    about = "label check", run.dataset.sha256
    work = functools.partial(_check, run, checkpoint)
    return Job(f"Checking the labels of {run.dataset.name}", labelled, work, about)


def _check(run: Run, name: str, job: Job) -> None:
    checkpoint = load_named(name)
    check_texts(checkpoint, run.dataset)
    places = np.flatnonzero(run.gold != "")
    texts = [pair for part in run.rows.texts(10_000) for pair in zip(*part, strict=True)]
    job.begin()
    found, pairs = np.full(len(texts), np.nan), [texts[at] for at in places]
    found[places] = label_probabilities(checkpoint, pairs, run.gold[places].tolist(), job.progress)
    with whole_file(run.folder / _FILE) as scratch:
        save_file({"p": found}, scratch, {"state": _state(run)})
    job.done = job.rows
