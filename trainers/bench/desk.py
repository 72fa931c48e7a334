"""Speed of the Error desk on large files: filters, slices and figures, and labelling."""

from __future__ import annotations

import contextlib
import functools
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.checkpoint import load_named
from core.data import Dataset, read
from core.desk import run_folder, store
from core.desk.charts import confusion
from core.desk.filters import rows_of
from core.desk.found_slices import search
from core.desk.run import Predictions
from core.desk.slices import saved, scored, with_slices
from core.desk.suggestions import FIRST
from core.desk.table import open_table
from trainers.bench.app import MODEL, answer, chromium, empty_page, reruns, server
from trainers.bench.models import Measurement, Unmeasured, medians, pairs_file
from trainers.bench.visitors import wait_for_preloading

if TYPE_CHECKING:
    from playwright.sync_api import Browser


DESK_ROWS = 10_000
FILTERS = (
    "not A.right",
    'gold = "neutral"',
    "A.p > 60",
    'hypothesis contains "the"',
    "A.right and A.p > 60",
    'hypothesis has word "not"',
    'hypothesis has lemma "be"',
    "hypothesis matches /^an? /",
    "hypothesis.words - premise.words > 2",
)
LABELS = 60
"""Number of rows labelled; meanwhile a model learns from the labels so far, again and again."""


def desk(quick: bool) -> list[Measurement]:
    """Time for filters, slices and the confusion matrix of the Error desk, computed alone and on the page, and for
    labelling; the server's memory. The page's threshold for 10,000 rows is three empty Streamlit reruns plus 200 ms."""
    with chromium() as browser, empty_page() as empty:
        with server(empty) as plain:
            rerun = reruns(browser, plain)
        with _stored_run(DESK_ROWS) as folder:
            measured = [*_computed(folder, 100), *_on_the_page(browser, folder, quick, round(3 * rerun + 200))]
            measured += _labelling(browser, folder)
        if not quick:
            with _stored_run(1_000_000) as folder:
                measured += [*_computed(folder, 2000), *_on_the_page(browser, folder, quick, 2000)]
                measured += _labelling(browser, folder)
    return measured


