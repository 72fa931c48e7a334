"""Attention of another model, or of the same one from another seed, in the place of a model's own."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Hashable
from dataclasses import dataclass

import torch

from core.checkpoint import Checkpoint, CheckpointError, available, load_named, read_card, records_of
from core.checkpoint.files import files_state
from core.effects.edits import EditError
from core.effects.words import Progress, unheard
from core.evidence import AttentionMap
from core.explain import check_words
from core.layers.attention import Override
from core.models.base import AttentionLinks, Intervention
from core.shared_memory import SharedMemory

Maps = tuple[AttentionLinks, ...]


@torch.inference_mode()
def maps_of(
    checkpoint: Checkpoint, first: str, second: str, base: Override | None = None, crossings: bool = True
) -> Maps:
    """The attention maps of a model on a pair, numbered as its records number them; ``base`` in the place of its own
    weights. Raises PairError for a side without a word."""
    reading = checkpoint.read(first, second)
    check_words(reading)
    model = checkpoint.model
    laid_out = None if base is None else model.lay_out(base, reading)
    return model.links(reading, model.under(checkpoint.reader.batch(reading), Intervention(laid_out, crossings)))


def fits(links: AttentionLinks, other: AttentionLinks) -> bool:
    """Whether another model's map can stand in the place of this one: both of weights, or of scores with the same least
    match, the same units of the same texts along their edges, in the same blocks. A map without the null word gives it
    no weight; one with it does not fit where there is none."""
    texts = (links.rows, links.columns, links.units, links.blocks)
    same = texts == (other.rows, other.columns, other.units, other.blocks)
    shapes = [(*one.values.shape[:-1], one.values.shape[-1] - one.null) for one in (links, other)]
    alike = links.least == other.least
    return same and alike and shapes[0] == shapes[1] and other.null <= links.null and links.reach in ((), other.reach)


def maps_of_another(checkpoint: Checkpoint, name: str, first: str, second: str) -> Maps:
    """The maps of the model of this name on a pair that ``checkpoint`` reads. Raises EditError where there is no such
    model, and where it splits the pair into other words."""
    other = _loaded(name)
    tokens = [
        [(side.role, [token.norm for token in side.tokens]) for side in model.read(first, second).texts()]
        for model in (checkpoint, other)
    ]
    if tokens[0] != tokens[1]:
        raise EditError(f"{name} splits this pair into other words; choose another model’s attention")
    return maps_of(other, first, second)


def version_of_another(name: str) -> Hashable:
    """Another one whenever the files of this model change. Raises EditError where there is none."""
    other = _loaded(name)
    return other.folder, other.state


def _loaded(name: str) -> Checkpoint:
    try:
        return load_named(name)
    except CheckpointError:
        raise no_such_model(name) from None


def no_such_model(name: str) -> EditError:
    """What is said where another model's attention cannot be had."""
    return EditError(f"there is no model {name[:60]!r} here whose attention could be taken; choose another one")


@dataclass(frozen=True)
class Source:
    """The map ``other`` of the model of this name and ``title``, which can take the place of the map ``map``."""

    map: int
    other: int
    model: str
    title: str


def sources(checkpoint: Checkpoint, progress: Progress = unheard) -> tuple[Source, ...]:
    """What can take the place of a model's maps: those of the available models that read texts of the same roles. The
    first time each of them is read, for a moment."""
    own = _maps_of_a_pair(checkpoint)
    found: list[Source] = []
    others = _of_the_same_texts(checkpoint) if own else {}
    for done, (name, title) in enumerate(others.items()):
        progress(done, len(others))
        with contextlib.suppress(CheckpointError):  # the page Models says what is wrong with it
            folder = available()[name]
            theirs = _KEPT((folder, files_state(folder)), functools.partial(_maps_of_named, name))
            for number, links in enumerate(own):
                found += [
                    Source(number, place, name, title) for place, other in enumerate(theirs) if fits(links, other)
                ]
    return tuple(found)


def _of_the_same_texts(checkpoint: Checkpoint) -> dict[str, str]:
    """The titles of the other models with attention that read texts of the same roles, by name, in the order in which
    pages list them; models for lessons last."""
    listed: list[tuple[bool, float, str, str]] = []
    for name, folder in available().items():
        with contextlib.suppress(CheckpointError):
            card = read_card(folder)
            same = all(card["roles"][side] == checkpoint.roles[side] for side in ("first", "second"))
            # A guest's attention is no single map of weights, and reading it may take long.
            if same and name != checkpoint.name and AttentionMap in records_of(card) and "guest" not in card:
                listed.append((bool(card.get("for_lessons")), card.get("listed", math.inf), name, str(card["title"])))
    return {name: title for *_, name, title in sorted(listed)}


def _maps_of_a_pair(checkpoint: Checkpoint) -> Maps:
    """The maps of a model on some pair: which rows, columns and units they have is the same of all pairs."""
    sentence = "A sentence has words."
    return maps_of(checkpoint, sentence, sentence)


def _maps_of_named(name: str) -> Maps:
    return _maps_of_a_pair(load_named(name))


_KEPT: SharedMemory[Maps] = SharedMemory(200)
