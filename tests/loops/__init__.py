"""Every registered model once more, from its equations, a number at a time and without tensors.

A module here is a family: ``LOOPS`` maps a registered architecture to its loop, ``CHOICES`` to the settings under which
its equations differ. A loop takes ``(model, first, contexts, judged, extra)``: a model of tests.models, word vectors
``[T, D]`` of the first side and of each context, which side is judged, linguistic features or None. It returns a dict
of ``logits [C]``, ``features`` (what the classifier reads) and values that the model's trace holds by the same name.
"""

import importlib
import pkgutil

LOOPS: dict = {}
CHOICES: dict = {}
for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    _family = importlib.import_module(_module.name)
    LOOPS |= getattr(_family, "LOOPS", {})
    CHOICES |= getattr(_family, "CHOICES", {})
