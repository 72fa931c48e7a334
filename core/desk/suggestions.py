"""Active learning: a classifier learns from the labels so far, and the row that it is least sure of is labelled next.
One row in five is drawn at random. The classifier's accuracy is measured only on these, because the others are harder
than the file's average row; each is predicted before it is labelled. Uncertainty is the margin between the two most
probable classes (Scheffer et al. 2001).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from core.adaptation.features import feature_vectors
from core.adaptation.fits import probabilities_of
from core.checkpoint import load_named
from core.desk.file_state import FileState, Guess
from core.desk.jobs import Job
from core.desk.run import Run
from core.desk.run_folder import read_header
from core.evaluation.intervals import wilson
from core.evaluation.predict import check_texts
from core.files import whole_file
from core.wording import counted, score_percent

FIRST, EVERY = 20, 5
"""The number of labels after which the first classifier is fitted, and the number of further labels after which it is
refitted."""
RANDOM_EVERY = 5
MOST_ROWS = 20_000
"""Maximum number of rows from which the next one is chosen: a random sample of a larger file."""
STRENGTH = 0.01
"""C: few labels, many features."""
LEAST_RANDOM = 20
"""Random rows needed to judge whether more labels help."""
_FILE = "label-features.safetensors"


class RowFeatures(NamedTuple):
    """The features of some of a run's rows: their indices, int ``[M]`` ascending, and float16 ``[M, F]``."""

    rows: np.ndarray
    features: np.ndarray


@dataclass(frozen=True)
class SuggestingModel:
    """A classifier's probabilities of the mapped rows, ``[M, C]``, in the order of ``classes``, their numbers."""

    labels: int
    """The number of labels it learned from."""
    rows: np.ndarray
    classes: np.ndarray
    chances: np.ndarray

    def guess(self, place: int) -> int | None:
        """The number of the most probable class of a row; None for a row outside the sample."""
        at = int(np.searchsorted(self.rows, place))
        known = at < len(self.rows) and self.rows[at] == place
        return int(self.classes[self.chances[at].argmax()]) if known else None

    def next(self, left: np.ndarray, draws: np.ndarray, *, random: bool) -> int | None:
        """The next of the rows that are ``left`` (bool ``[N]``): a ``random`` one (the least of its ``draws``), or the
        one with the smallest margin. None if none of the sample is left."""
        known = np.flatnonzero(left[self.rows])
        if not len(known):
            return None
        best = np.sort(self.chances[known], axis=1)
        order = draws[self.rows[known]] if random else best[:, -1] - best[:, -2]
        return int(self.rows[known[order.argmin()]])


def features_job(run: Run, checkpoint: str) -> Job:
    """A job that computes the features of a run's rows, once for all annotators."""
    rows = np.sort(np.argsort(run.draws, kind="stable")[:MOST_ROWS])
    work = functools.partial(_compute, run, checkpoint, rows)
    return Job(f"Reading {run.dataset.name} for suggestions", len(rows), work, about(run))


def about(run: Run) -> tuple[str, str]:
    """What the job is about (:attr:`core.desk.jobs.Job.about`)."""
    return "label features", run.dataset.sha256


def _compute(run: Run, name: str, rows: np.ndarray, job: Job) -> None:
    checkpoint = load_named(name)
    check_texts(checkpoint, run.dataset)
    texts = [pair for part in run.rows.texts(10_000) for pair in zip(*part, strict=True)]
    job.begin()
    found = feature_vectors(checkpoint, [texts[at] for at in rows], job.progress)
    arrays = {"rows": rows.astype(np.int64), "features": found.numpy().astype(np.float16)}
    with whole_file(run.folder / _FILE) as scratch:
        save_file(arrays, scratch, {"texts": read_header(run.folder).texts})


def stored(run: Run) -> RowFeatures | None:
    """The stored features of a run's rows; None if there are none."""
    path = run.folder / _FILE
    try:
        return _stored(path, path.stat().st_mtime_ns, read_header(run.folder).texts)
    except (OSError, SafetensorError, KeyError, ValueError):
        return None


