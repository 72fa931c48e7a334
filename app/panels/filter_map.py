"""The filter map as a figure: the reference collection by class, a person's own texts as stars, and how to read it."""

from __future__ import annotations

import csv
import functools
import html
import io
import itertools
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from app.palette import ACCENT, ACCENT_MARK, INK, LINE, OTHER_LINE, PAPER, map_look
from app.panels.verdict import percent
from core.evidence.record import cell
from core.filter_map.map import QUALITY_NEIGHBOURS, FilterMap, Layout, MapItem, Neighbour

HEIGHT = 390
"""Of the map without its legend."""
_STARS = ("star", "hexagram")
"""Of a pair's first and second text."""
_BADGE = INK[0]
"""Ground of a star's number, with white on it: it stands out on either theme."""
_FONT = '"Source Sans", sans-serif'
"""The page's own."""
_LINE = 56
"""Characters in a line of a hover label."""
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


def figure(
    filter_map: FilterMap, layout: Layout, names: Mapping[str, str], stars: Sequence[Star],
    looked_into: TextSide | None, nearest: Sequence[Neighbour], near: bool = False, dark: bool = False,
    texts: Sequence[str] = (), scale: float = 1.0,
) -> Any:  # fmt: skip
    """The map. ``names``: classes as people read them; ``looked_into``: its star has the accent, and its ``nearest``
    items get a ring; ``near``: show the surroundings of both alone; ``dark``: the theme that names are written for;
    ``texts``: the reference texts, one an item, where they are there; ``scale``: how many times as large as usual
    letters and marks are.

    ``near`` is a view of its own, because a person's own zoom is gone with every edit: Streamlit 1.67 makes a chart's
    identity from its whole figure, whatever its key, so a changed figure is a new element in the browser, and Plotly's
    uirevision, which lets one element keep its zoom, has nothing to keep.

    Streamlit also gives each figure to Plotly twice, the second time as a copy, and all points would be drawn twice.
    Plotly sees that nothing has changed where numbers are lists (not NumPy's, which are sent as bytes) under one
    ``datarevision``, and where there is no template: all looks are said here.
    """
    import plotly.graph_objects as go  # here, so that the other pages start without it

    drawn = go.Figure()
    class_names: list[dict[str, Any]] = []
    add = drawn.add_scatter  # as SVG: two thousand points are few, and without WebGL they are drawn twice as fast
    for (colour, symbol), name, labels, at in _groups(filter_map, layout, names, texts):
        across, up = np.round(at.astype(float), 3).T.tolist()
        add(
            x=across, y=up, mode="markers", name=_safe(name), text=labels,
            hovertemplate="%{text}<extra></extra>",
            marker={"color": colour, "symbol": symbol, "size": (9 if near else 7) * scale, "opacity": 0.85},
        )  # fmt: skip
        class_names += _class_name(name, at, layout.coordinates, dark, scale)
    drawn.update_layout(annotations=class_names)  # at once: Plotly checks all of them again with each that is added
    rings = layout.coordinates[[n.index for n in nearest]]
    if len(rings):
        add(
            x=rings[:, 0].tolist(), y=rings[:, 1].tolist(), mode="markers", name="nearest filters", hoverinfo="skip",
            marker={"color": ACCENT_MARK, "symbol": "circle-open", "size": 14 * scale, "line": {"width": 2.5}},
        )  # fmt: skip
    around = [star for star in stars if star.of == looked_into and not star.age] if near else []
    if around:
        x, y = _range(np.concatenate([[(star.x, star.y) for star in around], rings]), layout, 0.15)
    else:
        x, y = _range(np.concatenate([layout.coordinates, *([(star.x, star.y)] for star in stars)]), layout, 1)
    _add_trails(drawn, stars, looked_into, np.array([x, y]))
    _add_stars(drawn, add, stars, looked_into, scale)
    # The whole map stays whole when the window changes its shape; a part of it may show more.
    constrain = "range" if around else "domain"
    drawn.update_xaxes(visible=False, range=x, constrain=constrain)
    drawn.update_yaxes(visible=False, range=y, constrain=constrain, scaleanchor="x")
    # Room for the legend of a narrow window, two in a line: left to itself, Plotly cuts the map off when it is resized.
    below = 12 + legend_height(drawn, 2, scale)
    drawn.update_layout(
        height=HEIGHT * scale + below, hovermode="closest", paper_bgcolor=PAPER[dark], plot_bgcolor=PAPER[dark],
        font={"family": _FONT, "color": INK[dark]}, datarevision=1,
        hoverlabel={"align": "left", "bgcolor": PAPER[dark], "bordercolor": LINE[dark],
                    "font": {"family": _FONT, "color": INK[dark], "size": 13 * scale}},
        margin={"l": 16, "r": 16, "t": 28, "b": below, "autoexpand": False},
        legend={"orientation": "h", "yanchor": "top", "y": -0.01, "xref": "container", "x": 0, "itemsizing": "constant",
                "entrywidth": 116 * scale, "font": {"size": 12 * scale}},
    )  # fmt: skip
    drawn.layout.pop("template")
    return drawn


