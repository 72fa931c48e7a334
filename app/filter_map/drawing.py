"""Names and sentences of the filter map: its texts, their labels, how to read the map and how far to trust it."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.page_state.codec import short
from core.filter_map.map import QUALITY_NEIGHBOURS, FilterMap, Layout, MapItem, Neighbour
from core.spreadsheet import csv_text
from core.wording import percent

_LABEL = 150
"""Length limit in characters of a text in its hover label."""
_BEGINNING = 54
"""Length limit in characters of a reference text in the list next to the map."""

Label = tuple[str, str, str]
"""The lines of a hover label: title, text, and class or verdict; each may be empty."""


class TextSide(NamedTuple):
    """One of the user's texts, or one side of a pair."""

    place: int
    """Index of the text, from 0."""
    side: str
    """The text's role in its pair; empty for single texts."""

    @property
    def name(self) -> str:
        """1, or 1 question; 1: question 2 if the role has a number."""
        return numbered(self.side, self.place, after=False)


def numbered(role: str, place: int, after: bool = True) -> str:
    """A role with the number of its text, such as question 1; a role that already ends in a number (question 2)
    becomes question 2 of pair 1."""
    if role[-1:].isdigit():
        return f"{role} of pair {place + 1}" if after else f"{place + 1}: {role}"
    return f"{role} {place + 1}" if after else f"{place + 1} {role}".strip()


@dataclass(frozen=True)
class Star:
    """One version of a user's text, placed in a layout."""

    of: TextSide
    words: str
    age: int
    """0 for the current version, 1 for the one before it …"""
    spot: tuple[float, float]
    """Its coordinates."""
    verdict: str = ""
    """The model's most probable classes, in words."""


def description(filter_map: FilterMap) -> str:
    """The figure in one sentence, for screen readers. It does not depend on the user's texts, so that the chart stays
    when they change."""
    return (
        f"Filter map: {len(filter_map.items):,} texts in the plane, one colour and symbol per class; stars are your "
        "own texts. The nearest filters are listed next to it."
    )


def title(item: MapItem) -> str:
    """The title of an item, or its row in the data."""
    return item.title or item.id


def opening(item: MapItem, text: str) -> str:
    """A reference text without its title."""
    return text.removeprefix(item.title).removeprefix(".").strip() if item.title else text.strip()


def kind(item: MapItem, names: Mapping[str, str]) -> str:
    """The display name of its class; texts without a class have their role instead."""
    return names.get(item.label, item.label)


def nearest_rows(
    filter_map: FilterMap, nearest: Sequence[Neighbour], names: Mapping[str, str], texts: Sequence[str]
) -> tuple[str, list[tuple[str, str, str]]]:
    """The distance column's name (small distances are in thousandths or millionths); title, class and distance of each
    neighbour. With the reference ``texts``, the beginning of each follows its title."""
    furthest = max((neighbour.distance for neighbour in nearest), default=1.0)
    power, unit = (0, "") if furthest >= 0.01 else (3, ", ×\u00a010⁻³") if furthest >= 1e-5 else (6, ", ×\u00a010⁻⁶")
    rows = []
    for neighbour in nearest:
        item = filter_map.items[neighbour.index]
        text = opening(item, texts[neighbour.index]) if texts else ""
        # Only the beginning of a long document is needed.
        beginning = textwrap.shorten(text[: 2 * _BEGINNING], _BEGINNING, placeholder=" …")
        named = ": ".join(filter(None, (title(item), beginning)))
        rows.append((named, kind(item, names), f"{neighbour.distance * 10**power:#.3g}"))
    return f"distance{unit}", rows


def reading(filter_map: FilterMap, layout: Layout, data: str) -> str:
    """How to read the map of the texts in ``data``, in one line."""
    what = "the filters" if layout.filter is None else f"filter {layout.filter} of those"
    metric = "cosine" if layout.metric == "cosine" else "euclidean"
    of = f" of {data}" if data else ""
    return (
        f"Each point is one of {len(filter_map.items):,} texts{of}, by {what} that the model makes from it: "
        f"t-SNE of their {metric} distances. A star’s position is approximate (openTSNE’s transform)."
    )


def data_name(filter_map: FilterMap, card: Mapping[str, object]) -> str:
    """The name of the map's data set on the model's ``card``, else its file name; empty if the map names no file."""
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
    """The quality measures of the map in one line, and their meaning."""
    q = layout.quality
    line = (
        f"{_neighbours(filter_map)}-NN accuracy: {percent(q['knn_filters'])} in filter space, "
        f"{percent(q['knn_plane'])} on the map (majority class {percent(q['majority'])}); "
        f"trustworthiness {q['trustworthiness']:.2f}."
    )
    if "knn_held_out" in q:
        line += f" On texts that the model was not trained on: {percent(q['knn_held_out'])} in filter space."
    meaning = (
        "k-NN accuracy: each text gets the majority class of its nearest neighbours, in filter space and on the "
        "map. If both are equally good, the map’s clusters exist among the filters too. "
        "Trustworthiness is 1 when all neighbours on the map are also neighbours in filter space. Distances between "
        "clusters, and their sizes, mean nothing in t-SNE; the list of nearest filters has true distances."
    )
    return line, meaning


def caution(filter_map: FilterMap, layout: Layout) -> str:
    """A warning if neighbours predict the class worse than the majority class does, else empty."""
    q = layout.quality
    if q["knn_filters"] >= q["majority"] and q["knn_plane"] >= q["majority"]:
        return ""
    return (
        f"Neighbours do not tell the class on this map: {_neighbours(filter_map)}-NN accuracy is "
        f"{percent(q['knn_filters'])} in filter space and {percent(q['knn_plane'])} on the map, always naming the "
        f"majority class {percent(q['majority'])}. Do not infer a class from a text’s position."
    )


def without_texts(filter_map: FilterMap, data: str) -> str:
    """How to make the reference texts available. ``data``: the name of the data set."""
    file = _file(filter_map) or "the file of this map"
    of = f" ({data})" if data and data != file else ""
    return f"The reference texts are read from {file}{of}: set PAIRLENS_DATA to the folder that contains it."


def to_csv(filter_map: FilterMap, layout: Layout, names: Mapping[str, str], stars: Sequence[Star]) -> str:
    """One line per point: the user's texts first (version 0 is the current one), then the reference collection."""
    rows: list[list[object]] = [
        ["yours", star.of.name, star.words, star.of.side, star.verdict, star.age, *star.spot] for star in stars
    ]
    for item, (x, y) in zip(filter_map.items, layout.coordinates.tolist(), strict=True):
        rows.append(["reference", item.id, item.title, item.side, kind(item, names), "", x, y])
    return csv_text(["of", "id", "title", "side", "class", "version", "x", "y"], rows)


def star_label(star: Star) -> Label:
    """The hover label of a star."""
    which = f"{star.of.name}, an earlier version" if star.age else star.of.name
    return which, short(star.words, _LABEL), star.verdict


def hover_label(item: MapItem, name: str, text: str) -> Label:
    """The hover label of a reference text of the class ``name``; ``text`` is empty if it is not available."""
    if not text:
        return title(item), "", name
    return item.title, short(opening(item, text), _LABEL), name if item.title else f"{name}, {item.id}"
