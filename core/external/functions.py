"""Any Python function of pairs as a checkpoint: an object with one method, ``probabilities(pairs) -> [N, C]``.

``PAIRLENS_GUESTS=module:factory`` names the factory; several are separated by commas. The module is imported and runs
with the rights of the user who starts the program, so the user must trust it. The factory is the object itself, or a
function without arguments that creates it; it is created once.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike

from core.card import Card, RoleNames, problems
from core.errors import CheckpointError, said
from core.evidence import BOTH, AttentionMap
from core.evidence.explanation import Record
from core.evidence.matrix import matrix
from core.external.base import ExternalModel, ExternalReader, blaming, is_ctrl_c, spelt
from core.external.names import VARIABLE
from core.models.base import EXTERNAL, Evidence, ModelConfig, Output, Settings, Wanted, register
from core.reading.reader import PairError, Reading, ReadText
from core.tasks import ENTAILMENT, TASKS, task_of_classes

ARCHITECTURE = "function"
LEAST = 1e-12
"""Probabilities are clipped to this minimum, so that their logarithms stay finite."""


class PairFunction(Protocol):
    """The user's object. It may also have ``title``, ``task`` (a key of :data:`~core.external.settings.TASKS`),
    ``roles`` (names of both texts), ``licence``, ``notes``, and ``attention(first, second)``, which receives the words
    of both texts and returns the attention of each word of the second to the first, ``[T_2, T_1]``, with non-negative
    rows that add up to at most 1."""

    labels: Sequence[str]
    """Class names."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> ArrayLike:
        """The probability of each class for each pair, ``[N, C]``; pairs are in the data set's order."""


def made(name: str) -> PairFunction:
    """The object created by ``module:factory``, called only once even if it fails. Raises CheckpointError with the
    problem in one sentence."""
    with _MAKING:
        found = _made(name)
    if isinstance(found, str):
        raise CheckpointError(found)
    return found


_MAKING = threading.RLock()
"""Two simultaneous requests must not create two objects."""


@functools.cache
def _made(name: str) -> PairFunction | str:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
        function: PairFunction = found() if inspect.isclass(found) or not hasattr(found, "probabilities") else found
        labels = [str(label) for label in function.labels]
        if not callable(function.probabilities) or not labels:
            raise TypeError("it needs labels and a method probabilities(pairs)")
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        return f"{name} of {VARIABLE} cannot be made ({said(error)}): fix the module, and start again"
    return function


def card_of(function: PairFunction, name: str) -> Card:
    """The card of a function. Raises CheckpointError if it cannot be used as a model."""
    try:
        return _card(function, name)
    except CheckpointError:
        raise
    except BaseException as error:  # its attributes may be computed
        if is_ctrl_c(error):
            raise
        raise CheckpointError(f"{name} cannot be used ({said(error)}): fix the function") from error


def _card(function: PairFunction, name: str) -> Card:
    labels = [str(label) for label in function.labels]
    task = getattr(function, "task", "") or task_of_classes(labels) or ENTAILMENT
    roles = tuple(getattr(function, "roles", ()) or TASKS.get(task, TASKS[ENTAILMENT]).texts)
    attends = callable(getattr(function, "attention", None))
    card: Card = {
        "name": name,
        "title": str(getattr(function, "title", "") or name),
        "architecture": ARCHITECTURE,
        "config": {"classes": len(labels), "attends": attends},
        "task": task,
        "labels": labels,
        "roles": RoleNames({"first": roles[0], "second": roles[-1], "judged": BOTH}),
        "words": {"sha256": "", "name": "its own"},
        "licence": str(getattr(function, "licence", "") or "not stated: see who wrote the function"),
        "notes": str(getattr(function, "notes", "")),
        "sha256": hashlib.sha256(f"{name} {labels}".encode()).hexdigest(),
        "guest": ARCHITECTURE,
    }
    if wrong := problems(card):
        raise CheckpointError(f"{name} cannot be used ({', '.join(wrong)}): fix the function")
    return card


