"""Class probabilities of a whole data set, in batches of like length."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from core.checkpoint import Checkpoint
from core.data import Dataset
from core.errors import RunError
from core.evaluation.encoding import Encoded, Vocabulary, encode, plan
from core.reading.word_table import default_table

BATCH = 256


@torch.inference_mode()
def probabilities(
    model: nn.Module, data: Encoded, vectors: Tensor, classes: int, *, share: slice = slice(None)
) -> Tensor:
    """Softmax of the model's logits for every row, float64 ``[N, C]`` on the host, in the rows' order.

    ``share`` picks some of the batches (several processes take turns); rows of the others stay NaN.
    """
    out = torch.full((len(data), classes), float("nan"), dtype=torch.float64)
    model.eval()
    for rows in plan(data, BATCH)[share]:
        batch, _ = data.batch(rows, vectors)
        logits, _ = model(batch)
        out[torch.from_numpy(rows)] = torch.softmax(logits.double(), dim=1).cpu()
    return out


@torch.inference_mode()
def feature_vectors(model: nn.Module, data: Encoded, vectors: Tensor) -> Tensor:
    """The vectors that the model's classifier reads, float32 ``[N, F]`` on the host, in the rows' order."""
    model.eval()
    out: Tensor | None = None
    for rows in plan(data, BATCH):
        batch, _ = data.batch(rows, vectors)
        _, trace = model(batch)
        if out is None:
            out = torch.empty(len(data), trace.features.shape[1])
        out[torch.from_numpy(rows)] = trace.features.float().cpu()
    if out is None:
        raise ValueError("no rows to compute features of")
    return out


def check_texts(checkpoint: Checkpoint, dataset: Dataset) -> None:
    """Raises RunError when the model reads pairs and the file has single texts, or the other way round."""
    if checkpoint.single != dataset.single:
        has, reads = ("single texts", "pairs") if dataset.single else ("pairs", "single texts")
        raise RunError(f"{dataset.name} has {has}, but {checkpoint.name} reads {reads}; choose another file or model")


def classify(checkpoint: Checkpoint, dataset: Dataset, device: torch.device) -> np.ndarray:
    """Probabilities ``[N, C]`` of a checkpoint for the rows of a data set; the file's labels are not looked at.

    Raises RunError when the model cannot read such rows.
    """
    check_texts(checkpoint, dataset)
    vocabulary = Vocabulary()
    roles = checkpoint.roles
    unlabelled = [type(row)(row.id, row.first, row.second, None) for row in dataset.rows]
    extra = None
    if getattr(checkpoint.model, "extra", "none") != "none":
        from core.linguistics.cache import features

        pairs = [(row.first, row.second) for row in unlabelled]
        extra = torch.from_numpy(features(str(checkpoint.model.extra), pairs, default_table()))
    encoded = encode(
        unlabelled, vocabulary, (), second_judged=roles["judged"] == roles["second"],
        limits=checkpoint.token_limits, extra=extra,
    )  # fmt: skip
    vectors = vocabulary.matrix(checkpoint.words).to(device)
    model = checkpoint.model.to(device)
    return probabilities(model, encoded.to(device), vectors, len(checkpoint.labels)).numpy()
