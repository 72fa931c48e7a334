"""The effects of words, links and heads on the verdict, the reason for it and the changes that flip it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.api.endpoint import PairRequest, endpoint
from app.page_state.explore import EVERY, HEADS
from core.effects import layers
from core.effects.history import parse_edit, words_after
from core.effects.links import Taken
from core.effects.question import Question
from core.effects.reason import quick_reason, reason_for
from core.effects.words import SAMPLING, TAKEN_AWAY, unheard
from core.evidence.edges import link_edges
from core.evidence.effects import Effects, LinkEffects
from core.evidence.faithfulness import Faithfulness
from core.evidence.layer_routes import LayerRoutes
from core.evidence.reason import Reason
from core.evidence.routes import Routes
from core.evidence.similarity_shares import SimilarityShares
from core.explain import explained
from core.json_types import JsonObject, setting
from core.progress import Progress


@dataclass(frozen=True)
class WhyRequest(PairRequest):
    """``all``: for an external model, use as many replacements per word as for other models."""

    method: str = TAKEN_AWAY
    all: bool = False


@dataclass(frozen=True)
class ReasonRequest(PairRequest):
    """``all``: compute the reason even for a slow external model."""

    all: bool = False


@dataclass(frozen=True)
class LinksRequest(PairRequest):
    """``links``: how links are ablated."""

    links: str = setting(Taken.RENORMALISED.value, one_of=(*Taken, EVERY, HEADS))


@endpoint("why", WhyRequest)
def why(asked: WhyRequest, progress: Progress) -> Effects:
    """The effect of each word on the verdict."""
    return Question(*asked.pair, sampling=SAMPLING if asked.all else None).words(asked.method, progress=progress)


@endpoint("links", LinksRequest)
def links(asked: LinksRequest, progress: Progress) -> tuple[LinkEffects, ...]:
    """The effect of each attention link, or each head, on the verdict."""
    effects, explanation = cut_links(Question(*asked.pair), asked.links, progress), explained(*asked.pair)
    return tuple(replace(cut, words=link_edges(cut, explanation)) for cut in effects)


def cut_links(question: Question, how: str, progress: Progress = unheard) -> tuple[LinkEffects, ...]:
    """The effects of ablating links by a rule, of every link of a transformer (EVERY), or of its heads (HEADS)."""
    if how == HEADS:
        return question.heads(progress=progress)
    return question.links(Taken.KEPT if how == EVERY else Taken(how), every=how == EVERY, progress=progress)


@endpoint("shares", PairRequest)
def shares(asked: PairRequest, progress: Progress) -> SimilarityShares:
    """The share of each pair of words in a bi-encoder's similarity, by integrated Jacobians."""
    return Question(*asked.pair).shares(progress=progress)


@endpoint("change", PairRequest)
def change(asked: PairRequest, progress: Progress) -> list[JsonObject]:
    """The smallest changes that flip the verdict."""
    return [change.to_dict() for change in Question(*asked.pair).smallest_change(progress=progress)]


@endpoint("reason", ReasonRequest, others=True)  # a model that reads only one text may be as sure
def reason(asked: ReasonRequest, progress: Progress) -> Reason:
    """The reason for the verdict, as a sentence."""
    return (reason_for if asked.all else quick_reason)(Question(*asked.pair), progress)


@dataclass(frozen=True)
class Texts:
    """The texts of a pair, or a single text."""

    first: str
    second: str = ""


@dataclass(frozen=True)
class RoutesRequest(PairRequest):
    """The other version: its texts, or the ``change`` that makes it from the pair, as edits in their text form."""

    other: Texts | None = None
    change: tuple[str, ...] = ()

    @property
    def version(self) -> tuple[str, str]:
        """The texts of the other version. Raises CheckpointError and EditError."""
        if self.other is not None:
            return self.other.first, self.other.second
        checkpoint, *texts = self.pair
        return words_after((texts[0], texts[1]), tuple(map(parse_edit, self.change)), checkpoint.reader.tokens)


@endpoint("routes", RoutesRequest, parts=True)
def routes(
    asked: RoutesRequest, progress: Progress, so_far: Callable[[LayerRoutes], None] = layers.ignored
) -> Routes | LayerRoutes:
    """How the difference to another version of the pair divides among the model's routes, or its layers and heads."""
    return Question(*asked.pair).routes(*asked.version, progress=progress, so_far=so_far)


@endpoint("faithfulness", PairRequest)
def faithfulness(asked: PairRequest, progress: Progress) -> Faithfulness:
    """How faithful the explanations of this verdict are."""
    return Question(*asked.pair).faithfulness(progress=progress)