@dataclass(frozen=True)
class TextPairs:
    """B pairs in the form a function receives, and the words of each."""

    pairs: tuple[tuple[str, str], ...]
    words: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def to(self, device: torch.device | str) -> TextPairs:
        """Returns itself: texts are not tensors."""
        return self


class TextReader(ExternalReader[TextPairs]):
    """Splits texts into our words, and passes the texts to a function."""

    def batch_of(self, readings: Sequence[Reading]) -> TextPairs:
        """The readings' texts, including edited words."""
        sides = [(reading.first, reading.second) for reading in readings]
        pairs = tuple((spelt(first)[0], spelt(second)[0]) for first, second in sides)
        return TextPairs(pairs, tuple((_words(first), _words(second)) for first, second in sides))


def _words(side: ReadText) -> tuple[str, ...]:
    return tuple(token.text for token in side.tokens)


@dataclass(frozen=True)
class FunctionConfig(ModelConfig):
    """``attends``: whether the function also returns attention."""

    input_size: int = 1
    attends: bool = False


@register(ARCHITECTURE, title="Function", paper="", section="", among=EXTERNAL)
class FunctionModel(ExternalModel[TextPairs]):
    """A Python function of pairs that returns class probabilities, and optionally attention between words.

    It is called by one thread at a time, because it may not be thread-safe.
    """

    differentiable = False
    refusal = "a function has no intermediate values that could be replaced"

    def __init__(self, config: FunctionConfig, name: str, function: PairFunction) -> None:
        super().__init__(config)
        self.name = name
        self._function = function
        attend: Callable[[Sequence[str], Sequence[str]], ArrayLike] | None = getattr(function, "attention", None)
        self._attend = attend if config.attends else None
        self._one_at_a_time = threading.Lock()

    def __deepcopy__(self, memo: dict[int, object]) -> FunctionModel:
        return self  # it is on no device

    def answer(self, batch: TextPairs) -> Output:
        """The logits are log p. Raises PairError if the function raises, or returns something other than
        probabilities."""
        shape = len(batch), self.config.classes
        chances = self._array(self._asked(lambda: self._function.probabilities(list(batch.pairs))))
        if chances.shape != shape or not np.isfinite(chances).all() or (chances < -1e-6).any():
            raise PairError(f"{self.name} must answer {shape[0]} pairs with {shape[1]} probabilities each: fix it")
        if (abs(chances.sum(1) - 1) > 1e-3).any():
            raise PairError(f"{self.name} answers with probabilities that do not add up to 1: fix it")
        logits = torch.from_numpy(chances.clip(LEAST, None)).log().float()
        return Output(logits, logits, batch)

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        return (AttentionMap,) if config.get("attends") else ()

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        attend, (first, second) = self._attend, output.trace.words[0]
        if attend is None or AttentionMap not in wanted:
            return
        weights = self._array(self._asked(lambda: attend(first, second)))
        if weights.shape != (len(second), len(first)) or not np.isfinite(weights).all() or (weights < 0).any():
            shape = f"{len(second)} × {len(first)}"
            raise PairError(f"the attention of {self.name} must be {shape} weights of at least 0: fix it")
        rest = 1 - weights.sum(1)
        if (rest < -1e-3).any():
            raise PairError(f"the attention of {self.name} has a row that adds up to more than 1: fix it")
        nothing = tuple(rest.clip(0, None).tolist()) if (rest > 1e-3).any() else ()
        rows, columns = reading.second.role, reading.first.role
        yield AttentionMap("attention", rows, columns, (), matrix(torch.from_numpy(weights)), null=nothing)

    def _asked(self, ask: Callable[[], ArrayLike]) -> ArrayLike:
        with blaming(self.name, "try again, or fix it"), self._one_at_a_time:
            return ask()

    def _array(self, found: ArrayLike) -> np.ndarray:
        try:
            return np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise PairError(f"{self.name} does not answer with numbers ({said(error)}): fix it") from error
