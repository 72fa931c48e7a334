"""The models: every module in this package registers its own (:func:`core.models.base.register`)."""

import importlib
import pkgutil

from core.models.base import REGISTRY, ConfigError, PairModel, build, spec_of

__path__: list[str]
for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["REGISTRY", "ConfigError", "PairModel", "build", "spec_of"]
