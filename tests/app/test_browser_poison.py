"""One poisonous text through everything that shows users' texts, in a real browser: nothing is fetched, and no element
or markup comes of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest

from app.page_state.error_desk import VIEWS
from core.card import Roles
from core.checkpoint import read_card
from core.data import Dataset, Example
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.run import Predictions
from tests.app.made_up_models import make_checkpoint, make_filters, make_phrases
from tests.app.pages import come_to_rest, downloaded
from tests.app.servers import Server
from tests.app.visitors import Visits
from tests.core.made_up_runs import keep, stored

pytestmark = pytest.mark.browser

IMAGE, TAG = "![p](http://127.0.0.1:9/poison.png)", "<img src=http://127.0.0.1:9/poison onerror=alert(1)>"
STYLE, LINK = "**poison** _poison_ `poison` $poison$ ~~poison~~ :red[poison]", "[poison](http://poison.example)"
PLACES = "http://poison.example www.poison.example p@poison.example"
SIGNS = ":material/skull: :skull: <b>poison</b> a -> b"
PIECES = (IMAGE, TAG, STYLE, LINK, PLACES, SIGNS)
"""Each fits into a tag's name."""
POISON = " ".join(PIECES)
RENDERED = """() => {
  const found = [];
  const look = (root) => {
    for (const one of root.querySelectorAll("*")) {
      if (one.shadowRoot) look(one.shadowRoot);
      const addresses = [one.src, one.href].filter((value) => typeof value === "string").join(" ");
      if (/^[a-z]+:\\/*([^/]*poison|127\\.0\\.0\\.1:9)/.test(addresses)) found.push(one);
    }
  };
  look(document);
  const markup = ["a", "b", "code", "del", "em", "i", "math", "strong", "[data-testid=stMarkdownContainer] span"];
  for (const one of document.querySelectorAll(markup)) {
    if (/^(poison|skull)$/.test(one.textContent.trim())) found.push(one);
  }
  return found.map((one) => one.outerHTML.slice(0, 200));
}"""
"""Elements with a poisonous address, also in our components, and markup around one of the poison's words."""


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory):
    """A server whose models and run have the poison wherever a text may stand; the run's address."""
    folder = tmp_path_factory.mktemp("poisoned")
    (folder / "checkpoints").mkdir()
    labels = [f"yes {STYLE} {LINK}", f"no {IMAGE} {TAG}", f"perhaps {SIGNS}"]
    roles = {"first": f"{IMAGE} {LINK} {SIGNS}", "second": f"{TAG} {PLACES}", "judged": f"{TAG} {PLACES}"}
    title = f"{IMAGE} {TAG} {LINK} {PLACES}"
    notes = {"licence": POISON, "data": [{"name": POISON, "rows": 0}], "task": f"{IMAGE} {STYLE} {LINK}"}
    typical = dict.fromkeys((roles["first"], roles["second"]), 30)
    said = {"labels": labels, "roles": roles, "typical_length": typical, **notes}
    make_checkpoint(folder / "checkpoints", "venom", title, 1, **said)
    make_phrases(folder / "checkpoints", "venom-phrases", title, "entailment", "kmin", 3)
    make_filters(folder / "checkpoints", "venom-filters", title)
    for name, more in (("venom-phrases", said), ("venom-filters", {"labels": labels} | notes)):
        card = folder / "checkpoints" / name / "card.json"
        card.write_text(json.dumps(json.loads(card.read_text()) | more))
    card = read_card(folder / "checkpoints/venom")
    rows = tuple(
        Example(
            f"{i} {POISON}", f"a dog {POISON}", f"a cat {i} {POISON}", labels[i % 3], columns={POISON: f"{i} {POISON}"}
        )
        for i in range(12)
    )
    chances = np.full((12, 3), 0.2, dtype=np.float32)
    chances[np.arange(12), np.arange(12) % 2] = 0.6
    known = "venom", title, card["sha256"], tuple(labels), card["task"], Roles(**roles)
    models = [Predictions(*known, probabilities=chances)]
    models.append(replace(models[0], sha256="a" * 64, title=f"B {SIGNS} {STYLE}", probabilities=chances[::-1]))
    run = stored(Dataset(f"{POISON}.csv", "made up", rows, sha256="c" * 64, task=card["task"]), models)
    keep(run, folder / "desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRLENS_DESK", str(folder / "desk"))
        patch.delenv("PAIRLENS_DB", raising=False)
        annotations = Annotations(open_database())
        for number, piece in enumerate(PIECES):
            annotations.add_tag(piece, piece)
            annotations.define_tag(piece, piece, POISON)
            for row in run.keys[: 3 + number]:
                annotations.give(piece, run.dataset.sha256, row, piece)
                annotations.note(piece, run.dataset.sha256, row, POISON)
        annotations.save_slice(IMAGE, run.dataset.sha256, f"s {LINK}", "A.right")
        annotations.save_slice(IMAGE, run.dataset.sha256, f"t {TAG}", POISON)
        annotations.report(IMAGE, run.dataset.sha256, run.keys[0])
        annotations.blind(IMAGE, run.dataset.sha256, False)
        annotations.made(IMAGE, run.dataset.sha256)
        annotations.deal(IMAGE, run.dataset.sha256, [IMAGE, TAG], 1)
    server = Server.start("streamlit_app.py", folder, folder / "checkpoints", PAIRLENS_SECOND="off")
    yield server, {"file": "c" * 16, "models": f"{card['sha256'][:16]}.{'a' * 16}"}, run.keys[0]
    server.end()


