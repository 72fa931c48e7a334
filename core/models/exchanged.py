"""Models with another submodule, such as an adapted classifier, that share all other tensors."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from torch import nn

if TYPE_CHECKING:
    from core.models.base import PairModel

Module = TypeVar("Module", bound=nn.Module)


def exchanged(model: PairModel, name: str, layer: nn.Linear | nn.Identity, **settings: object) -> PairModel:
    """A copy of a model with another submodule under this dotted ``name``, for as many classes as it has outputs, and
    with these settings; all other tensors are shared."""
    twin = _with_submodule(model, name.split("."), layer)
    if isinstance(layer, nn.Linear):
        twin.config = replace(model.config, classes=layer.out_features, **settings)
    return twin


def _with_submodule(module: Module, path: Sequence[str], part: nn.Module) -> Module:
    twin = copy.copy(module)
    inner = module._modules.get(path[0])
    twin.__dict__.pop(path[0], None)  # None if the original has no such part
    # The copy's dictionary of submodules is the original's, which other threads may be using.
    new = part if len(path) == 1 or inner is None else _with_submodule(inner, path[1:], part)
    object.__setattr__(twin, "_modules", {**module._modules, path[0]: new})
    return twin
