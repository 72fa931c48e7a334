"""Export of rows, predictions and tags as CSV and JSON, and import of tags by row id."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from core.desk.annotations import FileState, Marked
from core.desk.run import Run, column_of
from core.desk.schema import LONGEST_NOTE, clean
from core.errors import DeskError
from core.spreadsheet import csv_text, restored

SEPARATOR = " | "
"""Separates the tags of a row; names of tags do not contain it."""
_TAG_HEAD = ("id", "annotator", "tags", "note")
MOST_LINES = 200_000


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
    """One line per row and annotator who reviewed it; :func:`read_tags` reads it."""
    lines = []
    for key in run.keys:
        own = state.row(key)
        for annotator in sorted(own.looked):
            tags = SEPARATOR.join(sorted(own.tags_of(annotator)))
            lines.append([key, annotator, tags, own.notes.get(annotator, "")])
    return csv_text(_TAG_HEAD, lines)


@dataclass(frozen=True)
class Conflict:
    """A line that contradicts the annotator's tags or note in the database."""

    marked: Marked
    tags: frozenset[str]
    note: str


@dataclass(frozen=True)
class Import:
    """The changes that a file of tags would make. ``strange``: ids of rows that are not in the run."""

    new: tuple[Marked, ...]
    conflicts: tuple[Conflict, ...]
    same: int
    strange: tuple[str, ...]
    new_tags: tuple[str, ...]


def read_tags(text: str, annotator: str) -> list[Marked]:
    """The lines of a CSV file with the columns id and tags (separated by ``|``), optionally annotator and note. Lines
    without an annotator are ``annotator``'s. Raises DeskError for any other file."""
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    # Spreadsheets write semicolons in some locales.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        lines = [line for line in reader if any(line)]
    except csv.Error as error:
        raise DeskError(f"this is not a CSV file ({error}): choose one exported with “Tags (CSV)”") from None
    head = [restored(name).strip().lower() for name in lines[0]] if lines else []
    if not {"id", "tags"} <= set(head):
        raise DeskError("the file has no columns id and tags: choose one exported with “Tags (CSV)”")
    if len(lines) > MOST_LINES:
        raise DeskError(f"the file has {len(lines):,} lines, more than {MOST_LINES:,}: split it")
    out = []
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(head):
            raise DeskError(f"line {number} has {len(line)} cells instead of {len(head)}: fix the file")
        cells = dict(zip(head, map(restored, line), strict=True))
        tags = frozenset(clean(tag) for tag in cells["tags"].split("|") if clean(tag))
        by = clean(cells.get("annotator", "")) or clean(annotator)
        if not by:
            raise DeskError(f"line {number} has no annotator: type your name to import such lines as yours")
        out.append(Marked(cells["id"], by, tags, clean(cells.get("note", ""), LONGEST_NOTE)))
    return out


def plan(run: Run, state: FileState, taxonomy: Mapping[str, str], lines: Iterable[Marked]) -> Import:
    """The changes that the lines would make. ``taxonomy``: the tag that each name, in lower case, is shown as."""
    new, conflicts, same, strange, new_tags = [], [], 0, [], dict[str, None]()
    for line in lines:
        if line.row not in run.places:
            strange.append(line.row)
            continue
        tags = frozenset(taxonomy.get(tag.casefold(), tag) for tag in line.tags)
        new_tags |= dict.fromkeys(tag for tag in sorted(tags) if tag.casefold() not in taxonomy)
        marked = Marked(line.row, line.annotator, tags, line.note)
        row = state.row(line.row)
        here, looked = row.tags_of(line.annotator), line.annotator in row.looked
        note = row.notes.get(line.annotator, "")
        if here == tags and looked and note == line.note:
            same += 1
        elif (looked and here != tags) or (note and note != line.note):
            conflicts.append(Conflict(marked, frozenset(here), note))
        else:
            new.append(marked)
    return Import(tuple(new), tuple(conflicts), same, tuple(strange), tuple(new_tags))
