"""Trains all weights of a checkpoint further on some rows of a file, and predicts the others: the job behind the desk's
other offer for a labelled file.

Everything is in the folder ``training`` inside the unlisted checkpoint's folder: the plan with all rows (written when
the training is queued), the trainer's files, output, progress and saved state. Any server that shares the folder of
runs can resume from there a training that stopped with its server or had not begun. The finished checkpoint replaces
the folder.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from core import training_progress
from core.adaptation.adapt import Examples, fit
from core.adaptation.baselines import SimplerModel, baselines
from core.adaptation.features import feature_vectors
from core.card import Card, is_external
from core.checkpoint import dynamics, epochs, learned, load_named
from core.checkpoint.unlisted import TRAINING, checksum, folder_of, new_name, remove_old, unlisted
from core.data import Dataset, Example
from core.data.labels import key
from core.data.split import parts
from core.desk import source, store, trainer
from core.desk.adapted_run import Division, ScoreContext, held_out_rows, keep_score_context
from core.desk.jobs import Cancelled, Job, Written, server_ends
from core.desk.prediction import predict_with
from core.errors import DeskError, UserError
from core.files import FileError, json_text, read_json, whole_folder, write_whole
from core.json_types import LENIENT, checked
from core.training_progress import Epoch, TrainingProgress
from core.wording import duration, score_percent

SHARE = 0.1
"""Share of the training rows that choose the epoch."""
_PLAN, _ABOUT, _LOCK = "plan.json", "about.json", "lock"
"""The plan, and its name, title and maker, which pages read on every run."""
_LONGEST = 60


@dataclass(frozen=True)
class Plan:
    """The model to train and its rows."""

    name: str
    """The name of the new checkpoint, ``BASE~TOKEN``."""
    base: str
    title: str
    file: str
    """The data file's name."""
    roles: tuple[str, ...]
    """The names of the texts; empty for the base's."""
    train: tuple[Example, ...]
    choosing: tuple[Example, ...]
    """The training rows that choose the epoch."""
    test: Dataset
    """The rows of the run: the held-out ones and those without a label."""
    maker: str
    """The checksum of its maker's key (:func:`core.checkpoint.unlisted.checksum`)."""

    @property
    def folder(self) -> Path:
        """The folder of the new checkpoint. Raises DeskError if there can be none."""
        folder = folder_of(self.name)
        if folder is None:
            raise DeskError(f"{self.base} has no name to train it under: rename its folder to letters and digits")
        return folder

    @property
    def learned(self) -> tuple[Example, ...]:
        """All rows that the training uses."""
        return self.train + self.choosing

    def options(self) -> list[str]:
        """Writes the trainer's files, and returns its options. Raises FileError."""
        run, stem = self.folder / TRAINING, re.sub(r"[^\w.-]+", "-", Path(self.file).stem)[:_LONGEST].strip("-.")
        files = [run / f"{stem or 'rows'}.jsonl", run / f"{stem or 'rows'}-dev.jsonl"]
        columns = [
            trainer.write_rows(*each, self.roles) for each in zip(files, (self.train, self.choosing), strict=True)
        ]
        return [
            "--file", str(files[0]), "--dev", str(files[1]), f"--columns={columns[0]}", "--from", self.base,
            f"--title={self.title}",
        ]  # fmt: skip


@dataclass(eq=False)
class TrainingJob(Job):
    """A training with its plan, its epochs so far, and its ``lock``, which is held until the training has ended and
    tells other servers that it is queued or running."""

    plan: Plan = field(kw_only=True)
    lock: FileLock = field(kw_only=True)
    history: Sequence[Epoch] = field(default=(), init=False)

    def cancel(self) -> None:
        """Stops it. A queued training leaves nothing behind, or can be resumed later if it has epochs."""
        super().cancel()
        if self.future.cancelled():
            run = self.plan.folder / TRAINING
            if not _history(run):
                _remove(self.plan, run)
            self.lock.release(force=True)


@dataclass(frozen=True)
class Unfinished:
    """A training that no server is working on: the name and title of its checkpoint, the checksum of its maker's key,
    and its finished epochs."""

    name: str
    title: str
    maker: str
    epochs: int = 0


def suits(card: Card) -> bool:
    """Whether all weights of the model with this card can be trained here: it is neither external nor a classifier
    adapted on another model's features, and reads the shared word table."""
    other = is_external(card) or "base" in card or "input_size" not in card["config"]
    return not other and not card["words"].get("own")


