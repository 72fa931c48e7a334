"""Perturbation tests (:mod:`core.desk.perturbations`): the changed rows as a separate run, with the columns of the
file, the original texts and the models that failed; and each model's failure rates."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.data import Dataset, Example
from core.desk import run_folder, store
from core.desk.features import other_values
from core.desk.filters import literal
from core.desk.jobs import Job, Written, predicted_by
from core.desk.perturbations import (
    BEFORE,
    EXPECTED,
    FAILED,
    ORIGINAL,
    PERTURBATION,
    PERTURBATIONS,
    TOLERANCE,
    Expectation,
    Source,
    changed,
    meanings_of,
)
from core.desk.run import Predictions, Run
from core.desk.slices import Share
from core.desk.table import SEPARATOR
from core.desk.unfinished_run import unfinished
from core.errors import DeskError
from core.evaluation.predict import check_texts, classify

LAYOUT = "perturbed rows"
AT_ONCE = 256
"""Number of rows changed and predicted together."""


@dataclass(frozen=True)
class Changed:
    """A changed row; ``origin``: the index of its original in the run."""

    origin: int
    row: Example
    expected: Expectation


@dataclass(frozen=True)
class PerturbationTest:
    """Perturbations (by ``names``) of some ``rows`` (by index) of a run, applied to its models, the first of which
    determines the labels' meaning. Random choices for a row depend only on ``seed``, the perturbation and the row's
    key, except for another row's sentence."""

    run: Run
    rows: Sequence[int]
    names: Sequence[str] = tuple(PERTURBATIONS)
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises DeskError for tests that are impossible."""
        if self.run.dataset.layout == LAYOUT:
            name = self.run.dataset.name
            raise DeskError(f"the rows of {name} are changed already: test the run of the original file")
        if not len(self.rows) or not self.names:
            raise DeskError("there is nothing to test: choose at least one row and one perturbation")
        if unknown := [name for name in self.names if name not in PERTURBATIONS]:
            raise DeskError(f"there is no perturbation {unknown[0]!r}: choose from {', '.join(PERTURBATIONS)}")
        if graded := [model for model in self.run.models if len(model.labels) == 1]:
            raise DeskError(f"{graded[0].title} gives a score, and only a class can change: choose a classifier")

    @cached_property
    def checksum(self) -> str:
        """A checksum of everything that determines the changed rows."""
        models = [(model.sha256, model.counts_as) for model in self.run.models]
        facts = [self.run.dataset.sha256, models, list(self.names), self.seed]
        return hashlib.sha256(json.dumps(facts).encode() + np.array(self.rows).tobytes()).hexdigest()

    def write(
        self,
        folder: Path,
        checkpoints: Sequence[Checkpoint],
        device: torch.device,
        progress: Callable[[int], object] = lambda rows: None,
    ) -> None:
        """Predicts the changed rows into the folder of a run, in parts: an interrupted test resumes with the missing
        ones. ``progress`` receives the number of finished rows. Raises DeskError if no perturbation applies, and
        DataError if a checkpoint cannot read the rows."""
        for checkpoint in checkpoints:
            check_texts(checkpoint, self.run.dataset)
        name = f"{self.run.dataset.name}, perturbed"
        dataset = Dataset(name, LAYOUT, (), sha256=self.checksum, task=self.run.dataset.task)
        header, parts = run_folder.header_of(dataset, self.run.models), 0
        with unfinished(folder, header) as run:
            for start in range(0, 0 if run.whole else len(self.rows), AT_ONCE):
                some = self.rows[start : start + AT_ONCE]
                if found := list(self._changed(some)):
                    if parts not in run.finished:
                        changed = replace(dataset, rows=tuple(one.row for one in found))
                        chances = list[np.ndarray]()
                        for checkpoint in checkpoints:
                            share = len(some) / len(checkpoints) / len(found)
                            before = start + len(chances) * len(found) * share
                            further = functools.partial(_further, progress, before, share)
                            chances.append(classify(checkpoint, changed, device, further))
                        run.add(parts, self._judged(changed, found, chances), chances)
                    parts += 1
                progress(start + len(some))
            if not run.whole and not parts:
                raise DeskError("none of the perturbations applies to these rows: choose others")
            if not run.whole:
                run.finish(header, parts)

    @cached_property
    def _meanings(self) -> list[list[str]]:
        """The meaning of each answer, by model."""
        return [meanings_of(model, model.scale.members) for model in self.run.models]

    @cached_property
    def _by_label(self) -> Mapping[str | None, str]:
        """The meaning of each label of the file."""
        labels = list(self.run.spellings)
        answers = self.run.models[0].scale.of(labels).tolist()
        return {label: self._meanings[0][answer] for label, answer in zip(labels, answers, strict=True) if answer >= 0}

    def _changed(self, places: Sequence[int]) -> Iterator[Changed]:
        """The changed rows for the rows with these indices."""
        roles, originals = self.run.models[0].roles, [self.run.dataset.rows[place] for place in places]
        judged = 0 if self.run.single or roles.judged == roles.first else 1
        others = [(row.first, row.second)[1 - judged] for row in originals]
        for place, row in zip(places, originals, strict=True):
            for name in self.names:
                chance = random.Random(f"{self.seed} {self.run.keys[place]} {name}")
                source = Source((row.first, row.second), judged, others, chance)
                found = changed(name, self._by_label.get(row.label, ""), source)
                # A model may lack the class.
                if found is not None and all(found[1].label in ("", *known) for known in self._meanings):
                    yield Changed(place, self._row(place, row, name, *found), found[1])

    def _row(self, place: int, row: Example, name: str, texts: tuple[str, str], expected: Expectation) -> Example:
        roles = self.run.models[0].roles
        before = SEPARATOR.join(model.predicted[place] for model in self.run.models)
        own = {PERTURBATION: PERTURBATIONS[name].title, EXPECTED: str(expected), BEFORE: before, FAILED: ""}
        own |= {f"{ORIGINAL}id": row.id, f"{ORIGINAL}{roles.first}": row.first}
        if roles.second:
            own[f"{ORIGINAL}{roles.second}"] = row.second
        columns = {f"file.{name}" if name in own else name: text for name, text in row.columns.items()}
        label = row.label
        if expected.label:  # if it may not fall, the new label is unknown
            meant = [label for label, meaning in self._by_label.items() if meaning == expected.label]
            label = meant[0] if meant and not expected.may_not_fall else None
        key = f"{self.run.keys[place]} {name}"
        return Example(key, *texts, label, None, row.title, columns | own, self.run.spellings.get(label or "", ""))

    def _judged(self, changed: Dataset, found: Sequence[Changed], chances: Sequence[np.ndarray]) -> Dataset:
        """The changed rows with the models that failed; ``chances``: each model's probabilities for them ``[N, C]``."""
        after = [replace(model, probabilities=own) for model, own in zip(self.run.models, chances, strict=True)]
        rows = []
        for i, one in enumerate(found):
            failed = [model.model for n, model in enumerate(after) if self._fails(n, model, i, one)]
            rows.append(replace(one.row, columns={**one.row.columns, FAILED: SEPARATOR.join(failed)}))
        return replace(changed, rows=tuple(rows))

    def _fails(self, number: int, after: Predictions, i: int, one: Changed) -> bool:
        """Whether a model's prediction ``after`` the change, at this index, is not as expected."""
        before, expected = self.run.models[number], one.expected
        if not expected.label:
            return bool(after.answered[i] != before.answered[one.origin])
        place = self._meanings[number].index(expected.label)
        if expected.may_not_fall:
            return bool(before.answers[one.origin, place] - after.answers[i, place] > TOLERANCE)
        return bool(after.answered[i] != place)


