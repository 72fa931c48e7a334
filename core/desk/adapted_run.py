"""Adapts a checkpoint to some rows of a file and predicts the others: the job behind the desk's offer for new classes.

The run has the held-out rows and the rows without a label. A file in its folder has the scores of simpler models on the
same held-out rows, and the learning curve.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor

from core.adaptation.adapt import MOST_CLASSES, Examples, assembled, fit
from core.adaptation.baselines import SimplerModel, baselines
from core.adaptation.curve import LARGE, Curve, learning_curve
from core.adaptation.features import Pair, feature_vectors
from core.adaptation.fits import Linear, fresh
from core.card import Calibration, Card, right_class, unit
from core.checkpoint import Checkpoint, load_named, title_of
from core.checkpoint.adapted import save_unlisted
from core.checkpoint.unlisted import discard, new_name
from core.data import Dataset, Example
from core.data.dataset import CORRECTED_BY
from core.data.labels import graded
from core.data.split import parts
from core.desk import source, store
from core.desk.jobs import Job, Written
from core.desk.prediction import predict_with
from core.errors import DeskError
from core.evaluation import calibration
from core.evaluation.scores import RankedRows
from core.files import json_text, read_json, write_whole
from core.json_types import LENIENT, checked
from core.training_progress import Epoch
from core.wording import counted

HELD_OUT = ", held out"
"""Suffix of the name of a run of a file's held-out rows."""
_SHARE = 0.2
_LARGEST = 4 << 20
_CHOSEN_ONCE = 20
"""With more classes than this, or more than LARGE pairs, all points of the learning curve use the C chosen on all
pairs, because choosing C is slow."""
_SHOWN = 40


@dataclass(frozen=True)
class Division:
    """A file's rows (indices), divided into training and held-out rows, which share no text."""

    train: np.ndarray
    held_out: np.ndarray
    left_out: np.ndarray
    """Rows in neither part, because they share one text with each."""
    unlabelled: np.ndarray
    """Rows without a label, which are predicted too."""
    labels: Sequence[str]
    """The label of each row of the file in its first spelling, empty if it has none."""

    def counts(self) -> list[tuple[str, int, int]]:
        """Each label with its numbers of training and held-out rows, most frequent first."""
        train, held_out = (Counter(self.labels[row] for row in rows) for rows in (self.train, self.held_out))
        labels = sorted({*train, *held_out}, key=lambda label: (-train[label] - held_out[label], label))
        return [(label, train[label], held_out[label]) for label in labels]


def division(dataset: Dataset) -> Division:
    """Divides the labelled rows. Raises DataError or DeskError if they cannot be divided or learned."""
    spelled: dict[str, str] = {}
    for row in dataset.rows:
        if row.label is not None:
            spelled.setdefault(row.label, row.shown_label)
    _check(dataset.name, [*spelled.values()], dataset.labels)
    labels = [spelled.get(row.label or "", "") for row in dataset.rows]
    known = np.flatnonzero([bool(label) for label in labels])
    pairs = [(dataset.rows[at].first, dataset.rows[at].second) for at in known]
    found = parts(pairs, _SHARE, labels=[labels[at] for at in known])
    unlabelled = np.flatnonzero([not label for label in labels])
    return Division(known[found.train], known[found.held_out], known[found.left_out], unlabelled, labels)


def _check(name: str, labels: Sequence[str], keys: Sequence[str]) -> None:
    """Raises DeskError for labels that a classifier cannot learn."""
    if not labels:
        raise DeskError(f"no row of {name} has a label: choose the column of labels, or label some rows")
    if graded(keys) and any("." in label for label in keys):
        raise DeskError(
            f"the labels of {name} are numbers such as {next(label for label in keys if '.' in label)}, which look "
            "like grades: choose a column of classes as the label"
        )
    if len(labels) == 1:
        raise DeskError(f"every label of {name} is {labels[0][:_SHOWN]!r}: label some rows with another class")
    if len(labels) > MOST_CLASSES:
        raise DeskError(
            f"the labels of {name} are {len(labels):,} different values, and at most {MOST_CLASSES} classes are "
            "possible: choose another column as the label"
        )


