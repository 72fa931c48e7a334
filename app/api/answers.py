"""The API's answers: each function below answers one route, for one type of request.

Request fields are named as in the pages' links. An answer is a record or plain values, sent as JSON.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from app.api.executor import Lane
from app.api.refusals import Refused, sentence
from app.model_choice import Listed, is_external, offered
from app.page_state.explore import EVERY, HEADS, MOST_EDITS
from app.palette import class_colours
from core.card import ranked_by
from core.checkpoint import Checkpoint, CheckpointError, available, in_memory, load_named, records_of
from core.checkpoint.files import files_state
from core.effects.attention_edits import explain_under
from core.effects.history import AnyEdit, acting, parse_edit, words_after
from core.effects.links import Taken
from core.effects.offers import offers_for
from core.effects.question import Question
from core.effects.reason import quick_reason, reason_for
from core.effects.words import SAMPLING, TAKEN_AWAY, unheard
from core.errors import UserError
from core.evidence import BOTH, AttentionMap, Explanation, Sentence
from core.evidence.codec import to_dict
from core.evidence.edges import link_edges
from core.evidence.effects import Effects, LinkEffects
from core.evidence.faithfulness import Faithfulness
from core.evidence.reason import Reason
from core.evidence.record import RECORDS
from core.evidence.similarity_shares import SimilarityShares
from core.explain import explained, with_nearest
from core.filter_map.map import FilterMap, FilterMapError, available_map, codes_of, filter_sides
from core.json_types import JsonObject, checked, setting
from core.neighbours import Neighbours, nearest
from core.progress import Progress
from core.shared_memory import SharedMemory
from core.wording import class_names, hint


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


@dataclass(frozen=True)
class Word:
    """A word, given by the index of its text and its position there, both from 0."""

    side: int = setting(least=0, most=1)
    index: int = setting(least=0)


@dataclass(frozen=True)
class ExplainRequest(PairRequest):
    """``word``: the word whose attentive context is also described by its nearest words; ``records``: the kinds of
    evidence to return, by default all."""

    head: str = ""
    word: Word | None = None
    records: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for kind in self.records or ():
            if kind not in RECORDS:
                raise ValueError(f"records has no kind {kind[:100]!r}{hint(kind, RECORDS)}")


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


@dataclass(frozen=True)
class MapRequest(PairRequest):
    """``layout``: by default the map's first one; ``count``: number of nearest reference texts to list."""

    layout: str = ""
    count: int = setting(8, least=1, most=100)


R = TypeVar("R")
F = TypeVar("F", bound=Callable[[Any, Progress], object])


class Kind(NamedTuple):
    """A kind of answer: its request type, the function that computes it, whether finished answers are cached, and
    whether they depend on ``others`` than the request's model too; and whether it takes no more than a forward pass or
    two."""

    request: type[Any]
    compute: Callable[[Any, Progress], object]
    kept: bool
    others: bool
    quick: bool


class Asked(NamedTuple):
    """A question: a key, equal for equal answers; the function that computes its answer as JSON; the lane in which that
    starts; and the number of characters of its texts."""

    key: Hashable
    compute: Callable[[Progress], bytes]
    lane: Lane
    size: int


QUICK_TEXTS = 5_000
"""Maximum number of characters of a pair for a quick answer."""


KINDS: dict[str, Kind] = {}


def answers(
    name: str, request: type[R], *, kept: bool = True, others: bool = False, quick: bool = False
) -> Callable[[F], F]:
    """Registers a function ``(request, progress)`` as the answer for the route ``/api/name``. Without ``kept`` it is
    not cached, because it is fast, or depends on more than the request and the files of the model, or of all models if
    it depends on ``others``."""

    def register(compute: F) -> F:
        KINDS[name] = Kind(request, compute, kept, others, quick)
        return compute

    return register


