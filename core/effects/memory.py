"""Effects that are kept for all threads: what one visitor of a page has asked another need not wait for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from core.checkpoint import Checkpoint
from core.effects.turning import Change, smallest_changes
from core.effects.why import what_heads_do, what_links_do, why
from core.effects.words import Progress, usual_drawing
from core.evaluation.adversary import believed
from core.evidence.effects import Effects, LinkEffects
from core.evidence.faithfulness import Faithfulness
from core.shared_memory import SharedMemory

Answer = Effects | tuple[LinkEffects, ...] | tuple[Change, ...] | Faithfulness
A = TypeVar("A", bound=Answer)
P = ParamSpec("P")


class Ended(Exception):
    """What a progress raises where nobody waits for the answer any more."""


def _kept(ask: Callable[P, A]) -> Callable[P, A]:
    """The same question, each answer kept by all that was asked but the ``progress``, of the checkpoint as its files
    are. Raises what ``ask`` raises, and Ended where the ``progress`` does."""
    signature = inspect.signature(ask)

    @functools.wraps(ask)
    def answer(*args: P.args, **kwargs: P.kwargs) -> A:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        asked = bound.arguments
        checkpoint: Checkpoint = asked.pop("checkpoint")
        progress: Progress = asked.pop("progress")
        if "drawing" in asked:
            asked.update(drawing=asked["drawing"] or usual_drawing(checkpoint.card))
        key = ask.__name__, checkpoint.folder, checkpoint.state, *asked.values()
        while True:
            try:
                return _ANSWERS(key, lambda: ask(*args, **kwargs))  # type: ignore[return-value]
            except Ended:
                # Perhaps it was another thread that ended it; this one still waits, unless it says so itself.
                progress(0, 1)

    return answer


kept_why = _kept(why)
kept_links = _kept(what_links_do)
kept_heads = _kept(what_heads_do)
kept_changes = _kept(smallest_changes)
kept_believed = _kept(believed)


def _cells(answer: Answer) -> int:
    """How large an answer is: its numbers, and some for all the rest."""
    if isinstance(answer, tuple):
        maps = (one for one in answer if isinstance(one, LinkEffects))
        return 100 + 10 * len(answer) + sum(len(links.effects) * len(links.effects[0]) for links in maps)
    if isinstance(answer, Faithfulness):
        return 200 + sum(2 * len(one.weights) * len(one.weights[0]) for one in answer.maps)
    return 100 + 10 * len(answer.words)


_ANSWERS: SharedMemory[Answer] = SharedMemory(400_000, _cells)
