"""The page Error desk without a browser: open it, find its parts, read what it says."""

from tests.app.pages import components, open_view
from tests.core.made_up_runs import ONE, TWO


def page(run, **more):
    address = {"file": run.dataset.sha256[:16], "models": f"{ONE[:16]}.{TWO[:16]}"}
    return open_view("error_desk", **address | more)


def figures(app):
    return "".join(data["html"] for data in components(app) if "html" in data)


def texts(app):
    return " ".join(element.proto.body for element in app.get("html"))


def button(app, label):
    return next(one for one in app.button if one.label == label)


def write_as(app, name):
    box = next(one for one in app.text_input if one.label == "Your name")
    box.set_value(name)
    return app.run()
