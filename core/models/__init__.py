"""The models by name: a checkpoint's card says which architecture and which settings it was made with."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any

from torch import nn

from core.models.acnn.model import ACNN, ACNNConfig, AdaQA, AdaQAConfig
from core.models.attconv import AttConvAdvanced, AttConvConfig, AttConvLight
from core.models.attentive_lstm import AttentiveLSTM
from core.models.attentive_pooling import ABCNN, APCNN
from core.models.baselines import Addition, BaselineConfig, PairCNN
from core.models.phrases.model import PhraseConfig, PhraseMatcher

REGISTRY: dict[str, tuple[type[Any], type[nn.Module]]] = {
    "attconv-light": (AttConvConfig, AttConvLight),
    "attconv-advanced": (AttConvConfig, AttConvAdvanced),
    "phrases": (PhraseConfig, PhraseMatcher),
    "addition": (BaselineConfig, Addition),
    "attentive-lstm": (BaselineConfig, AttentiveLSTM),
    "cnn": (BaselineConfig, PairCNN),
    "apcnn": (BaselineConfig, APCNN),
    "abcnn": (BaselineConfig, ABCNN),
    "acnn": (ACNNConfig, ACNN),
    "adaqa": (AdaQAConfig, AdaQA),
}


class ConfigError(ValueError):
    """An architecture or setting that does not exist or has a value that it cannot take."""


def build(architecture: str, config: Mapping[str, Any]) -> nn.Module:
    """A fresh model. Raises ConfigError for an unknown architecture, an unknown key or an impossible value."""
    if architecture not in REGISTRY:
        raise ConfigError(f"unknown architecture {architecture!r}; known: {', '.join(REGISTRY)}")
    config_class, model_class = REGISTRY[architecture]
    fields = {f.name: f for f in dataclasses.fields(config_class)}
    for key, value in config.items():
        if key not in fields:
            close = difflib.get_close_matches(key, fields, n=1)
            hint = f", did you mean {close[0]!r}?" if close else f"; known: {', '.join(fields)}"
            raise ConfigError(f"{architecture} has no setting {key!r}{hint}")
        kind = fields[key].type
        numeric = {"int": int, "float": (int, float), "str": str}[str(kind)]
        if not isinstance(value, numeric) or isinstance(value, bool):  # type: ignore[arg-type]
            raise ConfigError(f"{architecture}: {key} must be of type {kind}, got {value!r}")
    try:
        return model_class(config_class(**config))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{architecture}: {error}") from error
