"""The page Filter map without a browser: open it, and read what it draws."""

import itertools

from tests.app.pages import components, lines_of, open_view


def page(**parameters):
    return open_view("filter_map", **({"model": "test-topics"} | parameters))


def notices(app):
    bodies = [h.proto.body for h in app.get("html") if 'class="pl-notice"' in h.proto.body]
    return [line.split(">", 1)[1] for body in bodies for line in body.split("</p>")[:-1]]


def map_text(app):
    """The data of the drawn map, if there is one: the reference texts, and the user's own."""
    return next((data for data in components(app) if data.get("view") == "filterMap"), None)


def weights(app):
    """The data of the drawn filter."""
    return next(data for data in components(app) if data.get("view") == "filterWeights")


def classes(app):
    """The classes of the reference texts; None without a map."""
    drawn = map_text(app)
    return drawn and drawn["classes"]


def stars(app, earlier=False):
    return [star for star in map_text(app)["stars"] if star["old"] is earlier]


def badges(app):
    return [star["name"] for star in stars(app)]


def arrows(app):
    """Each step of a trail."""
    trails = [trail["points"] for trail in map_text(app)["trails"]]
    return [step for points in trails for step in itertools.pairwise(points)]


def texts(app):
    return [box.value for box in app.text_area]


def table(app, head):
    """Rows of the table with this heading, as the texts of their cells."""
    return next(lines_of(table) for table in app.table if table.value.columns[0] == head)
