"""The filter map's drawing: the reference texts, the user's texts among them, and a filter's weights.

``app/components/filter_map.js`` draws it as vector graphics, one shape per class: a mark per text, styled on its own,
took a browser seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.filter_map.drawing import Label, Star, TextSide, description, hover_label, kind, star_label
from app.palette import map_look
from core.evidence import Matrix
from core.filter_map.map import QUALITY_NEIGHBOURS, FilterMap, Layout, Neighbour
from core.shared_cache import SharedCache

Point = tuple[float, float]
Range = tuple[float, float]

_DRAWN = (580, 300)
"""Usual size of the map in pixels, used to keep class names apart."""


@dataclass(frozen=True)
class MapClass:
    """The reference texts of a class. ``symbol``: one of app/components/map_symbols.js; ``labels``: one per point."""

    name: str
    colour: str
    symbol: str
    points: Sequence[Point]
    labels: Sequence[Label]


@dataclass(frozen=True)
class MapPoints:
    """The reference texts. ``names``: the classes with an area of their own, and where their names are; ``said``: the
    figure in one sentence, for screen readers."""

    classes: Sequence[MapClass]
    names: Sequence[tuple[str, Point]]
    said: str


MAP_POINTS: SharedCache[MapPoints] = SharedCache(4)
"""The drawings of reference texts for all sessions."""


@dataclass(frozen=True)
class MapText:
    """How to read the map, and the meaning of its quality measures."""

    reading: str
    meaning: str


@dataclass(frozen=True)
class MapStar:
    """A version of a user's text. ``old``: not the current one; ``second``: of the second side of its pair."""

    name: str
    label: Label
    at: Point
    old: bool
    inspected: bool
    second: bool


@dataclass(frozen=True)
class Trail:
    """The positions of a text's versions, earliest first."""

    points: Sequence[Point]
    inspected: bool


@dataclass(frozen=True)
class OwnTexts:
    """The user's texts. ``pairs``: the ends of the lines between both texts of a pair; ``nearest``: the filters nearest
    to the inspected text; ``home``: the ranges of x and y to show; ``near``: whether these are the surroundings of the
    inspected text rather than the whole map; ``inspected``: its position, if it has one."""

    stars: Sequence[MapStar]
    trails: Sequence[Trail]
    pairs: Sequence[tuple[Point, Point]]
    nearest: Sequence[Point]
    home: tuple[Range, Range]
    near: bool
    inspected: Point | None


@dataclass(frozen=True)
class FilterWeights:
    """A filter ``[h, d]``. ``title``: its number and what it was made from; ``places``: the names of its h rows."""

    title: str
    size: str
    places: Sequence[str]
    weights: Matrix


def map_points(filter_map: FilterMap, layout: Layout, names: Mapping[str, str], texts: Sequence[str]) -> MapPoints:
    """The drawing of the reference texts. ``names``: display names of the classes; ``texts``: the reference texts, one
    per item, if available."""
    rows: dict[str, list[int]] = {name: [] for name in names.values()}
    for i, item in enumerate(filter_map.items):
        rows.setdefault(kind(item, names), []).append(i)
    rows = {name: indices for name, indices in rows.items() if indices}
    classes, class_names = [], []
    for (colour, symbol), (name, indices) in zip(map_look(list(rows)), rows.items(), strict=True):
        places = layout.coordinates[indices]
        labels = [hover_label(filter_map.items[i], name, texts[i] if texts else "") for i in indices]
        classes.append(MapClass(name, colour, symbol, _points(places), labels))
        middle = _middle(places, layout.coordinates)
        if middle is not None:
            class_names.append((name, middle))
    (left, right), (low, high) = _range(layout.coordinates, layout, 1)
    unit = max((right - left) / _DRAWN[0], (high - low) / _DRAWN[1])
    apart = [(name, (float(x), float(y))) for name, x, y in _apart(class_names, unit)]
    return MapPoints(classes, apart, description(filter_map))


