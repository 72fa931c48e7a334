"""Training rows like the pair."""

from __future__ import annotations

from app.api.endpoint import PairRequest, endpoint
from core.neighbours import Neighbours, nearest
from core.progress import Progress


@endpoint("like", PairRequest, kept=False)
def like(asked: PairRequest, progress: Progress) -> Neighbours:
    """The training rows nearest to the pair, for each class."""
    return nearest(*asked.pair)
