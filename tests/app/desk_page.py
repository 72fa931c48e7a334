"""The page Error desk without a browser: open it, find its parts, read what it says."""

from html import unescape

from tests.app.pages import chart_rows, open_view
from tests.core.made_up_runs import ONE, TWO


def page(run, **more):
    address = {"file": run.dataset.sha256[:16], "models": f"{ONE[:16]}.{TWO[:16]}"}
    return open_view("error_desk", **address | more)


def figures(app):
    """The text of the page's figures: headings and captions, lines of tables, and the filters of marks."""
    lines = " ".join(" ".join(map(str, row)) for frame in app.dataframe for row in frame.value.values.tolist())
    filters = " ".join(str(mark.get("filter")) for rows in chart_rows(app) for mark in rows)
    return unescape(f"{texts(app)} {lines} {filters}")


def texts(app):
    return " ".join(element.proto.body for element in app.get("html"))


def button(app, label):
    return next(one for one in app.button if one.label == label)


def write_as(app, name):
    box = next(one for one in app.text_input if one.label == "Your name")
    box.set_value(name)
    return app.run()
