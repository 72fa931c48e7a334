"""The architectures and settings that tests/test_conformance.py and tests/test_conformance_evidence.py run through."""

import inspect

import pytest

from core.models import REGISTRY
from tests.loops import CHOICES
from tests.models import single

PAIRS = [name for name in REGISTRY if not single(name)]
every_model = pytest.mark.parametrize("architecture", REGISTRY)
USUAL = [pytest.param(name, [{}], id=name) for name in REGISTRY]
OTHERS = [
    pytest.param(name, several, id=f"{name}-settings", marks=pytest.mark.variant) for name, several in CHOICES.items()
]
ADAPTED = [
    pytest.param(name, [{"adapted": True} | settings], id=f"{name}-adapted")
    for name, settings in (
        ("two-sided", {}),
        ("attconv-light", {"context": "each"}),
        ("adaqa", {"matching": "multi-perspective"}),
        ("phrases", {"similarities": "cosine", "extra": "answer"}),
        ("acnn", {}),
    )
]
"""Checkpoints adapted to classes of a user's own, for the tests of what a checkpoint tells."""


def every_choice(test):
    """A test of each architecture with its usual settings, and one with all its others, which stand in the failure; and
    of adapted checkpoints if it tests a checkpoint."""

    def of_each(architecture, choices, **fixtures):
        for settings in choices:
            try:
                test(architecture, settings, **fixtures)
            except BaseException as error:
                error.add_note(f"{architecture}, {settings}")
                raise

    of_each.__name__, of_each.__doc__ = test.__name__, test.__doc__
    named = inspect.signature(test).parameters.values()
    of_each.__signature__ = inspect.Signature(
        [one.replace(name="choices") if one.name == "settings" else one for one in named]
    )
    # In the scope of the module, so that all tests of one choice follow each other and share what `told` makes.
    cases = [*USUAL, *OTHERS, *(ADAPTED if "told" in of_each.__signature__.parameters else ())]
    return pytest.mark.parametrize(("architecture", "choices"), cases, scope="module")(of_each)