def own_texts(
    layout: Layout, stars: Sequence[Star], inspected: TextSide | None, nearest: Sequence[Neighbour], near: bool
) -> OwnTexts:
    """A star for each version of a text, the inspected text's last, above the others; trails between versions."""
    rings = layout.coordinates[[neighbour.index for neighbour in nearest]]
    sides = list(dict.fromkeys(star.of.side for star in stars))
    drawn = [
        MapStar(
            star.of.name,
            star_label(star),
            star.spot,
            star.age > 0,
            star.of == inspected,
            sides.index(star.of.side) % 2 == 1,
        )
        for star in sorted(stars, key=lambda star: (-star.age, star.of == inspected))
    ]
    trails = [
        Trail([star.spot for star in versions], versions[0].of == inspected)
        for versions in _versions(stars)
        if len(versions) > 1
    ]
    spot = next((star.spot for star in stars if star.of == inspected and not star.age), None)
    if near and spot is not None:
        home = _range(np.concatenate([[spot], rings]), layout, 0.15)
    else:
        home = _range(np.concatenate([layout.coordinates, *([star.spot] for star in stars)]), layout, 1)
    return OwnTexts(drawn, trails, _pairs(stars), _points(rings), home, near, spot)


def _points(places: np.ndarray) -> list[Point]:
    return [(x, y) for x, y in np.round(places.astype(float), 3).tolist()]


def _versions(stars: Sequence[Star]) -> list[list[Star]]:
    """The versions of each text, earliest first, without those that did not move it."""
    texts = []
    for of in dict.fromkeys(star.of for star in stars):
        versions = sorted((star for star in stars if star.of == of), key=lambda star: -star.age)
        texts.append([next(same) for _, same in itertools.groupby(versions, key=lambda star: star.spot)])
    return texts


def _pairs(stars: Sequence[Star]) -> list[tuple[Point, Point]]:
    """The positions of both current texts of each pair whose texts both have one."""
    present: dict[int, list[Point]] = {}
    for star in stars:
        if not star.age:
            present.setdefault(star.of.place, []).append(star.spot)
    return [(spots[0], spots[1]) for spots in present.values() if len(spots) > 1]


def _range(points: np.ndarray, layout: Layout, least: float) -> tuple[Range, Range]:
    """Ranges of x and y that include the points and at least this share of the map, with a margin."""
    low, high = points.min(0), points.max(0)
    half = 0.53 * np.maximum(high - low, least * np.ptp(layout.coordinates, axis=0))
    middle = (low + high) / 2
    x, y = np.stack([middle - half, middle + half], axis=1).tolist()
    return tuple(x), tuple(y)


def _middle(places: np.ndarray, everything: np.ndarray) -> np.ndarray | None:
    """Position of a class's name: the point nearest to the median of its points, if most neighbours of that point
    belong to the class."""
    middle = places[np.argmin(((places - np.median(places, axis=0)) ** 2).sum(1))]
    nearest = np.sort(((everything - middle) ** 2).sum(1))[: QUALITY_NEIGHBOURS + 1][-1]
    of_the_class = (((places - middle) ** 2).sum(1) <= nearest).sum()
    return middle if of_the_class > QUALITY_NEIGHBOURS * 0.7 else None


def _apart(names: Sequence[tuple[str, np.ndarray]], unit: float) -> Iterator[tuple[str, float, float]]:
    """Each name with its position, moved up or down if it would overlap an earlier one. ``unit``: units per pixel."""
    placed: list[tuple[float, float, float]] = []
    for name, (x, y) in names:
        half, line = 3.6 * len(name) * unit, 15 * unit
        free = (
            y + lines * line
            for lines in (0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2, -2)
            if all(abs(x - x2) >= half + half2 or abs(y + lines * line - y2) >= line for x2, y2, half2 in placed)
        )
        height = next(free, y)
        placed.append((x, height, half))
        yield name, x, height