def question(name: str, body: JsonObject) -> Asked:
    """The question of a request. Raises Refused for an unknown kind of answer or model, and UserError for other invalid
    requests."""
    if name not in KINDS:
        raise Refused(404, sentence(f"there is no answer {name[:100]!r}{hint(name, KINDS)}"))
    kind = KINDS[name]
    try:
        asked = checked(body, kind.request)
    except ValueError as error:
        raise UserError(str(error)) from None
    key: list[Hashable] = [name, asked]
    size, cold = 0, False
    if isinstance(asked, PairRequest):
        folders = available()
        if asked.model not in folders:
            raise Refused(404, sentence(f"there is no model {asked.model[:100]!r}{hint(asked.model, folders)}"))
        key.append(tuple(map(files_state, folders.values() if kind.others else [folders[asked.model]])))
        size, cold = len(asked.first) + len(asked.second), not in_memory(asked.model)

    def compute(progress: Progress) -> bytes:
        answer = to_dict(kind.compute(asked, progress))
        return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()

    lane = Lane.QUICK if kind.quick and size <= QUICK_TEXTS else Lane.FIRST
    return Asked(tuple(key) if kind.kept else object(), compute, Lane.COLD if cold else lane, size)


# --- the answers ------------------------------------------------------------------------------------------------------


@answers("models", AnyRequest, kept=False, quick=True)
def models(asked: AnyRequest, progress: Progress) -> dict[str, JsonObject]:
    """All models by name, in the order of the pages' lists."""
    return {name: _model(name, listed) for name, listed in offered(lambda card: True, unreadable=True).items()}


def _model(name: str, listed: Listed) -> JsonObject:
    card = listed.card
    if card is None:
        return {"problem": listed.problem}
    roles, labels = card["roles"], card["labels"]
    names = class_names(labels, roles["second"] if roles["judged"] == BOTH else roles["judged"])
    classes = zip(labels, names, class_colours(names), strict=True)
    return {
        "title": card["title"],
        "task": card["task"],
        "roles": roles,
        "classes": [
            {"label": label, "name": name, "light": light, "dark": dark} for label, name, (light, dark) in classes
        ],
        "records": [record.kind for record in records_of(card)],
        "external": is_external(card),
        "ranks": ranked_by(card) is not None,
        "map": (listed.folder / "map" / "map.json").is_file(),
        "seconds": _seconds(name),
    }


def _seconds(name: str) -> float | None:
    """Seconds for one forward pass over a pair of typical length, once the model is loaded."""
    with contextlib.suppress(CheckpointError):
        return load_named(name).seconds if in_memory(name) else None
    return None


@answers("explain", ExplainRequest, quick=True)
def explain(asked: ExplainRequest, progress: Progress) -> Explanation:
    """The verdict with its evidence, after the edits."""
    checkpoint, first, second = asked.pair
    if asked.head and checkpoint.model.knockouts is None:
        raise UserError(f"{checkpoint.name} has no heads to choose from: leave head out")
    # With all records, as on the pages, so that a page and its questions compute an explanation once.
    explanation = explain_under(checkpoint, first, second, acting(asked.parsed_edits), head=asked.head)
    if asked.records is not None:
        wanted = tuple(record for record in explanation.evidence if record.kind in asked.records)
        explanation = replace(explanation, evidence=wanted)
    if asked.word is None:
        return explanation
    sides = _sides(explanation)
    if asked.word.side >= len(sides) or asked.word.index >= len(sides[asked.word.side].tokens):
        raise UserError("there is no such word in this pair: word.side and word.index count from 0")
    return with_nearest(checkpoint, explanation, asked.word.index, sides[asked.word.side].role)


@answers("preview", PairRequest, kept=False, quick=True)
def preview(asked: PairRequest, progress: Progress) -> Explanation:
    """The verdict after the edits with only its attention, fast enough to follow a slider."""
    checkpoint, first, second = asked.pair
    return explain_under(checkpoint, first, second, acting(asked.parsed_edits), records=(AttentionMap,))


def _sides(explanation: Explanation) -> tuple[Sentence, ...]:
    return explanation.first, *explanation.contexts


@answers("why", WhyRequest)
def why(asked: WhyRequest, progress: Progress) -> Effects:
    """The effect of each word on the verdict."""
    return Question(*asked.pair, sampling=SAMPLING if asked.all else None).words(asked.method, progress=progress)


@answers("links", LinksRequest)
def links(asked: LinksRequest, progress: Progress) -> tuple[LinkEffects, ...]:
    """The effect of each attention link, or each head, on the verdict."""
    effects, explanation = cut_links(Question(*asked.pair), asked.links, progress), explained(*asked.pair)
    return tuple(replace(cut, words=link_edges(cut, explanation)) for cut in effects)


