"""Speed of the error desk: a data file predicted from end to end, and the page's answer to a filter."""

from __future__ import annotations

import csv
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from core.checkpoint import load_named
from core.data import read
from core.desk import store
from core.desk.run import Predictions, Run, save
from core.evaluation.encoding import Vocabulary, encode_readings
from core.evaluation.predict import classify, outputs, read_rows
from trainers.bench.app import chromium, server
from trainers.bench.row import Row, Unmeasured
from trainers.bench.tokens import sentences

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

MODEL = "nli-attconv-light"
ROWS = 10_000
_EMPTY = """
import streamlit as st
st.session_state.runs = st.session_state.get("runs", 0) + 1
st.text_input("Filter")
st.write(f"run {st.session_state.runs}")
"""
_FILTERS = ("not right", 'gold = "neutral"', "p > 60%", 'second contains "the"', "p > 80%", "right and p > 60%")


def prediction(quick: bool) -> list[Row]:
    """``ROWS`` pairs of a CSV file from the file to the written run, by the time of the model's own forward passes."""
    times = [_predicting() for _ in range(1 if quick else 3)]
    whole, forward = (statistics.median(part) for part in zip(*times, strict=True))
    note = f"{whole:.1f} s; forward passes alone {forward:.1f} s"
    return [Row(f"predicting {ROWS:,} pairs, time by forward passes", whole / forward, "x", 3, note=note)]


def _predicting() -> tuple[float, float]:
    """Seconds from the file to the run, and of the forward passes alone."""
    checkpoint = load_named(MODEL)
    checkpoint.read("the table", "is read once")
    with tempfile.TemporaryDirectory() as folder:
        path = _file(Path(folder))
        started = time.perf_counter()
        dataset = read(path, labelled=False)
        probabilities = classify(checkpoint, dataset, torch.device("cpu"))
        save(Run(dataset, (Predictions.of(checkpoint, probabilities),)), Path(folder) / "run.parquet")
        whole = time.perf_counter() - started
    vocabulary = Vocabulary()
    data = encode_readings(read_rows(checkpoint, dataset), vocabulary)
    vectors = vocabulary.matrix(checkpoint.reader)
    started = time.perf_counter()
    for _ in outputs(checkpoint.model, data, vectors):
        pass
    return whole, time.perf_counter() - started


def answers(quick: bool) -> list[Row]:
    """The Error desk's answers with ``ROWS`` rows, from Enter until the rows of a filter stand there and from a click
    on a cell of the confusion matrix; the bar is 3 x an empty Streamlit rerun + 200 ms."""
    names = ("error desk: rows of a filter", "error desk: rows of a matrix's cell")
    try:
        *times, empty = _answers()
    except Unmeasured as error:
        return [Row(name, None, "ms", 200, note=str(error)) for name in names]
    note = f"an empty rerun {empty:.0f} ms"
    return [Row(name, value, "ms", round(3 * empty + 200), note=note) for name, value in zip(names, times, strict=True)]


def _answers() -> tuple[float, float, float]:
    """Median milliseconds of both, and of the empty page's rerun. Raises Unmeasured."""
    with tempfile.TemporaryDirectory() as folder, chromium() as (browser, _):
        empty_page = Path(folder, "empty.py")
        empty_page.write_text(_EMPTY, encoding="utf-8")
        with server(empty_page) as empty:
            page = browser.new_page()
            page.goto(empty.address)
            page.get_by_text("run 1").wait_for(timeout=60_000)
            rerun = statistics.median(_typed(page, f"x{n}", f"run {n}") for n in range(2, 12))
        with server(PAIRLENS_DESK=folder, PAIRLENS_DB="") as own:
            run = _run(Path(folder))
            link = f"file={store.short(run.dataset.sha256)}&models={store.short(run.models[0].sha256)}"
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{own.address}/error-desk?{link}")
            page.locator("td.cell button").first.wait_for(timeout=120_000)
            page.wait_for_timeout(2000)
            times = [_typed(page, text, re.compile(r"^[\d,]+ of 10,000 rows")) for text in _FILTERS]
            clicks = [_clicked(page, n) for n in range(4)]
    return statistics.median(times), statistics.median(clicks), rerun


def _typed(page: Page, text: str, answer: str | re.Pattern[str]) -> float:
    """Milliseconds from Enter in the filter's box until another answer stands on the page."""
    box, shown = page.get_by_label("Filter").first, page.get_by_text(answer)
    before = shown.first.inner_text() if isinstance(answer, re.Pattern) else ""
    box.fill(text)
    started = time.perf_counter()
    box.press("Enter")
    return _until(page, shown, before, started)


def _clicked(page: Page, cell: int) -> float:
    """Milliseconds from a click on a cell of the confusion matrix until its rows are shown."""
    page.get_by_label("Filter").first.fill("")
    page.get_by_label("Filter").first.press("Enter")
    page.get_by_text("10,000 of 10,000 rows").wait_for()
    page.wait_for_timeout(1000)
    shown = page.get_by_text(re.compile(r"^[\d,]+ of 10,000 rows"))
    before, started = shown.first.inner_text(), time.perf_counter()
    page.locator("td.cell button").nth(cell).click()
    return _until(page, shown, before, started)


def _until(page: Page, shown: Locator, before: str, started: float) -> float:
    while shown.count() == 0 or shown.first.inner_text() == before:
        if time.perf_counter() - started > 30:
            raise Unmeasured("the page did not answer in 30 s")
    taken = (time.perf_counter() - started) * 1000
    page.wait_for_timeout(700)
    return taken


def _file(folder: Path) -> Path:
    """Made-up pairs in a CSV file."""
    texts, labels = sentences(2 * ROWS + 100), ("entailment", "neutral", "contradiction")
    path = folder / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["premise", "hypothesis", "label"])
        writer.writerows((texts[2 * i], texts[2 * i + 1], labels[i % 3]) for i in range(ROWS))
    return path


def _run(folder: Path) -> Run:
    """A kept run of these pairs with made-up predictions."""
    checkpoint, dataset = load_named(MODEL), read(_file(folder))
    chances = np.random.default_rng(0).dirichlet([0.6] * 3, len(dataset.rows))
    run = Run(dataset, (Predictions.of(checkpoint, chances),))
    store.keep(run, folder)
    return run
