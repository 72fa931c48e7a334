"""The filter map as a Plotly figure: the reference texts with the first texts, and later texts as traces.

Streamlit redraws a whole chart when any part of its figure changes. So a session's figure stays as it was first drawn,
and ``app/components/filter_map.js`` replaces the traces of :func:`own_traces` in it, preserving the zoom and the hidden
classes. Plotly interprets some HTML in its texts, so every text is escaped.
"""

from __future__ import annotations

import html
import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.filter_map.drawing import Label, Star, TextSide, hover_label, kind, star_label
from app.palette import DIVERGING, map_look
from app.panels.generated_filters.one_filter import place
from core.evidence import Matrix
from core.filter_map.map import QUALITY_NEIGHBOURS, FilterMap, Layout, Neighbour
from core.shared_memory import SharedMemory

Trace = dict[str, Any]
"""A Plotly trace as JSON."""
Range = tuple[float, float]

_STAR, _INSPECTED = "#4a5b6c", "#c63f0a"
"""Colours of the stars, drawn with a white edge, and of the inspected text; visible in both themes."""
_RING = "#e5622a"
_LINE = "#7c8b9a"
_HALO = {"color": "#1d2733", "shadow": ", ".join(["0 0 3px #ffffff"] * 4)}
"""Style of letters that are legible on marks, in both themes."""
_DRAWN = (580, 300)
"""Usual size of the map in pixels, used to keep class names apart."""
_HOVER_WIDTH = 56
"""Maximum characters per line of a hover label."""
_NO_AXIS = {"visible": False, "showgrid": False, "zeroline": False}


FIGURES: SharedMemory[go.Figure] = SharedMemory(4)
"""Figures of reference texts for all sessions, cached because Plotly validates each of their values."""


@dataclass(frozen=True)
class MapText:
    """How to read the map, and the meaning of its quality measures."""

    reading: str
    meaning: str


@dataclass(frozen=True)
class OwnTexts:
    """The traces of the user's texts, and the ranges of x and y to show. ``mark``: the ``meta`` of these traces alone;
    ``near``: show the surroundings of the inspected text rather than the whole map; ``inspected``: its position, if it
    has one."""

    mark: str
    traces: Sequence[Trace]
    home: tuple[Range, Range]
    near: bool
    inspected: tuple[float, float] | None


def reference_figure(
    filter_map: FilterMap, layout: Layout, names: Mapping[str, str], texts: Sequence[str], scale: float = 1.0
) -> go.Figure:
    """The reference texts, one trace per class with its name among its points. ``names``: display names of the classes;
    ``texts``: the reference texts, one per item, if available; ``scale``: of marks and type."""
    rows: dict[str, list[int]] = {name: [] for name in names.values()}
    for i, item in enumerate(filter_map.items):
        rows.setdefault(kind(item, names), []).append(i)
    rows = {name: indices for name, indices in rows.items() if indices}
    figure = go.Figure()
    class_names = []
    for (colour, symbol), (name, indices) in zip(map_look(list(rows)), rows.items(), strict=True):
        places = layout.coordinates[indices]
        labels = [hover_label(filter_map.items[i], name, texts[i] if texts else "") for i in indices]
        mark = {"color": colour, "symbol": symbol, "size": 5 * scale, "opacity": 0.85}
        figure.add_scatter(**_points(places, name, mark, labels), legendgroup=name)
        middle = _middle(places, layout.coordinates)
        if middle is not None:
            class_names.append((name, middle))
    (left, right), (low, high) = _range(layout.coordinates, layout, 1)
    for name, x, y in _apart(class_names, max((right - left) / _DRAWN[0], (high - low) / _DRAWN[1])):
        figure.add_scatter(
            x=[x],
            y=[y],
            text=[html.escape(name)],
            mode="text",
            textfont=_HALO | {"size": 13 * scale},
            hoverinfo="skip",
            legendgroup=name,
            showlegend=False,
        )
    figure.update_layout(
        xaxis={**_NO_AXIS, "range": [left, right]},
        yaxis={**_NO_AXIS, "range": [low, high], "scaleanchor": "x"},
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": 0, "tracegroupgap": 0, "font": {"size": 12 * scale}},
        hoverlabel={"align": "left", "font": {"size": 13 * scale}},
        modebar={"orientation": "v"},
        dragmode="pan",
    )
    return figure


def own_traces(
    layout: Layout,
    stars: Sequence[Star],
    inspected: TextSide | None,
    nearest: Sequence[Neighbour],
    near: bool,
    scale: float = 1.0,
) -> OwnTexts:
    """Rings around the nearest filters, trails between versions, and a star for each version of a text."""
    rings = layout.coordinates[[neighbour.index for neighbour in nearest]]
    ring = {"color": _RING, "symbol": "circle-open", "size": 14 * scale, "line": {"width": 2.5}}
    traces = [{**_points(rings, "nearest filters", ring), "hoverinfo": "skip"}] if len(rings) else []
    traces += [_trail(versions, inspected, scale) for versions in _versions(stars) if len(versions) > 1]
    traces += [_line_between(pair) for pair in _pairs(stars)]
    sides = list(dict.fromkeys(star.of.side for star in stars))
    # The star of the inspected text is drawn last, above the others.
    for star in sorted(stars, key=lambda star: (-star.age, star.of == inspected)):
        second_side = sides.index(star.of.side) % 2 == 1
        traces.append(_star(star, star.of == inspected, second_side, scale))
    first_names: set[str] = set()
    for trace in traces:
        trace.update(legendgroup=trace["name"], showlegend=trace["name"] not in first_names)
        first_names.add(trace["name"])
    spot = next((star.spot for star in stars if star.of == inspected and not star.age), None)
    if near and spot is not None:
        home = _range(np.concatenate([[spot], rings]), layout, 0.15)
    else:
        home = _range(np.concatenate([layout.coordinates, *([star.spot] for star in stars)]), layout, 1)
    mark = blake2b(repr((traces, home)).encode(), digest_size=16).hexdigest()
    return OwnTexts(mark, [trace | {"meta": mark} for trace in traces], home, near, spot)