@functools.lru_cache(maxsize=4)
def _stored(path: Path, changed: int, texts: str) -> RowFeatures | None:
    with safe_open(path, "numpy") as file:
        if (file.metadata() or {}).get("texts") != texts:
            return None
        return RowFeatures(file.get_tensor("rows"), file.get_tensor("features"))


def learned_from(state: FileState, annotator: str) -> dict[str, str]:
    """The labels that an annotator's classifier may learn from, by row: their own, and others' decided labels once
    these are not hidden from them."""
    own = {key: row.labels[annotator] for key, row in state.rows.items() if annotator in row.labels}
    if state.blind(annotator):
        return own
    return {key: row.decided.label for key, row in state.rows.items() if row.decided} | own


def fit(known: RowFeatures, labels: Mapping[int, int]) -> SuggestingModel | None:
    """A classifier fitted to the numbers of classes by row (index); None for fewer than two classes in the sample."""
    at = np.searchsorted(known.rows, [*labels]).clip(max=len(known.rows) - 1)
    inside = known.rows[at] == [*labels]
    at, own = at[inside], np.array([*labels.values()])[inside]
    if len(np.unique(own)) < 2:
        return None
    features = torch.from_numpy(known.features.astype(np.float32))
    classes, chances = probabilities_of(features[at], own, features, STRENGTH)
    return SuggestingModel(len(labels), known.rows, classes, chances)


class Background:
    """Fits classifiers in a thread, only with each person's latest labels."""

    def __init__(self) -> None:
        self._threads, self._lock = ThreadPoolExecutor(1, "suggestions"), threading.Lock()
        self._running: dict[Hashable, tuple[int, Future[SuggestingModel | None]]] = {}
        self._latest: dict[Hashable, SuggestingModel] = {}

    def latest(self, whose: Hashable, known: RowFeatures, labels: Mapping[int, int]) -> SuggestingModel | None:
        """The latest finished classifier, None before the first; starts fitting the next one if there are enough
        labels."""
        due = len(labels) - len(labels) % EVERY
        with self._lock:
            number, future = self._running.get(whose, (0, None))
            if future is not None and future.done() and future.exception() is None:
                found = future.result()
                if found is not None:
                    self._latest[whose] = found
            if due >= FIRST and due != number and (future is None or future.done()):
                self._running[whose] = due, self._threads.submit(fit, known, dict(labels))
            if len(self._latest) > _MOST_KEPT:
                del self._latest[next(iter(self._latest))]
            return self._latest.get(whose)


_MOST_KEPT = 20
BACKGROUND = Background()


def measured(guesses: Sequence[Guess]) -> tuple[int, int]:
    """Number of random rows that were predicted right, and number of random rows."""
    random = [guess for guess in guesses if guess.random]
    return sum(guess.right for guess in random), len(random)


def curve(guesses: Sequence[Guess], parts: int = 5) -> list[tuple[float, int, int]]:
    """The accuracy on random rows by the number of labels learned from: the mean number, right ones, rows."""
    random = sorted((guess for guess in guesses if guess.random), key=lambda guess: guess.labels)
    out = []
    for some in np.array_split(np.arange(len(random)), min(parts, max(1, len(random) // 5))):
        own = [random[at] for at in some]
        if own:
            labels = float(np.mean([one.labels for one in own]))
            out.append((labels, sum(one.right for one in own), len(own)))
    return out


def sentences(guesses: Sequence[Guess]) -> list[str]:
    """The accuracy with its interval in words, and whether more labels still help."""
    right, rows = measured(guesses)
    if not rows:
        return []
    low, high = wilson(right, rows)
    told = [
        f"On {counted(rows, 'random row')}, each before it was labelled, the model is right in "
        f"{score_percent(right / rows)} (95 % interval: {score_percent(low)} – {score_percent(high)})."
    ]
    if rows >= LEAST_RANDOM:
        halves = curve(guesses, 2)
        (_, before, first), (_, after, second) = halves[0], halves[-1]
        if after / second <= before / first + 0.02:
            told.append("More labels no longer raise its accuracy: labelling more may not help.")
    return told