def remarks(dataset: Dataset, divided: Division) -> list[str]:
    """Sentences about rows that the score does not cover, and about pairs with two labels."""
    told = list[str]()
    if len(divided.left_out):
        told.append(f"{counted(len(divided.left_out), 'row')} in neither part, having a text in common with each.")
    untested = [label for label, _, held_out in divided.counts() if not held_out]
    if untested:
        named = ", ".join(f"“{label[:_SHOWN]}”" for label in untested[:5])
        more = f" and {len(untested) - 5} more" if len(untested) > 5 else ""
        told.append(f"Too few rows to test {named}{more}: the score says nothing about them.")
    by_pair = defaultdict[Pair, set[str]](set)
    for row, label in zip(dataset.rows, divided.labels, strict=True):
        if label:
            by_pair[row.first, row.second].add(label)
    twice = [(pair, sorted(labels)) for pair, labels in by_pair.items() if len(labels) > 1]
    if twice:
        (first, second), labels = twice[0]
        shown = " / ".join(f"“{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}”" for text in (first, second) if text)
        what = "text" if dataset.single else "pair"
        named = " and ".join(f"“{label[:_SHOWN]}”" for label in labels[:2])
        told.append(f"{counted(len(twice), what)} with two labels, such as {shown}: {named}. All are used.")
    if len(divided.unlabelled):
        told.append(f"{counted(len(divided.unlabelled), 'row')} without a label will be predicted, too.")
    return told


def held_out_rows(dataset: Dataset, divided: Division) -> Dataset:
    """The data set of the run: the held-out rows and the rows without a label, in the order of the file. Its source is
    the whole file, so that labels corrected on the run reach the training rows."""
    rows = np.sort(np.concatenate([divided.held_out, divided.unlabelled]))
    sha256 = hashlib.sha256(f"{dataset.sha256} held out".encode() + rows.astype("<i8").tobytes()).hexdigest()
    whole = dataset.source and replace(dataset.source, sha256=sha256, rows=tuple(rows.tolist()))
    kept = tuple(dataset.rows[at] for at in rows)
    return replace(dataset, name=f"{dataset.name}{HELD_OUT}", rows=kept, sha256=sha256, source=whole)


def adaptation(dataset: Dataset, divided: Division, base: str, roles: Mapping[str, str], maker: str = "") -> Job:
    """A job that adapts the checkpoint named ``base`` to the training rows, and makes a run of the held-out ones. The
    adapted checkpoint is unlisted; a cancelled or failed job leaves none. ``roles``: other names of the first and
    second text; ``maker``: see :func:`core.checkpoint.adapted.save_unlisted`."""
    run = held_out_rows(dataset, divided)
    read = len(divided.train) + len(divided.held_out)

    def work(job: Job) -> Written:
        context, adapted = _adapted(job, dataset, divided, load_named(base), roles)
        name = new_name(base)
        before = {*store.unfinished()}
        try:
            learned = _pairs(dataset, divided, divided.train)[0]
            save_unlisted(name, adapted, learned=learned, maker=maker)
            job.then, job.done = "", read
            job.step("")
            sha256 = predict_with(job, run, name, {})
            keep_score_context(run.sha256, sha256, context)
            source.keep(run)
        except BaseException:
            discard(name)
            for left in {*store.unfinished()} - before:
                store.delete_parts(left)
            raise
        store.put_first(run.sha256, [sha256])
        return run.sha256, [sha256]

    return Job(f"Adapting {title_of(base)} to {dataset.name}", read + len(run.rows), work)


@dataclass(frozen=True)
class ScoreContext:
    """Context for the score of an adapted or trained model: its number of training rows, simpler models on the same
    held-out rows, and the learning curve or, for a trained model, the epochs."""

    trained_on: int
    baselines: tuple[SimplerModel, ...]
    curve: Curve | None = None
    epochs: tuple[Epoch, ...] = ()
    measure: str = "accuracy"
    """The measure of the scores: accuracy, or MAP if rows are answers to questions."""


def _context_file(folder: Path, sha256: str) -> Path:
    return folder / f"beside-{store.short(sha256)}.json"


def keep_score_context(run: str, sha256: str, own: ScoreContext) -> None:
    """Stores the context for the score of the model with this checksum in a run's folder. Raises FileError."""
    write_whole(_context_file(store.folder_of(run), sha256), json_text(asdict(own)))