def _further(progress: Callable[[int], object], before: float, share: float, done: int) -> None:
    progress(int(before + share * done))


def failure_rates(run: Run, model: int, rows: np.ndarray | None = None) -> list[Share]:
    """By perturbation and expected effect, the share of rows on which a model fails in a run of changed rows, in the
    order of the perturbations; over some rows (bool ``[N]``) or all. The filters are for the failures."""
    name, kept = run.models[model].model, np.ones(len(run.keys), dtype=bool) if rows is None else rows
    columns = (other_values(run, column) for column in (PERTURBATION, EXPECTED, FAILED))
    counts, failures = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for perturbation, expected, failed, counted in zip(*columns, kept, strict=True):
        if counted:
            counts[perturbation, expected] += 1
            failures[perturbation, expected] += name in failed.split(SEPARATOR)
    titles = [one.title for one in PERTURBATIONS.values()]
    rates = []
    for names in sorted(counts, key=lambda names: (titles.index(names[0]), names[1])):
        both = f"{PERTURBATION} = {literal(names[0])} and {EXPECTED} = {literal(names[1])}"
        rates.append(Share.of(names, counts[names], failures[names], f"{both} and {FAILED} has word {literal(name)}"))
    return rates


def perturbation_job(test: PerturbationTest, checkpoints: Sequence[str]) -> Job:
    """A job that runs a test with the installed checkpoints of these names, which predicted the test's run. Another job
    resumes one that was cancelled or killed."""

    def work(job: Job) -> Written:
        models = [model.sha256 for model in test.run.models]
        loaded = [predicted_by(name, sha256) for name, sha256 in zip(checkpoints, models, strict=True)]
        job.begin()
        test.write(store.folder_to_write(test.checksum), loaded, torch.device("cpu"), job.progress)
        return test.checksum, models

    what = f"The perturbation test of {', '.join(checkpoints)} on {test.run.dataset.name}"
    return Job(what, len(test.rows), work, ("perturbations", test.run.dataset.sha256))