def plan_for(dataset: Dataset, divided: Division, base: str, card: Card, roles: Mapping[str, str], maker: str) -> Plan:
    """The plan for training the checkpoint named ``base`` on a file. ``roles``: the file's names of the texts;
    ``maker``: the key of its maker. Raises DataError if the training rows cannot be divided."""
    rows = [_labelled(dataset.rows[at], divided.labels[at]) for at in divided.train]
    own = parts([(row.first, row.second) for row in rows], SHARE, labels=[row.label for row in rows])
    choosing = {*own.held_out.tolist()}
    names = [re.sub(r"[,=\s]+", " ", roles.get(side, "")).strip() for side in ("first", "second")[: 2 - dataset.single]]
    return Plan(
        new_name(epochs.split(base)[0]),
        base,
        f"{card['title'][: 2 * _LONGEST]}, {Path(dataset.name).stem[:_LONGEST]}",
        dataset.name,
        tuple(names) if all(names) and len({*names}) == len(names) else (),
        tuple(row for at, row in enumerate(rows) if at not in choosing),
        tuple(rows[at] for at in sorted(choosing)),
        held_out_rows(dataset, divided),
        checksum(maker),
    )


def _labelled(row: Example, label: str) -> Example:
    return replace(row, label=key(label), label_text=label)


def unfinished(maker: str) -> list[Unfinished]:
    """A maker's trainings that were stopped, together with their server or by an error, and can be resumed."""
    found = []
    for run in (folder / TRAINING for folder in unlisted()):
        if (run / _ABOUT).is_file():
            with contextlib.suppress(Timeout, OSError, ValueError), FileLock(run / _LOCK, blocking=False):
                about = checked(read_json(run / _ABOUT), Unfinished, by=LENIENT)
                if about.maker == checksum(maker):
                    found.append(replace(about, epochs=len(_history(run))))
    return found


def resumed(name: str) -> TrainingJob:
    """A job that resumes an unfinished training. Raises DeskError if it no longer exists."""
    folder = folder_of(name)
    try:
        plan = checked(read_json((folder or Path()) / TRAINING / _PLAN), Plan, by=LENIENT)
    except (OSError, ValueError):
        raise DeskError("this training is not here any more: start it again") from None
    return training(plan)


def delete(name: str) -> None:
    """Deletes an unfinished training, unless it has been resumed; a model that it already produced stays."""
    folder = folder_of(name)
    if folder is not None:
        with contextlib.suppress(Timeout, OSError), FileLock(folder / TRAINING / _LOCK, blocking=False):
            shutil.rmtree(folder / TRAINING)
            _remove_empty(folder)


def _remove(plan: Plan, run: Path) -> None:
    """Removes the folder of a training, and its checkpoint's folder if there is no checkpoint in it."""
    shutil.rmtree(run, ignore_errors=True)
    _remove_empty(plan.folder)


def _remove_empty(folder: Path) -> None:
    if not (folder / "card.json").is_file():
        shutil.rmtree(folder, ignore_errors=True)


def training(plan: Plan) -> TrainingJob:
    """A job that trains as planned, or resumes; its plan is stored at once. If it is cancelled while training, the best
    epoch so far is kept; before the first epoch, nothing is left behind. Raises DeskError if the plan cannot be stored,
    or another job trains it."""
    run = plan.folder / TRAINING
    lock = FileLock(run / _LOCK, blocking=False, thread_local=False)

    def work(job: Job) -> Written:
        assert isinstance(job, TrainingJob)
        remove_old()
        with _stored(plan, run, lock):
            try:
                return _done(job, plan, run)
            finally:
                lock.release(force=True)

    with _stored(plan, run, lock):
        what = f"Training {plan.title}"
        return TrainingJob(what, len(plan.learned) + len(plan.test.rows), work, plan=plan, lock=lock)


@contextlib.contextmanager
def _stored(plan: Plan, run: Path, lock: FileLock) -> Iterator[None]:
    """Stores the plan and locks it. Errors are DeskErrors without the folder, which visitors should not see."""
    try:
        run.mkdir(parents=True, exist_ok=True)
        lock.acquire()
        if not (run / _ABOUT).is_file():
            stored = replace(plan, test=replace(plan.test, source=None))  # a resumed run lacks the file itself
            write_whole(run / _PLAN, json_text(asdict(stored)))
            write_whole(run / _ABOUT, json_text({"name": plan.name, "title": plan.title, "maker": plan.maker}))
        yield
    except Timeout:
        raise DeskError(f"{plan.title} is queued or being trained already: wait for it") from None
    except FileError as error:
        raise DeskError(str(error).replace(f"{run}/", "").replace(f"{plan.folder}/", "")) from error
    except OSError as error:
        why = error.strerror or "it cannot be written"
        raise DeskError(f"the training stopped ({why}): free space on the server's disk, and resume it") from error


