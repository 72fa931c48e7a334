"""Methods for word effects: every module in this package registers its own (:mod:`core.effects.methods.method`).

All lists of methods are read from here: :data:`METHODS` on the pages, in the API and the commands, :data:`MEASURED` in
faithfulness and the pointing game.
"""

import importlib
import pkgutil

from core.effects.methods.method import REGISTRY
from core.effects.methods.method import Method as Method
from core.errors import UserError
from core.wording import hint

__path__: list[str]
_FIRST = "removal", "gradient", "attention"
"""The modules whose methods come first in all lists."""

for _module in dict.fromkeys([*_FIRST, *(module.name for module in pkgutil.iter_modules(__path__))]):
    importlib.import_module(f"{__name__}.{_module}")

METHODS: dict[str, Method] = {name: method for name, method in REGISTRY.items() if method.offered}
"""The methods that users choose from, by name, the default one first."""
MEASURED: dict[str, Method] = {name: method for name, method in REGISTRY.items() if method.measured}
"""The methods whose ranking of the words is measured."""


def method_named(name: str) -> Method:
    """One of :data:`METHODS`. Raises UserError for an unknown name."""
    if name not in METHODS:
        raise UserError(f"unknown method {name!r}{hint(name, METHODS)}")
    return METHODS[name]