def cut_links(question: Question, how: str, progress: Progress = unheard) -> tuple[LinkEffects, ...]:
    """The effects of ablating links by a rule, of every link of a transformer (EVERY), or of its heads (HEADS)."""
    if how == HEADS:
        return question.heads(progress=progress)
    return question.links(Taken.KEPT if how == EVERY else Taken(how), every=how == EVERY, progress=progress)


@answers("shares", PairRequest)
def shares(asked: PairRequest, progress: Progress) -> SimilarityShares:
    """The share of each pair of words in a bi-encoder's similarity, by integrated Jacobians."""
    return Question(*asked.pair).shares(progress=progress)


@answers("change", PairRequest)
def change(asked: PairRequest, progress: Progress) -> list[JsonObject]:
    """The smallest changes that flip the verdict."""
    return [change.to_dict() for change in Question(*asked.pair).smallest_change(progress=progress)]


@answers("reason", ReasonRequest, others=True)  # a model that reads only one text may be as sure
def reason(asked: ReasonRequest, progress: Progress) -> Reason:
    """The reason for the verdict, as a sentence."""
    return (reason_for if asked.all else quick_reason)(Question(*asked.pair), progress)


@answers("faithfulness", PairRequest)
def faithfulness(asked: PairRequest, progress: Progress) -> Faithfulness:
    """How faithful the explanations of this verdict are."""
    return Question(*asked.pair).faithfulness(progress=progress)


@answers("like", PairRequest, kept=False)
def like(asked: PairRequest, progress: Progress) -> Neighbours:
    """The training rows nearest to the pair, for each class."""
    return nearest(*asked.pair)


@answers("offers", PairRequest)
def offers(asked: PairRequest, progress: Progress) -> JsonObject:
    """Replacement candidates for each word of each text, grouped by their relation to the word."""
    sides, note, done = _sides(explained(*asked.pair)), "", 0
    words: list[list[dict[str, list[str]]]] = []
    for side in sides:
        of_side: list[dict[str, list[str]]] = []
        for token in asked.checkpoint.reader.tokens(side.text)[: len(side.tokens)]:
            progress(done, sum(len(each.tokens) for each in sides))
            done += 1
            found = offers_for(token.norm) if token.is_word else None
            listed = sorted(found.offers, key=lambda offer: offer.relation) if found else []
            groups = groupby(listed, key=lambda offer: offer.relation)
            of_side.append({relation: [offer.word for offer in group] for relation, group in groups})
            note = found.note if found else note
        words.append(of_side)
    return {"words": words, "note": note}


@answers("map", MapRequest, kept=False)  # maps are built again without their models
def places(asked: MapRequest, progress: Progress) -> list[JsonObject]:
    """The coordinates of each text on the filter map, and the reference texts with the nearest filters."""
    checkpoint, *texts = asked.pair
    filter_map = _map_of(checkpoint)
    layout = asked.layout or next(iter(filter_map.layouts))
    return [_placed(checkpoint, filter_map, layout, side, text, asked.count) for side, text in _made(checkpoint, texts)]


def _made(checkpoint: Checkpoint, texts: list[str]) -> Iterator[tuple[str, str]]:
    """The texts that generate filters, each with its side's name on the map."""
    names = [""] if checkpoint.single else [checkpoint.roles[side] for side in ("first", "second")]
    made = filter_sides(checkpoint)
    return ((name, text) for name, text in zip(names, texts, strict=False) if name in made and text.strip())


def _placed(checkpoint: Checkpoint, filter_map: FilterMap, layout: str, side: str, text: str, count: int) -> JsonObject:
    (code,) = codes_of(checkpoint, [text], side)
    near = filter_map.neighbours(code, layout, count)
    x, y = filter_map.place(code[None], layout)[0].tolist()
    nearest = [{**to_dict(filter_map.items[item.index]), **to_dict(item)} for item in near]
    return {"side": side, "text": text, "layout": layout, "x": x, "y": y, "nearest": nearest}


def _map_of(checkpoint: Checkpoint) -> FilterMap:
    folder = available_map(checkpoint)
    if folder is None:
        raise FilterMapError(f"{checkpoint.name} has no map: make one with `python -m trainers map {checkpoint.name}`")
    changed = (folder / "map.json").stat().st_mtime_ns
    return _MAPS((checkpoint.folder, checkpoint.state, changed), lambda: FilterMap.load(folder, checkpoint))


_MAPS: SharedMemory[FilterMap] = SharedMemory(2)