def legend_height(drawn: Any, across: int, scale: float) -> float:
    """Pixels of the figure's legend with so many entries in a line."""
    entries = sum(trace.showlegend is not False for trace in drawn.data)
    return 19 * scale * -(-entries // across)


def _range(points: np.ndarray, layout: Layout, least: float) -> list[list[float]]:
    """Ranges of x and y that hold the points, and at least this share of the map, with room at the edges."""
    low, high = points.min(0), points.max(0)
    half = 0.53 * np.maximum(high - low, least * np.ptp(layout.coordinates, axis=0))
    middle = (low + high) / 2
    ranges: list[list[float]] = np.stack([middle - half, middle + half], axis=1).tolist()
    return ranges


def _groups(
    filter_map: FilterMap, layout: Layout, names: Mapping[str, str], texts: Sequence[str]
) -> list[tuple[Any, str, list[str], np.ndarray]]:
    """Items of each class: their look, the class's name, their hover labels, and where they lie."""
    rows: dict[str, list[int]] = {name: [] for name in names.values()}
    for i, item in enumerate(filter_map.items):
        rows.setdefault(kind(item, names), []).append(i)
    rows = {name: at for name, at in rows.items() if at}
    out = []
    for style, (name, at) in zip(map_look(list(rows)), rows.items(), strict=True):
        labels = [hovering(filter_map.items[i], name, texts[i] if texts else "") for i in at]
        out.append((style, name, labels, layout.coordinates[at]))
    return out


def _class_name(name: str, at: np.ndarray, everything: np.ndarray, dark: bool, scale: float) -> list[dict[str, Any]]:
    """The class's name amid its points, where it has a place of its own: most points near their middle are its own."""
    middle = np.median(at, axis=0)
    middle = at[np.argmin(((at - middle) ** 2).sum(1))]
    nearest = np.sort(((everything - middle) ** 2).sum(1))[: QUALITY_NEIGHBOURS + 1][-1]
    own = (((at - middle) ** 2).sum(1) <= nearest).sum()
    if own <= QUALITY_NEIGHBOURS * 0.7:
        return []
    halo = ", ".join(f"0 0 {size}px {PAPER[dark]}" for size in (2, 2, 3, 3, 4, 5))
    font = {"size": 13 * scale, "color": INK[dark], "shadow": halo}
    return [{"x": middle[0], "y": middle[1], "text": _safe(name), "showarrow": False, "name": "class", "font": font}]


def _add_trails(drawn: Any, stars: Sequence[Star], looked_into: TextSide | None, shown: np.ndarray) -> None:
    """An arrow from each version of a text to the next, and a dotted line between both texts of a pair. Not as traces:
    WebGL draws all lines below all points. ``shown [2, 2]``: ranges of x and y; an arrow begins at their edge at most,
    since Plotly would draw it across the legend."""
    for of in dict.fromkeys(star.of for star in stars):
        way = sorted((star for star in stars if star.of == of), key=lambda star: -star.age)
        for before, after in itertools.pairwise(way):
            if (before.x, before.y) != (after.x, after.y):
                tail = _inside(np.array([before.x, before.y]), np.array([after.x, after.y]), shown)
                drawn.add_annotation(
                    x=after.x, y=after.y, ax=tail[0], ay=tail[1], axref="x", ayref="y", arrowhead=2, arrowwidth=2,
                    arrowcolor=ACCENT_MARK if of == looked_into else OTHER_LINE[0], standoff=9,
                    startstandoff=7, text="",
                )  # fmt: skip
    now = [star for star in stars if not star.age]
    for place in dict.fromkeys(star.of.place for star in now):
        both = [star for star in now if star.of.place == place]
        if len(both) > 1:
            drawn.add_shape(
                type="line", x0=both[0].x, y0=both[0].y, x1=both[1].x, y1=both[1].y, layer="above",
                line={"color": OTHER_LINE[0], "width": 2, "dash": "dot"},
            )  # fmt: skip


def _inside(tail: np.ndarray, head: np.ndarray, shown: np.ndarray) -> list[float]:
    """The tail of an arrow, moved towards its head to the edge of the ranges ``shown [2, 2]`` where it lies outside;
    one whose head lies outside is not drawn by Plotly, and stays."""
    way = tail - head
    edge = np.where(way > 0, shown[:, 1], shown[:, 0]) - head
    shares = [e / w for e, w in zip(edge, way, strict=True) if w]
    moved: list[float] = (head + way * np.clip(min(shares), 0, 1)).tolist()
    return moved


def _add_stars(
    drawn: Any, add: Callable[..., Any], stars: Sequence[Star], looked_into: TextSide | None, scale: float
) -> None:
    sides = list(dict.fromkeys(star.of.side for star in stars))
    earlier, now = [s for s in stars if s.age], [s for s in stars if not s.age]
    # The star of the text looked into is drawn last, above the others.
    now.sort(key=lambda s: s.of == looked_into)
    for group, name, opacity, size in (
        (earlier, "earlier versions", 0.55, 15), (now, "yours (approximate)", 1.0, 20),
    ):  # fmt: skip
        if not group:
            continue
        add(
            x=[s.x for s in group], y=[s.y for s in group], mode="markers", name=name,
            text=[_star_label(star) for star in group], hovertemplate="%{text}<extra></extra>",
            marker={
                "color": [ACCENT_MARK if s.of == looked_into else _BADGE for s in group],
                "symbol": [_STARS[sides.index(s.of.side) % 2] for s in group], "size": size * scale, "opacity": opacity,
                "line": {"color": "#ffffff", "width": 1.5},
            },
        )  # fmt: skip
    for star in now:
        drawn.add_annotation(
            x=star.x, y=star.y, text=_safe(star.of.name), showarrow=False, yshift=22 * scale, borderpad=2,
            font={"color": "#ffffff", "size": 12 * scale}, bordercolor="#ffffff",
            bgcolor=ACCENT[0] if star.of == looked_into else _BADGE,
        )  # fmt: skip


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
    return [_lines(opening(filter_map.items[n.index], texts[n.index]), _BEGINNING, 1)[0] for n in nearest]


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
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["of", "id", "title", "side", "class", "version", "x", "y"])
    for star in stars:
        writer.writerow(
            ["yours", star.of.name, cell(star.words), star.of.side, cell(star.verdict), star.age, star.x, star.y]
        )
    for item, (x, y) in zip(filter_map.items, layout.coordinates.tolist(), strict=True):
        cells = [cell(item.id), cell(item.title), item.side, cell(kind(item, names))]
        writer.writerow(["reference", *cells, "", x, y])
    return out.getvalue()


