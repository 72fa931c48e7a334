"""What the filter map draws: the reference collection by class, a person's own texts as stars, and how to read it."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from app.page_state.codec import short
from app.palette import map_look
from core.filter_map.map import QUALITY_NEIGHBOURS, FilterMap, Layout, MapItem, Neighbour
from core.spreadsheet import csv_text
from core.wording import percent

_LABEL = 150
"""Characters of a reference text that its label on the map shows."""
_BEGINNING = 54
"""Characters of a reference text that are listed: a line beside the map."""


Spot = tuple[float, float]
"""x and y on the map."""
Label = tuple[str, str, str]
"""What a point is called, its text, and its class or verdict."""


class TextSide(NamedTuple):
    """One of the person's texts, or one side of a pair."""

    place: int
    """Which of the texts, from 0."""
    side: str
    """The text's role in its pair; empty for single texts."""

    @property
    def name(self) -> str:
        """1, or 1 question; 1: question 2 where the role has a number."""
        return numbered(self.side, self.place, after=False)


def numbered(role: str, place: int, after: bool = True) -> str:
    """A role with the number of its text, such as question 1; a role with a number of its own (question 2) keeps it
    apart: question 2 of pair 1."""
    if role[-1:].isdigit():
        return f"{role} of pair {place + 1}" if after else f"{place + 1}: {role}"
    return f"{role} {place + 1}" if after else f"{place + 1} {role}".strip()


@dataclass(frozen=True)
class Star:
    """A version of one of the person's texts, placed into a layout."""

    of: TextSide
    words: str
    age: int
    """0 for the present version, 1 for the one before it …"""
    x: float
    y: float
    verdict: str = ""
    """The model's likeliest classes, in words."""

    @property
    def at(self) -> Spot:
        """Its place."""
        return self.x, self.y


@dataclass(frozen=True)
class Points:
    """Places in the plane."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    @classmethod
    def of(cls, at: np.ndarray) -> Points:
        """The rows of ``at [n, 2]``."""
        x, y = np.round(at.astype(float), 3).T.tolist() if len(at) else ([], [])
        return cls(tuple(x), tuple(y))


@dataclass(frozen=True)
class MapClass(Points):
    """The reference texts of a class, with what the label of each says."""

    name: str
    colour: str
    symbol: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class ClassName:
    """A class's name amid its points."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class MapDrawing:
    """The reference collection: its points by class, the classes' names amid them, and how to read the map."""

    classes: tuple[MapClass, ...]
    names: tuple[ClassName, ...]
    reading: str
    quality: str
    meaning: str


def drawing(
    filter_map: FilterMap, layout: Layout, names: Mapping[str, str], texts: Sequence[str], data: str
) -> MapDrawing:
    """What is drawn of the reference collection. ``names``: classes as people read them; ``texts``: the reference
    texts, one an item, where they are there; ``data``: what their data set is called."""
    rows: dict[str, list[int]] = {name: [] for name in names.values()}
    for i, item in enumerate(filter_map.items):
        rows.setdefault(kind(item, names), []).append(i)
    rows = {name: at for name, at in rows.items() if at}
    classes, named = [], []
    for (colour, symbol), (name, indices) in zip(map_look(list(rows)), rows.items(), strict=True):
        at = layout.coordinates[indices]
        labels = tuple(hovering(filter_map.items[i], name, texts[i] if texts else "") for i in indices)
        classes.append(MapClass(**vars(Points.of(at)), name=name, colour=colour, symbol=symbol, labels=labels))
        middle = _middle(at, layout.coordinates)
        if middle is not None:
            named.append(ClassName(name, round(float(middle[0]), 3), round(float(middle[1]), 3)))
    return MapDrawing(tuple(classes), tuple(named), reading(filter_map, layout, data), *quality(filter_map, layout))


@dataclass(frozen=True)
class DrawnStar:
    """A star with what it bears and what its label says; ``second``: it is of the second side of its pair."""

    badge: str
    x: float
    y: float
    earlier: bool
    label: Label
    looked: bool
    second: bool


@dataclass(frozen=True)
class Trail:
    """From one version of a text to the next."""

    before: Spot
    after: Spot
    looked: bool


@dataclass(frozen=True)
class Yours:
    """What is drawn anew with each text. ``pairs``: from one text of a pair to the other; ``rings``: round the nearest
    items; ``home``: the ranges of x and y that are shown, ``near``: the surroundings of the star that is looked into
    and its nearest items alone."""

    stars: tuple[DrawnStar, ...]
    trails: tuple[Trail, ...]
    pairs: tuple[tuple[Spot, ...], ...]
    rings: Points
    home: tuple[Spot, Spot]
    near: bool


