"""Pages: open one without a browser, find its widgets, read what it says; wait for one in a browser."""

import json
from pathlib import Path
from urllib.parse import parse_qsl

import pyarrow as pa
from streamlit.testing.v1 import AppTest

from app.api.answers import question

ROOT = Path(__file__).resolve().parents[2]


def open_view(file, /, **link):
    """The page of a script, or of a view's name, at an address with these parameters."""
    app = AppTest.from_file(str(ROOT / (file if "." in file else f"app/views/{file}.py")), default_timeout=600)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def sentences(app):
    """The notices shown instead of the figures."""
    return [h.proto.body for h in app.get("html") if h.proto.body.startswith("<p ")]


def box(app, side):
    return app.text_input[("first", "second").index(side)]


def chooser(app, label):
    return next(widget for widget in [*app.selectbox, *app.radio] if widget.label == label)


def choose_model(app, task, name):
    """Select a task, then a model of it."""
    chooser(app, "Task").select(task).run()
    chooser(app, "Model").set_value(name).run()


def query(app):
    """The parameters of the address as the browser shows it: as it was, or as the page has completed it."""
    completed = [data["query"] for data in components(app) if "query" in data]
    if completed:
        return dict(parse_qsl(completed[0], keep_blank_values=True))
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def components(app):
    """The data that the page passed to its components."""
    given = [json.loads(one.proto.json) for one in app.get("bidi_component")]
    drawn = [data for data in given if "view" in data]
    others = [data for data in given if "view" not in data]
    return [data | json.loads(data["drawing"]) | json.loads(data["moving"]) for data in drawn] + others


def chart_rows(app):
    """The rows of each data set of the Altair charts."""
    data = [one.data.data for chart in app.get("vega_lite_chart") for one in chart.proto.datasets]
    return [pa.ipc.open_stream(rows).read_all().to_pylist() for rows in data]


def answered(kind, **body):
    """The API's answer to a request, without a server. Raises UserError if it refuses."""
    _, compute = question(kind, body)
    return json.loads(compute(lambda done, of: None))


def open_file(app, text):
    """Open a saved file's text with the page's part for it."""
    app.session_state["save and open"] = True
    app.run().file_uploader[0].set_value(("pair.json", text, "application/json")).run()


def come_to_rest(page):
    """Wait until the browser has drawn the page: Streamlit's widgets lose clicks during a redraw."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
