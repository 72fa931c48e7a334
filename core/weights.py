"""Loads a model from its weight file. An untrusted card may claim any size: it is compared with the file before memory
is filled."""

from __future__ import annotations

import math
import stat
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from core.errors import UserError
from core.json_types import JsonMapping
from core.models import ConfigError, PairModel, build
from core.reading.word_table import file_sha256

LONGEST_REASON = 300
"""Length limit in characters of a quoted error message."""
SLACK = 1_000_000
"""Tensor elements that any model may allocate beyond four times those in its file: some layers are larger in memory
than on disk."""


class WeightsError(UserError):
    """The file lacks the weights named in its card; the message gives the problem and the remedy."""


def load_model(file: Path, architecture: str, config: JsonMapping, sha256: str) -> PairModel:
    """Builds the model with these settings and the file's weights, in eval mode.

    Raises WeightsError unless the file has exactly these tensors with finite numbers, ConfigError for settings that do
    not match the model, and OSError for an unreadable file.
    """
    where = f"{file.parent.name}/{file.name}"
    # A linked device or FIFO may never end.
    if not stat.S_ISREG(file.stat().st_mode):
        raise WeightsError(f"{where} is not a regular file: copy the checkpoint again")
    shapes = _shapes(file, where)
    with _NoLargerThan(SLACK + 4 * sum(map(math.prod, shapes.values()))):
        model = build(architecture, config)
    own = {name: list(value.shape) for name, value in model.state_dict().items()}
    for name in sorted(own.keys() | shapes.keys()):
        if own.get(name) != shapes.get(name):
            has, needs = (of.get(name, "missing") for of in (shapes, own))
            raise ConfigError(f"{name[:100]} is {has} in its weights, {needs} in the model that its card names")
    if file_sha256(file) != sha256:
        raise WeightsError(
            f"{where} does not match its card's checksum (truncated or changed): copy the checkpoint again"
        )
    model.load_state_dict(load_file(file))
    strange = [name for name, value in model.state_dict().items() if not value.isfinite().all()]
    if strange:
        raise WeightsError(f"{where} has numbers in {strange[0]} that are not finite: train the checkpoint again")
    return model.eval()


def _shapes(file: Path, where: str) -> dict[str, list[int]]:
    """The tensor shapes in a file by name, from its header alone."""
    try:
        with safe_open(file, framework="pt") as opened:
            return {name: opened.get_slice(name).get_shape() for name in opened.keys()}  # noqa: SIM118 (no mapping)
    except SafetensorError as error:
        raise WeightsError(
            f"{where} is truncated or no file of weights ({str(error)[:LONGEST_REASON]}): copy the checkpoint again"
        ) from error


class _NoLargerThan(TorchFunctionMode):
    """Within this context, raises ConfigError for the first tensor with more than this many elements: when it is
    allocated, before it is filled. (The ``meta`` device would allocate nothing, but there torch imports its compiler
    for some layers, which takes seconds.)"""

    def __init__(self, numbers: int) -> None:
        super().__init__()
        self.numbers = numbers

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            made = func(*args, **(kwargs or {}))
        except RuntimeError as error:  # larger than the address space
            raise ConfigError(_TOO_LARGE) from error
        if isinstance(made, Tensor) and made.numel() > self.numbers:
            raise ConfigError(_TOO_LARGE)
        return made


_TOO_LARGE = "its card names a larger model than its weights"
