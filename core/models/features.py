"""Shared parts of classifiers over a feature vector: the model's own features and optional linguistic features."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.linguistics.features import FEATURES
from core.models.base import ModelConfig, Output, Settings, WordModel
from core.models.routes import EXTRA, UNPATCHED, Patching, Route
from core.reading.batch import Batch

EXTRA_SIZES = {"none": 0} | {kind: len(names) for kind, names in FEATURES.items()}
"""Number of linguistic features by the name of their set."""


def extra_route(config: Settings) -> tuple[Route, ...]:
    """The route of a model's linguistic features, if its settings name some."""
    return () if config.get("extra", "none") == "none" else (EXTRA,)


class PairFeatures(WordModel):
    """Logistic regression over [own features; standardised linguistic features] (Yin & Schütze 2017, section 4.2.1).

    A subclass computes its ``own`` features. The trainer sets ``extra_mean`` and ``extra_scale`` from the training
    data; the paper uses the raw features, whose scales are arbitrary.
    """

    extra_mean: Tensor
    extra_scale: Tensor

    def __init__(self, config: ModelConfig, own: int) -> None:
        super().__init__(config)
        size = EXTRA_SIZES[config.linguistic]
        self.register_buffer("extra_mean", torch.zeros(size))
        self.register_buffer("extra_scale", torch.ones(size))
        self.classifier = nn.Linear(own + size, config.classes)

    def standardise(self, extra: Tensor) -> None:
        """Sets the mean and scale of linguistic features from the training data ``[N, F]``."""
        self.extra_mean.copy_(extra.mean(0))
        self.extra_scale.copy_(extra.std(0).clamp_min(1e-6))

    def feature_vector(self, own: Tensor, extra: Tensor | None) -> Tensor:
        """``[B, H]`` and linguistic features ``[B, F]`` (None for a model without) -> ``[B, H + F]``.

        Raises ValueError if the features are missing or their number is wrong.
        """
        size = len(self.extra_mean)
        if not size:
            return own
        if extra is None or extra.shape != (len(own), size):
            got = "none" if extra is None else str(list(extra.shape))
            raise ValueError(
                f"this model reads linguistic features [{len(own)}, {size}] ({self.config.linguistic}), got {got}"
            )
        return torch.cat([own, ((extra - self.extra_mean) / self.extra_scale).to(own.dtype)], dim=1)

    def classify(
        self, own: Tensor, dropped: int, batch: Batch, trace: object = None, patching: Patching = UNPATCHED
    ) -> Output:
        """The output for own features ``[B, H]``: features ``[B, H + F]`` and logits.

        Dropout applies to the first ``dropped`` of them. Raises ValueError if linguistic features are missing or their
        number is wrong.
        """
        extra = None if batch.extra is None else patching(EXTRA, batch.extra)
        features = self.feature_vector(own, extra)
        read = torch.cat([self.dropped(features[:, :dropped]), features[:, dropped:]], dim=1)
        return Output(self.classifier(read), features, trace)
