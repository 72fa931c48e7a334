"""What the filter map draws: the reference collection by class, a person's own texts as stars, and how to read it."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


def drawing(filter_map: FilterMap, layout: Layout, names: Mapping[str, str], texts: Sequence[str]) -> dict[str, Any]:
    """The reference collection: its points by class, and the classes' names amid them. ``names``: classes as people
    read them; ``texts``: the reference texts, one an item, where they are there."""
    rows: dict[str, list[int]] = {name: [] for name in names.values()}
    for i, item in enumerate(filter_map.items):
        rows.setdefault(kind(item, names), []).append(i)
    rows = {name: at for name, at in rows.items() if at}
    classes, named = [], []
    for (colour, symbol), (name, indices) in zip(map_look(list(rows)), rows.items(), strict=True):
        at = layout.coordinates[indices]
        labels = [hovering(filter_map.items[i], name, texts[i] if texts else "") for i in indices]
        classes.append({"name": name, "colour": colour, "symbol": symbol, **_points(at), "labels": labels})
        middle = _middle(at, layout.coordinates)
        if middle is not None:
            named.append({"text": name, "x": round(float(middle[0]), 3), "y": round(float(middle[1]), 3)})
    return {"classes": classes, "names": named}


def yours(
    layout: Layout, stars: Sequence[Star], looked_into: TextSide | None, nearest: Sequence[Neighbour], near: bool
) -> dict[str, Any]:
    """What is drawn anew with each text. ``looked_into``: its star has the accent, and its ``nearest`` items get a
    ring. ``trails``: from each version of a text to the next; ``pairs``: both texts of a pair; ``home``: the ranges of
    x and y that are shown, ``near``: the surroundings of the star and its nearest items alone."""
    sides = list(dict.fromkeys(star.of.side for star in stars))
    # The star of the text looked into is drawn last, above the others.
    ordered = sorted(stars, key=lambda star: (-star.age, star.of == looked_into))
    rings = layout.coordinates[[n.index for n in nearest]]
    around = [star for star in stars if star.of == looked_into and not star.age] if near else []
    if around:
        home = _range(np.concatenate([[(star.x, star.y) for star in around], rings]), layout, 0.15)
    else:
        home = _range(np.concatenate([layout.coordinates, *([(star.x, star.y)] for star in stars)]), layout, 1)
    return {
        "stars": [
            {
                "badge": star.of.name,
                "x": star.x,
                "y": star.y,
                "earlier": bool(star.age),
                "label": _star_label(star),
                "looked": star.of == looked_into,
                "second": sides.index(star.of.side) % 2 == 1,
            }
            for star in ordered
        ],
        "trails": _trails(stars, looked_into),
        "pairs": _pairs(stars),
        "rings": _points(rings),
        "home": home,
        "near": near,
    }


def _points(at: np.ndarray) -> dict[str, list[float]]:
    x, y = np.round(at.astype(float), 3).T.tolist() if len(at) else ([], [])
    return {"x": x, "y": y}


def _range(points: np.ndarray, layout: Layout, least: float) -> list[list[float]]:
    """Ranges of x and y that hold the points, and at least this share of the map, with room at the edges."""
    low, high = points.min(0), points.max(0)
    half = 0.53 * np.maximum(high - low, least * np.ptp(layout.coordinates, axis=0))
    middle = (low + high) / 2
    ranges: list[list[float]] = np.stack([middle - half, middle + half], axis=1).tolist()
    return ranges


def _middle(at: np.ndarray, everything: np.ndarray) -> np.ndarray | None:
    """Where the class's name stands amid its points ``at``, if it has a place of its own: most points near their
    middle are its own."""
    middle = np.median(at, axis=0)
    middle = at[np.argmin(((at - middle) ** 2).sum(1))]
    nearest = np.sort(((everything - middle) ** 2).sum(1))[: QUALITY_NEIGHBOURS + 1][-1]
    own = (((at - middle) ** 2).sum(1) <= nearest).sum()
    return middle if own > QUALITY_NEIGHBOURS * 0.7 else None


def _trails(stars: Sequence[Star], looked_into: TextSide | None) -> list[dict[str, Any]]:
    """From each version of a text to the next one, where it has another place."""
    out = []
    for of in dict.fromkeys(star.of for star in stars):
        way = sorted((star for star in stars if star.of == of), key=lambda star: -star.age)
        for before, after in itertools.pairwise(way):
            if (before.x, before.y) != (after.x, after.y):
                ends = {"from": [before.x, before.y], "to": [after.x, after.y]}
                out.append({**ends, "looked": of == looked_into})
    return out


def _pairs(stars: Sequence[Star]) -> list[list[list[float]]]:
    """The places of both texts of each pair, as they are now."""
    now = [star for star in stars if not star.age]
    texts = [[star for star in now if star.of.place == place] for place in dict.fromkeys(s.of.place for s in now)]
    return [[[star.x, star.y] for star in both] for both in texts if len(both) > 1]


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


def data_name(filter_map: FilterMap, card: Mapping[str, Any]) -> str:
    """What the data set of the map is called in the model's ``card``; else its file, empty where the map has none."""
    file, recipe = _file(filter_map), card.get("recipe")
    sets: list[Any] = []
    for value in recipe.values() if isinstance(recipe, Mapping) else ():
        sets += value if isinstance(value, list) else [value]
    named = (one for one in sets if isinstance(one, Mapping) and str(one.get("path")).rpartition("/")[2] == file)
    return next((str(one["name"]) for one in named if one.get("name")), file)


def _file(filter_map: FilterMap) -> str:
    data = filter_map.card.get("data")
    return str(data["file"]) if isinstance(data, Mapping) and "file" in data else ""


def quality(layout: Layout, neighbours: int) -> tuple[str, str]:
    """How far the map may be trusted: one line of numbers, and what they mean."""
    q = layout.quality
    line = (
        f"{neighbours}-NN accuracy: {percent(q['knn_filters'])} in filter space, {percent(q['knn_plane'])} on the map "
        f"(majority class {percent(q['majority'])}); trustworthiness {q['trustworthiness']:.2f}."
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


def caution(layout: Layout, neighbours: int) -> str:
    """What to know before one reads the map: a sentence where neighbours name the class worse than its largest class
    would, else empty."""
    q = layout.quality
    if q["knn_filters"] >= q["majority"] and q["knn_plane"] >= q["majority"]:
        return ""
    return (
        f"Neighbours do not tell the class on this map: {neighbours}-NN accuracy is {percent(q['knn_filters'])} in "
        f"filter space and {percent(q['knn_plane'])} on the map, always naming the majority class "
        f"{percent(q['majority'])}. Read no class into where a text lies."
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


def _star_label(star: Star) -> list[str]:
    which = f"{star.of.name}, an earlier version" if star.age else star.of.name
    return [which, short(star.words, _LABEL), star.verdict]


def hovering(item: MapItem, name: str, text: str) -> list[str]:
    """What the label of a reference text of the class ``name`` says: what it is called, how it begins (both may be
    empty), and of what class it is."""
    if not text:
        return [title(item), "", name]
    return [item.title, short(opening(item, text), _LABEL), name if item.title else f"{name}, {item.id}"]
