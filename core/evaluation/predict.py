"""Batched predictions for many rows, sorted by length and without evidence."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
import torch
from torch import Tensor, nn

from core.checkpoint import Checkpoint
from core.checkpoint.checkpoint import MakesBatches, check_finite
from core.data import DataError, Dataset
from core.evaluation.encoding import Encoded, Vocabulary, encode, encode_readings, plan, vectors_of
from core.models.base import Output
from core.models.intervention import Intervention
from core.reading.reader import Reading, WordReader
from core.reading.word_table import default_table

BATCH, WORDS = 64, 1024
"""Maximum rows per batch, and maximum words per side including padding: larger batches exceed the CPU caches (2.5 times
as slow with 256 rows), and the longest batch determines peak memory.
"""


def outputs(
    model: Any,
    data: Encoded,
    vectors: Tensor | None,
    share: slice = slice(None),
    intervention: Intervention | None = None,
) -> Iterator[tuple[Tensor, Output]]:
    """The model's outputs for batches of similar length, each with its row indices. ``vectors [V, D]`` by word id, None
    for a model that embeds its own tokens; ``share`` selects some of the batches; ``intervention``: its attention, if
    any, has one matrix per row, in the rows' order."""
    model.eval()
    for numbers in _batches(data)[share]:
        batch, rows = data.batch(numbers, vectors)[0], torch.from_numpy(numbers)
        with torch.inference_mode():
            output = model(batch) if intervention is None else model.under(batch, intervention.rows(rows))
        yield rows, output


