"""How the numbers of further kinds of records are rebuilt: one file per kind, named like it.

A file has ``rebuild(rebuilt, record)``, which fails unless the ``record`` has the numbers that the slow loop of its
architecture computes for the words that it names (``rebuilt``: a :class:`tests.rebuilt.Rebuilt`).
"""

import importlib
import pkgutil

REBUILDERS = {
    module.name: importlib.import_module(f"{__name__}.{module.name}").rebuild
    for module in pkgutil.iter_modules(__path__)
}
