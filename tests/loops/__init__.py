"""Every registered model once more, from its equations, a number at a time and without tensors.

A module here is a family: ``LOOPS`` maps a registered architecture to its loop, ``CHOICES`` to the settings under which
its equations differ. A loop takes ``(model, first, contexts, judged, extra)``: a model of tests.models, word vectors
``[T, D]`` of the first side and of each context, which side is judged, linguistic features or None. It returns a dict
of ``logits [C]``, ``features`` (what the classifier reads) and values that the model's trace holds by the same name.

``records`` in it are the numbers of the evidence records, which tests.rebuilt compares with them word by word. Sides
are "first" and "second".

- ``maps``: (rows, columns, scores, weights) of every attention map, in the records' order; a null word is last.
- ``pooled``: by side, the weight of each word.
- ``filters``: by side, one of :func:`tests.loops.arithmetic.filters` for each context.
- ``generated``: by side, the code and the filters made from it; ``products`` and ``linguistic``: terms of the logits.
- ``phrases``: by side, the spans and states of its phrases.
"""

import importlib
import pkgutil

LOOPS: dict = {}
CHOICES: dict = {}
for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    _family = importlib.import_module(_module.name)
    LOOPS |= getattr(_family, "LOOPS", {})
    CHOICES |= getattr(_family, "CHOICES", {})