def yours(
    layout: Layout, stars: Sequence[Star], looked_into: TextSide | None, nearest: Sequence[Neighbour], near: bool
) -> Yours:
    """What is drawn of a person's own texts; the star of the text looked into has the accent."""
    sides = list(dict.fromkeys(star.of.side for star in stars))
    # The star of the text looked into is drawn last, above the others.
    ordered = sorted(stars, key=lambda star: (-star.age, star.of == looked_into))
    drawn = (
        DrawnStar(
            star.of.name,
            *star.at,
            bool(star.age),
            _star_label(star),
            star.of == looked_into,
            sides.index(star.of.side) % 2 == 1,
        )
        for star in ordered
    )
    rings = layout.coordinates[[n.index for n in nearest]]
    around = [star.at for star in stars if star.of == looked_into and not star.age] if near else []
    if around:
        home = _range(np.concatenate([around, rings]), layout, 0.15)
    else:
        home = _range(np.concatenate([layout.coordinates, *([star.at] for star in stars)]), layout, 1)
    return Yours(tuple(drawn), _trails(stars, looked_into), _pairs(stars), Points.of(rings), home, near)


def _range(points: np.ndarray, layout: Layout, least: float) -> tuple[Spot, Spot]:
    """Ranges of x and y that hold the points, and at least this share of the map, with room at the edges."""
    low, high = points.min(0), points.max(0)
    half = 0.53 * np.maximum(high - low, least * np.ptp(layout.coordinates, axis=0))
    middle = (low + high) / 2
    x, y = np.stack([middle - half, middle + half], axis=1).tolist()
    return tuple(x), tuple(y)


def _middle(at: np.ndarray, everything: np.ndarray) -> np.ndarray | None:
    """Where the class's name stands amid its points ``at``, if it has a place of its own: most points near their
    middle are its own."""
    middle = np.median(at, axis=0)
    middle = at[np.argmin(((at - middle) ** 2).sum(1))]
    nearest = np.sort(((everything - middle) ** 2).sum(1))[: QUALITY_NEIGHBOURS + 1][-1]
    own = (((at - middle) ** 2).sum(1) <= nearest).sum()
    return middle if own > QUALITY_NEIGHBOURS * 0.7 else None


def _trails(stars: Sequence[Star], looked_into: TextSide | None) -> tuple[Trail, ...]:
    """From each version of a text to the next one, where it has another place."""
    trails = []
    for of in dict.fromkeys(star.of for star in stars):
        versions = sorted((star for star in stars if star.of == of), key=lambda star: -star.age)
        for before, after in itertools.pairwise(versions):
            if before.at != after.at:
                trails.append(Trail(before.at, after.at, of == looked_into))
    return tuple(trails)


def _pairs(stars: Sequence[Star]) -> tuple[tuple[Spot, ...], ...]:
    """The places of both texts of each pair, as they are now."""
    now = [star for star in stars if not star.age]
    places = dict.fromkeys(star.of.place for star in now)
    texts = (tuple(star.at for star in now if star.of.place == place) for place in places)
    return tuple(both for both in texts if len(both) > 1)


def description(filter_map: FilterMap, stars: Sequence[Star]) -> str:
    """The figure in one sentence, for a screen reader."""
    count = sum(not star.age for star in stars)
    return (
        f"Filter map of {len(filter_map.items):,} texts in the plane, coloured by class, with {count} of your own. The "
        "nearest filters are listed beside it."
    )


def title(item: MapItem) -> str:
    """What an item is called: its title, or its row in the data."""
    return item.title or item.id


def opening(item: MapItem, text: str) -> str:
    """What a reference text says after the title that it begins with."""
    return text.removeprefix(item.title).removeprefix(".").strip() if item.title else text.strip()


def kind(item: MapItem, names: Mapping[str, str]) -> str:
    """Its class as people read it; the text of a pair that is not judged has its role in place of a class."""
    return names.get(item.label, item.label)


def nearest_rows(
    filter_map: FilterMap, nearest: Sequence[Neighbour], names: Mapping[str, str]
) -> tuple[str, list[tuple[str, str, str]]]:
    """What the distances are called (small ones are in thousandths or millionths); title, class and distance of
    each neighbour."""
    furthest = max((neighbour.distance for neighbour in nearest), default=1.0)
    power, unit = (0, "") if furthest >= 0.01 else (3, ", ×\u00a010⁻³") if furthest >= 1e-5 else (6, ", ×\u00a010⁻⁶")
    rows = [
        (title(item), kind(item, names), f"{neighbour.distance * 10**power:#.3g}")
        for neighbour in nearest
        for item in [filter_map.items[neighbour.index]]
    ]
    return f"distance{unit}", rows


def beginnings(filter_map: FilterMap, nearest: Sequence[Neighbour], texts: Sequence[str]) -> list[str]:
    """How each neighbour's text begins, in about one line; none without the ``texts``."""
    if not texts:
        return []
    openings = [opening(filter_map.items[n.index], texts[n.index]) for n in nearest]
    # A document is long, and only its beginning is looked at.
    return [textwrap.shorten(text[: 2 * _BEGINNING], _BEGINNING, placeholder=" …") for text in openings]