def score_context(run: Path, sha256: str) -> ScoreContext | None:
    """The stored context for the score of the model with this checksum; None if a run's folder has none."""
    try:
        return checked(read_json(_context_file(run, sha256), _LARGEST), ScoreContext, by=LENIENT)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _adapted(
    job: Job, dataset: Dataset, divided: Division, base: Checkpoint, roles: Mapping[str, str]
) -> tuple[ScoreContext, Checkpoint]:
    """The base adapted to the training rows, not saved yet, and the context for its score."""
    (train, labels), (held_out, gold) = (_pairs(dataset, divided, rows) for rows in (divided.train, divided.held_out))
    job.then = "the classifier is fitted, which can take as long"
    job.begin()
    groups = [row.group or "" for row in dataset.rows] if dataset.ranking else []
    examples = Examples.of(base, train, labels, [groups[at] for at in divided.train] if groups else (), job.progress)
    features = feature_vectors(base, held_out, lambda rows: job.progress(len(train) + rows))

    job.step("fitting the classifier")
    new = {*labels} == {*examples.classes}
    linear, settings = fit(base, examples, new=new, step=job.check)
    fixed = sum(bool(dataset.rows[at].columns.get(CORRECTED_BY)) for at in divided.train)
    adapted = assembled(base, examples, linear, settings, roles=roles, title=_title(base, len(train), fixed))
    job.step("fitting simpler models")
    names = adapted.roles["first"], "" if dataset.single else adapted.roles["second"]
    ranked = _ranked(adapted, [groups[at] for at in divided.held_out] if groups else [], gold)
    simpler = baselines(train, labels, held_out, gold, names, job.check, ranked)
    index = {label: at for at, label in enumerate(examples.classes)}

    def answers(by: Linear, classes: np.ndarray) -> np.ndarray:
        chances = by.logits(features).softmax(1).numpy()
        if ranked is None:
            return np.array(classes[chances.argmax(1)])
        return np.array(chances[:, classes == index[ranked.right]].sum(1))

    def predicted(rows: np.ndarray) -> np.ndarray:
        if len(rows) == len(train):
            return answers(linear, np.arange(len(index)))
        present, own = np.unique(examples.labels.numpy()[rows], return_inverse=True)
        once = len(examples.classes) > _CHOSEN_ONCE or len(rows) > LARGE
        strength = settings.get("C") if once else None
        chosen, numbers = examples.features[rows], torch.from_numpy(own)
        fewer = fresh(chosen, numbers, examples.folds[rows], strength=strength, step=job.check).linear
        return answers(fewer, present)

    curve = learning_curve(
        examples.labels.numpy(),
        np.array([index.get(label, -1) for label in gold]),
        predicted,
        lambda pairs: job.step(f"fitting the learning curve, {counted(pairs, 'row')}"),
        None if ranked is None else ranked.precisions,
    )
    calibrated = _calibrated(adapted, linear.logits(features), gold, f"{dataset.name}{HELD_OUT}")
    measure = "accuracy" if ranked is None else "MAP"
    return ScoreContext(len(train), simpler, curve, measure=measure), calibrated


def _ranked(adapted: Checkpoint, questions: Sequence[str], gold: Sequence[str]) -> RankedRows | None:
    """The held-out rows as answers to ``questions``; None if they are not answers, or no answer is right."""
    place = right_class(adapted.card)
    relevant = [label == adapted.labels[place] for label in gold] if place is not None else []
    return (
        RankedRows(adapted.labels[place], questions, relevant)
        if place is not None and questions and any(relevant)
        else None
    )


def _calibrated(adapted: Checkpoint, logits: Tensor, gold: Sequence[str], rows: str) -> Checkpoint:
    """A ranker with its log-odds calibrated on the held-out ``rows``, given their ``logits [N, 2]``; neither order nor
    verdicts change. Other models, and rankers that rank all answers right or most wrong, are returned unchanged."""
    place = right_class(adapted.card)
    right = [label == adapted.labels[place] for label in gold] if place is not None else []
    if place is None or len(adapted.labels) != 2 or not any(right) or all(right):
        return adapted
    log_odds, is_right = (logits[:, place] - logits[:, 1 - place]).numpy(), np.array(right)
    slope, bias = calibration.fit(log_odds.tolist(), right)
    if slope <= 0 or log_odds[is_right].min() > log_odds[~is_right].max():  # then the best slope is infinite
        return adapted
    found = Calibration(slope=slope, bias=bias, fixed_on=rows, pairs=len(right), right=sum(right))
    return replace(adapted, card=cast(Card, {**adapted.card, "calibration": found}))


def _title(base: Checkpoint, rows: int, corrected: int) -> str:
    """The base's title with the number of rows and of corrected labels, which distinguishes it from the previous
    model."""
    title = base.card["base"]["title"] if "base" in base.card else base.card["title"]
    return f"{title} + {counted(rows, unit(base.card))}{f', {corrected:,} corrected' if corrected else ''}"


def _pairs(dataset: Dataset, divided: Division, rows: np.ndarray) -> tuple[list[Pair], list[str]]:
    """The texts and labels of these rows."""
    chosen: Sequence[Example] = [dataset.rows[at] for at in rows]
    return [(row.first, row.second) for row in chosen], [divided.labels[at] for at in rows]