def _done(job: TrainingJob, plan: Plan, run: Path) -> Written:
    """Trains, and predicts the held-out rows; finished steps are not repeated."""
    before = {*store.unfinished()}
    try:
        store.folder_to_write(plan.test.sha256)  # raises an error without a path
        if not (plan.folder / "card.json").is_file():
            _train(job, plan, run)
            _publish(plan, run)
        history = _history(run)
        job.step("fitting simpler models")
        simpler = _simpler(job, plan)
        job.done = len(plan.learned)
        job.step("")
        sha256 = predict_with(job, plan.test, plan.name, {})
        keep_score_context(plan.test.sha256, sha256, ScoreContext(len(plan.learned), simpler, epochs=history))
    except Cancelled:
        if not server_ends():
            for left in {*store.unfinished()} - before:
                store.delete_parts(left)
            _remove(plan, run)
        raise
    except (UserError, OSError):
        if not _history(run):  # nothing to resume
            _remove(plan, run)
        raise
    shutil.rmtree(run, ignore_errors=True)
    source.keep(plan.test)
    store.put_first(plan.test.sha256, [sha256])
    return plan.test.sha256, [sha256]


def _train(job: TrainingJob, plan: Plan, run: Path) -> None:
    """Raises Cancelled if the user stopped it before there was an epoch to keep, or if the server ends."""
    best = 0

    def told(progress: TrainingProgress) -> bool:
        nonlocal best
        if server_ends():  # the trainer notices, and saves its state
            raise Cancelled
        best, job.history = progress.best_epoch, progress.history
        job.done, job.doing = round(progress.share * len(plan.learned)), _said(progress, stopping=job.cancelled)
        return not job.cancelled

    job.doing = "starting"
    try:
        trainer.train(plan.options(), run, told)
    except DeskError as error:
        if job.cancelled and not best:
            raise Cancelled from error
        raise
    job.cancelled = False  # its model is tested like any other


def _said(progress: TrainingProgress, *, stopping: bool) -> str:
    """The progress in words."""
    if stopping:
        return "stopping, to keep the best epoch" if progress.best_epoch else "stopping"
    if progress.left is None:
        return "starting"
    now = min(len(progress.history) + 1, progress.epochs)
    best = max((one.score for one in progress.history), default=None)
    so_far = "" if best is None else f", best so far {score_percent(best)}"
    return f"epoch {now} of {progress.epochs}{so_far}, {duration(progress.left)} left"


def _history(run: Path) -> tuple[Epoch, ...]:
    progress = training_progress.read(run)
    return () if progress is None else progress.history


def _publish(plan: Plan, run: Path) -> None:
    """Moves the finished checkpoint out of the folder of its training. Raises FileError."""
    card = read_json(run / "card.json") | {"name": plan.name, "maker": plan.maker}
    with whole_folder(plan.folder, last="card.json") as scratch:
        shutil.copyfile(run / "weights.safetensors", scratch / "weights.safetensors")
        with contextlib.suppress(FileNotFoundError):  # of a training that was begun before it was recorded
            shutil.copyfile(run / dynamics.FILE, scratch / dynamics.FILE)
        learned.write(scratch, ((row.first, row.second) for row in plan.learned))
        (scratch / "card.json").write_text(json_text(card), encoding="utf-8")
        epochs.copy(run, plan.folder, plan.name, plan.title)


def _simpler(job: Job, plan: Plan) -> tuple[SimplerModel, ...]:
    """Simpler models on the held-out rows, the base with only its classifier adapted first; none if no row is held
    out."""
    tested = [row for row in plan.test.rows if row.label is not None]
    learned_from, labels = [(row.first, row.second) for row in plan.learned], [row.label_text for row in plan.learned]
    pairs, gold = [(row.first, row.second) for row in tested], [key(row.shown_label) for row in tested]
    roles = plan.roles or ("first text", "second text")
    names = roles[0], "" if plan.test.single else roles[-1]

    def step(*_: object) -> None:
        job.progress(job.done)  # which ends the job if it was cancelled

    if not tested:
        return ()
    base = load_named(plan.base)
    examples = Examples.of(base, learned_from, labels, progress=step)
    linear, _ = fit(base, examples, new={*labels} == {*examples.classes})
    best = linear.logits(feature_vectors(base, pairs, step)).argmax(1).tolist()
    adapted = np.array([key(examples.classes[at]) == own for at, own in zip(best, gold, strict=True)])
    return (
        SimplerModel.of("only its classifier adapted", adapted),
        *baselines(learned_from, [*map(key, labels)], pairs, gold, names, step),
    )
