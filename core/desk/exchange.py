"""Exports rows, predictions and tags as CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from core.desk.file_state import FileState
from core.desk.run import LETTERS, Run
from core.desk.table import SEPARATOR, RunTable
from core.json_types import JsonObject
from core.spreadsheet import csv_text

_TAG_HEAD = ("id", "annotator", "tags", "note", "settled", "label", "decided_label", "decided_by")
_UNSURE = "(unsure)"


def to_json(run: Run, state: FileState, rows: np.ndarray) -> str:
    """The ``rows`` (bool ``[N]``) as JSON: texts, label, the file's columns, predictions, tags with their annotators,
    notes; and their source."""
    records = []
    for i in np.flatnonzero(rows):
        row, people = run.dataset.rows[i], state.row(run.keys[i])
        models = [
            {
                "name": letter,
                "model": model.model,
                "predicted": model.predicted[i],
                "p": dict(zip(model.labels, _rounded(model.probabilities[i]), strict=True)),
            }
            for letter, model in zip(LETTERS, run.models, strict=False)
        ]
        named = zip(run.text_columns, (row.first, row.second)[: 1 if run.single else 2], strict=False)
        texts = {"id": run.keys[i], **dict(named), "gold": run.gold[i] or None}
        given = {tag: sorted(annotators) for tag, annotators in people.tags.items()}
        tags: JsonObject = {"tags": sorted(people.tags_that_hold()), "given": given, "settled": people.settled}
        if people.labels or people.decision or people.unsure:
            decided = people.decided._asdict() if people.decided else None
            tags |= {"labels": people.labels, "unsure": sorted(people.unsure), "decided": decided}
        records.append({**texts, "columns": dict(row.columns), "models": models, **tags, "notes": people.notes})
    data = run.dataset
    about = {
        "file": data.name,
        "sha256": data.sha256,
        "layout": data.layout,
        "models": [{"model": m.model, "title": m.title, "sha256": m.sha256} for m in run.models],
    }
    return json.dumps(about | {"rows": records}, ensure_ascii=False, indent=1)


def _rounded(probabilities: np.ndarray) -> list[float]:
    """Rounded to the precision of float32."""
    return [float(f"{p:.6g}") for p in probabilities]


def to_csv(table: RunTable, rows: np.ndarray) -> str:
    """All columns of the table under their names in filters, one line per row selected by ``rows`` (bool ``[N]``)."""
    found = table.take(np.flatnonzero(rows), [*table.columns], spelled=True)
    return csv_text(found.column_names, zip(*(map(_cell, column.to_pylist()) for column in found.columns), strict=True))


def _cell(value: object) -> object:
    """Joins several texts; unknown values become empty."""
    return SEPARATOR.join(value) if isinstance(value, list) else str(value) if isinstance(value, bool) else value


def tags_to_csv(run: Run, state: FileState) -> str:
    """One line per row and annotator who reviewed or labelled it, with the decisions about the row's disputed tags and
    its label; a decided row whose annotators withdrew all marks has one line without an annotator."""
    lines = []
    for key in run.keys:
        own = state.row(key)
        settled = SEPARATOR.join(sorted(own.decisions()))
        decided = own.decided or ("", "")
        for annotator in sorted(own.reviewers) or ([""] if settled or own.decision else []):
            tags = SEPARATOR.join(sorted(own.tags_of(annotator)))
            label = own.labels.get(annotator, _UNSURE if annotator in own.unsure else "")
            lines.append([key, annotator, tags, own.notes.get(annotator, ""), settled, label, *decided])
    return csv_text(_TAG_HEAD, lines)


class Export(NamedTuple):
    """A file of the chosen rows: its title, the end of its name, and its text from the run, the tags and labels of its
    file, the table with them and the ``rows`` (bool ``[N]``)."""

    title: str
    ending: str
    text: Callable[[Run, FileState, RunTable, np.ndarray], str]


EXPORTS = (
    Export("Rows (CSV)", "-rows.csv", lambda run, state, table, rows: to_csv(table, rows)),
    Export("Rows (JSON)", "-rows.json", lambda run, state, table, rows: to_json(run, state, rows)),
    Export("Tags and labels (CSV)", "-tags.csv", lambda run, state, table, rows: tags_to_csv(run, state)),
)
"""The exports of the Error desk, in their order on the page."""