@pytest.fixture
def visits(poisoned, tabs):
    own = Visits(poisoned[0].address, tabs)
    yield own
    own.end()


UNFOLD = """() => {
  for (const one of document.querySelectorAll("[data-testid=stMain] details:not([open]) > summary")) one.click();
}"""
PRESS = "(at) => document.querySelectorAll('[data-testid=stMain] [data-testid=stPopover] button')[at]?.click()"


def unfolded(page):
    """Opens all that is folded, and looks into each popover."""
    page.evaluate(UNFOLD)
    come_to_rest(page)
    for at in range(page.locator("[data-testid=stMain] [data-testid=stPopover] button").count()):
        page.evaluate(PRESS, at)
        come_to_rest(page)
        assert page.evaluate(RENDERED) == []
    return page


def shown(page):
    """The page's texts, of which no markup came."""
    assert page.evaluate(RENDERED) == []
    return page.locator("body").inner_text()


def test_no_text_of_users_becomes_markup_on_the_desk(poisoned, visits):
    _, run, row = poisoned
    more = {"row": row, "filter": f"A.right and {POISON}", "columns": f"{STYLE} = {LINK}"}
    page = visits(f"/error-desk?{urlencode(run | more)}", wait=".pl-row")
    told = dict[str, str]()
    for view, title in VIEWS.items():
        page.get_by_role("radio", name=title, exact=True).click()
        come_to_rest(page)
        told[view] = shown(unfolded(page))
        assert TAG in told[view], view
    assert page.get_by_role("heading", name="Delete the run").count() == 1, "no view ended in an error"
    for piece in PIECES:
        # Streamlit would replace some signs even if they are escaped: an invisible joiner stands between them.
        assert piece in told["rows"].replace("\N{WORD JOINER}", ""), piece
    report = downloaded(page.get_by_role("button", name="Report (HTML)")).path().read_text()
    page.set_content(report)
    assert TAG in shown(page)


def test_no_text_of_users_becomes_markup_on_the_other_pages(poisoned, visits):
    pair = {"model": "venom", "first": f"a dog {POISON}", "second": f"a cat {POISON}"}
    # Each text of the versions has a part of the poison, as word effects of longer ones take half a minute.
    versions = {
        "model": "venom",
        "what": "versions",
        "first": f"a dog {TAG} {STYLE}",
        "second": f"a cat {LINK} {IMAGE}",
    }
    versions |= {"first2": f"{IMAGE} {SIGNS}", "second2": f"{PLACES} {TAG}"}
    figures = list[str]()
    for path, query, wait in (
        ("explore", pair, ".pairlens footer"),
        ("compare", versions, ".pairlens"),
        ("phrases", {**pair, "model": "venom-phrases"}, ".column .chip"),
        ("filter-map", {**pair, "model": "venom-filters"}, ".pairlens svg"),
        ("models", {}, ".pl-note"),
        ("models", {"model": "venom"}, ".pl-note"),
    ):
        page = visits(f"/{path}?{urlencode(query)}", wait=wait)
        text = shown(unfolded(page)).replace("\N{WORD JOINER}", "")
        assert path == "models" or TAG in text, path
        for word in page.locator(".chip, .pairlens circle").all()[:3]:
            word.hover(force=True)
            assert page.evaluate(RENDERED) == []
        for button in page.get_by_role("button", name=re.compile("^Save .* as SVG$")).all()[:1]:
            figures.append(downloaded(button).path().read_text())
    assert len(figures) >= 3
    for figure in figures:
        page.set_content(figure)
        assert page.evaluate(RENDERED) == [] and page.locator("image, script, foreignObject").count() == 0