def first_figure(reference: go.Figure, own: OwnTexts) -> go.Figure:
    """The reference texts with the user's, for the first drawing."""
    figure = go.Figure(reference).add_traces(own.traces)
    return figure.update_layout(xaxis={"range": own.home[0]}, yaxis={"range": own.home[1]})


def _points(places: np.ndarray, name: str, marker: Trace, labels: Sequence[Label] = ()) -> Trace:
    x, y = np.round(places.astype(float), 3).T.tolist()
    trace = {"type": "scatter", "mode": "markers", "name": html.escape(name), "x": x, "y": y, "marker": marker}
    if labels:
        trace |= {"text": [_hover_text(*label) for label in labels], "hovertemplate": "%{text}<extra></extra>"}
    return trace


def _hover_text(title: str, text: str, name: str) -> str:
    """The lines of a hover label as HTML for Plotly."""
    lines = [html.escape(line) for line in textwrap.wrap(text, _HOVER_WIDTH)]
    return "<br>".join([*([f"<b>{html.escape(title)}</b>"] if title else []), *lines, html.escape(name)])


def _star(star: Star, inspected: bool, second_side: bool, scale: float) -> Trace:
    colour = _INSPECTED if inspected else _STAR
    marker = {
        "color": colour,
        "symbol": "hexagram" if second_side else "star",
        "size": (14 if star.age else 18) * scale,
        "opacity": 0.6 if star.age else 1,
        "line": {"color": "#ffffff", "width": 1.5},
    }
    name = "earlier versions" if star.age else "yours (approximate)"
    trace = _points(np.array([star.spot]), name, marker, [star_label(star)])
    if not star.age:
        badge = _HALO | {"size": 13 * scale, "weight": 700}
        trace |= {"mode": "markers+text", "texttemplate": html.escape(star.of.name), "textfont": badge}
        trace["textposition"] = "top center"
    return trace


def _versions(stars: Sequence[Star]) -> list[list[Star]]:
    """The versions of each text, earliest first, without those that did not move it."""
    texts = []
    for of in dict.fromkeys(star.of for star in stars):
        versions = sorted((star for star in stars if star.of == of), key=lambda star: -star.age)
        texts.append([next(same) for _, same in itertools.groupby(versions, key=lambda star: star.spot)])
    return texts


def _trail(versions: Sequence[Star], inspected: TextSide | None, scale: float) -> Trace:
    """An arrow from each version of a text to the next."""
    colour = _INSPECTED if versions[0].of == inspected else _LINE
    arrow = {"symbol": "arrow", "angleref": "previous", "size": 12 * scale, "color": colour, "standoff": 8 * scale}
    trace = _points(np.array([star.spot for star in versions]), "earlier versions", arrow)
    return {**trace, "mode": "lines+markers", "line": {"color": colour, "width": 2}, "hoverinfo": "skip"}


def _pairs(stars: Sequence[Star]) -> list[list[Star]]:
    """The current texts of each pair whose texts both have a position."""
    present = [star for star in stars if not star.age]
    numbers = dict.fromkeys(star.of.place for star in present)
    pairs = ([star for star in present if star.of.place == number] for number in numbers)
    return [pair for pair in pairs if len(pair) > 1]


def _line_between(pair: Sequence[Star]) -> Trace:
    trace = _points(np.array([star.spot for star in pair]), "yours (approximate)", {})
    return {**trace, "mode": "lines", "line": {"color": _LINE, "width": 2, "dash": "dot"}, "hoverinfo": "skip"}


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


def weights_figure(weights: Matrix, title: str, size: str, scale: float = 1.0) -> go.Figure:
    """A filter ``[h, d]`` as a heatmap, transparent at 0; ``size``: its shape in words, below the dimensions."""
    top = max(abs(weight) for row in weights for weight in row) or 1.0
    below, above = DIVERGING
    heatmap = go.Heatmap(
        z=weights,
        x=list(range(1, len(weights[0]) + 1)),
        y=[place(i) for i in range(1, len(weights) + 1)],
        zmin=-top,
        zmax=top,
        colorscale=[[0, below], [0.5, "rgba(128, 128, 128, 0)"], [1, above]],
        showscale=False,
        hovertemplate="%{y}, dimension %{x}: %{z:+.4f}<extra></extra>",
    )
    # On every text, since Streamlit's theme sets the sizes that a figure leaves open.
    letters = {"size": 12 * scale}
    return go.Figure(heatmap).update_layout(
        title={"text": html.escape(title), "font": {"size": 13 * scale}},
        # Two lines, because a phone cannot show a longer one.
        xaxis={
            "title": {"text": f"{size}<br>orange: above 0, blue: below 0", "font": letters},
            "tickfont": letters,
            "showgrid": False,
            "fixedrange": True,
        },
        yaxis={"autorange": "reversed", "tickfont": letters, "showgrid": False, "fixedrange": True},
        margin={"l": 0, "r": 0, "t": 32 * scale, "b": 0},
        height=round((30 * len(weights) + 100) * scale),
        dragmode=False,
    )


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
