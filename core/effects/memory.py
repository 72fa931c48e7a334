"""Effects that are kept for all threads: what one visitor of a page has asked another need not wait for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from core.checkpoint import Checkpoint
from core.effects.links import Taken
from core.effects.turning import Change, smallest_changes
from core.effects.why import together, what_heads_do, what_links_do, why
from core.effects.words import Drawing, Place, Progress, usual_drawing
from core.evaluation.adversary import believed
from core.evidence.effects import Effects, LinkEffects, PairEffect
from core.evidence.faithfulness import Faithfulness
from core.shared_memory import SharedMemory

Answer = Effects | tuple[LinkEffects, ...] | PairEffect | tuple[Change, ...] | Faithfulness
A = TypeVar("A", Effects, tuple[LinkEffects, ...], PairEffect, tuple[Change, ...], Faithfulness)


class Ended(Exception):
    """What a progress raises where nobody waits for the answer any more."""


def kept_why(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    method: str,
    progress: Progress,
    *,
    drawing: Drawing | None = None,
) -> Effects:
    """What :func:`core.effects.why.why` says. Raises Ended where ``progress`` does, and what ``why`` raises."""
    drawing = drawing or usual_drawing(checkpoint.card)
    return _kept(
        (checkpoint.folder, checkpoint.state, first, second, method, drawing),
        lambda: why(checkpoint, first, second, method=method, drawing=drawing, progress=progress),
        progress,
    )


def kept_links(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    taken: Taken,
    progress: Progress,
    *,
    every: bool = False,
    layer: int = 0,
    crossings: bool = True,
) -> tuple[LinkEffects, ...]:
    """What :func:`core.effects.why.what_links_do` says. Raises as :func:`kept_why` does."""
    pair = checkpoint, first, second
    return _kept(
        (checkpoint.folder, checkpoint.state, first, second, taken, every, layer, crossings, "links"),
        lambda: what_links_do(*pair, taken, progress, every=every, layer=layer, crossings=crossings),
        progress,
    )


def kept_heads(checkpoint: Checkpoint, first: str, second: str, progress: Progress) -> tuple[LinkEffects, ...]:
    """What :func:`core.effects.why.what_heads_do` says, alone. Raises as :func:`kept_why` does."""
    return _kept(
        (checkpoint.folder, checkpoint.state, first, second, "heads"),
        lambda: (what_heads_do(checkpoint, first, second, progress),),
        progress,
    )


def kept_together(
    checkpoint: Checkpoint, first: str, second: str, chosen: tuple[Place, Place], progress: Progress
) -> PairEffect:
    """What :func:`core.effects.why.together` says. Raises as :func:`kept_why` does."""
    return _kept(
        (checkpoint.folder, checkpoint.state, first, second, chosen, usual_drawing(checkpoint.card)),
        lambda: together(checkpoint, first, second, chosen, progress=progress),
        progress,
    )


def kept_changes(checkpoint: Checkpoint, first: str, second: str, progress: Progress) -> tuple[Change, ...]:
    """What :func:`core.effects.turning.smallest_changes` finds. Raises as :func:`kept_why` does."""
    return _kept(
        (checkpoint.folder, checkpoint.state, first, second, "smallest changes"),
        lambda: smallest_changes(checkpoint, first, second, progress=progress),
        progress,
    )


def kept_believed(checkpoint: Checkpoint, first: str, second: str, progress: Progress) -> Faithfulness:
    """What :func:`core.evaluation.adversary.believed` says. Raises as :func:`kept_why` does."""
    return _kept(
        (checkpoint.folder, checkpoint.state, first, second, "believed"),
        lambda: believed(checkpoint, first, second, progress=progress),
        progress,
    )


def _kept(key: Hashable, make: Callable[[], A], progress: Progress) -> A:
    while True:
        try:
            answer: A = _ANSWERS(key, make)  # type: ignore[assignment]
            return answer
        except Ended:
            # Perhaps it was another thread that ended it; this one still waits, unless it says so itself.
            progress(0, 1)


def _cells(answer: Answer) -> int:
    """How large an answer is: its numbers, and some for all the rest."""
    if isinstance(answer, tuple):
        maps = (one for one in answer if isinstance(one, LinkEffects))
        return 100 + 10 * len(answer) + sum(len(links.effects) * len(links.effects[0]) for links in maps)
    if isinstance(answer, Faithfulness):
        return 200 + sum(2 * len(one.weights) * len(one.weights[0]) for one in answer.maps)
    return 100 + 10 * len(answer.words)


_ANSWERS: SharedMemory[Answer] = SharedMemory(400_000, _cells)
