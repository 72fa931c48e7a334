"""The page Filter map without a browser: open it, and read what it draws."""

import html
import re

from tests.app.pages import components, open_view


def page(**parameters):
    return open_view("filter_map", **({"model": "test-topics"} | parameters))


def notices(app):
    bodies = [h.proto.body for h in app.get("html") if 'class="pl-notice"' in h.proto.body]
    return [line.split(">", 1)[1] for body in bodies for line in body.split("</p>")[:-1]]


def drawn_map(app):
    return next((data for data in components(app) if "classes" in data), None)


def heatmap(app):
    return next(data for data in components(app) if "top" in data)


def stars(app, earlier=False):
    return [star for star in drawn_map(app)["stars"] if star["earlier"] == earlier]


def badges(app):
    return [star["badge"] for star in stars(app)]


def arrows(app):
    return drawn_map(app)["trails"]


def texts(app):
    return [box.value for box in app.text_area]


def table(app, head):
    """Rows of the table with this heading, as the texts of their cells."""
    body = next(h.proto.body for h in app.get("html") if f'<th scope="col">{head}<' in h.proto.body)
    rows = [re.findall("<t[dh].*?</t[dh]>", row) for row in body.split("<tr")[2:]]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in rows]