def reading(filter_map: FilterMap, layout: Layout, data: str) -> str:
    """How to read the map of texts of ``data``, in one line."""
    what = "the filters" if layout.filter is None else f"filter {layout.filter} of those"
    metric = "cosine" if layout.metric == "cosine" else "euclidean"
    of = f" of {data}" if data else ""
    return (
        f"Each point is one of {len(filter_map.items):,} texts{of}, by {what} that the model makes from it: "
        f"t-SNE of their {metric} distances. A star’s place is approximate (openTSNE’s transform)."
    )


def data_name(filter_map: FilterMap, card: Mapping[str, object]) -> str:
    """What the data set of the map is called in the model's ``card``; else its file, empty where the map has none."""
    file, recipe = _file(filter_map), card.get("recipe")
    values = recipe.values() if isinstance(recipe, Mapping) else ()
    sets = itertools.chain.from_iterable(value if isinstance(value, list) else [value] for value in values)
    named = (one for one in sets if isinstance(one, Mapping) and str(one.get("path")).rpartition("/")[2] == file)
    return next((str(one["name"]) for one in named if one.get("name")), file)


def _file(filter_map: FilterMap) -> str:
    data = filter_map.card.get("data")
    return str(data["file"]) if isinstance(data, Mapping) and "file" in data else ""


def _neighbours(filter_map: FilterMap) -> int:
    """k of the map's k-NN accuracies."""
    return int(filter_map.card.get("quality_neighbours", QUALITY_NEIGHBOURS))


def quality(filter_map: FilterMap, layout: Layout) -> tuple[str, str]:
    """How far the map may be trusted: one line of numbers, and what they mean."""
    q = layout.quality
    line = (
        f"{_neighbours(filter_map)}-NN accuracy: {percent(q['knn_filters'])} in filter space, "
        f"{percent(q['knn_plane'])} on the map (majority class {percent(q['majority'])}); "
        f"trustworthiness {q['trustworthiness']:.2f}."
    )
    if "knn_held_out" in q:
        line += f" On texts that the model was not trained on: {percent(q['knn_held_out'])} in filter space."
    meaning = (
        "Each text is given the class of most of its nearest neighbours, once by the filters’ true distances and once "
        "by places on the map. Where the map does as well as the filters, its clusters are those of the filters. "
        "Trustworthiness is 1 when all neighbours on the map are neighbours among the filters too. Distances between "
        "clusters, and their sizes, mean nothing in t-SNE; the list of nearest filters has true distances."
    )
    return line, meaning


def caution(filter_map: FilterMap, layout: Layout) -> str:
    """What to know before one reads the map: a sentence where neighbours name the class worse than its largest class
    would, else empty."""
    q = layout.quality
    if q["knn_filters"] >= q["majority"] and q["knn_plane"] >= q["majority"]:
        return ""
    return (
        f"Neighbours do not tell the class on this map: {_neighbours(filter_map)}-NN accuracy is "
        f"{percent(q['knn_filters'])} in filter space and {percent(q['knn_plane'])} on the map, always naming the "
        f"majority class {percent(q['majority'])}. Read no class into where a text lies."
    )


def without_texts(filter_map: FilterMap, data: str) -> str:
    """How to see the reference texts, for a machine without them. ``data``: what the data set is called."""
    file = _file(filter_map) or "the file of this map"
    of = f" ({data})" if data and data != file else ""
    return f"The reference texts are read from {file}{of}: let PAIRLENS_DATA name a data folder that holds it."


def to_csv(filter_map: FilterMap, layout: Layout, names: Mapping[str, str], stars: Sequence[Star]) -> str:
    """One line a point: the person's texts first (version 0 is the present one), then the reference collection."""
    rows: list[list[object]] = [
        ["yours", star.of.name, star.words, star.of.side, star.verdict, star.age, star.x, star.y] for star in stars
    ]
    for item, (x, y) in zip(filter_map.items, layout.coordinates.tolist(), strict=True):
        rows.append(["reference", item.id, item.title, item.side, kind(item, names), "", x, y])
    return csv_text(["of", "id", "title", "side", "class", "version", "x", "y"], rows)


def _star_label(star: Star) -> Label:
    which = f"{star.of.name}, an earlier version" if star.age else star.of.name
    return which, short(star.words, _LABEL), star.verdict


def hovering(item: MapItem, name: str, text: str) -> Label:
    """What the label of a reference text of the class ``name`` says: what it is called, how it begins (both may be
    empty), and of what class it is."""
    if not text:
        return title(item), "", name
    return item.title, short(opening(item, text), _LABEL), name if item.title else f"{name}, {item.id}"
