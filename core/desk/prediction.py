"""Predicting a data set in the background, with progress and cancel."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from core.checkpoint import Checkpoint, load_named
from core.cluster import DESK_SETTING, logits_there
from core.data import Dataset
from core.data.labels import CountsAs, own
from core.desk import store
from core.desk.jobs import Job
from core.desk.run import Predictions, Run
from core.errors import DeskError
from core.evaluation.parts import cut
from core.evaluation.predict import Progress, check_texts, classify


@dataclass(eq=False)
class PredictionJob(Job):
    """The checkpoints named ``models`` over a data set; each is stored as soon as it is done, so that what a cancelled
    or killed prediction had finished is there. ``done`` counts the rows of all checkpoints together."""

    dataset: Dataset
    models: Sequence[str]
    counts_as: Mapping[str, CountsAs] = field(default_factory=dict)
    """By the checkpoint's name, what labels of the file stand for."""
    checksums: list[str] = field(default_factory=list)
    """Of the checkpoints that are done, in the order of ``models``."""
    replaced: list[str] = field(default_factory=list)
    """Titles of checkpoints whose kept run could not be read, so that they predicted the file again."""

    @property
    def name(self) -> str:
        return self.dataset.name

    @property
    def what(self) -> str:
        return f"The prediction of {self.name} by {', '.join(self.models)}"

    @property
    def rows(self) -> int:
        """Rows to predict, once for each checkpoint."""
        return len(self.dataset.rows) * len(self.models)

    def work(self) -> None:
        for place, name in enumerate(self.models):
            self._predict(place, name)

    def _predict(self, place: int, name: str) -> None:
        checkpoint = load_named(name)
        sha256 = str(checkpoint.card["sha256"])
        check_texts(checkpoint, self.dataset)
        before = place * len(self.dataset.rows)
        known = self._kept(checkpoint)
        counts_as = self.counts_as.get(name, {})
        if known is not None:
            model = replace(known.models[0], counts_as=own(counts_as, checkpoint.labels))
            if known.dataset != self.dataset or model.counts_as != known.models[0].counts_as or known.lost_labels:
                store.keep(Run(self.dataset, (model,)))
        else:
            self.begin()
            cluster, progress = os.environ.get(DESK_SETTING), lambda rows: self.progress(before + rows)
            if cluster:
                probabilities = self._by_cluster(cluster, checkpoint, progress)
            else:
                probabilities = classify(checkpoint, self.dataset, torch.device("cpu"), progress)
            store.keep(Run(self.dataset, (Predictions.of(checkpoint, probabilities, counts_as),)))
        self.done = before + len(self.dataset.rows)
        self.checksums.append(sha256)
        store.put_first(self.dataset.sha256, self.checksums)

    def _by_cluster(self, address: str, checkpoint: Checkpoint, progress: Progress) -> np.ndarray:
        """The probabilities ``[N, C]`` as a Ray cluster computes them."""
        parts = [[(row.first, row.second) for row in rows] for rows in cut(self.dataset.rows)]
        folder, sha256 = str(checkpoint.folder.resolve()), str(checkpoint.card["sha256"])
        out, done = list[torch.Tensor](), 0
        asked = logits_there(address, parts, folder, sha256, lambda: progress(done))
        with closing(asked) as answers:
            for logits in answers:
                out.append(torch.from_numpy(logits))
                done += len(logits)
                progress(done)
        return checkpoint.model.chances(torch.cat(out)).numpy()

    def _kept(self, checkpoint: Checkpoint) -> Run | None:
        """The run of this checkpoint that is kept, of the same texts; None where there is none or a damaged one."""
        sha256 = str(checkpoint.card["sha256"])
        if not store.stored(self.dataset, sha256):
            return None
        try:
            run = store.open_run(self.dataset.sha256, [sha256])
        except DeskError:
            self.replaced.append(str(checkpoint.card["title"]))
            return None
        texts = [[(row.first, row.second) for row in data.rows] for data in (run.dataset, self.dataset)]
        return run if texts[0] == texts[1] else None
