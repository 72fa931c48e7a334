"""Pages: open one without a browser, find its widgets, read what it says; wait for one in a browser."""

import json
import re
import time
from pathlib import Path
from urllib.parse import parse_qsl

import axe_playwright_python
import pyarrow as pa
from streamlit.testing.v1 import AppTest

from app.api.answers import question

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 100
"""Seconds after which what a page does not show fails the test: no passing one has waited for a quarter of it."""


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


def lines_of(table):
    """The cells of a small table, line by line, without the backslashes of Markdown."""
    return [[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in table.value.to_numpy().tolist()]


def answered(kind, **body):
    """The API's answer to a request, without a server. Raises UserError if it refuses."""
    return json.loads(question(kind, body).compute(lambda done, of: None))


def open_file(app, text):
    """Open a saved file's text with the page's part for it."""
    app.session_state["save and open"] = True
    uploaders = app.run().file_uploader
    next(one for one in uploaders if one.label.startswith("Open a saved")).set_value(
        ("pair.json", text, "application/json")
    ).run()


LOOK = 50
"""Milliseconds between two looks at whether a page is at rest. By default there is one at each frame, and a browser
that draws 60 of them a second takes from the server the time that the page waits for."""
REST = """() => !window.asked &&
  document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]:not(:has([data-stale=true]))")"""


def come_to_rest(page):
    """Wait until all that was asked of the server is answered and drawn, and nothing of an earlier answer stands on the
    page: Streamlit's widgets lose clicks during a redraw, an old table opens an old row, and figures move."""
    page.wait_for_function(REST, polling=LOOK)


def settled(page):
    """Wait until the browser has drawn the page and nothing moves or fades any more."""
    come_to_rest(page)
    page.wait_for_function(STILL, polling=LOOK)


def type_into(page, label, text):
    """Fill a text box and press Enter."""
    come_to_rest(page)
    box = page.get_by_label(label, exact=True)
    box.fill(text)
    box.press("Enter")


def reload(page):
    """Open the page's address again."""
    page.reload()
    page.wait_for_selector(".pairlens footer")
    come_to_rest(page)


def unfold(page, name, inside):
    """Open an expander of Streamlit's, until it has the button ``inside``. Returns that button."""
    page.get_by_text(name, exact=True).click()
    button = page.get_by_role("button", name=inside)
    button.wait_for()
    return button


def downloaded(button):
    """The file that a button saves."""
    come_to_rest(button.page)
    with button.page.expect_download() as waiting:
        button.click()
    return waiting.value


FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Two frames: what an event makes the browser do has been drawn by then."""
ROLLED = """() => new Promise((done) => {
  const main = document.querySelector("[data-testid=stMain]");
  let [last, same] = [null, 0];
  const look = () => {
    [last, same] = [main.scrollTop, main.scrollTop === last ? same + 1 : 0];
    same < 10 ? requestAnimationFrame(look) : done();
  };
  look();
})"""
"""Until the page does not roll any more."""
IMAGE_FAILED = "() => new Promise((done) => Object.assign(new Image(), { onerror: done, onload: done, src: 'x' }))"
"""Until an image that is not there has failed: the script of one that the page holds would have run before."""
STILL = """() => {
  const ended = ({ playState, effect }) => playState !== "running" || effect.getComputedTiming().endTime === Infinity;
  const still = (root) => root.getAnimations().every(ended) &&
    [...root.querySelectorAll("*")].every(({ shadowRoot }) => !shadowRoot || still(shadowRoot));
  return still(document);
}"""


def wait_until(page, seen, wanted):
    """Wait until what ``seen(page)`` gives is as wanted, and return it: the map draws many movements at once."""
    deadline = time.monotonic() + PATIENCE
    while not wanted(found := seen(page)):
        assert time.monotonic() < deadline, f"it stays {found}"
        page.wait_for_timeout(50)
    return found


AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
VIOLATIONS = """async ([within, options]) => {
  const { violations } = await axe.run(within, { resultTypes: ["violations"], preload: false, ...options });
  const bad = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  return bad.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => [id, String(target), html.slice(0, 100)]));
}"""


def violations(page, within="[data-testid=stMain]", **options):
    """What axe finds wrong in a part of the page, by default without the menu, once nothing fades any more."""
    settled(page)
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE.read_text())
    return page.evaluate(VIOLATIONS, [within, options])