@contextlib.contextmanager
def _stored_run(rows: int) -> Iterator[Path]:
    """A desk's folder with a run of this many rows, which repeats the same :data:`DESK_ROWS` pairs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = read(pairs_file(folder / "pairs.jsonl", DESK_ROWS)).rows
        for repeated in sorted({1, rows // DESK_ROWS}):
            texts = tuple(replace(row, id=str(i)) for i, row in enumerate(known * repeated))
            chances = np.random.default_rng(0).dirichlet([0.6] * 3, len(texts))
            dataset = Dataset("rows", "", texts, sha256=f"{repeated:064x}")
            predictions = [Predictions.of(load_named(MODEL), chances)]
            run_folder.save(dataset, predictions, store.folder_of(dataset.sha256, folder))
            if repeated == 1:  # the features of a million texts take minutes
                open_table(run_folder.load(store.folder_of(dataset.sha256, folder)))
                features = pq.read_table(store.folder_of(dataset.sha256, folder) / run_folder.FEATURES)
            repeats = pa.concat_tables([features] * repeated)
            pq.write_table(repeats, store.folder_of(dataset.sha256, folder) / run_folder.FEATURES)
        yield store.folder_of(dataset.sha256, folder)


def _computed(folder: Path, bar: float) -> list[Measurement]:
    """The slowest filter, both tables of slices, the confusion matrix and the search for slices, without the page."""
    run = run_folder.load(folder)
    table, rows = open_table(run), len(run.keys)
    every = np.ones(rows, dtype=bool)
    *filters, sliced, all_sliced, confused, searched = medians(
        [
            *(functools.partial(rows_of, text, table) for text in FILTERS),
            lambda: saved(run, 0, with_slices(table, {text: text for text in FILTERS})[1]),
            lambda: scored(run, 0, table),
            lambda: confusion(run, 0, every, {label: label for label in run.models[0].labels}),
            lambda: search(run, 0, table),
        ],
        5,
    )
    number = f"of {rows:,} rows"
    return [
        Measurement(f"error desk: the slowest filter {number}", max(filters), "ms", bar, note=f"of {len(FILTERS)}"),
        Measurement(f"error desk: the saved slices {number}", sliced, "ms", bar, note=f"{len(FILTERS)} slices"),
        Measurement(f"error desk: the slices by every column {number}", all_sliced, "ms", bar),
        Measurement(f"error desk: the confusion matrix {number}", confused, "ms", bar),
        Measurement(f"error desk: the search for slices {number}", searched, "ms", 5000),
    ]


def _on_the_page(browser: Browser, folder: Path, quick: bool, bar: float) -> list[Measurement]:
    """The slowest filter on the page, and the peak of the server's memory while it filters, searches for slices and
    draws the confusion matrix."""
    run = run_folder.load(folder)
    with server(PAIRLENS_DESK=str(folder.parents[1]), PAIRLENS_DB="") as own:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        file, model = store.short(run.dataset.sha256), store.short(run.models[0].sha256)
        address = f"{own.address}/error-desk?file={file}&models={model}"
        page.goto(address)
        number = f"of {len(run.keys):,} rows"
        rows = page.get_by_text(re.compile(rf"^[\d,]+ {number}"))
        rows.first.wait_for(timeout=300_000)
        taken = [answer(page, "Filter", text, rows) for text in FILTERS[: 2 if quick else None]]
        for view, heading in (("slices", "Found slices"), ("scores", "Confusion")):
            page.goto(f"{address}&view={view}")
            page.get_by_role("heading", name=heading).first.wait_for(timeout=120_000)
        page.close()
        status = Path(f"/proc/{own.process.pid}/status").read_text()
    memory = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024
    return [
        Measurement(f"error desk: the slowest filter {number}, on the page", max(taken), "ms", bar),
        Measurement(f"error desk: the server’s peak memory, {number}", memory, "MB", 1500),
    ]


def _labelling(browser: Browser, folder: Path) -> list[Measurement]:
    """Seconds until a server that has run for a minute shows the first row to label, and milliseconds from a key to the
    next row while a model learns from the labels."""
    run = run_folder.load(folder)
    number = f"of {len(run.keys):,} rows"
    with server(PAIRLENS_DESK=str(folder.parents[1]), PAIRLENS_DB="") as own:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(300_000)
        page.goto(f"{own.address}/error-desk")
        page.get_by_label("Your name", exact=True).fill("Ann")
        page.get_by_label("Your name", exact=True).press("Enter")
        wait_for_preloading(own.process.pid)
        started = time.perf_counter()
        page.goto(f"{own.address}/error-desk?file={store.short(run.dataset.sha256)}&view=labels", wait_until="commit")
        row = page.get_by_role("heading", name=re.compile(r"^Row \d+$"))
        row.wait_for()
        opened = time.perf_counter() - started
        page.get_by_role("button", name=re.compile("^Add the classes of")).first.click()
        page.get_by_text("Which row comes next", exact=True).click()
        page.get_by_role("button", name="Let a model suggest the next row").click()
        page.get_by_text("Suggest the next row", exact=True).wait_for(timeout=600_000)
        taken = list[float]()
        for at in range(LABELS):
            page.wait_for_timeout(1000)  # time to read the row
            before, began = row.inner_text(), time.perf_counter()
            page.keyboard.press(str(1 + at % len(run.models[0].labels)))
            while row.inner_text() == before:
                if time.perf_counter() - began > 30:
                    raise Unmeasured("the next row did not come in 30 s")
            taken.append((time.perf_counter() - began) * 1000)
        page.close()
    after = taken[FIRST + 1 :]
    return [
        Measurement(f"error desk: labelling {number} opens", opened, "s", 3),
        Measurement(
            f"error desk: the next row to label {number}",
            statistics.median(after),
            "ms",
            200,
            note=f"the slowest of {len(after)}: {max(after):.0f} ms",
        ),
    ]
