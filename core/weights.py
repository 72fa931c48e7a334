"""A model from its file of weights. A stranger's card may claim any size: what it claims is compared with the file
before anything is allocated."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file

from core.errors import MendableError
from core.models import ConfigError, PairModel, build
from core.reading.word_table import file_sha256

LONGEST_REASON = 300
"""Characters of a reason that quotes a file."""


class WeightsError(MendableError):
    """A file that does not hold the weights that its card names; the message says what is wrong and what to do."""


def load_model(file: Path, architecture: str, config: Mapping[str, Any], sha256: str) -> PairModel:
    """The model with these settings and the file's weights, in eval mode.

    Raises WeightsError for what is no whole file of just these tensors or has numbers that are not finite, ConfigError
    for settings that no model has, and OSError for what cannot be read.
    """
    where = f"{file.parent.name}/{file.name}"
    # A link to a device or a FIFO may never end.
    if not stat.S_ISREG(file.stat().st_mode):
        raise WeightsError(f"{where} is no regular file: copy the checkpoint again")
    _check_shapes(file, where, architecture, config)
    if file_sha256(file) != sha256:
        raise WeightsError(
            f"{where} does not match its card's checksum (truncated or changed): copy the checkpoint again"
        )
    model = build(architecture, config)
    model.load_state_dict(load_file(file))
    strange = [name for name, value in model.state_dict().items() if not value.isfinite().all()]
    if strange:
        raise WeightsError(f"{where} has numbers in {strange[0]} that are not finite: train the checkpoint again")
    return model.eval()


def _check_shapes(file: Path, where: str, architecture: str, config: Mapping[str, Any]) -> None:
    """Compare the names and shapes in the file's header with those of the model, both without any memory behind."""
    try:
        with safe_open(file, framework="pt") as opened:
            shapes = {name: opened.get_slice(name).get_shape() for name in opened.keys()}  # noqa: SIM118 (no mapping)
    except SafetensorError as error:
        raise WeightsError(
            f"{where} is truncated or no file of weights ({str(error)[:LONGEST_REASON]}): copy the checkpoint again"
        ) from error
    try:
        with torch.device("meta"):
            model = build(architecture, config)
            model.load_state_dict({name: torch.empty(shape) for name, shape in shapes.items()})
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"other weights than its card names: {reason}") from error
