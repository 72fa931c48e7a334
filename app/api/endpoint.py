"""The registry of the API's endpoints, and the types of their requests.

Request fields are named as in the pages' links. An answer is a record or plain values, sent as JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from app.page_state.explore import MOST_EDITS
from core.checkpoint import Checkpoint, load_named
from core.effects.history import AnyEdit, parse_edit, words_after
from core.errors import UserError


@dataclass(frozen=True)
class AnyRequest:
    """A request without fields."""


@dataclass(frozen=True)
class PairRequest:
    """A pair of texts (only ``first`` for a model of single texts); ``edits``: manual edits in their text form, in the
    order in which they were made."""

    model: str
    first: str
    second: str = ""
    edits: tuple[str, ...] = ()

    # Plain properties: in Python 3.11 all requests would share the lock of a cached_property, and wait while one loads
    # its model.

    @property
    def checkpoint(self) -> Checkpoint:
        """Raises CheckpointError."""
        return load_named(self.model)

    @property
    def parsed_edits(self) -> tuple[AnyEdit, ...]:
        """Raises EditError."""
        if len(self.edits) > MOST_EDITS:
            raise UserError(f"{len(self.edits)} edits are more than {MOST_EDITS}: leave some out")
        return tuple(map(parse_edit, self.edits))

    @property
    def pair(self) -> tuple[Checkpoint, str, str]:
        """The model, and the texts after the word edits. Raises CheckpointError and EditError."""
        texts = words_after((self.first, self.second), self.parsed_edits, self.checkpoint.reader.tokens)
        return self.checkpoint, *texts


R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])


class Endpoint(NamedTuple):
    """An endpoint: its request type; the function that computes its answer; whether finished answers are cached;
    whether they also depend on ``others`` than the request's model; whether they take only a forward pass or two; and
    whether the function reports ``parts`` of its answer as it computes them."""

    request: type[Any]
    compute: Callable[..., object]
    kept: bool
    others: bool
    quick: bool
    parts: bool


ENDPOINTS: dict[str, Endpoint] = {}
"""The endpoints by name, once :mod:`app.api.answers` is imported."""


def endpoint(
    name: str,
    request: type[R],
    *,
    kept: bool = True,
    others: bool = False,
    quick: bool = False,
    parts: bool = False,
) -> Callable[[F], F]:
    """Registers a function ``(request, progress)`` as the answer for the endpoint ``/api/name``; with ``parts``,
    ``(request, progress, so_far)``, which calls ``so_far`` with the parts of its answer as it computes them. Without
    ``kept`` the answer is not cached, because it is fast to compute, or depends on more than the request and the
    model's files (all models' files, with ``others``)."""

    def register(compute: F) -> F:
        ENDPOINTS[name] = Endpoint(request, compute, kept, others, quick, parts)
        return compute

    return register