def _star_label(star: Star) -> str:
    which = f"{star.of.name}, an earlier version" if star.age else star.of.name
    lines = [f"<b>{_safe(which)}</b>", _wrapped(star.words), _safe(star.verdict)]
    return "<br>".join(filter(None, lines))


def hovering(item: MapItem, name: str, text: str) -> str:
    """The hover label of a reference text of the class ``name``."""
    if not text:
        return f"<b>{_wrapped(title(item))}</b><br>{_safe(name)}"
    head = [f"<b>{_wrapped(item.title)}</b>"] if item.title else []
    kind_and_id = name if item.title else f"{name}, {item.id}"
    return "<br>".join([*head, _wrapped(opening(item, text), 3), _safe(kind_and_id)])


@functools.lru_cache(maxsize=8192)  # the reference texts are the same for everyone
def _wrapped(text: str, most: int = 4) -> str:
    return "<br>".join(map(_safe, _lines(text, _LINE, most)))


def _lines(text: str, width: int, most: int) -> list[str]:
    """The beginning of a text in lines of whole words; "…" says that it goes on."""
    # A document is long, and only its beginning is wrapped.
    return textwrap.wrap(text[: width * (most + 2)], width, max_lines=most, placeholder=" …") or [text[:width]]


def _safe(text: str) -> str:
    """Plotly reads a few HTML tags in names and texts; escaped, they show as they are."""
    return html.escape(text, quote=False)