def _batches(data: Encoded) -> list[np.ndarray]:
    """Row indices of every batch, from short to long."""
    longest = np.max(data.lengths, axis=0)
    out: list[np.ndarray] = []
    for numbers in plan(data, BATCH):
        size = max(1, WORDS // max(1, int(longest[numbers].max())))
        out += [numbers[i : i + size] for i in range(0, len(numbers), size)]
    return out


def probabilities(
    model: nn.Module, data: Encoded, vectors: Tensor | None, classes: int, *, share: slice = slice(None)
) -> Tensor:
    """Softmax of the model's logits for every row, float64 ``[N, C]`` on the host, in the rows' order; rows in batches
    outside ``share`` (several processes divide the work) are NaN."""
    out = torch.full((len(data), classes), float("nan"), dtype=torch.float64)
    for rows, output in outputs(model, data, vectors, share):
        out[rows] = torch.softmax(output.logits.double(), dim=1).cpu()
    return out


def feature_vectors(model: nn.Module, data: Encoded, vectors: Tensor | None) -> Tensor:
    """The classifier's input vectors, float32 ``[N, F]`` on the host, in the rows' order."""
    parts = [(rows, output.features.float().cpu()) for rows, output in outputs(model, data, vectors)]
    if not parts:
        raise ValueError("no rows to compute features of")
    out = torch.empty(len(data), parts[0][1].shape[1])
    for rows, features in parts:
        out[rows] = features
    return out


RowsDone = Callable[[int], object]
"""Called with the number of rows done so far; its exceptions cancel the work."""


@dataclass(frozen=True)
class Prepared:
    """Rows prepared for a checkpoint's forward pass: as ids of ``words``, or as readings of which it makes batches
    itself (:class:`~core.checkpoint.checkpoint.MakesBatches`)."""

    checkpoint: Checkpoint
    data: Encoded | None
    truncated: np.ndarray
    """Whether the end of one of a row's texts is not read, bool ``[N]``."""
    words: Sequence[str] = ()
    readings: Sequence[Reading] = ()

    def __len__(self) -> int:
        return len(self.readings) if self.data is None else len(self.data)

    @functools.cached_property
    def vectors(self) -> Tensor:
        """Word vectors by id. Computed on first use, because they take most of the memory of rows that wait for
        prediction."""
        return vectors_of(self.words, self.checkpoint.reader)


def prepare(checkpoint: Checkpoint, readings: Iterable[Reading]) -> Prepared:
    """Prepares readings of this checkpoint for :func:`logits`: all work before the forward pass."""
    cut: list[bool] = []

    def noted() -> Iterator[Reading]:
        for reading in readings:
            cut.append(reading.cut)
            yield reading

    if isinstance(checkpoint, MakesBatches):
        listed = [*noted()]
        return Prepared(checkpoint, None, np.array(cut, dtype=bool), (), listed)
    vocabulary = Vocabulary()
    data = encode_readings(noted(), vocabulary)
    return Prepared(checkpoint, data, np.array(cut, dtype=bool), list(vocabulary.ids))


def prepare_rows(checkpoint: Checkpoint, dataset: Dataset) -> Prepared:
    """:func:`prepare` for the rows of a data set; three times as fast for models that only read words."""
    model = checkpoint.model
    lines = checkpoint.judged == "first" and model.reads(checkpoint.card["config"]).lines
    if not isinstance(checkpoint.reader, WordReader) or model.config.linguistic != "none" or lines:
        return prepare(checkpoint, read_rows(checkpoint, dataset))
    vocabulary, limits = Vocabulary(), checkpoint.token_limits
    data = encode(dataset.rows, vocabulary, None, judged=checkpoint.judged, single=checkpoint.single, limits=limits)
    sides = ("first",) if checkpoint.single else ("first", "second")
    cut = [
        any(vocabulary.cuts(getattr(row, side), limit) for side, limit in zip(sides, limits, strict=False))
        for row in dataset.rows
    ]
    return Prepared(checkpoint, data, np.array(cut, dtype=bool), list(vocabulary.ids))


class Passes(TypedDict, total=False):
    """Options for forward passes (:func:`logits`)."""

    progress: RowsDone
    intervention: Intervention | None


def predict(
    checkpoint: Checkpoint, readings: Iterable[Reading], device: torch.device | str = "cpu", **passes: Unpack[Passes]
) -> Tensor:
    """:func:`logits` for readings of this checkpoint (:meth:`core.checkpoint.Checkpoint.read`)."""
    return logits(prepare(checkpoint, readings), device, **passes)


def logits(
    ready: Prepared,
    device: torch.device | str = "cpu",
    *,
    progress: RowsDone = lambda rows: None,
    intervention: Intervention | None = None,
) -> Tensor:
    """Logits ``[N, C]``, float32 on the host. ``intervention``: applied to each call; its attention has one matrix per
    reading, and all texts of a side must have the same length.

    Raises PairError for logits that are NaN or infinite, ValueError for an intervention the model rejects.
    """
    out, done = torch.zeros(len(ready), len(ready.checkpoint.labels)), 0
    for rows, output in forward_passes(ready, device, intervention):
        out[rows] = output.logits.float().cpu()
        check_finite(ready.checkpoint, out[rows])
        done += len(rows)
        progress(done)
    return out


def forward_passes(
    ready: Prepared, device: torch.device | str = "cpu", intervention: Intervention | None = None
) -> Iterator[tuple[Tensor, Output]]:
    """The model's outputs, each with its row indices. The checkpoint's own model is not moved: other devices get a
    copy."""
    checkpoint, device = ready.checkpoint, torch.device(device)
    model: Any = checkpoint.model if device.type == "cpu" else copy.deepcopy(checkpoint.model).to(device)
    if isinstance(checkpoint, MakesBatches):
        return _of_own_batches(checkpoint, model, ready.readings, device, intervention)
    assert ready.data is not None, "only readings have none"
    return outputs(model, ready.data.to(device), ready.vectors.to(device), intervention=intervention)


def unit_vectors(ready: Prepared, progress: RowsDone = lambda rows: None) -> np.ndarray:
    """The classifier's input vectors (:attr:`core.models.base.Output.features`) for one or more rows, float32 ``[N,
    F]``, normalised to length 1; zero vectors stay zero."""
    out, done = np.empty((0, 0), dtype=np.float32), 0
    for rows, output in forward_passes(ready):
        features = output.features.float().cpu().numpy()
        if not done:
            out = np.empty((len(ready), features.shape[1]), dtype=np.float32)
        out[rows.numpy()] = features
        done += len(rows)
        progress(done)
    return of_length_one(out)


def of_length_one(vectors: np.ndarray) -> np.ndarray:
    """The vectors ``[N, F]`` divided by their norms; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _of_own_batches(
    checkpoint: MakesBatches,
    model: Any,
    readings: Sequence[Reading],
    device: torch.device,
    intervention: Intervention | None,
) -> Iterator[tuple[Tensor, Output]]:
    """Like :func:`outputs`, for a model that makes batches itself."""
    for rows, pieces in checkpoint.batches(readings, BATCH, short=device.type == "cpu"):
        with torch.inference_mode():
            output = model.under(pieces.to(device), intervention or Intervention())
        yield rows, output


def check_texts(checkpoint: Checkpoint, dataset: Dataset) -> None:
    """Raises DataError if the model reads pairs and the file has single texts, or vice versa."""
    if checkpoint.single != dataset.single:
        has, reads = ("single texts", "pairs") if dataset.single else ("pairs", "single texts")
        raise DataError(f"{dataset.name} has {has}, but {checkpoint.name} reads {reads}; choose another file or model")


def read_rows(checkpoint: Checkpoint, dataset: Dataset) -> Iterator[Reading]:
    """The rows of a data set as the checkpoint reads them, with cached linguistic features."""
    kind, pairs = checkpoint.model.config.linguistic, [(row.first, row.second) for row in dataset.rows]
    if kind == "none":
        yield from (checkpoint.read(*pair) for pair in pairs)
        return
    from core.linguistics.cache import features

    extra = features(kind, pairs, default_table())
    yield from (checkpoint.read(*pair, extra=row) for pair, row in zip(pairs, extra.tolist(), strict=True))


def classify(
    checkpoint: Checkpoint,
    dataset: Dataset,
    device: torch.device,
    progress: RowsDone = lambda rows: None,
    *,
    intervention: Intervention | None = None,
) -> np.ndarray:
    """A checkpoint's probabilities ``[N, C]`` for the rows of a data set, under an ``intervention`` as in
    :func:`predict`; the file's labels are ignored. Raises DataError if the model cannot read such rows."""
    check_texts(checkpoint, dataset)
    ready = prepare_rows(checkpoint, dataset)
    return checkpoint.model.answers.chances(logits(ready, device, progress=progress, intervention=intervention)).numpy()


def chances(checkpoints: Sequence[Checkpoint], logits: Iterable[Tensor]) -> list[np.ndarray]:
    """Probabilities, or scores, from each checkpoint's logits ``[N, C]``, float64."""
    return [checkpoint.model.answers.chances(own).numpy() for checkpoint, own in zip(checkpoints, logits, strict=True)]
