"""Pages without a browser: open one, find its widgets, read what it says."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def open_view(file, **link):
    """The page of a script, or of a view's name, at an address with these parameters."""
    app = AppTest.from_file(str(ROOT / (file if "." in file else f"app/views/{file}.py")), default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def sentences(app):
    """The notices that stand in place of the figures."""
    return [h.proto.body for h in app.get("html") if h.proto.body.startswith("<p ")]


def box(app, side):
    return app.text_input[("first", "second").index(side)]


def chooser(app, label):
    return next(widget for widget in [*app.selectbox, *app.radio] if widget.label == label)


def query(app):
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
