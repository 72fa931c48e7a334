"""Export of rows, predictions and tags as CSV and JSON."""

from __future__ import annotations

import json

import numpy as np

from core.desk.annotations import FileState
from core.desk.run import Run, column_of
from core.spreadsheet import csv_text

SEPARATOR = " | "
"""Separates the tags of a row; names of tags do not contain it."""
_TAG_HEAD = ("id", "annotator", "tags", "note")


def to_json(run: Run, state: FileState, rows: np.ndarray) -> str:
    """The ``rows`` (bool ``[N]``) as JSON: texts, label, the file's columns, predictions, tags with their annotators,
    notes; and their origin."""
    records = []
    for i in np.flatnonzero(rows):
        row, people = run.dataset.rows[i], state.row(run.keys[i])
        models = [
            {
                "model": model.model,
                "predicted": model.predicted[i],
                "p": dict(zip(model.labels, _rounded(model.probabilities[i]), strict=True)),
            }
            for model in run.models
        ]
        texts = {"id": run.keys[i], "first": row.first, "second": row.second, "label": row.shown_label or None}
        given = {tag: sorted(annotators) for tag, annotators in people.tags.items()}
        tags = {"tags": sorted(people.tags_that_hold()), "given": given, "settled": people.settled}
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


def to_csv(run: Run, state: FileState, rows: np.ndarray) -> str:
    """One line per row that ``rows`` (bool ``[N]``) selects."""
    others = list(dict.fromkeys(name for row in run.dataset.rows for name in row.columns))
    head = ["id", "first", "second", "label"]
    for place, model in enumerate(run.models):
        head += [column_of("predicted", place), *(f"{column_of('p', place)}_{label}" for label in model.labels)]
    lines = []
    for i in np.flatnonzero(rows):
        row, people = run.dataset.rows[i], state.row(run.keys[i])
        line: list[str | float] = [run.keys[i], row.first, row.second, row.shown_label]
        for model in run.models:
            line += [model.predicted[i], *_rounded(model.probabilities[i])]
        notes = SEPARATOR.join(f"{by}: {text}" for by, text in people.notes.items())
        columns = [row.columns.get(name, "") for name in others]
        lines.append([*line, SEPARATOR.join(sorted(people.tags_that_hold())), notes, *columns])
    return csv_text([*head, "tags", "notes", *others], lines)


def tags_to_csv(run: Run, state: FileState) -> str:
    """One line per row and annotator who reviewed it."""
    lines = []
    for key in run.keys:
        own = state.row(key)
        for annotator in sorted(own.looked):
            tags = SEPARATOR.join(sorted(own.tags_of(annotator)))
            lines.append([key, annotator, tags, own.notes.get(annotator, "")])
    return csv_text(_TAG_HEAD, lines)
