"""The page Filter map without a browser: open it, and read what it draws."""

import json

from tests.app.pages import components, lines_of, open_view


def page(**parameters):
    return open_view("filter_map", **({"model": "test-topics"} | parameters))


def notices(app):
    bodies = [h.proto.body for h in app.get("html") if 'class="pl-notice"' in h.proto.body]
    return [line.split(">", 1)[1] for body in bodies for line in body.split("</p>")[:-1]]


def plotly_charts(app):
    """The data of each Plotly chart: the map, if there is one, and a filter's weights."""
    return [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")]


def reference_traces(app):
    """Traces of the reference texts, without those of the class names and of the user's texts; None without a map."""
    traces = next((data for data in plotly_charts(app) if data[0]["type"] == "scatter"), None)
    return traces and [trace for trace in traces if trace["mode"] == "markers" and "meta" not in trace]


def map_text(app):
    """The map script's data: the caption, and the user's own traces."""
    return next((data for data in components(app) if data.get("view") == "filterMap"), None)


def _own(app, name):
    return [trace for trace in map_text(app)["traces"] if trace["name"] == name]


def stars(app, earlier=False):
    traces = _own(app, "earlier versions" if earlier else "yours (approximate)")
    return [trace for trace in traces if trace["mode"].startswith("markers")]


def badges(app):
    return [star["texttemplate"] for star in stars(app)]


def arrows(app):
    """Each step of a trail."""
    trails = [trace for trace in _own(app, "earlier versions") if trace["mode"] == "lines+markers"]
    return [step for trace in trails for step in zip(trace["x"], trace["x"][1:], strict=False)]


def pairs(app):
    """The ends of the lines between two texts of a pair."""
    lines = [trace for trace in _own(app, "yours (approximate)") if trace["mode"] == "lines"]
    return [list(zip(line["x"], line["y"], strict=True)) for line in lines]


def rings(app):
    return next(trace for trace in map_text(app)["traces"] if trace["name"] == "nearest filters")


def texts(app):
    return [box.value for box in app.text_area]


def table(app, head):
    """Rows of the table with this heading, as the texts of their cells."""
    return next(lines_of(table) for table in app.table if table.value.columns[0] == head)
