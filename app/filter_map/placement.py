"""A model's map and the user's texts on it. Maps, codes and coordinates are cached for all sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from app.examples import kind_of
from app.filter_map.drawing import Star, TextSide
from app.filter_map.reference_texts import ReferenceTexts, reference_texts
from app.pairs import SIDES, Pair
from app.panels import verdict
from core.checkpoint import Checkpoint, load_named
from core.evidence import Explanation
from core.explain import explained
from core.filter_map.map import FilterMap, FilterMapError, Layout, available_map, codes_of, filter_sides
from core.reading.reader import PairError, read_text
from core.shared_cache import SharedCache
from core.tasks import ENTAILMENT, PARAPHRASE
from core.wording import class_names


@dataclass(frozen=True)
class Opened:
    """A model with its map, or with one sentence on why it has none; ``texts``: the map's reference texts, if their
    data file is available."""

    checkpoint: Checkpoint
    map: FilterMap | None
    problem: str = ""
    texts: ReferenceTexts | None = None

    @property
    def names(self) -> dict[str, str]:
        """The classes' display names."""
        labels = self.checkpoint.labels
        return dict(zip(labels, class_names(labels, self.checkpoint.roles["judged"]), strict=True))

    @property
    def makers(self) -> dict[str, str]:
        """The sides of a text (first, second) that generate filters, with their names on the map."""
        made = filter_sides(self.checkpoint)
        if self.checkpoint.single:
            return {"first": made[0]}
        return {side: self.checkpoint.roles[side] for side in SIDES if self.checkpoint.roles[side] in made}


def open_map(model: str) -> Opened:
    """The model listed as ``model``, and its map. Raises CheckpointError for an unusable model."""
    checkpoint = load_named(model)
    folder = available_map(checkpoint)
    if folder is None:
        return Opened(checkpoint, None, _without_map(checkpoint))
    try:
        with st.spinner("Opening the map …"):
            filter_map = _read(model, folder, checkpoint.card["sha256"], (folder / "map.json").stat().st_mtime_ns)
    except FilterMapError as error:
        return Opened(checkpoint, None, f"This map cannot be used: {error}.")
    return Opened(checkpoint, filter_map, texts=reference_texts(checkpoint, filter_map))


def _without_map(checkpoint: Checkpoint) -> str:
    if kind_of(checkpoint.card) in (ENTAILMENT, PARAPHRASE):
        return "No map is available: both texts of a pair are of the same kind, so a map has no classes to separate."
    return (
        f"{checkpoint.name} has no map yet: make one of a data file with `python -m trainers map {checkpoint.name} "
        "FILE`."
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(model: str, folder: Path, weights: str, changed: int) -> FilterMap:
    """Shared by all sessions until its files change. Preloads everything that placing needs, so that the first text is
    placed as fast as later ones."""
    filter_map = FilterMap.load(folder, load_named(model))
    filter_map.place(filter_map.codes[:1], next(iter(filter_map.layouts)))
    return filter_map


@dataclass(frozen=True)
class Placed:
    """A text's code, and its position in a layout."""

    code: np.ndarray
    spot: tuple[float, float]


def place_texts(
    opened: Opened, layout: Layout | None, texts: Sequence[Pair], explanations: Sequence[Explanation | str | None]
) -> tuple[list[Star], dict[TextSide, Placed], list[str]]:
    """A star for every version of every text, the current versions, and a sentence for each text without words. Without
    a layout the stars are at the origin, but codes are still computed."""
    stars: list[Star] = []
    present: dict[TextSide, Placed] = {}
    problems: list[str] = []
    for place, text in enumerate(texts):
        explanation = explanations[place]
        shares = verdict.summary(explanation) if isinstance(explanation, Explanation) else ""
        for side, role in opened.makers.items():
            ways = [version[SIDES.index(side)] for version in text.versions]
            ways = [words for words, after in zip(ways, [*ways[1:], None], strict=True) if words != after]
            for age, words in zip(reversed(range(len(ways))), ways, strict=True):
                if not read_text(opened.checkpoint.reader, words).has_word:
                    if words.strip() and not age:
                        problems.append(f"{(role or 'text').capitalize()} {place + 1} has no word in it: type one.")
                    continue
                key = (
                    opened.checkpoint.card["sha256"],
                    opened.map and opened.map.card["sha256"],
                    layout and layout.name,
                    role,
                    words,
                )
                placed = _PLACES(key, partial(_place, opened, layout, role, words))
                stars.append(Star(TextSide(place, role), words, age, placed.spot, "" if age else shares))
                if not age:
                    present[TextSide(place, role)] = placed
    return stars, present, problems


_PLACES: SharedCache[Placed] = SharedCache(1000)


def _place(opened: Opened, layout: Layout | None, role: str, words: str) -> Placed:
    code = codes_of(opened.checkpoint, [words], role)
    if opened.map is None or layout is None:
        return Placed(code[0], (0.0, 0.0))
    x, y = opened.map.place(code, layout.name)[0].tolist()
    return Placed(code[0], (x, y))


def explain_text(checkpoint: Checkpoint, text: Pair) -> Explanation | str | None:
    """The model's explanation of the current text or pair; a sentence if it fails, None while a text box is empty."""
    if not text.first.strip() or not (checkpoint.single or text.second.strip()):
        return None
    try:
        return explained(checkpoint, text.first, text.second)
    except PairError as error:
        return str(error)
